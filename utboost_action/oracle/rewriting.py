"""Where a patch changed a Python file, and the small tools that variants and mutants share (libcst)."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider


@dataclass(frozen=True, slots=True)
class Rewriting:
    """One rewritten file: what was done (`name`), and the file's whole new text."""

    name: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed file: its module with unique nodes, node -> (first line, last line) from 1, node -> parent."""

    module: cst.Module
    lines: dict[cst.CSTNode, tuple[int, int]]
    parents: dict[cst.CSTNode, cst.CSTNode]


def parsed(text: str) -> Parsed | None:
    """Parse a file; None where libcst does not take it (another grammar, no Python)."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(text))
    except (cst.ParserSyntaxError, RecursionError):
        return None
    positions = wrapper.resolve(PositionProvider)
    lines = {node: (spot.start.line, spot.end.line) for node, spot in positions.items()}
    parents = {child: node for node in walk(wrapper.module) for child in node.children}
    return Parsed(wrapper.module, lines, parents)


def is_python(text: str) -> bool:
    """Whether libcst takes a text."""
    try:
        cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError):
        return False
    return True


def changed_lines(before: str, after: str) -> frozenset[int]:
    """The lines of `after` (from 1) that `before` lacks, and those beside what was taken out."""
    old, new = before.split("\n"), after.split("\n")
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = old[same : len(old) - tail], new[same : len(new) - tail]
    found: set[int] = set()
    for tag, _, _, begin, end in difflib.SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
        if tag in ("replace", "insert"):
            found.update(range(same + begin + 1, same + end + 1))
        elif tag == "delete":
            found.update((same + begin, same + begin + 1))
    return frozenset(found)


def incremental_patch(path: str, before: str, after: str) -> str:
    """A git diff from one text of a file to another; "" when they are equal. A file that was "" is made."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = list(difflib.unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}"))
    if not lines:
        return ""
    made = "" if before else "new file mode 100644\n"
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return f"diff --git a/{path} b/{path}\n{made}" + "".join(shown)


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


def replaced(source: Parsed, old: cst.CSTNode, new: cst.CSTNode) -> str:
    """The file's text with one node replaced. Raises CSTValidationError where that makes no Python."""
    while old is not source.module:
        parent = source.parents[old]
        changes: dict[str, object] = {}
        for field in dataclasses.fields(parent):
            value = getattr(parent, field.name)
            if value is old:
                changes[field.name] = new
            elif isinstance(value, list | tuple) and any(item is old for item in value):
                changes[field.name] = [new if item is old else item for item in value]
        old, new = parent, parent.with_changes(**changes)
    assert isinstance(new, cst.Module)
    return new.code


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
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
    return False
