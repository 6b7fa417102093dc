"""Python source as data: parsing without noise, and the spans of classes, functions and methods."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

Function = ast.FunctionDef | ast.AsyncFunctionDef
_PARSING = threading.Lock()  # the warning filters belong to the process


class UnusableSourceError(ValueError):
    """Source that Python cannot parse; the message says why, with the line where there is one."""


class DefinitionKind(StrEnum):
    """What a definition is."""

    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, function or method and the lines it spans, counted from 1, both ends included.

    name: dotted from the module's level (`TestX.test_y`, `outer.inner`).
    first: the line of its first decorator; header: the line of `def` or `class`.
    """

    name: str
    kind: DefinitionKind
    first: int
    header: int
    last: int


@contextmanager
def bounded() -> Iterator[None]:
    """Turn a syntax tree that is too deep for a walk into UnusableSourceError; also as a decorator."""
    try:
        yield
    except RecursionError:
        raise UnusableSourceError("nested too deeply") from None


def parse(source: str) -> ast.Module:
    """The syntax tree of a module. Raises UnusableSourceError; warns of nothing."""
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except SyntaxError as problem:
            raise UnusableSourceError(f"line {problem.lineno or 0}: {problem.msg}") from None
        except (ValueError, RecursionError, MemoryError) as problem:
            raise UnusableSourceError(f"{type(problem).__name__}: {problem}") from None


@bounded()
def definitions(source: str) -> tuple[Definition, ...]:
    """Every definition of a module in the order of its lines. Raises UnusableSourceError."""
    return tuple(_definitions(parse(source), "", in_class=False))


def first_line(node: ast.stmt) -> int:
    """The line a statement starts on, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def last_line(node: ast.stmt) -> int:
    """The last line of a statement."""
    return node.end_lineno or node.lineno


def dump(node: ast.AST) -> str:
    """A text that is equal for equal syntax, wherever it stands."""
    return ast.dump(node, annotate_fields=False, include_attributes=False)


def lines_of(text: str) -> list[str]:
    """The lines of a text, ends left out, counted as Python's parser counts them."""
    lines = text.split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def is_test_name(name: str) -> bool:
    """Whether the runners (pytest, unittest, sympy) take a function of this name for a test."""
    return name.startswith("test")


def _definitions(node: ast.AST, prefix: str, *, in_class: bool) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.ClassDef):
            is_class = isinstance(child, ast.ClassDef)
            kind = DefinitionKind.METHOD if in_class else DefinitionKind.FUNCTION
            name = prefix + child.name
            yield Definition(
                name=name,
                kind=DefinitionKind.CLASS if is_class else kind,
                first=first_line(child),
                header=child.lineno,
                last=last_line(child),
            )
            yield from _definitions(child, f"{name}.", in_class=is_class)
        elif not isinstance(child, ast.expr):
            yield from _definitions(child, prefix, in_class=in_class)
