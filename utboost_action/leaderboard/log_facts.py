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

_START = re.compile(rb"\+ : '>>>>> Start Test Output'\r?$", re.MULTILINE)
_END = re.compile(rb"\+ : '>>>>> End Test Output'\r?$", re.MULTILINE)
_LOOSE_MARKER = re.compile(rb"(?<!\+ : ')>>>>> (?:Start|End) Test Output")
_EXIT = re.compile(rb"^>>>>> Test Exit Code: (-?\d{1,6})\r?$", re.MULTILINE)
_PRED_APPLIED = re.compile(rb">>>>> Applied Patch \((?:pred|pred_minimal)\)")
_CONDA = re.compile(
    rb"Task Metadata:|>>>>> (?:Applied Patch \(|Patch Apply Failed; \(|Init (?:Succeeded|Failed))"
)
_CONDA_END = re.compile(rb">>>>> (?:All Tests Passed|Some Tests Failed|Tests Timed Out|Tests Errored)")
_RAN = re.compile(
    rb"^Ran \d+ tests? in |tests finished: \d|^=+ .{0,200}\b\d+ (?:passed|failed|errors?|skipped)\b"
    rb"|^\d+ (?:passed|failed)\b.{0,200} in \d",
    re.MULTILINE,
)
_SUMMARY = re.compile(rb"^=+ short test summary info =+\r?$", re.MULTILINE)
_VERDICT = re.compile(rb"^(PASSED|FAILED|ERROR) (\S{1,500})", re.MULTILINE)


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
    markers = _START.search(data) is not None or _END.search(data) is not None
    if not markers and _CONDA.search(data):
        return LogFacts(
            "G1",
            quoted,
            tests_ran=_CONDA_END.search(data) is not None,
            patch_applied=_PRED_APPLIED.search(data) is not None,
            size=size,
        )
    exits = list(_EXIT.finditer(data))
    generation = ("G5" if exits else "G4") if markers else "G2"
    forged = "; ".join(
        _forgeries(data, [match.start() for match in exits], [match.group(1) for match in exits])
    )
    return LogFacts(generation, quoted, markers, _RAN.search(data) is not None, None, forged, size)


def unquoted(data: bytes) -> bytes:
    """The text inside a log that is one JSON string (hosted route); the bytes as they are when it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else data


def _forgeries(data: bytes, exits: list[int], codes: list[bytes]) -> Iterator[str]:
    starts = [match.start() for match in _START.finditer(data)]
    ends = [match.start() for match in _END.finditer(data)]
    if len(starts) > 1 or len(ends) > 1:
        yield f"{len(starts)} start and {len(ends)} end markers instead of one each"
    if (loose := _LOOSE_MARKER.search(data)) is not None:
        yield f"a marker that the shell did not print, line {_line(data, loose.start())}"
    if len(exits) > 1:
        shown = ", ".join(code.decode() for code in codes[:5])
        yield f"{len(exits)} exit-code lines ({shown}); only the last, after the end marker, is the harness's"
    elif exits and ends and exits[0] < ends[-1]:
        yield f"an exit-code line before the end marker, line {_line(data, exits[0])}"
    yield from _printed_verdicts(data)


def _printed_verdicts(data: bytes) -> Iterator[str]:
    """PASSED lines above pytest's last summary for tests that fail in it."""
    headers = [match.start() for match in _SUMMARY.finditer(data)]
    if not headers:
        return
    failing = {
        match.group(2) for match in _VERDICT.finditer(data, headers[-1]) if match.group(1) != b"PASSED"
    }
    for match in _VERDICT.finditer(data, 0, headers[-1]):
        if match.group(1) == b"PASSED" and match.group(2) in failing:
            line = _line(data, match.start())
            yield f"a PASSED line above the summary for a test that fails in it, line {line}"
            return


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
