"""The official reading of a whole log: which part is read, and when the log is refused.

Behaviour: `get_logs_eval` of swebench 5.0.2, and of 2.1.8 for logs without markers. What the official
harness concludes, rightly or not; the corrected reading stands beside it (docs/grading.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from utboost_action.logs.official_parsers import (
    Harness,
    OfficialGraderError,
    StatusMap,
    official_parser,
    parse_official,
)

__all__ = [
    "Harness",
    "OfficialGraderError",
    "OfficialReading",
    "Refusal",
    "harness_of",
    "official_report_map",
    "parse_official",
]

START_MARKER = ">>>>> Start Test Output"
END_MARKER = ">>>>> End Test Output"
BAD_CODES = (
    ">>>>> Patch Apply Failed",
    ">>>>> Reset Failed",
    ">>>>> Tests Errored",
    ">>>>> Tests Timed Out",
)
_OLD_BAD_CODES = (*BAD_CODES, "Failed to reset task environment")
_OLD_APPLIED = ">>>>> Applied Patch (pred)"
_EXIT_CODE = re.compile(r">>>>> Test Exit Code:\s*(-?\d+)")


class Refusal(StrEnum):
    """Why the official harness does not grade a log; it then reports the patch as not applied."""

    BAD_CODE = "a failure code of the harness occurs in the log"
    NO_MARKERS = "the Start or End marker is missing"
    NOT_APPLIED = "the log nowhere says 'applied patch'"
    NOTHING_READ = "no result is read and no runner's count is seen"
    EXIT_CODE = "the exit code is not 0 although no test failed"
    CRASH = "the official grader fails on the log"


@dataclass(frozen=True, slots=True)
class OfficialReading:
    """What the official harness reads in one log.

    statuses: official test name -> status word, in the order of first sight; empty when refused.
    refused: None when the log is graded; `detail` then says what was seen.
    exit_code: the first exit-code line of the file (5.0.2 only), also when it was forged.
    whole_log: nothing was found between the markers, so the whole log was read.
    """

    harness: Harness
    statuses: Mapping[str, str] = field(default_factory=dict)
    refused: Refusal | None = None
    detail: str = ""
    exit_code: int | None = None
    whole_log: bool = False

    @property
    def found(self) -> bool:
        """Whether the harness takes the log for a graded run."""
        return self.refused is None


def harness_of(data: bytes) -> Harness:
    """Return whose rules apply to a log: 5.0.2 when it holds both markers, else 2.1.8."""
    has_markers = START_MARKER.encode() in data and END_MARKER.encode() in data
    return Harness.V5 if has_markers else Harness.V2


def official_report_map(data: bytes, parser: str, *, harness: Harness = Harness.V5) -> OfficialReading:
    """Read a log file as `get_logs_eval` does: find the region, parse it, or refuse.

    `data` is the file as it is. It is read as the harness reads it: strict UTF-8 (anything else makes it
    fail, refusal CRASH) with every line ending turned into a newline. Raises InputError for a parser that
    is not of a Python family.
    """
    official_parser(parser)  # a wrong name is the caller's error, whatever the log holds
    try:
        text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        return _refusal(harness, Refusal.CRASH, f"the file is not UTF-8 (byte {error.start})")
    try:
        return _read_v5(text, parser) if harness is Harness.V5 else _read_v2(text, parser)
    except OfficialGraderError as error:
        return _refusal(harness, Refusal.CRASH, str(error))


def _refusal(harness: Harness, reason: Refusal, detail: str, exit_code: int | None = None) -> OfficialReading:
    return OfficialReading(harness, refused=reason, detail=detail, exit_code=exit_code)


def _read_v2(text: str, parser: str) -> OfficialReading:
    bad = [code for code in _OLD_BAD_CODES if code in text]
    if bad:
        return _refusal(Harness.V2, Refusal.BAD_CODE, bad[0])
    if "applied patch" not in text.lower():
        return _refusal(Harness.V2, Refusal.NOT_APPLIED, "git did not report the test patch as applied")
    region = text.rpartition(_OLD_APPLIED)[2]
    return OfficialReading(Harness.V2, parse_official(region, parser, harness=Harness.V2))


def _read_v5(text: str, parser: str) -> OfficialReading:
    bad = [code for code in BAD_CODES if code in text]
    if bad:
        return _refusal(Harness.V5, Refusal.BAD_CODE, bad[0])
    missing = [marker for marker in (START_MARKER, END_MARKER) if marker not in text]
    if missing:
        return _refusal(Harness.V5, Refusal.NO_MARKERS, missing[0])

    statuses: StatusMap = parse_official(_region(text), parser)
    whole_log = not statuses
    if whole_log:
        statuses = parse_official(text, parser)
    if not statuses and not _runner_counted(text):
        return _refusal(Harness.V5, Refusal.NOTHING_READ, "neither between the markers nor in the whole log")

    exit_code = _first_exit_code(text)
    if exit_code and statuses and not {"FAILED", "ERROR"}.intersection(statuses.values()):
        detail = f"exit code {exit_code}, {len(statuses)} results, none of them a failure"
        return _refusal(Harness.V5, Refusal.EXIT_CODE, detail, exit_code)
    return OfficialReading(Harness.V5, statuses, exit_code=exit_code, whole_log=whole_log)


def _region(text: str) -> str:
    """The text from the first Start marker to the next marker of either kind."""
    start = text.index(START_MARKER) + len(START_MARKER)
    ends = (text.find(marker, start) for marker in (START_MARKER, END_MARKER))
    return text[start : min((end for end in ends if end >= 0), default=len(text))]


def _first_exit_code(text: str) -> int | None:
    found = _EXIT_CODE.search(text)
    if found is None:
        return None
    try:
        return int(found[1])
    except ValueError:
        raise OfficialGraderError("the exit code has more digits than Python converts") from None


# Counts that a runner prints even where a parser reads no name. The original anchors some of them on the
# first digit that is not 0, which takes quadratic time on a long run of digits; a possessive run from its
# first digit is the same question asked once.
_COUNTED = re.compile(
    r"Executed [1-9]\d* of \d"
    r"|TOTAL: [1-9]\d* (?:SUCCESS|FAILED)"
    r"|(?<!\d)(?=\d*[1-9])\d++ (?:passing|specs?, \d+ failures?)"
    r"|Tests:\s+[1-9]"
    r"|Test Suites:\s+(?:\d+ \w+, )*[1-9]\d* total"
    r"|^# tests [1-9]"
    r"|': ok$",
    re.MULTILINE,
)


def _runner_counted(text: str) -> bool:
    return _COUNTED.search(text) is not None
