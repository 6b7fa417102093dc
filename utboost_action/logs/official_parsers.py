"""The log parsers of the official harness, quirks included: text of a test region into {name: status}.

Behaviour: swebench 5.0.2 (and 2.1.8 where that differs) for the Python families of its registry. Names are
whatever those parsers make of a line (docstrings, cut ids), statuses are free words, and the order of the
keys is theirs too, since the grader's prefix rule looks at the first match. Nothing here says what really
happened; that is the corrected reading's business.

Every parser is linear in the size of its text, also where the original's regular expressions are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum

from utboost_action.errors import AuditError, InputError


class Harness(StrEnum):
    """Whose rules an official reading follows."""

    V2 = "2.1.8"  # logs without Start and End markers
    V5 = "5.0.2"


class OfficialGraderError(AuditError):
    """The official harness itself fails on this log; the instance then has no report."""


StatusMap = dict[str, str]
Parser = Callable[[str, Harness], StatusMap]

_STATUSES = ("FAILED", "PASSED", "SKIPPED", "ERROR", "XFAIL")
_COUNT = re.compile(r"\[\d+\]")
_COLOUR = re.compile(r"\[\d+m")
_CONTROL = dict.fromkeys(code for code in range(1, 32) if chr(code) != "\n")


def parse_official(text: str, parser: str, *, harness: Harness = Harness.V5) -> StatusMap:
    """Read a region as the official parser of that name does.

    `parser` is the registry's name (`parse_log_django`) or its short form (`django`). Raises InputError
    for a name that is unknown or of another language's family, OfficialGraderError where the original
    raises.
    """
    return official_parser(parser)(text, harness)


def official_parser(name: str) -> Parser:
    """Return the parser of that name; raises InputError for one that is not of a Python family."""
    try:
        return _PARSERS[name.removeprefix("parse_log_")]
    except KeyError:
        known = ", ".join(sorted(_PARSERS))
        raise InputError(
            f"log parser {name!r} is not one of the Python families; use one of: {known}"
        ) from None


def _word(line: str, index: int) -> str:
    words = line.split()
    if index >= len(words):
        raise OfficialGraderError(
            f"the official parser fails on the line {line.strip()[:80]!r}: it names no test"
        )
    return words[index]


# ---------------------------------------------------------------------------- pytest


def _is_folded_skip(words: list[str], harness: Harness) -> bool:
    return harness is Harness.V5 and words[0] == "SKIPPED" and _COUNT.fullmatch(words[1]) is not None


def _result_words(text: str, harness: Harness) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        if not line.startswith(_STATUSES):
            continue
        if line.startswith("FAILED"):
            line = line.replace(" - ", " ")
        words = line.split()
        if len(words) > 1 and not _is_folded_skip(words, harness):
            yield words[1], words[0]


def _pytest(text: str, harness: Harness) -> StatusMap:
    return dict(_result_words(text, harness))


def _short_option(name: str) -> str:
    start, end = name.find("["), name.rfind("]")
    if start < 0 or end < start:
        return name
    option = name[start + 1 : end]
    if option.startswith("/") and not option.startswith("//") and "*" not in option:
        option = "/" + option.rsplit("/", 1)[-1]
    return f"{name[:start]}[{option}]"


def _pytest_options(text: str, harness: Harness) -> StatusMap:
    return {_short_option(name): status for name, status in _result_words(text, harness)}


def _matplotlib(text: str, harness: Harness) -> StatusMap:
    text = text.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3")
    return _pytest(text, harness)


def _pytest_v2(text: str, harness: Harness) -> StatusMap:
    statuses: StatusMap = {}
    joined = harness is Harness.V5
    for line in _COLOUR.sub("", text).translate(_CONTROL).split("\n"):
        if line.startswith(_STATUSES):
            if line.startswith("FAILED"):
                line = line.split(" - ", 1)[0] if joined else line.replace(" - ", " ")
            words = line.split()
            if len(words) > 1 and not _is_folded_skip(words, harness):
                statuses[" ".join(words[1:]) if joined else words[1]] = words[0]
        elif line.endswith(_STATUSES):
            words = line.split()
            if len(words) > 1:
                statuses[" ".join(words[:-1]) if joined else words[0]] = words[-1] if joined else words[1]
    return statuses


def _seaborn(text: str, harness: Harness) -> StatusMap:
    statuses: StatusMap = {}
    for line in text.split("\n"):
        if harness is Harness.V5 and len(line.split(None, 2)) < 2:
            continue
        if line.startswith("FAILED"):
            statuses[_word(line, 1)] = "FAILED"
        elif " PASSED " in line:
            if _word(line, 1) == "PASSED":
                statuses[_word(line, 0)] = "PASSED"
        elif line.startswith("PASSED"):
            statuses[_word(line, 1)] = "PASSED"
    return statuses


# ----------------------------------------------------------------------------- sympy


def _sympy_headers(text: str) -> Iterator[str]:
    # The original takes what stands between the first and the last space of a line that holds
    # ".py:" between them; the rules of underscores around it are optional.
    for line in text.split("\n"):
        if ".py:" not in line:
            continue
        first, last = line.find(" "), line.rfind(" ")
        if first < last and line.find(".py:", first + 1, last) >= 0:
            yield line[first + 1 : last]


def _sympy(text: str, harness: Harness) -> StatusMap:
    statuses: StatusMap = dict.fromkeys(_sympy_headers(text), "FAILED")
    verdicts = {" E": "ERROR", " F": "FAILED", " ok": "PASSED"}
    for line in text.split("\n"):
        line = line.strip()
        if not line.startswith("test_"):
            continue
        if harness is Harness.V2 and line.endswith(("[FAIL]", "[OK]")):
            line = line[: line.rfind("[")].strip()
        for ending, status in verdicts.items():
            if line.endswith(ending):
                statuses[_word(line, 0)] = status
    return statuses


# ---------------------------------------------------------------------------- django

_VERSION_ARTEFACT = "--version is equivalent to version"
_MIGRATION = "Applying sites.0002_alter_domain_unique...test_no_migrations"
_PASSES = (" ... ok", " ... OK", " ...  OK")


def _django(text: str, _: Harness) -> StatusMap:
    statuses: StatusMap = {}
    has_artefact = _VERSION_ARTEFACT in text
    opened: str | None = None
    for line in text.split("\n"):
        line = line.strip()
        if has_artefact and _VERSION_ARTEFACT in line:
            statuses[_VERSION_ARTEFACT] = "PASSED"
        if " ..." in line:
            if " ... " in line:
                opened = line.partition(" ... ")[0]
            line = _inline_verdict(line, statuses)
        if line.startswith("FAIL:"):
            statuses[_word(line, 1)] = "FAILED"
        if line.endswith(" ... ERROR"):
            statuses[line.partition(" ... ERROR")[0]] = "ERROR"
        if line.startswith("ERROR:"):
            statuses[_word(line, 1)] = "ERROR"
        if opened is not None and line.startswith("ok"):
            statuses[opened] = "PASSED"
    for name in _interrupted_names(text):
        statuses[name] = "PASSED"
    return statuses


def _inline_verdict(line: str, statuses: StatusMap) -> str:
    """Enter a line's ok, skip and FAIL; return the line as the later rules see it."""
    for ending in _PASSES:
        if line.endswith(ending):
            if line.startswith(_MIGRATION):
                line = line.partition("...")[2].strip()
            statuses[line.removesuffix(ending)] = "PASSED"
            break
    if " ... skipped" in line:
        statuses[line.partition(" ... skipped")[0]] = "SKIPPED"
    if line.endswith(" ... FAIL"):
        statuses[line.partition(" ... FAIL")[0]] = "FAILED"
    return line


def _interrupted_names(text: str) -> Iterator[str]:
    """Names whose verdict `ok` stands alone below one of three known printed texts.

    The original uses three lazy expressions over the whole log; here each is a search for its fixed part.
    """
    banner_ends = [found.end() for found in _BANNER_END.finditer(text)]
    if banner_ends:
        upto = text[: banner_ends[-1]]  # nothing can end below, so nothing need be looked for there
        yield from _names_before(upto, "Testing against Django installed in ", _end_of_banner)
    yield from _names_before(text, "Internal Server Error: /", _end_of_server_error)
    yield from _names_before(text, "System check identified no issues (0 silenced)\nok", _end_of_check)


_BANNER_END = re.compile(r" silenced\)\.\nok$", re.MULTILINE)


def _end_of_banner(text: str, after: int, _: int) -> int | None:
    found = _BANNER_END.search(text, after)
    return found.end() if found else None


def _end_of_server_error(text: str, after: int, line_end: int) -> int | None:
    if line_end > after and text[line_end - 1] == "/" and text.startswith("\nok", line_end):
        return _end_of_check(text, line_end + 3, line_end)
    return None


def _end_of_check(text: str, after: int, _: int) -> int | None:
    return after if after == len(text) or text[after] == "\n" else None


def _names_before(text: str, needle: str, end_of: Callable[[str, int, int], int | None]) -> Iterator[str]:
    """Yield the text of a line up to `<space>...<space>NEEDLE` wherever `end_of` accepts what follows.

    `end_of(text, after, line_end)` gets the positions behind the needle and of the next line's break.
    """
    free_from = 0  # matches do not overlap, and each begins at the start of a line
    line_start = scanned = 0
    line_end = -1
    found = text.find(needle)
    while found >= 0:
        head, after = found - 5, found + len(needle)
        if _is_ellipsis(text[max(head, 0) : found]):
            newline = text.rfind("\n", scanned, head)
            line_start = newline + 1 if newline >= 0 else line_start
            scanned = head
            if line_end < after:
                newline = text.find("\n", after)
                line_end = newline if newline >= 0 else len(text)
            end = end_of(text, after, line_end) if line_start >= free_from else None
            if end is not None:
                yield text[line_start:head]
                free_from = end
        found = text.find(needle, found + 1)


def _is_ellipsis(text: str) -> bool:
    return len(text) == 5 and text[1:4] == "..." and text[0].isspace() and text[4].isspace()


_PARSERS: dict[str, Parser] = {
    "django": _django,
    "matplotlib": _matplotlib,
    "pytest": _pytest,
    "pytest_options": _pytest_options,
    "pytest_v2": _pytest_v2,
    "seaborn": _seaborn,
    "sympy": _sympy,
    **dict.fromkeys(("astroid", "flask", "marshmallow", "pvlib", "pyvista", "sqlfluff", "xarray"), _pytest),
    **dict.fromkeys(("pydicom", "pylint", "requests"), _pytest_options),
    **dict.fromkeys(("astropy", "scikit", "sphinx"), _pytest_v2),
}
