"""Skeletons: a module with its headers only, still valid Python, in three sizes."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from utboost_action.generation.syntax import Function, bounded, is_test_name, parse

_ELLIPSIS_BODY = re.compile(r":\n\s+\.\.\.$", re.MULTILINE)
_LONG_VALUE = 60  # columns of an assigned value that a skeleton still shows


@bounded()
def skeleton(source: str) -> str:
    """Imports, assignments, class and function headers with their signatures and decorators.

    Bodies become `...`, docstrings and long values go; the result parses. Raises UnusableSourceError.
    """
    return _text(_kept(parse(source).body, imports=True, assignments=True))


@bounded()
def headers(source: str) -> str:
    """The skeleton without imports, assignments and decorators. Raises UnusableSourceError."""
    return _text(_kept(parse(source).body, imports=False, assignments=False))


@bounded()
def names(source: str) -> str:
    """One line a class with the names of its methods, one line for all functions of the module.

    Raises UnusableSourceError.
    """
    tree = parse(source)
    functions = [node.name for node in tree.body if isinstance(node, Function)]
    lines = [f"functions: {' '.join(functions)}"] if functions else []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = [child.name for child in node.body if isinstance(child, Function)]
            lines.append(f"class {node.name}: {' '.join(methods)}".rstrip(": "))
    return "\n".join(lines)


@bounded()
def outline(source: str) -> str:
    """The names of the module's classes with how many tests each has, and how many functions there are.

    Raises UnusableSourceError.
    """
    tree = parse(source)
    functions = sum(isinstance(node, Function) for node in tree.body)
    lines = [f"{functions} functions"] if functions else []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            tests = sum(isinstance(child, Function) and is_test_name(child.name) for child in node.body)
            lines.append(f"class {node.name}: {tests} tests")
    return "\n".join(lines)


@bounded()
def imports_of(source: str) -> str:
    """The module's imports outside functions and classes, one a line. Raises UnusableSourceError."""
    tree = parse(source)
    return "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))


def class_header(node: ast.ClassDef) -> str:
    """The header line of a class as one line of source."""
    bare = ast.ClassDef(node.name, node.bases, node.keywords, [_ellipsis()], [])
    return _text([bare]).removesuffix(" ...")


def signature(node: ast.stmt) -> str:
    """The header line of a function as one line of source, decorators left out; "" for anything else."""
    return (
        _text([_function(node, decorated=False)]).removesuffix(" ...") if isinstance(node, Function) else ""
    )


def _text(body: Sequence[ast.stmt]) -> str:
    module = ast.fix_missing_locations(ast.Module(list(body), []))
    return _ELLIPSIS_BODY.sub(": ...", re.sub(r"\n\n+", "\n", ast.unparse(module)))


def _kept(body: Sequence[ast.stmt], *, imports: bool, assignments: bool) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            kept.extend([node] if imports else [])
        elif isinstance(node, Function):
            kept.append(_function(node, decorated=assignments))
        elif isinstance(node, ast.ClassDef):
            inner = _kept(node.body, imports=False, assignments=assignments) or [_ellipsis()]
            decorators = node.decorator_list if assignments else []
            kept.append(ast.ClassDef(node.name, node.bases, node.keywords, inner, decorators))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            kept.extend([_assignment(node)] if assignments else [])
        else:
            kept.extend(_branches(node, imports=imports, assignments=assignments))
    return kept


def _branches(node: ast.stmt, *, imports: bool, assignments: bool) -> list[ast.stmt]:
    """What `if`, `try` and `with` hold, in a block of their own kind only where that stays valid."""
    held: list[ast.stmt] = []
    for name in ("body", "handlers", "orelse", "finalbody"):
        for child in getattr(node, name, []):
            inner = child.body if isinstance(child, ast.ExceptHandler) else [child]
            held += _kept(inner, imports=imports, assignments=assignments)
    return held


def _function(node: Function, *, decorated: bool) -> ast.stmt:
    decorators = node.decorator_list if decorated else []
    if isinstance(node, ast.AsyncFunctionDef):
        return ast.AsyncFunctionDef(node.name, node.args, [_ellipsis()], decorators, node.returns)
    return ast.FunctionDef(node.name, node.args, [_ellipsis()], decorators, node.returns)


def _assignment(node: ast.Assign | ast.AnnAssign) -> ast.stmt:
    value = node.value
    if value is None or (
        value.lineno == value.end_lineno and (value.end_col_offset or 0) - value.col_offset <= _LONG_VALUE
    ):
        return node
    short = ast.Constant(...)
    if isinstance(node, ast.AnnAssign):
        return ast.AnnAssign(node.target, node.annotation, short, node.simple)
    return ast.Assign(node.targets, short)


def _ellipsis() -> ast.Expr:
    return ast.Expr(ast.Constant(...))
