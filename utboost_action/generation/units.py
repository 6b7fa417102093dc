"""Units: one new test function each, with the imports and helpers that it needs and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from utboost_action.generation.additions import Addition, AdditionKind, test_methods
from utboost_action.generation.gates import Gate, RejectedError
from utboost_action.generation.statements import import_pairs
from utboost_action.generation.syntax import (
    Function,
    UnusableSourceError,
    dump,
    first_line,
    is_test_name,
    last_line,
    parse,
)
from utboost_action.storage import content_key


@dataclass(frozen=True, slots=True)
class Unit:
    """One new test function as it could enter the bank.

    sample: the label of the reply it came from. path, owner, test: its file, its class ("" at module
    level; dotted when nested) and its name. support: the imports and helpers that it needs, in all
    files. addition: the test itself; where a new class holds it, that class with this test alone.
    new_file: whether `path` is a file that the sample makes.
    key: the same for tests that do the same (names of the test and of its variables, docstrings, comments
    and layout aside).
    """

    sample: str
    path: str
    owner: str
    test: str
    addition: Addition
    support: tuple[Addition, ...]
    new_file: bool
    key: str
    reason: str = ""

    @property
    def additions(self) -> tuple[Addition, ...]:
        """Everything that the unit adds, the test last."""
        return (*self.support, self.addition)

    @property
    def new_class(self) -> str:
        """The name of the class that the unit adds around its test, "" where there is none."""
        return self.addition.names[0] if isinstance(self.addition.node, ast.ClassDef) else ""


def units_of(sample: str, additions: Sequence[Addition], new_files: Collection[str]) -> tuple[Unit, ...]:
    """The units of one reply, in order. Raises RejectedError (NO_NEW_TEST, RUNNER_CONFIGURATION)."""
    tests = [
        single
        for addition in additions
        if addition.kind is AdditionKind.TEST
        for single in _singles(addition)
    ]
    if not tests:
        raise RejectedError(Gate.NO_NEW_TEST, "the edits add no test function")
    with_tests = {addition.path for addition, _ in tests}
    elsewhere = [addition for addition in additions if addition.path not in with_tests]
    for addition in elsewhere:
        if addition.path not in new_files and isinstance(addition.node, ast.Assign | ast.AnnAssign):
            raise RejectedError(  # a settings file, a plugin
                Gate.RUNNER_CONFIGURATION,
                f"{addition.path}: {', '.join(addition.names)} is set beside no test",
            )
    units = []
    for addition, function in tests:
        here = [one for one in additions if one.path == addition.path and one.kind is not AdditionKind.TEST]
        support = (*elsewhere, *_needed(addition.node, here))
        units.append(
            Unit(
                sample=sample,
                path=addition.path,
                owner=addition.names[0] if isinstance(addition.node, ast.ClassDef) else addition.owner,
                test=function.name,
                addition=addition,
                support=support,
                new_file=addition.path in new_files,
                key=_key("" if addition.path in new_files else addition.path, addition, function, support),
            )
        )
    return tuple(units)


def renamed(unit: Unit, test: str, new_class: str) -> Unit:
    """The unit under another test name and, where it adds a class, another class name.

    Raises RejectedError (UNPARSABLE) for a test whose name does not stand behind its `def` as it is.
    """
    lines = list(unit.addition.lines)
    if test != unit.test:
        pattern = re.compile(rf"\bdef(\s+){re.escape(unit.test)}\b")
        spot = _def_line(lines, unit.test, pattern)
        if spot is None:
            raise RejectedError(Gate.UNPARSABLE, f"{unit.test!a} cannot be given another name")
        lines[spot] = pattern.sub(rf"def\g<1>{test}", lines[spot])
    names = unit.addition.names
    owner = unit.owner
    if unit.new_class and new_class != unit.new_class:
        pattern = re.compile(rf"\b{re.escape(unit.new_class)}\b")
        lines = [pattern.sub(new_class, line) for line in lines]
        names, owner = (new_class,), new_class
    elif not unit.new_class:
        names = (test,)
    return replace(
        unit, test=test, owner=owner, addition=replace(unit.addition, lines=tuple(lines), names=names)
    )


def _def_line(lines: Sequence[str], test: str, pattern: re.Pattern[str]) -> int | None:
    """The number of the line with the test's own `def`: not one in a string or a comment."""
    code = ["" if line.lstrip().startswith("#") else line for line in lines]  # comments stand anywhere
    inside = next((line[:1].isspace() for line in code if line), False)
    try:
        tree = parse("\n".join(["if 1:" if inside else "", *code]))
    except UnusableSourceError:
        return None
    found = [one.lineno - 2 for one in ast.walk(tree) if isinstance(one, Function) and one.name == test]
    return next((number for number in found if pattern.search(lines[number])), None)


def _singles(addition: Addition) -> list[tuple[Addition, Function]]:
    """The addition once for each test in it: a class is kept with that test alone."""
    node = addition.node
    if isinstance(node, Function):
        return [(addition, node)]
    assert isinstance(node, ast.ClassDef)
    methods = test_methods(node)
    result = []
    for method in methods:
        body = [child for child in node.body if child is method or child not in methods]
        alone = ast.ClassDef(node.name, node.bases, node.keywords, body, node.decorator_list)
        start = last_line(node) - len(addition.lines) + 1  # the number, in the file, of its first line
        gone = {
            number
            for other in methods
            if other is not method
            for number in range(first_line(other), last_line(other) + 1)
        }
        lines = [line for number, line in enumerate(addition.lines, start) if number not in gone]
        result.append((replace(addition, node=alone, lines=_without_extra_blanks(lines)), method))
    return result


def _without_extra_blanks(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines of a class without the blank ones that methods taken out left at its begin and end."""
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return tuple(line for number, line in enumerate(kept) if line.strip() or number != 1)


def _needed(node: ast.stmt, available: Sequence[Addition]) -> list[Addition]:
    """The helpers and imports that a node names, directly or through one another, in order."""
    wanted = _mentioned(node)
    kept: set[int] = set()
    while True:
        more = [
            number
            for number, addition in enumerate(available)
            if number not in kept and wanted.intersection(addition.names)
        ]
        if not more:
            return [addition for number, addition in enumerate(available) if number in kept]
        for number in more:
            kept.add(number)
            wanted |= _mentioned(available[number].node)


def _mentioned(node: ast.AST) -> set[str]:
    """Every name, attribute and parameter in a node (a parameter may be a fixture's name)."""
    found: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            found.add(inner.id)
        elif isinstance(inner, ast.Attribute):
            found.add(inner.attr)
        elif isinstance(inner, ast.arg):
            found.add(inner.arg)
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.isidentifier():
            found.add(inner.value)  # usefixtures("name")
    return found


def _key(path: str, addition: Addition, function: Function, support: Sequence[Addition]) -> str:
    """See `Unit.key`. path: of a file that exists; new files are named at will."""
    named = _mentioned(addition.node)
    used = [dump(one.node) for one in support if one.kind is AdditionKind.HELPER]
    used += [
        f"{source} as {name}"
        for one in support
        for source, name in import_pairs(one.node)
        if name in named or one.path != addition.path
    ]
    around = ""
    if isinstance(addition.node, ast.ClassDef):
        rest = [
            child
            for child in addition.node.body
            if not (isinstance(child, Function) and is_test_name(child.name))
        ]
        parts = (*addition.node.bases, *addition.node.decorator_list)
        values = (keyword.value for keyword in addition.node.keywords)
        around = dump(ast.Module([*rest, *map(ast.Expr, (*parts, *values))], []))
    return content_key([path, addition.owner, around, normal_form(function), sorted(used)])


def normal_form(function: Function) -> str:
    """A function's syntax without its name, docstring and the names of its local variables."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body = body[1:]
    local: dict[str, str] = {}
    for statement in body:
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                local.setdefault(inner.id, f"_{len(local)}")
    text = "".join(dump(part) for part in (function.args, *body, *function.decorator_list))
    return re.sub(r"Name\('(\w+)'", lambda found: f"Name('{local.get(found[1], found[1])}'", text)
