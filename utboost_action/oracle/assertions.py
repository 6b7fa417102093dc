"""A test's assertions one by one: what base says at the later ones, which its first failure hides.

A test stops at its first failure. A candidate that mends the first assertion and leaves the second as
base has it is an incomplete fix, though its message is not the one that base's whole test shows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import libcst as cst

from utboost_action.oracle.rewriting import is_docstring, is_python, walk

_COPY = re.compile(r"_utboost_\d+\b")
_LIMIT = 8  # assertions of one test that are tried alone


def with_single_assertions(text: str, names: Collection[str]) -> str:
    """The test file with, behind each function of these names, copies that keep one assertion each.

    The copies are called `NAME_utboost_N`. "" where the file cannot be read or no function has several.
    """
    if not is_python(text):
        return ""
    module = cst.parse_module(text)
    copied = module.visit(_Copying(names)).code
    return copied if copied != module.code else ""


def base_messages(messages: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Test id -> the messages of its copies, from the messages of a run on base."""
    found: dict[str, list[str]] = {}
    for test, message in messages.items():
        original = original_id(test)
        if original != test and message:
            found.setdefault(original, []).append(message)
    return {test: tuple(dict.fromkeys(texts)) for test, texts in found.items()}


def original_id(test: str) -> str:
    """The id of the test that a copy was made of; of any other test its own."""
    return _COPY.sub("", test)


def _copies(function: cst.FunctionDef) -> list[cst.FunctionDef]:
    assertions = [node for node in walk(function.body) if _is_assertion(node)]
    if len(assertions) < 2 or not isinstance(function.body, cst.IndentedBlock):
        return []
    copies = []
    for number, kept in enumerate(assertions[:_LIMIT]):
        others = [node for node in assertions if node is not kept]
        body = function.body.visit(_Dropping(others))
        assert isinstance(body, cst.IndentedBlock)
        if len(body.body) > 1 and is_docstring(body.body[0]):  # unittest would print it as the test's name
            body = body.with_changes(body=body.body[1:])
        name = cst.Name(f"{function.name.value}_utboost_{number}")
        copies.append(function.with_changes(name=name, body=body, leading_lines=[cst.EmptyLine()]))
    return copies


class _Copying(cst.CSTTransformer):
    """Puts a function's copies behind it."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names

    def leave_FunctionDef(  # noqa: N802 (libcst's name)
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef | cst.FlattenSentinel[cst.BaseStatement]:
        if original_node.name.value not in self._names:
            return updated_node
        return cst.FlattenSentinel([updated_node, *_copies(original_node)])


class _Dropping(cst.CSTTransformer):
    """Puts `pass` in place of statements."""

    def __init__(self, dropped: Collection[cst.CSTNode]) -> None:
        super().__init__()
        self._dropped = {id(node) for node in dropped}

    def leave_SimpleStatementLine(  # noqa: N802 (libcst's name)
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        if id(original_node) in self._dropped:
            return updated_node.with_changes(body=[cst.Pass()])
        return updated_node


def _is_assertion(node: cst.CSTNode) -> bool:
    """A line with `assert ...`, `self.assertX(...)`, `assert_x(...)` or `mod.assert_x(...)` alone."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return False
    small = node.body[0]
    if isinstance(small, cst.Assert):
        return True
    if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return False
    called = small.value.func
    name = called.attr if isinstance(called, cst.Attribute) else called
    return isinstance(name, cst.Name) and name.value.lower().startswith("assert")
