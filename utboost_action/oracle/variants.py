"""Behaviour-preserving variants of the gold patch: an over-narrow test is one that tells them from gold.

Each rewrites a function that gold changed: locals renamed, a conditional turned round, a value computed
in a helper of its own, a result named before it is returned, independent statements swapped. A rewriting
is done only where it is safe by the text; the original tests check it again before it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import libcst as cst

from utboost_action.oracle.renaming import LOOKS_AT_LOCALS, renamed_locals
from utboost_action.oracle.rewriting import (
    Parsed,
    Rewriting,
    calls,
    changed_lines,
    functions_with,
    negation,
    parsed,
    replaced,
    walk,
)

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
        yield name, replaced(source, node, new)


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
                    yield name, replaced(source, block, _swapped(block, n))
                    return
    for holder in walk(source.module):
        if isinstance(holder, cst.Module | cst.IndentedBlock) and function in holder.body:
            body = list(holder.body)
            place = body.index(function)
            for n in (place, place - 1):
                if 0 <= n < len(body) - 1 and _free_functions(body[n], body[n + 1]):
                    name = f"reordered {function.name.value} and its neighbour"
                    yield name, replaced(source, holder, _swapped(holder, n))
                    return


_REWRITES: tuple[_Rewrite, ...] = (
    renamed_locals,
    extracted_helpers,
    inverted_conditionals,
    named_results,
    reordered,
)


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
    if calls(function, LOOKS_AT_LOCALS):
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
        yield f"{what} in {function.name.value}, line {line}", replaced(source, old, changed_block)


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
    if value is None or calls(value, ("super",)) or any(isinstance(node, tied) for node in walk(value)):
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
    match node:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ):
            inside = [n for n in walk(value) if isinstance(n, cst.BaseExpression | cst.BaseElement)]
            if all(isinstance(n, _PURE + _PARTS) for n in inside):
                return name, {n.value for n in inside if isinstance(n, cst.Name)}
    return None


def _free_functions(one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Two plain functions of different names, whose definitions compute nothing."""
    if not isinstance(one, cst.FunctionDef) or not isinstance(other, cst.FunctionDef):
        return False
    computes_nothing = all(
        not node.decorators
        and all(
            param.default is None or isinstance(param.default, _PURE)
            for param in walk(node)
            if isinstance(param, cst.Param)
        )
        for node in (one, other)
    )
    return computes_nothing and one.name.value != other.name.value


def _swapped(block: cst.Module | cst.IndentedBlock, n: int) -> cst.CSTNode:
    body = list(block.body)
    body[n], body[n + 1] = body[n + 1], body[n]
    return block.with_changes(body=body)
