"""A variant of the gold patch with other names for a function's locals (see variants.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from utboost_action.oracle.rewriting import Parsed, calls, replaced, walk

LOOKS_AT_LOCALS = ("locals", "vars", "dir", "eval", "exec")
_SUFFIX = "_renamed"


def renamed_locals(
    source: Parsed, function: cst.FunctionDef, _changed: Collection[int]
) -> Iterator[tuple[str, str]]:
    """Every plain local of the function gets another name."""
    names = _own_locals(function)
    if names:
        new = function.with_changes(body=function.body.visit(_Renaming(names)))
        yield f"renamed locals of {function.name.value}", replaced(source, function, new)


class _Renaming(cst.CSTTransformer):
    """Renames plain names; attributes, keywords of calls and names of parameters stay."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names

    def leave_Attribute(  # noqa: N802 (libcst's name)
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:  # noqa: N802
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:  # noqa: N802
        if original_node.value in self._names:
            return updated_node.with_changes(value=original_node.value + _SUFFIX)
        return updated_node


def _own_locals(function: cst.FunctionDef) -> frozenset[str]:
    """Names that the function binds by assignment, loop or `with`, and that nothing else could mean."""
    if calls(function, LOOKS_AT_LOCALS):
        return frozenset()
    bound: set[str] = set()
    barred: set[str] = set()
    used: set[str] = set()
    for node in walk(function):
        if isinstance(node, cst.Name):
            used.add(node.value)
        if isinstance(node, cst.ClassDef):
            return frozenset()
        if node is not function and isinstance(node, cst.FunctionDef | cst.Lambda):
            barred |= _inner_names(node)
        elif isinstance(node, cst.Param):
            barred.add(node.name.value)
        elif isinstance(node, cst.Global | cst.Nonlocal):
            barred |= {item.name.value for item in node.names}
        elif isinstance(node, cst.Import | cst.ImportFrom):
            barred |= {name.value for name in walk(node) if isinstance(name, cst.Name)}
        elif isinstance(node, cst.CompFor):
            barred |= _targets(node.target)
        elif isinstance(node, cst.AssignTarget | cst.For | cst.AugAssign | cst.AnnAssign):
            bound |= _targets(node.target)
        elif isinstance(node, cst.AsName):
            bound |= _targets(node.name)
    return frozenset(
        name for name in bound - barred if name + _SUFFIX not in used and not name.startswith("__")
    )


def _inner_names(node: cst.FunctionDef | cst.Lambda) -> set[str]:
    """What an inner function binds or is called: these names mean something else there."""
    names = {param.name.value for param in walk(node) if isinstance(param, cst.Param)}
    if isinstance(node, cst.FunctionDef):
        names.add(node.name.value)
        for inner in walk(node.body):
            if isinstance(inner, cst.AssignTarget | cst.For | cst.AugAssign | cst.AnnAssign | cst.NamedExpr):
                names |= _targets(inner.target)
            elif isinstance(inner, cst.AsName):
                names |= _targets(inner.name)
    return names


def _targets(target: cst.CSTNode) -> set[str]:
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, cst.Tuple | cst.List):
        return {name for element in target.elements for name in _targets(element.value)}
    return _targets(target.value) if isinstance(target, cst.StarredElement) else set()
