"""Localisation in three levels: files, then classes and functions, then line ranges.

Each level is one prompt with one JSON reply at temperature 0 and one repair round. Every name in a reply
is checked to exist; what does not is counted. A level that yields nothing falls back to the places of
the official test patch (paper, section on test case localisation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from utboost_action.generation import prompting, skeletons
from utboost_action.generation.asking import ModelClient, Request
from utboost_action.generation.gates import Gate, RejectedError, Tally
from utboost_action.generation.json_replies import FILES, PLACES, RANGES, Shape, read_entries, read_texts
from utboost_action.generation.official import OfficialPatch, official_places
from utboost_action.generation.paths import known_path
from utboost_action.generation.prompting import Prefix
from utboost_action.generation.repository import RepositoryView
from utboost_action.generation.syntax import Definition, DefinitionKind, definitions, lines_of
from utboost_action.generation.tokens import PromptTooLargeError, first_fitting
from utboost_action.generation.tree import tree_versions

_REPLY_TOKENS = 400
_REPAIRED_TEXT = 2_000  # characters of an unusable reply that its repair shows again
_PLACES = 6
_RANGES = 6
_LONG_CLASS = 60  # lines; a longer class is shown by the spans of its methods

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Scope:
    """What localisation works on, and how: one instance, one model, one budget (tokens) for each level."""

    instance_id: str
    model: str
    prefix: Prefix
    view: RepositoryView
    official: OfficialPatch
    top_files: int
    context_lines: int
    budget: int


@dataclass(frozen=True, slots=True)
class Place:
    """A class or function of a file that was chosen."""

    path: str
    definition: Definition


@dataclass(frozen=True, slots=True)
class Window:
    """Lines of a file (from 1, both included) that the author of the tests is shown."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Location:
    """Where tests belong. fallbacks: the levels (files, places, lines) whose reply gave nothing.

    windows: the chosen lines, best first, then those that the official test patch adds; widened by the
    context lines, and each without what a window before it shows.
    """

    files: tuple[str, ...]
    places: tuple[Place, ...]
    windows: tuple[Window, ...]
    fallbacks: tuple[str, ...]


def localise(scope: Scope, client: ModelClient, tally: Tally) -> Location:
    """Ask for files, places and lines, one after another.

    Raises ModelError when the model cannot be asked.
    """
    fallbacks: list[str] = []
    files = locate_files(scope, client, tally)
    if not files:
        fallbacks.append("files")
        files = tuple(path for path in scope.official.paths if path in scope.view.files)[: scope.top_files]
    places = locate_places(scope, files, client, tally)
    if not places:
        fallbacks.append("places")
        found = official_places(scope.official, scope.view)
        places = tuple(Place(path, one) for path, listed in found.items() for one in listed)[:_PLACES]
    ranges = locate_lines(scope, places, client, tally) if places else ()
    if not ranges:
        fallbacks.append("lines")
    ranges = (*ranges, *_official_windows(scope)) or tuple(Window(path, 1, 1) for path in files)
    return Location(files, places, widened(ranges, scope.view, scope.context_lines), tuple(fallbacks))


def locate_files(scope: Scope, client: ModelClient, tally: Tally) -> tuple[str, ...]:
    """Level 1: at most `top_files` paths of the tree, best first."""
    trees = tree_versions(scope.view.paths, scope.official.paths)
    versions = (
        prompting.render("files.j2", scope.prefix, tree=tree, part=step > 0, count=scope.top_files)
        for step, tree in enumerate(trees)
    )

    def check(text: str) -> str:
        path = known_path(text, scope.view.paths)
        if path not in scope.view.files:
            raise RejectedError(Gate.UNKNOWN_PLACE, f"{path} is unusable: {scope.view.unusable[path]}")
        return path

    texts = _asked(scope, client, tally, versions, "files", FILES, read_texts)
    return _checked(texts, check, "files", tally)[: scope.top_files]


def locate_places(scope: Scope, files: Sequence[str], client: ModelClient, tally: Tally) -> tuple[Place, ...]:
    """Level 2: classes, functions and methods of the files by name."""
    known = {path: _definitions(scope.view, path) for path in files}
    usable = [path for path in files if known[path]]
    if not usable:
        return ()

    def versions() -> Iterator[str]:
        forms = [(form, len(usable)) for form in (skeletons.skeleton, skeletons.headers, skeletons.names)]
        forms += [(skeletons.names, count) for count in range(len(usable) - 1, 0, -1)]
        forms += [(skeletons.outline, count) for count in range(len(usable), 0, -1)]
        for form, count in forms:
            shown = [{"path": path, "text": form(scope.view.files[path])} for path in usable[:count]]
            yield prompting.render(
                "places.j2", scope.prefix, files=shown, unshown=len(usable) - count, count=_PLACES
            )

    def check(entry: dict[str, str | int]) -> Place:
        path, name = known_path(str(entry["path"]), usable), str(entry["name"])
        for one in known[path]:
            if one.name == name:
                return Place(path, one)
        raise RejectedError(Gate.UNKNOWN_PLACE, f"{path} defines no {name[:100]!r}")

    entries = _asked(scope, client, tally, versions(), "places", PLACES, read_entries)
    return _checked(entries, check, "places", tally)[:_PLACES]


def locate_lines(
    scope: Scope, places: Sequence[Place], client: ModelClient, tally: Tally
) -> tuple[Window, ...]:
    """Level 3: line ranges in the files of the places."""
    paths = list(dict.fromkeys(place.path for place in places))

    def versions() -> Iterator[str]:
        for count in range(len(places), -1, -1):
            texts = [_numbered(scope.view, one) for one in places[:count]]
            texts += [_span(one.definition) for one in places[count:]]
            shown = [{"path": place.path, "text": text} for place, text in zip(places, texts, strict=True)]
            yield prompting.render("lines.j2", scope.prefix, places=shown, count=_RANGES)

    def check(entry: dict[str, str | int]) -> Window:
        path, first, last = known_path(str(entry["path"]), paths), int(entry["first"]), int(entry["last"])
        length = len(lines_of(scope.view.files[path]))
        if not 1 <= first <= last <= length:
            raise RejectedError(Gate.BAD_RANGE, f"{path} has lines 1 to {length}, not {first} to {last}")
        return Window(path, first, last)

    entries = _asked(scope, client, tally, versions(), "lines", RANGES, read_entries)
    return _checked(entries, check, "lines", tally)[:_RANGES]


def widened(ranges: Sequence[Window], view: RepositoryView, lines: int) -> tuple[Window, ...]:
    """The ranges, in their order, with `lines` more on both sides, cut to the file.

    A line stands in the first of them alone, so a later range may fall apart or be left out.
    """
    result: list[Window] = []
    shown: dict[str, set[int]] = {}
    for one in ranges:
        known = shown.setdefault(one.path, set())
        length = len(lines_of(view.files[one.path]))
        fresh = [
            line
            for line in range(max(1, one.first - lines), min(length, one.last + lines) + 1)
            if line not in known
        ]
        known.update(fresh)
        for before, line in zip([None, *fresh], fresh, strict=False):
            if before == line - 1:
                result[-1] = replace(result[-1], last=line)
            else:
                result.append(Window(one.path, line, line))
    return tuple(result)


def _asked(
    scope: Scope,
    client: ModelClient,
    tally: Tally,
    versions: Iterator[str],
    stage: str,
    shape: Shape,
    read: Callable[[str, Shape], list[Entry]],
) -> list[Entry]:
    """The entries of one level's reply after at most one repair; none when it cannot be used."""
    try:
        task = first_fitting(versions, scope.budget).text
    except PromptTooLargeError:
        return []
    request = Request(
        model=scope.model,
        messages=prompting.messages(scope.prefix, task),
        temperature=0.0,
        max_tokens=_REPLY_TOKENS,
        instance_id=scope.instance_id,
        stage=stage,
        schema_name=stage,
        schema=shape.schema,
    )
    for last in (False, True):
        text = client.ask(request, [0])[0].text
        try:
            return read(text, shape)
        except ValueError as refused:
            tally.reject(Gate.MALFORMED_JSON, request.stage, str(refused))
            if not last:
                repair = prompting.repaired(request.messages, text[:_REPAIRED_TEXT], str(refused))
                request = replace(request, messages=repair, stage=f"{stage} repair")
    return []


Checked = TypeVar("Checked")


def _checked(
    entries: Sequence[Entry], check: Callable[[Entry], Checked], stage: str, tally: Tally
) -> tuple[Checked, ...]:
    kept: dict[Checked, None] = {}
    for entry in entries:
        try:
            kept.setdefault(check(entry))
        except RejectedError as refused:
            tally.reject(refused.gate, stage, refused.detail)
    return tuple(kept)


def _definitions(view: RepositoryView, path: str) -> tuple[Definition, ...]:
    try:
        return definitions(view.files[path])
    except ValueError:
        return ()


def _official_windows(scope: Scope) -> tuple[Window, ...]:
    return tuple(
        Window(change.path, change.first, change.last)
        for change in scope.official.changes
        if change.path in scope.view.files
    )


def _span(one: Definition) -> str:
    return f"{one.first}-{one.last} {one.name.rpartition('.')[2]}"


def _numbered(view: RepositoryView, place: Place) -> str:
    """The source of a function with line numbers; of a long class its header and its methods' spans."""
    one = place.definition
    lines = lines_of(view.files[place.path])
    if one.kind is DefinitionKind.CLASS and one.last - one.first >= _LONG_CLASS:
        depth = one.name.count(".") + 1
        methods = [
            other
            for other in _definitions(view, place.path)
            if other.name.startswith(f"{one.name}.") and other.name.count(".") == depth
        ]
        spans = [_span(other) for other in methods]
        return "\n".join([f"{one.header} {lines[one.header - 1].strip()}", *spans])
    return "\n".join(f"{number} {lines[number - 1]}".rstrip() for number in range(one.first, one.last + 1))
