"""What an edited file adds to the original, by syntax tree: existing code must be as it was.

Comments and blank lines are free; every statement of the original must still be there, in its order.
What is new may be imports, functions, classes and simple assignments.
"""

from __future__ import annotations

import ast
import symtable
import unittest
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from utboost_action.generation.gates import Gate, RejectedError
from utboost_action.generation.statements import (
    all_bound,
    bound_names,
    fixture_names,
    import_pairs,
    is_autouse,
    is_fixture,
    reaches_out,
    used_globals,
)
from utboost_action.generation.syntax import (
    Function,
    UnusableSourceError,
    dump,
    first_line,
    is_test_name,
    last_line,
    lines_of,
    parse,
)


class AdditionKind(StrEnum):
    """What a new statement is to the tests."""

    IMPORT = "import"
    HELPER = "helper"
    TEST = "test"  # a test function, or a new class with test methods


@dataclass(frozen=True, slots=True)
class Addition:
    """One new statement of a file.

    after: how many lines of the original stand before it (0 in a new file). owner: the existing class
    it is in, "" at module level. lines: its source, comments directly above included, ends left out.
    names: what it binds.
    """

    path: str
    after: int
    owner: str
    kind: AdditionKind
    names: tuple[str, ...]
    lines: tuple[str, ...]
    node: ast.stmt


# defined at module level or in an existing class, these change how existing tests run
_STEERING = frozenset(
    (
        "setUp",
        "tearDown",
        "setUpClass",
        "tearDownClass",
        "setUpTestData",
        "asyncSetUp",
        "asyncTearDown",
        "setUpModule",
        "tearDownModule",
        "setup",
        "teardown",
        "setup_class",
        "teardown_class",
        "setup_method",
        "teardown_method",
        "setup_module",
        "teardown_module",
        "setup_function",
        "teardown_function",
        "pytestmark",
        "pytest_plugins",
        "pytest_generate_tests",
        "collect_ignore",
        "collect_ignore_glob",
        "load_tests",
        "__test__",
        "fixtures",
        "__all__",
    )
)

_TEST_CASE = frozenset(dir(unittest.TestCase))


def additions_of(path: str, original: str, edited: str) -> tuple[Addition, ...]:
    """Every statement that `edited` has beyond `original` ("" for a new file), in order.

    Raises RejectedError: UNPARSABLE, EXISTING_CHANGED, STRAY_STATEMENT, REDEFINES, RUNNER_CONFIGURATION.
    """
    try:
        old, new = parse(original), parse(edited)
    except UnusableSourceError as problem:
        raise RejectedError(Gate.UNPARSABLE, f"{path}: {problem}") from None
    comparison = _Comparison(path, lines_of(edited), original == "")
    found = tuple(comparison.added(old.body, new.body, "", 0))
    _check_names(path, old, found)
    _check_use(path, original, old, found)
    return found


def test_methods(node: ast.stmt) -> list[Function]:
    """The test functions directly in a class."""
    if not isinstance(node, ast.ClassDef):
        return []
    return [child for child in node.body if isinstance(child, Function) and is_test_name(child.name)]


test_methods.__test__ = False  # type: ignore[attr-defined]  # pytest: no test


class _Comparison:
    """The walk over both trees of one file."""

    def __init__(self, path: str, lines: list[str], is_new: bool) -> None:
        self.path = path
        self.lines = lines
        self.is_new = is_new

    def added(
        self, old: Sequence[ast.stmt], new: Sequence[ast.stmt], owner: str, start: int
    ) -> Iterator[Addition]:
        """The additions of one body. start: lines of the original before its first statement."""
        after, position = start, 0
        for number, node in enumerate(new):
            known = old[position] if position < len(old) else None
            if known is not None and (inner := self._same(known, node, owner)) is not None:
                yield from inner
                after, position = last_line(known), position + 1
            elif not (self.is_new and not owner and _is_docstring(node, new)):
                beside = [*new[max(0, number - 1) : number], *new[number + 1 : number + 2]]
                if any(first_line(a) <= last_line(node) and first_line(node) <= last_line(a) for a in beside):
                    raise RejectedError(
                        Gate.STRAY_STATEMENT, f"{self.path} line {node.lineno}: two statements on a line"
                    )
                yield self._addition(node, owner, after)
        if position < len(old):
            name = ", ".join(bound_names(old[position])) or type(old[position]).__name__
            raise RejectedError(
                Gate.EXISTING_CHANGED,
                f"{self.path} line {first_line(old[position])}: {name} is not as it was",
            )

    def _same(self, old: ast.stmt, new: ast.stmt, owner: str) -> list[Addition] | None:
        """The additions inside `new` where it is `old`, or `old` with more in it; else None."""
        if type(old) is not type(new):
            return None
        if dump(old) == dump(new):
            return []
        if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef) and _header(old) == _header(new):
            name = f"{owner}.{old.name}" if owner else old.name
            return list(self.added(old.body, new.body, name, first_line(old.body[0]) - 1))
        if isinstance(old, ast.ImportFrom) and isinstance(new, ast.ImportFrom):
            return self._wider_import(old, new, owner)
        return None

    def _wider_import(self, old: ast.ImportFrom, new: ast.ImportFrom, owner: str) -> list[Addition] | None:
        had, has = {dump(alias) for alias in old.names}, {dump(alias) for alias in new.names}
        if (old.module, old.level) != (new.module, new.level) or not had < has:
            return None
        more = ast.ImportFrom(new.module, [alias for alias in new.names if dump(alias) not in had], new.level)
        lines = (" " * old.col_offset + ast.unparse(more),)
        return [
            Addition(self.path, last_line(old), owner, AdditionKind.IMPORT, bound_names(more), lines, more)
        ]

    def _addition(self, node: ast.stmt, owner: str, after: int) -> Addition:
        names = bound_names(node)
        where = f"{self.path}: {', '.join(names) or type(node).__name__}"
        simple = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom) if not owner else ()
        if not isinstance(node, (*simple, Function, ast.ClassDef)):
            raise RejectedError(
                Gate.STRAY_STATEMENT, f"{where} (line {node.lineno}) is no test, helper or import"
            )
        if (steering := next(reaches_out(node), None)) is not None:
            raise RejectedError(Gate.STRAY_STATEMENT, f"{where}: {steering}, as soon as it is imported")
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            raise RejectedError(Gate.REDEFINES, f"{self.path}: a star import may redefine anything")
        if any(name in _STEERING or name.startswith("pytest_") for name in names) or is_autouse(node):
            raise RejectedError(Gate.RUNNER_CONFIGURATION, f"{where} changes how other tests run")
        if owner and isinstance(node, Function) and _is_inherited(node.name):
            raise RejectedError(Gate.REDEFINES, f"{where} replaces what {owner} inherits")
        is_test = bool(test_methods(node)) or (isinstance(node, Function) and is_test_name(node.name))
        kind = AdditionKind.TEST if is_test else AdditionKind.HELPER
        if isinstance(node, ast.Import | ast.ImportFrom):
            kind = AdditionKind.IMPORT
        return Addition(self.path, after, owner, kind, names, self._source(node), node)

    def _source(self, node: ast.stmt) -> tuple[str, ...]:
        first = first_line(node) - 1
        while first > 0 and self.lines[first - 1].strip().startswith("#"):
            first -= 1
        return tuple(self.lines[first : last_line(node)])


def _check_names(path: str, old: ast.Module, found: Sequence[Addition]) -> None:
    """No addition may bind a name that its scope has already, in the original or by another addition."""
    taken: dict[str, set[str]] = {"": {name for node in old.body for name in all_bound(node)}}
    for owner, node in _classes(old.body, ""):
        taken[owner] = {name for child in node.body for name in bound_names(child)}
    had = {pair for node in ast.walk(old) if isinstance(node, ast.stmt) for pair in import_pairs(node)}
    for addition in found:
        scope = taken.setdefault(addition.owner, set())
        for name in addition.names:
            pairs = {pair for pair in import_pairs(addition.node) if pair[1] == name}
            if name in scope and not (pairs and pairs <= had):
                raise RejectedError(Gate.REDEFINES, f"{path}: {name} exists already")
        scope.update(addition.names)
        had.update(import_pairs(addition.node))


def _check_use(path: str, original: str, old: ast.Module, found: Sequence[Addition]) -> None:
    """No new name of the module may be one that its code uses already: of a builtin, fixture, star import."""
    if not original:
        return
    try:
        used = used_globals(symtable.symtable(original, path, "exec"))
    except SyntaxError as problem:  # parses, but does not compile
        raise RejectedError(Gate.UNPARSABLE, f"{path}: {problem}") from None
    used -= {name for node in old.body for name in all_bound(node)}  # judged by `_check_names`
    asked = {node.arg for node in ast.walk(old) if isinstance(node, ast.arg)}
    asked |= {str(node.value) for node in ast.walk(old) if isinstance(node, ast.Constant)}  # usefixtures
    for addition in found:
        taken = used | (asked if is_fixture(addition.node) else set())
        names = {*addition.names, *fixture_names(addition.node)}
        for name in taken.intersection(names if not addition.owner else ()):
            raise RejectedError(Gate.REDEFINES, f"{path}: existing code uses another {name}")


def _is_inherited(name: str) -> bool:
    """Whether a method of that name may replace one that the class's existing tests call."""
    return name in _TEST_CASE or name.startswith(("assert", "__"))


def _classes(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, node
            yield from _classes(node.body, f"{prefix}{node.name}.")


def _header(node: ast.ClassDef) -> str:
    return node.name + "".join(dump(part) for part in (*node.bases, *node.keywords, *node.decorator_list))


def _is_docstring(node: ast.stmt, body: Sequence[ast.stmt]) -> bool:
    return node is body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
