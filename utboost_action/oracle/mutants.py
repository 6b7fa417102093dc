"""Mutants of the gold patch: a test adds something when it kills one that the original tests let live.

One small fault at a time, only on lines that gold added or changed. Which mutants the original tests let
live is found by running them; that a mutant may be equivalent to gold does no harm, since nothing kills it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import libcst as cst

from utboost_action.oracle.rewriting import (
    Parsed,
    Rewriting,
    changed_lines,
    is_docstring,
    is_python,
    negation,
    parsed,
    replaced,
    walk,
)

_COMPARISONS: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.LessThan: cst.LessThanEqual,
    cst.LessThanEqual: cst.LessThan,
    cst.GreaterThan: cst.GreaterThanEqual,
    cst.GreaterThanEqual: cst.GreaterThan,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
}
_ARITHMETIC: dict[type[cst.BaseBinaryOp], type[cst.BaseBinaryOp]] = {
    cst.Add: cst.Subtract,
    cst.Subtract: cst.Add,
    cst.Multiply: cst.FloorDivide,
    cst.Divide: cst.Multiply,
    cst.FloorDivide: cst.Multiply,
}
_SPEAKING = frozenset(("warn", "debug", "info", "warning", "error", "exception", "critical", "log", "print"))
_T = TypeVar("_T")
_Mutation = tuple[str, cst.CSTNode]
_Operator = Callable[[cst.CSTNode], Iterator[_Mutation]]


def mutants(path: str, base: str, gold: str, limit: int = 12) -> list[Rewriting]:
    """At most `limit` mutants of one file of gold, each operator in turn.

    base, gold: the file's text without and with the gold patch ("" where base lacks it).
    """
    source = parsed(gold)
    if source is None:
        return []
    changed = changed_lines(base, gold)
    planned: dict[str, list[tuple[str, int, cst.CSTNode, cst.CSTNode]]] = {}
    for node in walk(source.module):
        line, _ = source.lines.get(node, (0, 0))
        if line in changed and not isinstance(node, cst.Module) and not _in_message(source, node):
            for operator in _OPERATORS:
                for name, new in operator(node):
                    planned.setdefault(operator.__name__, []).append((name, line, node, new))
    texts = {gold}
    made: list[Rewriting] = []
    for name, line, node, new in _in_turn(list(planned.values())):
        if len(made) == limit:
            break
        try:
            text = replaced(source, node, new)
        except cst.CSTValidationError:
            continue
        if text not in texts and is_python(text):
            texts.add(text)
            made.append(Rewriting(f"{name}, line {line}", path, text))
    return made


def _in_message(source: Parsed, node: cst.CSTNode) -> bool:
    """Whether a node is part of what is raised or warned of: its words are nobody's business but gold's."""
    while (parent := source.parents.get(node)) is not None:
        if isinstance(parent, cst.Raise):
            return True
        if isinstance(parent, cst.Call):
            name = parent.func.attr if isinstance(parent.func, cst.Attribute) else parent.func
            if isinstance(name, cst.Name) and name.value in _SPEAKING:
                return True
        node = parent
    return False


def _in_turn(lists: list[list[_T]]) -> Iterator[_T]:
    """The first of each list, then the second of each, and so on."""
    for n in range(max(map(len, lists), default=0)):
        yield from (some[n] for some in lists if n < len(some))


def _conditions(node: cst.CSTNode) -> Iterator[_Mutation]:
    if isinstance(node, cst.If | cst.IfExp | cst.While):
        space = cst.SimpleWhitespace(" ")
        test = node.with_changes(test=negation(node.test))
        if isinstance(node, cst.If):
            test = test.with_changes(whitespace_before_test=space)
        elif isinstance(node, cst.While):
            test = test.with_changes(whitespace_after_while=space)
        yield "condition negated", test


def _comparisons(node: cst.CSTNode) -> Iterator[_Mutation]:
    if isinstance(node, cst.Comparison):
        for n, target in enumerate(node.comparisons):
            new = _COMPARISONS.get(type(target.operator))
            if new is not None:
                parts = list(node.comparisons)
                parts[n] = target.with_changes(operator=new())
                yield (
                    f"{type(target.operator).__name__} into {new.__name__}",
                    node.with_changes(comparisons=parts),
                )


def _boolean(node: cst.CSTNode) -> Iterator[_Mutation]:
    if isinstance(node, cst.BooleanOperation):
        other = cst.Or() if isinstance(node.operator, cst.And) else cst.And()
        yield "left side alone", node.left
        yield "right side alone", node.right
        yield f"into {type(other).__name__}", node.with_changes(operator=other)


def _calls(node: cst.CSTNode) -> Iterator[_Mutation]:
    """Arguments left out, and a call's one argument in place of the call."""
    if not isinstance(node, cst.Call):
        return
    for n, argument in enumerate(node.args):
        if argument.keyword is not None:
            rest = [*node.args[:n], *node.args[n + 1 :]]
            yield f"without {argument.keyword.value}", node.with_changes(args=_without_last_comma(rest))
    if len(node.args) > 1 and node.args[-1].keyword is None and not node.args[-1].star:
        yield "without the last argument", node.with_changes(args=_without_last_comma(list(node.args[:-1])))
    if len(node.args) == 1 and node.args[0].keyword is None and not node.args[0].star:
        yield "argument in place of the call", node.args[0].value
    if isinstance(node.func, cst.Attribute):
        yield f"without {node.func.attr.value}", node.func.value


def _elements(node: cst.CSTNode) -> Iterator[_Mutation]:
    """An element of a literal left out."""
    if isinstance(node, cst.List | cst.Set | cst.Dict) and len(node.elements) > 1:
        for n in range(len(node.elements)):
            rest = [*node.elements[:n], *node.elements[n + 1 :]]
            yield f"element {n + 1} left out", node.with_changes(elements=rest)
    if isinstance(node, cst.Tuple) and len(node.elements) > 2:
        for n in range(len(node.elements)):
            rest = [*node.elements[:n], *node.elements[n + 1 :]]
            yield f"element {n + 1} left out", node.with_changes(elements=rest)


def _constants(node: cst.CSTNode) -> Iterator[_Mutation]:
    if isinstance(node, cst.Integer):
        yield "number plus one", node.with_changes(value=str(int(node.value.replace("_", ""), 0) + 1))
    elif isinstance(node, cst.Name) and node.value in ("True", "False"):
        yield "truth turned round", node.with_changes(value="False" if node.value == "True" else "True")
    elif isinstance(node, cst.SimpleString) and node.raw_value and not node.prefix:
        yield "empty text", node.with_changes(value=node.quote + node.quote)


def _arithmetic(node: cst.CSTNode) -> Iterator[_Mutation]:
    if isinstance(node, cst.BinaryOperation):
        new = _ARITHMETIC.get(type(node.operator))
        if new is not None:
            yield f"into {new.__name__}", node.with_changes(operator=new())


def _statements(node: cst.CSTNode) -> Iterator[_Mutation]:
    """A statement left out, a value not returned, an `if` without its `else`."""
    if isinstance(node, cst.If) and node.orelse is not None:
        yield "without else", node.with_changes(orelse=None)
    if not isinstance(node, cst.SimpleStatementLine) or is_docstring(node):
        return
    small = node.body[0] if len(node.body) == 1 else None
    if isinstance(small, cst.Return) and small.value is not None:
        yield "nothing returned", node.with_changes(body=[cst.Return()])
    elif isinstance(small, cst.Assign | cst.AugAssign | cst.Expr | cst.Raise | cst.Return):
        yield "statement left out", node.with_changes(body=[cst.Pass()])


_OPERATORS: tuple[_Operator, ...] = (
    _conditions,
    _boolean,
    _elements,
    _comparisons,
    _calls,
    _constants,
    _arithmetic,
    _statements,
)


def _without_last_comma(arguments: list[cst.Arg]) -> list[cst.Arg]:
    if not arguments:
        return []
    return [*arguments[:-1], arguments[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)]
