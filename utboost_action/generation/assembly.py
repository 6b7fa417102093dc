"""Units put together: unique names, groups that fit in one tree, a patch on top of the official one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from utboost_action.generation.additions import Addition, AdditionKind
from utboost_action.generation.repository import RepositoryView
from utboost_action.generation.syntax import UnusableSourceError, definitions, dump
from utboost_action.generation.units import Unit, renamed


def with_unique_names(units: Sequence[Unit], view: RepositoryView) -> tuple[Unit, ...]:
    """The units in their order, so named that no two share a test's name, a new class or a new file.

    A name that a test of the same file has is taken as well. A taken name gets `_2`, `_3`, … appended.
    """
    tests: set[str] = set()
    classes: set[str] = set()
    files: set[str] = set(view.paths)
    result = []
    for unit in units:
        known = _names_in(view, unit.path)
        test = _free(unit.test, tests | known)
        tests.add(test)
        new_class = _free(unit.new_class, classes | known) if unit.new_class else ""
        classes.add(new_class)
        named = renamed(unit, test, new_class)
        if unit.new_file:
            stem = _free(unit.path.removesuffix(".py"), {path.removesuffix(".py") for path in files})
            files.add(f"{stem}.py")
            named = _moved(named, f"{stem}.py")
        result.append(named)
    return tuple(result)


def groups_of(units: Sequence[Unit]) -> tuple[tuple[Unit, ...], ...]:
    """The units in as few groups as come easily, none with two different helpers of one name."""
    groups: list[list[Unit]] = []
    bound: list[dict[tuple[str, str, str], str]] = []
    for unit in units:
        names = {(one.path, one.owner, name): dump(one.node) for one in unit.support for name in one.names}
        for group, taken in zip(groups, bound, strict=True):
            if all(taken.get(key, text) == text for key, text in names.items()):
                group.append(unit)
                taken.update(names)
                break
        else:
            groups.append([unit])
            bound.append(names)
    return tuple(map(tuple, groups))


def patch_of(units: Sequence[Unit], view: RepositoryView) -> str:
    """The patch that adds these units on top of base with the official test patch, files in order."""
    return "".join(
        _file_patch(path, view.files.get(path), text) for path, text in sorted(files_of(units, view).items())
    )


def files_of(units: Sequence[Unit], view: RepositoryView) -> Mapping[str, str]:
    """The files that the units touch, as they are with all of them added."""
    by_path: dict[str, dict[tuple[object, ...], Addition]] = {}
    for unit in units:
        for one in unit.additions:
            identity = (one.after, one.owner, one.kind, one.lines)
            by_path.setdefault(one.path, {}).setdefault(identity, one)
    return {
        path: composed(view.files.get(path, ""), list(additions.values()))
        for path, additions in by_path.items()
    }


def composed(original: str, additions: Sequence[Addition]) -> str:
    """The original's lines, untouched, with the additions at their places: imports, helpers, tests.

    Where a class ends, what goes into it comes before what goes behind it.
    """
    order = list(AdditionKind)
    at: dict[int, list[Addition]] = {}

    def place(one: Addition) -> tuple[int, int]:
        return -(one.owner.count(".") + 1 if one.owner else 0), order.index(one.kind)

    for one in sorted(additions, key=place):
        at.setdefault(one.after, []).append(one)
    lines = original.split("\n")
    ends_with_newline = not lines[-1]
    if ends_with_newline:
        lines.pop()
    result: list[str] = []
    for number in range(len(lines) + 1):
        following = lines[number] if number < len(lines) else None
        for one in at.get(number, ()):
            result += _inserted(one, result, following)
        if following is not None:
            result.append(following)
    return "\n".join(result) + ("\n" if ends_with_newline or at else "")


def _inserted(one: Addition, before: Sequence[str], following: str | None) -> Iterator[str]:
    """The lines of an addition with the blank lines that its place asks for."""
    if one.kind is AdditionKind.IMPORT:
        yield from one.lines
        return
    blank = 1 if one.owner else 2
    have = next((n for n, line in enumerate(reversed(before)) if line.strip()), len(before))
    yield from [""] * (max(0, blank - have) if before else 0)
    yield from one.lines
    if following is not None and following.strip():
        yield from [""] * blank


def _file_patch(path: str, old: str | None, new: str) -> str:
    header = f"diff --git a/{path} b/{path}\n"
    if old is None:
        header += "new file mode 100644\n"
    before = _with_ends(old or "")
    lines = difflib.unified_diff(
        before, _with_ends(new), f"a/{path}" if old is not None else "/dev/null", f"b/{path}"
    )
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return header + text


def _with_ends(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _moved(unit: Unit, path: str) -> Unit:
    if path == unit.path:
        return unit
    return replace(
        unit,
        path=path,
        addition=replace(unit.addition, path=path),
        support=tuple(replace(one, path=path) if one.path == unit.path else one for one in unit.support),
    )


def _names_in(view: RepositoryView, path: str) -> set[str]:
    try:
        return {one.name.rpartition(".")[2] for one in definitions(view.files.get(path, ""))}
    except UnusableSourceError:
        return set()


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number = next(number for number in range(2, len(taken) + 3) if f"{name}_{number}" not in taken)
    return f"{name}_{number}"
