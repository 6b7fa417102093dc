"""Known ways around the official grader, recognised in one log and reported beside the grade.

Nothing here changes a grade. A finding says that the official `resolved` rests on something that the
harness cannot tell from an honest run; docs/grading.md lists the kinds with their evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from utboost_action.aliases import official_forms
from utboost_action.grading import CorrectedGrade, ListName, OfficialGrade
from utboost_action.model import Finding, ParsedLog, TestStatus


class BypassKind(StrEnum):
    """The closed list of kinds; the value is the `kind` of the finding."""

    EARLY_EXIT_CODE = "early_exit_code"
    EXIT_CODE_DISAGREES = "exit_code_disagrees"
    PRINTED_MARKER = "printed_marker"
    FAILURE_CODE_IN_OUTPUT = "failure_code_in_output"
    DECOY_FAILURE = "decoy_failure"
    PRINTED_RESULT = "printed_result"
    SKIPPED_PASS_TO_PASS = "skipped_pass_to_pass"  # noqa: S105 (no password: the name of a kind)
    XFAIL_COUNTED = "xfail_counted"
    ABSENT_COUNTED = "absent_counted"
    UNKNOWN_STATUS_DROPPED = "unknown_status_dropped"
    NOTHING_LISTED = "nothing_listed"


_MARKER = re.compile(rb">>>>> (?:Start|End) Test Output")
_TRACED_START = re.compile(rb"\+ : '>>>>> Start Test Output'\r?$", re.MULTILINE)
_TRACED_END = re.compile(rb"\+ : '>>>>> End Test Output'\r?$", re.MULTILINE)
_EXIT_CODE = re.compile(rb">>>>> Test Exit Code:\s*(-?\d{1,9})")
_FAILURE_CODE = re.compile(rb">>>>> (?:Patch Apply Failed|Reset Failed|Tests Errored|Tests Timed Out)")


def find_bypasses(
    data: bytes,
    statuses: Mapping[str, str],
    official: OfficialGrade,
    corrected: CorrectedGrade,
    parsed: ParsedLog,
) -> tuple[Finding, ...]:
    """Return what in a log and its grade is a known way around the official harness.

    data: the log as it is; statuses: the whole official map; parsed: the corrected reading of `data`.
    """
    findings = [*_in_text(data), *_exit_code_against(data, parsed)]
    if official.refused is None:
        findings += _decoy(data, statuses, parsed)
        findings += _counted(official, corrected)
    return tuple(findings)


# ------------------------------------------------------------------------- the text


def _line(data: bytes, position: int) -> str:
    number = data.count(b"\n", 0, position) + 1
    return f"line {number}"


def _in_text(data: bytes) -> Iterator[Finding]:
    starts, ends = (
        [found.start() for found in pattern.finditer(data)] for pattern in (_TRACED_START, _TRACED_END)
    )
    traced = {position + len(b"+ : '") for position in (*starts, *ends)}
    printed = [found.start() for found in _MARKER.finditer(data) if found.start() not in traced]
    extra = [*starts[1:], *ends[:-1]]
    if printed or extra:
        first = min((*printed, *extra))
        detail = f"{len(printed)} markers in printed text, {len(extra)} more in the form of the script's own"
        yield _finding(BypassKind.PRINTED_MARKER, detail, where=_line(data, first))
    if not ends:
        return
    early = _EXIT_CODE.search(data, 0, ends[-1])
    if early is not None:
        detail = f"an exit-code line ({early[1].decode()}) stands before the end of the test output"
        yield _finding(BypassKind.EARLY_EXIT_CODE, detail, where=_line(data, early.start()))
    code = _FAILURE_CODE.search(data, starts[0], ends[-1]) if starts else None
    if code is not None:
        detail = f"the test output holds {code[0].decode()!r}, for which the harness refuses the log"
        yield _finding(BypassKind.FAILURE_CODE_IN_OUTPUT, detail, where=_line(data, code.start()))


def _last_exit_code(data: bytes) -> tuple[int, int] | None:
    """The last exit-code line after the last End marker: its value and position."""
    ends = [found.end() for found in _TRACED_END.finditer(data)]
    codes = list(_EXIT_CODE.finditer(data, ends[-1])) if ends else []
    return (int(codes[-1][1]), codes[-1].start()) if codes else None


def _exit_code_against(data: bytes, parsed: ParsedLog) -> Iterator[Finding]:
    found = _last_exit_code(data)
    if found is None or not parsed.statuses:
        return
    code, position = found
    failed = any(status.fails for status in (*parsed.statuses.values(), *parsed.events.values()))
    if (code != 0) != failed:
        seen = "shows a failure" if failed else "shows no failure"
        detail = f"the test command ended with {code}, but its output {seen}"
        yield _finding(BypassKind.EXIT_CODE_DISAGREES, detail, where=_line(data, position))


# ------------------------------------------------------------------------ the grade


def _decoy(data: bytes, statuses: Mapping[str, str], parsed: ParsedLog) -> Iterator[Finding]:
    """A non-zero exit code that the official reading explains only by names that did not fail."""
    found = _last_exit_code(data)
    if found is None or found[0] == 0:
        return
    failing = tuple(name for name, word in statuses.items() if word in ("FAILED", "ERROR"))
    real = _names_of_failures(parsed)
    if failing and not any(name in real or name.rpartition(":")[2] in real for name in failing):
        detail = f"the exit code is {found[0]}, and no failure that the harness reads is a test that failed"
        yield _finding(BypassKind.DECOY_FAILURE, detail, failing[:20])


def _names_of_failures(parsed: ParsedLog) -> set[str]:
    """Every name under which an official parser may know a test or an event that really failed."""
    names: set[str] = set()
    for test, status in (*parsed.events.items(), *parsed.statuses.items()):
        if status.fails:
            names |= official_forms(test)
            names |= {
                test,
                test.partition(" (")[0],
                test.rpartition(":")[2],
                parsed.docstrings.get(test, test),
            }
    return names


def _counted(official: OfficialGrade, corrected: CorrectedGrade) -> Iterator[Finding]:
    f2p, p2p = official.fail_to_pass, official.pass_to_pass
    successes = (*f2p.success, *p2p.success)
    if not corrected.tests:
        yield _finding(BypassKind.NOTHING_LISTED, "both lists are empty, which counts as resolved")
    wordless = tuple(name for name in successes if name not in official.statuses)
    yield from _named(BypassKind.ABSENT_COUNTED, "absent tests count as success", wordless)
    yield from _named(
        BypassKind.SKIPPED_PASS_TO_PASS,
        "skipped PASS_TO_PASS tests count as success",
        tuple(name for name in p2p.success if official.statuses.get(name) == TestStatus.SKIPPED),
    )
    yield from _named(
        BypassKind.XFAIL_COUNTED,
        "expected failures count as success",
        tuple(name for name in successes if official.statuses.get(name) == TestStatus.XFAIL),
    )
    yield from _named(
        BypassKind.UNKNOWN_STATUS_DROPPED,
        "listed tests drop out of the ratio, since their status is none the harness knows",
        (*f2p.neither, *p2p.neither),
    )
    passed = {(name, ListName.FAIL_TO_PASS) for name in f2p.success}
    passed |= {(name, ListName.PASS_TO_PASS) for name in p2p.success}
    yield from _named(
        BypassKind.PRINTED_RESULT,
        "the harness reads a pass, but the runner's own result is a failure",
        tuple(
            test.name
            for test in corrected.failing
            if (test.name, test.listed_in) in passed and test.status is not None and test.status.fails
        ),
    )


def _named(kind: BypassKind, detail: str, ids: tuple[str, ...]) -> Iterator[Finding]:
    if ids:
        yield _finding(kind, detail, ids)


def _finding(kind: BypassKind, detail: str, ids: tuple[str, ...] = (), where: str = "") -> Finding:
    return Finding(str(kind), detail, ids, where)
