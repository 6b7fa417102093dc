"""Where a patch changed a Python file, and the small tools that variants and mutants share (libcst)."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider


@dataclass(frozen=True, slots=True)
class Rewriting:
    """One rewritten file: what was done (`name`), and the file's whole new text."""

    name: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed file: its module with unique nodes, and node -> (first line, last line), from 1."""

    module: cst.Module
    lines: dict[cst.CSTNode, tuple[int, int]]


def parsed(text: str) -> Parsed | None:
    """Parse a file; None where libcst does not take it (another grammar, no Python)."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(text))
    except (cst.ParserSyntaxError, RecursionError):
        return None
    positions = wrapper.resolve(PositionProvider)
    lines = {node: (spot.start.line, spot.end.line) for node, spot in positions.items()}
    return Parsed(wrapper.module, lines)


def changed_lines(before: str, after: str) -> frozenset[int]:
    """The lines of `after` (from 1) that `before` lacks, and those beside what was taken out."""
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    for tag, _, _, begin, end in matcher.get_opcodes():
        if tag in ("replace", "insert"):
            found.update(range(begin + 1, end + 1))
        elif tag == "delete":
            found.update((begin, begin + 1))
    return frozenset(found)


def incremental_patch(path: str, before: str, after: str) -> str:
    """A git diff from one text of a file to another; "" when they are equal."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = list(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))
    if not lines:
        return ""
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return f"diff --git a/{path} b/{path}\n" + "".join(shown)


def functions_with(source: Parsed, changed: Collection[int]) -> list[cst.FunctionDef]:
    """The innermost functions around changed lines, in order of the file."""
    found: list[cst.FunctionDef] = []
    functions = [node for node in walk(source.module) if isinstance(node, cst.FunctionDef)]
    for line in sorted(changed):
        around = [f for f in functions if source.lines[f][0] <= line <= source.lines[f][1]]
        if around:
            innermost = min(around, key=lambda f: source.lines[f][1] - source.lines[f][0])
            if innermost not in found:
                found.append(innermost)
    return found


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and everything below it, in order."""
    yield node
    for child in node.children:
        yield from walk(child)


def replaced(module: cst.Module, old: cst.CSTNode, new: cst.CSTNode | cst.RemovalSentinel) -> str:
    """The module's text with one node replaced. Raises CSTValidationError where that makes no Python."""
    changed = module.deep_replace(old, new) if isinstance(new, cst.CSTNode) else module.deep_remove(old)
    assert isinstance(changed, cst.Module)
    return changed.code


def calls(node: cst.CSTNode, names: Collection[str]) -> bool:
    """Whether a plain name of these is called below a node."""
    return any(
        isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value in names
        for call in walk(node)
    )


def negation(test: cst.BaseExpression) -> cst.BaseExpression:
    """`not (test)`."""
    inner = test if test.lpar else test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.UnaryOperation(operator=cst.Not(), expression=inner)


def is_docstring(statement: cst.BaseStatement) -> bool:
    """Whether a statement is a string alone."""
    return m.matches(
        statement,
        m.SimpleStatementLine(body=[m.Expr(value=m.OneOf(m.SimpleString(), m.ConcatenatedString()))]),
    )
