"""What one statement binds, and how it reaches beyond that, read off its syntax."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

from utboost_action.generation.syntax import Function

_REACHES_OUT = frozenset(("setattr", "delattr", "globals", "vars", "exec", "eval", "__import__", "fixture"))


def bound_names(node: ast.stmt) -> tuple[str, ...]:
    """The names that a statement binds in its scope."""
    if isinstance(node, Function | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.Import):
        return tuple((alias.asname or alias.name).split(".")[0] for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return tuple(alias.asname or alias.name for alias in node.names)
    return tuple(_stored(node))


def _stored(node: ast.AST) -> Iterator[str]:
    """The names that are set in a node; those of comprehensions and lambdas are their own."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield from _stored(child.iter)
        elif not isinstance(child, ast.Lambda):
            yield from _stored(child)


def all_bound(node: ast.stmt) -> Iterator[str]:
    """What a statement binds at module level, those inside `if`, `try` and `with` included."""
    yield from bound_names(node) if not hasattr(node, "body") or hasattr(node, "name") else ()
    if not isinstance(node, Function | ast.ClassDef):
        for child in ast.iter_child_nodes(node):
            inner = child.body if isinstance(child, ast.ExceptHandler) else [child]
            for one in inner:
                if isinstance(one, ast.stmt):
                    yield from all_bound(one)


def import_pairs(node: ast.stmt) -> list[tuple[str, str]]:
    """(what is imported, the name it gets) of an import statement; none for other statements."""
    if isinstance(node, ast.Import):
        return [
            (a.name if a.asname else a.name.split(".")[0], (a.asname or a.name).split(".")[0])
            for a in node.names
        ]
    if isinstance(node, ast.ImportFrom):
        source = "." * node.level + (node.module or "")
        return [(f"{source}:{alias.name}", alias.asname or alias.name) for alias in node.names]
    return []


def used_globals(table: symtable.SymbolTable) -> set[str]:
    """The names of the module or beyond that code uses."""
    inside = table.get_type() != "module"
    here = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (symbol.is_global() or not inside)
    }
    return here.union(*(used_globals(child) for child in table.get_children()))


def fixture_names(node: ast.stmt) -> Iterator[str]:
    """The names that `fixture(name="…")` gives."""
    for decorator in getattr(node, "decorator_list", []):
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                yield str(keyword.value.value)


def is_fixture(node: ast.stmt) -> bool:
    """Whether a decorator makes it a fixture."""
    return any("fixture" in ast.dump(one) for one in getattr(node, "decorator_list", []))


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a statement does: all of it but the bodies of functions."""
    yield node
    for name, value in ast.iter_fields(node):
        if isinstance(node, Function) and name == "body":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _at_import(child)


def reaches_out(node: ast.stmt) -> Iterator[str]:
    """How a new statement reaches beyond its own names when it is imported."""
    decorators = {
        id(part)
        for one in ast.walk(node)
        for decorator in getattr(one, "decorator_list", ())
        for part in ast.walk(decorator)
    }
    for one in _at_import(node):
        if isinstance(one, ast.NamedExpr | ast.Global | ast.Delete):
            yield f"uses {type(one).__name__}"
        elif isinstance(one, ast.Attribute | ast.Subscript) and not isinstance(one.ctx, ast.Load):
            yield f"sets {ast.unparse(one)}"
        elif isinstance(one, ast.Call):
            name = one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
            if name in _REACHES_OUT and not (name == "fixture" and id(one) in decorators):
                yield f"calls {name}"


def is_autouse(node: ast.stmt) -> bool:
    """Whether a decorator makes it, or may make it, a fixture of every test."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return any(
        isinstance(decorator, ast.Call)
        and any(keyword.arg in ("autouse", None) for keyword in decorator.keywords)
        for decorator in decorators
    )
