"""Behaviour-preserving variants of the gold patch: an over-narrow test is one that tells them from gold.

Each rewrites a function that gold changed: locals renamed, a conditional turned round, a value computed
in a helper of its own, a result named before it is returned, independent statements swapped. A rewriting
is done only where it is safe by the text; the original tests check it again before it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import libcst as cst
import libcst.matchers as m

from utboost_action.oracle.rewriting import (
    Parsed,
    Rewriting,
    calls,
    changed_lines,
    functions_with,
    is_docstring,
    negation,
    parsed,
    replaced,
    walk,
)

_LOOKS_AT_LOCALS = ("locals", "vars", "dir", "eval", "exec", "super")
_SUFFIX = "_renamed"
_PURE = (cst.Name, cst.Integer, cst.Float, cst.SimpleString, cst.Tuple, cst.List, cst.Dict, cst.Set)
_PARTS = (cst.Element, cst.DictElement, cst.LeftParen, cst.RightParen, cst.Comma)

_Rewrite = Callable[[Parsed, cst.FunctionDef, Collection[int]], Iterator[tuple[str, str]]]


def variants(path: str, base: str, gold: str, limit: int = 6) -> list[Rewriting]:
    """At most `limit` variants of one file of gold, each of another kind before a kind comes twice.

    base, gold: the file's text without and with the gold patch ("" where base lacks it). [] where libcst
    cannot read the file or gold changes no function in it.
    """
    source = parsed(gold)
    if source is None:
        return []
    changed = changed_lines(base, gold)
    by_kind: list[list[Rewriting]] = []
    for rewrite in _REWRITES:
        found = []
        for function in functions_with(source, changed):
            for name, text in rewrite(source, function, changed):
                if text != gold:
                    found.append(Rewriting(name, path, text))
        by_kind.append(found)
    rounds = max(map(len, by_kind), default=0)
    ordered = [found[n] for n in range(rounds) for found in by_kind if n < len(found)]
    return ordered[:limit]


def renamed_locals(
    source: Parsed, function: cst.FunctionDef, _changed: Collection[int]
) -> Iterator[tuple[str, str]]:
    """Every plain local of the function gets another name."""
    names = _own_locals(function)
    if names:
        new = function.with_changes(body=function.body.visit(_Renaming(names)))
        yield f"renamed locals of {function.name.value}", replaced(source.module, function, new)


def inverted_conditionals(
    source: Parsed, function: cst.FunctionDef, changed: Collection[int]
) -> Iterator[tuple[str, str]]:
    """`if c: A else: B` becomes `if not (c): B else: A`; changed lines first, at most two."""
    found: list[tuple[int, cst.CSTNode, cst.CSTNode]] = []
    for node in _own_nodes(function):
        if isinstance(node, cst.IfExp):
            new: cst.CSTNode = node.with_changes(test=negation(node.test), body=node.orelse, orelse=node.body)
        elif isinstance(node, cst.If) and not _is_elif(function, node):
            new = _inverted(node)
        else:
            continue
        first, last = source.lines[node]
        found.append((0 if any(first <= line <= last for line in changed) else 1, node, new))
    for _, node, new in sorted(found, key=lambda item: item[0])[:2]:
        name = f"inverted conditional in {function.name.value}, line {source.lines[node][0]}"
        yield name, replaced(source.module, node, new)


def extracted_helpers(
    source: Parsed, function: cst.FunctionDef, changed: Collection[int]
) -> Iterator[tuple[str, str]]:
    """The value of a `return` or an assignment is computed by a nested function."""
    yield from _by_statement(source, function, changed, "extracted helper", _with_helper)


def named_results(
    source: Parsed, function: cst.FunctionDef, changed: Collection[int]
) -> Iterator[tuple[str, str]]:
    """A returned value is given a name first."""
    yield from _by_statement(source, function, changed, "named result", _with_name)


def reordered(
    source: Parsed, function: cst.FunctionDef, _changed: Collection[int]
) -> Iterator[tuple[str, str]]:
    """Two neighbouring assignments of plain values change places; where there are none, two functions."""
    for block in _own_nodes(function):
        if isinstance(block, cst.IndentedBlock):
            for n in range(len(block.body) - 1):
                if _independent(block.body[n], block.body[n + 1]):
                    name = f"reordered statements in {function.name.value}"
                    yield name, replaced(source.module, block, _swapped(block, n))
                    return
    for holder in walk(source.module):
        if isinstance(holder, cst.Module | cst.IndentedBlock) and function in holder.body:
            body = list(holder.body)
            place = body.index(function)
            for n in (place, place - 1):
                if 0 <= n < len(body) - 1 and _free_functions(body[n], body[n + 1]):
                    new = _swapped(holder, n)
                    text = new.code if isinstance(new, cst.Module) else replaced(source.module, holder, new)
                    yield f"reordered {function.name.value} and its neighbour", text
                    return


_REWRITES: tuple[_Rewrite, ...] = (
    renamed_locals,
    extracted_helpers,
    inverted_conditionals,
    named_results,
    reordered,
)


class _Renaming(m.MatcherDecoratableTransformer):
    """Renames plain names; attributes, keywords of calls and names of parameters stay."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names

    def visit_Attribute(self, node: cst.Attribute) -> bool:  # noqa: N802 (libcst's name)
        return True

    def leave_Attribute(  # noqa: N802
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
    if calls(function, _LOOKS_AT_LOCALS):
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


def _own_nodes(function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    """The nodes of a function's body, those of functions inside it left out."""
    todo: list[cst.CSTNode] = [function.body]
    while todo:
        node = todo.pop(0)
        if isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            continue
        yield node
        todo = [*node.children, *todo]


def _is_elif(function: cst.FunctionDef, node: cst.If) -> bool:
    return any(isinstance(other, cst.If) and other.orelse is node for other in walk(function))


def _inverted(node: cst.If) -> cst.If:
    orelse = node.orelse
    if orelse is None:
        otherwise: cst.BaseSuite = cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])])
    elif isinstance(orelse, cst.If):
        otherwise = cst.IndentedBlock([orelse.with_changes(leading_lines=[])])
    else:
        otherwise = orelse.body
    return node.with_changes(
        test=negation(node.test),
        body=otherwise,
        orelse=cst.Else(body=node.body),
        whitespace_before_test=cst.SimpleWhitespace(" "),
    )


_Statement = Callable[[cst.SimpleStatementLine, frozenset[str]], list[cst.BaseStatement] | None]


def _by_statement(
    source: Parsed, function: cst.FunctionDef, changed: Collection[int], what: str, rewrite: _Statement
) -> Iterator[tuple[str, str]]:
    """Rewrite one statement of the function into several: one on a changed line where there is one."""
    if calls(function, _LOOKS_AT_LOCALS):
        return
    used = frozenset(node.value for node in walk(source.module) if isinstance(node, cst.Name))
    found = []
    for block in _own_nodes(function):
        if not isinstance(block, cst.IndentedBlock):
            continue
        for n, statement in enumerate(block.body):
            new = rewrite(statement, used) if isinstance(statement, cst.SimpleStatementLine) else None
            if new is not None:
                first, last = source.lines[statement]
                near = 0 if any(first <= line <= last for line in changed) else 1
                body = [*block.body[:n], *new, *block.body[n + 1 :]]
                found.append((near, first, block, block.with_changes(body=body)))
    for _, line, old, changed_block in sorted(found, key=lambda item: item[:2])[:1]:
        yield f"{what} in {function.name.value}, line {line}", replaced(source.module, old, changed_block)


def _with_helper(statement: cst.SimpleStatementLine, used: frozenset[str]) -> list[cst.BaseStatement] | None:
    value = _value_of(statement)
    name = "extracted_helper"
    if (
        value is None
        or name in used
        or not isinstance(
            value,
            cst.Call
            | cst.BinaryOperation
            | cst.BooleanOperation
            | cst.Comparison
            | cst.IfExp
            | cst.Tuple
            | cst.List
            | cst.Dict
            | cst.Subscript
            | cst.UnaryOperation,
        )
    ):
        return None
    helper = cst.FunctionDef(
        name=cst.Name(name),
        params=cst.Parameters(),
        body=cst.IndentedBlock([cst.SimpleStatementLine([cst.Return(_in_parentheses(value))])]),
        leading_lines=statement.leading_lines,
    )
    (small,) = statement.body
    assert isinstance(small, cst.Return | cst.Assign)
    call = small.with_changes(value=cst.Call(cst.Name(name)))
    if isinstance(call, cst.Return):
        call = call.with_changes(whitespace_after_return=cst.SimpleWhitespace(" "))
    return [helper, statement.with_changes(body=[call], leading_lines=[])]


def _with_name(statement: cst.SimpleStatementLine, used: frozenset[str]) -> list[cst.BaseStatement] | None:
    value = _value_of(statement)
    (small,) = statement.body if len(statement.body) == 1 else (None,)
    name = "named_result"
    if value is None or name in used or not isinstance(small, cst.Return):
        return None
    assign = cst.Assign([cst.AssignTarget(cst.Name(name))], _in_parentheses(value))
    returned = cst.Return(cst.Name(name), whitespace_after_return=cst.SimpleWhitespace(" "))
    return [statement.with_changes(body=[assign]), statement.with_changes(body=[returned], leading_lines=[])]


def _value_of(statement: cst.SimpleStatementLine) -> cst.BaseExpression | None:
    """The value of a lone `return` or assignment that another function may compute in its place."""
    if len(statement.body) != 1 or not isinstance(statement.body[0], cst.Return | cst.Assign):
        return None
    value = statement.body[0].value
    tied = (cst.Yield, cst.Await, cst.NamedExpr)
    if value is None or any(isinstance(node, tied) for node in walk(value)):
        return None
    return value


def _in_parentheses(value: cst.BaseExpression) -> cst.BaseExpression:
    """So that an expression over several lines, or a bare tuple, stands anywhere."""
    if value.lpar:
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _independent(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    first, second = _plain_assignment(one), _plain_assignment(other)
    if first is None or second is None:
        return False
    (name, reads), (other_name, other_reads) = first, second
    return name != other_name and name not in other_reads and other_name not in reads


def _plain_assignment(node: cst.CSTNode) -> tuple[str, set[str]] | None:
    """(name, names read) of `name = value` where computing the value can have no effect."""
    if not m.matches(node, m.SimpleStatementLine(body=[m.Assign(targets=[m.AssignTarget(target=m.Name())])])):
        return None
    assign = cst.ensure_type(cst.ensure_type(node, cst.SimpleStatementLine).body[0], cst.Assign)
    inside = [n for n in walk(assign.value) if isinstance(n, cst.BaseExpression | cst.BaseElement)]
    if not all(isinstance(n, _PURE + _PARTS) for n in inside):
        return None
    name = cst.ensure_type(assign.targets[0].target, cst.Name).value
    return name, {n.value for n in walk(assign.value) if isinstance(n, cst.Name)}


def _free_functions(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Two plain functions of different names, whose definitions compute nothing."""
    return (
        all(
            isinstance(node, cst.FunctionDef)
            and not node.decorators
            and all(
                p.default is None or isinstance(p.default, _PURE)
                for p in walk(node)
                if isinstance(p, cst.Param)
            )
            for node in (one, other)
        )
        and one.name.value != other.name.value
    )  # type: ignore[attr-defined]  # both are functions


def _swapped(block: cst.Module | cst.IndentedBlock, n: int) -> cst.Module | cst.IndentedBlock:
    body = list(block.body)
    if n == 0 and is_docstring(body[0]):
        return block
    body[n], body[n + 1] = body[n + 1], body[n]
    return block.with_changes(body=body)
