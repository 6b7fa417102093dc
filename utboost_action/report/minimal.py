"""The least that shows a flag: one test, the two values its assertion compares, its log lines, both patches.

Gold passes the test, so what the assertion expects is what gold gives; the other side is the candidate's.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from utboost_action.model import AugmentedTest, Difference, Standing
from utboost_action.report.evidence import test_source

_VALUE_LIMIT = 300  # characters of one value
_DIFF_LIMIT = 200  # lines of the two patches' difference
_ORDER = {Standing.CONFIRMED: 0, Standing.OPEN: 1, Standing.DOUBTED: 2}
_EQUAL = re.compile(r"^(?:AssertionError: )?assert (?P<both>.+)$")
_UNEQUAL = re.compile(r"^(?:AssertionError: )(?P<both>.+ != .+?)(?: : .*)?$")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@ ?(.*)$")


@dataclass(frozen=True, slots=True)
class Minimal:
    """The evidence of one flag. gold, candidate: the compared values, "" where the message shows none.

    source: the test's function. log: the candidate's log lines. patches: a diff from gold's to the
    candidate's text of what both changed.
    """

    test: str
    suite: str
    source: str
    gold: str
    candidate: str
    log: str
    patches: str


def minimal_evidence(
    differences: Sequence[Difference], tests: Sequence[AugmentedTest], gold_patch: str, candidate_patch: str
) -> Minimal | None:
    """The most believable difference with the smallest test; None without differences."""
    if not differences:
        return None
    sources = {id(difference): test_source(difference, tests) for difference in differences}

    def size(difference: Difference) -> tuple[int, int, str]:
        source = sources[id(difference)]
        return _ORDER[difference.standing], source.count("\n") if source else 10**6, difference.test

    first = min(differences, key=size)
    gold, candidate = compared_values(first.message, first.base_message)
    return Minimal(
        test=first.test,
        suite=first.suite,
        source=sources[id(first)],
        gold=gold,
        candidate=candidate,
        log=first.excerpt,
        patches=patch_difference(gold_patch, candidate_patch),
    )


def compared_values(message: str, base_message: str = "") -> tuple[str, str]:
    """(what gold gives, what the candidate gives) of an assertion of equality; "" where it shows none.

    The value that base's failure of the same test shows at the same side is the expected one, hence
    gold's; where that says nothing, the right-hand side is.
    """
    sides = _sides(message)
    if sides is None:
        return "", ""
    left, right = sides
    on_base = _sides(base_message)
    if on_base is not None and on_base != sides and on_base[0] == left and on_base[1] != right:
        left, right = right, left
    return right[:_VALUE_LIMIT], left[:_VALUE_LIMIT]


def _sides(message: str) -> tuple[str, str] | None:
    line = message.strip().split("\n")[0]
    for pattern, operator in ((_EQUAL, " == "), (_UNEQUAL, " != ")):
        if match := pattern.match(line):
            parts = list(_split(match["both"], operator))
            if len(parts) == 2 and all(parts):
                return parts[0].strip(), parts[1].strip()
    return None


def _split(text: str, operator: str) -> Iterator[str]:
    """Split at an operator outside of brackets and quotes."""
    depth, quote, begin, n = 0, "", 0, 0
    while n < len(text):
        character = text[n]
        if quote:
            n += character == "\\"
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(operator, n):
            yield text[begin:n]
            begin = n = n + len(operator)
            continue
        n += 1
    yield text[begin:]


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Old lines by number, and the new text that stands for them. where: the function git names."""

    first: int
    last: int
    old: dict[int, str]
    new: list[str]
    where: str


def patch_difference(gold: str, candidate: str) -> str:
    """A diff from gold's text to the candidate's, where both change the same place of a file.

    What only one of them touches is shown as a whole, so that nothing is left out; at most 200 lines.
    """
    ours, theirs = _files(gold), _files(candidate)
    lines: list[str] = []
    for path in [*ours, *(path for path in theirs if path not in ours)]:
        for where, one, other in _places(ours.get(path, []), theirs.get(path, [])):
            shown = list(
                difflib.unified_diff(
                    one, other, f"gold/{path}", f"candidate/{path}", where, where, lineterm=""
                )
            )
            lines += shown
    if len(lines) > _DIFF_LIMIT:
        lines = [*lines[:_DIFF_LIMIT], f"[{len(lines) - _DIFF_LIMIT} more lines]"]
    return "\n".join(lines)


def _places(ours: list[_Hunk], theirs: list[_Hunk]) -> Iterator[tuple[str, list[str], list[str]]]:
    """(function, gold's lines, the candidate's lines) of each stretch of a file that one of them changes."""
    stretches: list[tuple[list[_Hunk], list[_Hunk]]] = []
    end = -1
    tagged = sorted([(h, 0) for h in ours] + [(h, 1) for h in theirs], key=lambda item: item[0].first)
    for hunk, side in tagged:
        if not stretches or hunk.first > end:
            stretches.append(([], []))
        stretches[-1][side].append(hunk)
        end = max(end, hunk.last)
    for one, other in stretches:
        together = [*one, *other]
        old = {number: text for hunk in together for number, text in hunk.old.items()}
        where = next((hunk.where for hunk in together if hunk.where), "")
        yield where, _text(old, one), _text(old, other)


def _text(old: dict[int, str], hunks: list[_Hunk]) -> list[str]:
    """The known old lines of a stretch with a side's hunks put in."""
    by_first = {hunk.first: hunk for hunk in hunks}
    lines: list[str] = []
    skip_to = -1
    for number in sorted({*old, *by_first}):
        if number in by_first and number >= skip_to:
            hunk = by_first[number]
            lines += hunk.new
            skip_to = hunk.last + 1
            if hunk.old:
                continue
        if number >= skip_to and number in old:
            lines.append(old[number])
    return lines


def _files(patch: str) -> dict[str, list[_Hunk]]:
    """Path -> its hunks, of a unified diff."""
    files: dict[str, list[_Hunk]] = {}
    path, lines = "", patch.split("\n")
    n = 0
    while n < len(lines):
        if lines[n].startswith("+++ "):
            path = lines[n][4:].split("\t")[0].strip().removeprefix("b/")
        elif lines[n].startswith("--- ") and path == "":
            path = lines[n][4:].split("\t")[0].strip().removeprefix("a/")
        elif (match := _HUNK.match(lines[n])) and path:
            hunk, n = _hunk(match, lines, n + 1)
            files.setdefault(path, []).append(hunk)
            continue
        n += 1
    return files


def _hunk(match: re.Match[str], lines: list[str], n: int) -> tuple[_Hunk, int]:
    number = int(match[1])
    old_left = int(match[2]) if match[2] is not None else 1
    new_left = int(match[3]) if match[3] is not None else 1
    first, old, new = number, {}, []
    while n < len(lines) and (old_left > 0 or new_left > 0):
        mark, text = lines[n][:1], lines[n][1:]
        if mark in ("-", " ", ""):
            old[number] = text
            number, old_left = number + 1, old_left - 1
        if mark in ("+", " ", ""):
            new.append(text)
            new_left -= 1
        n += 1
    return _Hunk(first, max(first, number - 1), old, new, match[4].strip()), n
