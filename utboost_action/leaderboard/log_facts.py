"""What a log shows without being read: its generation, its markers, and whether tests ran at all.

Nothing here grades a log; that is the work of `logs/`. One linear pass of byte patterns over each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from utboost_action.leaderboard.tree import SubmissionTree, TooLargeError

MAX_LOG_BYTES = 64 * 1024 * 1024
MAX_MARKS = 10_000

_MARK = b">>>>> "
_HARNESS = re.compile(rb">>>>> (Start|End) Test Output")
_EXIT = re.compile(rb">>>>> Test Exit Code: (-?\d{1,6})\r?$")
_PRED_APPLIED = re.compile(rb">>>>> Applied Patch \((?:pred|pred_minimal)\)")
_CONDA = re.compile(rb">>>>> (?:Applied Patch \(|Patch Apply Failed; \(|Init (?:Succeeded|Failed))")
_CONDA_END = re.compile(rb">>>>> (?:All Tests Passed|Some Tests Failed|Tests Timed Out|Tests Errored)")
_CONDA_HEAD = b"Task Metadata:"
_RAN = re.compile(
    rb"^Ran \d+ tests? in |tests finished: \d|^=+ .{0,200}\b\d+ (?:passed|failed|errors?|skipped)\b"
    rb"|^\d+ (?:passed|failed)\b.{0,200} in \d",
    re.MULTILINE,
)
_SUMMARY = b" short test summary info "
_VERDICT = re.compile(rb"^(PASSED|FAILED|ERROR) (\S{1,500})", re.MULTILINE)
_TAIL = 64 * 1024


@dataclass(frozen=True, slots=True)
class LogFacts:
    """generation: G1 (also for G0), G2, G4 or G5, from the content alone.

    forged: in words, what imitates the harness or the runner in it; "" for nothing.
    """

    generation: str
    quoted: bool = False
    markers: bool = False
    tests_ran: bool = False
    patch_applied: bool | None = None
    forged: str = ""
    size: int = 0


def read_log_facts(tree: SubmissionTree, path: str) -> LogFacts | str:
    """The facts of one log, or why it could not be read."""
    try:
        data = tree.read(path, MAX_LOG_BYTES)
    except TooLargeError as problem:
        return str(problem)
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
    return log_facts(data)


def log_facts(data: bytes) -> LogFacts:
    """The facts of a log's bytes; a log that is one JSON string is unquoted first."""
    size = len(data)
    quoted = data[:1] == b'"'
    if quoted:
        data = unquoted(data)
    marks = list(_marks(data))
    starts, ends, exits, loose = _sorted_marks(marks)
    if not starts and not ends and _is_conda(data, marks):
        return LogFacts(
            "G1",
            quoted,
            tests_ran=any(_CONDA_END.search(line) for _, line in marks),
            patch_applied=any(_PRED_APPLIED.search(line) for _, line in marks),
            size=size,
        )
    markers = bool(starts or ends)
    generation = ("G5" if exits else "G4") if markers else "G2"
    forged = [*_forged_marks(data, starts, ends, exits, loose), *_printed_verdicts(data)]
    ran = _RAN.search(data, max(0, len(data) - _TAIL)) or _RAN.search(data)
    return LogFacts(generation, quoted, markers, ran is not None, None, "; ".join(forged), size)


def _marks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(place, text around it) of the harness's arrows, one a line; found by plain search, which is fast.

    The text starts up to five bytes before the arrows (after a line end: at them) and ends with its line
    or after 120 bytes. At most MAX_MARKS are looked at.
    """
    place = data.find(_MARK)
    for _ in range(MAX_MARKS):
        if place < 0:
            return
        start = max(data.rfind(b"\n", max(0, place - 5), place) + 1, place - 5, 0)
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        yield place, data[start : min(end, place + 120)]
        place = data.find(_MARK, end)


def _is_conda(data: bytes, marks: list[tuple[int, bytes]]) -> bool:
    return _CONDA_HEAD in data[:_TAIL] or any(_CONDA.search(line) for _, line in marks)


def _sorted_marks(
    marks: list[tuple[int, bytes]],
) -> tuple[list[int], list[int], list[tuple[int, bytes]], list[int]]:
    """Places of start markers, of end markers, (place, code) of exit lines, places of imitated markers."""
    starts, ends, exits, loose = [], [], [], []
    for place, line in marks:
        if match := _EXIT.match(line):
            exits.append((place, match.group(1)))
        elif match := _HARNESS.search(line):
            shell = b"+ : '" + match.group() + b"'"
            if not line.rstrip(b"\r").endswith(shell):
                loose.append(place)
            elif match.group(1) == b"Start":
                starts.append(place)
            else:
                ends.append(place)
    return starts, ends, exits, loose


def unquoted(data: bytes) -> bytes:
    """The text inside a log that is one JSON string (hosted route); the bytes as they are when it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else data


def _forged_marks(
    data: bytes, starts: list[int], ends: list[int], exits: list[tuple[int, bytes]], loose: list[int]
) -> Iterator[str]:
    if len(starts) > 1 or len(ends) > 1:
        yield f"{len(starts)} start and {len(ends)} end markers instead of one each"
    if loose:
        yield f"a marker that the shell did not print, line {_line(data, loose[0])}"
    if len(exits) > 1:
        codes = ", ".join(code.decode() for _, code in exits[:5])
        yield f"{len(exits)} exit-code lines ({codes}); only the last, after the end marker, is the harness's"
    elif exits and ends and exits[0][0] < ends[-1]:
        yield f"an exit-code line before the end marker, line {_line(data, exits[0][0])}"


def _printed_verdicts(data: bytes) -> Iterator[str]:
    """A PASSED line above pytest's last summary for a test that fails in it."""
    header = data.rfind(_SUMMARY)
    if header < 0 or data.find(b"\nPASSED ", 0, header) < 0:
        return
    failing = {match.group(2) for match in _VERDICT.finditer(data, header) if match.group(1) != b"PASSED"}
    place = data.find(b"\nPASSED ", 0, header) if failing else -1
    while place >= 0:
        match = _VERDICT.match(data, place + 1)
        if match is not None and match.group(2) in failing:
            line = _line(data, place + 1)
            yield f"a PASSED line above the summary for a test that fails in it, line {line}"
            return
        place = data.find(b"\nPASSED ", place + 1, header)


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
