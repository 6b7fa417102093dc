"""The official test patch as the prompts show it, and the places of a tree that it touches."""

from __future__ import annotations

from dataclasses import dataclass

import unidiff.errors
from unidiff.patch import PatchedFile, PatchSet

from utboost_action.generation.repository import RepositoryView
from utboost_action.generation.syntax import Definition, UnusableSourceError, definitions
from utboost_action.patches import touched_paths, with_final_newline


@dataclass(frozen=True, slots=True)
class Change:
    """One run of added lines in the file as it is after the patch; both ends counted from 1, included."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class OfficialPatch:
    """The test patch: its Python files that exist afterwards, the changes in them, and its digests.

    digests: fullest first: removed and added lines by file and hunk; added lines; the file names.
    """

    paths: tuple[str, ...]
    changes: tuple[Change, ...]
    digests: tuple[str, ...]


def read_official(test_patch: str) -> OfficialPatch:
    """Read the official test patch; one that unidiff cannot read gives its file names only."""
    try:
        patch = PatchSet(with_final_newline(test_patch))
    except (unidiff.errors.UnidiffParseError, ValueError):
        paths = tuple(path for path in touched_paths(test_patch) if path.endswith(".py"))
        return OfficialPatch(paths, (), ("\n".join(paths),))
    files = [file for file in patch if not file.is_removed_file]
    names = tuple(file.path for file in files)
    return OfficialPatch(
        paths=tuple(name for name in names if name.endswith(".py")),
        changes=tuple(change for file in files if file.path.endswith(".py") for change in _changes(file)),
        digests=(
            "\n".join(_digest(file, "-+") for file in patch),
            "\n".join(_digest(file, "+") for file in patch),
            "\n".join(names),
        ),
    )


def official_places(official: OfficialPatch, view: RepositoryView) -> dict[str, tuple[Definition, ...]]:
    """The innermost definitions that the patch's changes stand in, by file (the fallback's places)."""
    places: dict[str, tuple[Definition, ...]] = {}
    for path in official.paths:
        if path not in view.files:
            continue
        try:
            known = definitions(view.files[path])
        except UnusableSourceError:
            continue
        found: dict[str, Definition] = {}
        for change in official.changes:
            if change.path == path and (place := innermost(known, change.first, change.last)) is not None:
                found.setdefault(place.name, place)
        places[path] = tuple(found.values())
    return places


def innermost(known: tuple[Definition, ...], first: int, last: int) -> Definition | None:
    """The smallest function or class around these lines, or else the first one inside them.

    Functions defined in a function are part of it and are not places of their own.
    """
    tops = [one for one in known if not _inside_function(one, known)]
    around = [one for one in tops if one.first <= first and last <= one.last]
    if around:
        return min(around, key=lambda one: one.last - one.first)
    return next((one for one in tops if first <= one.header <= last), None)


def _inside_function(one: Definition, known: tuple[Definition, ...]) -> bool:
    parents = {other.name for other in known if other.kind != "class"}
    parts = one.name.split(".")
    return any(".".join(parts[:count]) in parents for count in range(1, len(parts)))


def _changes(file: PatchedFile) -> list[Change]:
    changes: list[Change] = []
    for hunk in file:
        numbers = [line.target_line_no for line in hunk if line.is_added and line.target_line_no]
        for number in numbers:
            if changes and changes[-1].last == number - 1:
                changes[-1] = Change(file.path, changes[-1].first, number)
            else:
                changes.append(Change(file.path, number, number))
    return changes


def _digest(file: PatchedFile, kinds: str) -> str:
    lines = [f"{'removed ' if file.is_removed_file else ''}{file.path}"]
    section = ""
    for hunk in file:
        shown = [f"{line.line_type}{line.value.rstrip()}" for line in hunk if line.line_type in kinds]
        if hunk.section_header and hunk.section_header != section:
            section = hunk.section_header
            lines.append(f"@@ {section}")
        lines += shown
    return "\n".join(lines)
