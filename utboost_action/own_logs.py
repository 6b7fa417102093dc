"""Reading one of our own logs both ways: what happened, and what the official harness would say of it."""

from __future__ import annotations

import re
from collections.abc import Callable

from utboost_action.eval_script import END, START
from utboost_action.execution.side import Reading
from utboost_action.grading import grade_corrected, grade_official
from utboost_action.logs import read_log
from utboost_action.logs.official import official_report_map
from utboost_action.model import Instance, LogFlag, ParsedLog

_NOT_LAID_DOWN = re.compile(rb"^error: (.*(?:does not apply|patch failed|already exists).*)$", re.MULTILINE)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_SECTION = re.compile(r"={4,} .* ={4,}\s*$")
_EXCERPTS, _EXCERPT_LINES = 20, 40  # failures of one log whose lines are kept, and how many of each


def reader_of(instance: Instance) -> Callable[[bytes, str, int | None], Reading]:
    """Read one of our own logs both ways: what happened, and what the official harness would say."""
    parser = instance.log_parser or ""

    def read(data: bytes, nonce: str, exit_code: int | None) -> Reading:
        parsed = read_log(data, parser, nonce=nonce)
        official = official_report_map(_as_official(data, nonce, exit_code), parser)
        grade = grade_official(
            official.statuses,
            instance.fail_to_pass,
            instance.pass_to_pass,
            fail_only=instance.fail_only,
            refused=official.refused,
        )
        listed = grade_corrected(parsed, instance, official=official.statuses).tests
        fixes = [test.passes for test in listed if test.name in instance.fail_to_pass]
        messages = {test: _steady(spot.message) for test, spot in parsed.evidence.items() if spot.message}
        problem = _problem(data, parsed, nonce, exit_code)
        return Reading(
            outcomes=parsed.statuses,
            messages=messages,
            excerpts=_excerpts(data, parsed),
            official=grade.resolved,
            fixes=_all_met(fixes),
            usable=not problem,
            problem=problem,
        )

    return read


def _problem(data: bytes, parsed: ParsedLog, nonce: str, exit_code: int | None) -> str:
    """Why one of our own logs says nothing that counts; empty when it does.

    A runner that fails before it names a test (a tree that cannot be imported) has said something: no
    test came out. All else that is cut, imitated or without its end is unknown.
    """
    head = data.partition(f"{START} {nonce}'".encode())[0]
    if failed := _NOT_LAID_DOWN.search(head):
        return f"the test patch was not laid down: {failed.group(1).decode('utf-8', 'replace')}"
    if f"{END} {nonce}'".encode() not in data:
        return "the run did not reach its end"
    if not parsed.statuses:
        return "" if exit_code else "exit code 0, but no test came out"
    if not parsed.gradable:
        return "; ".join(parsed.warnings) or "the log may not be used for a grade"
    if parsed.complete is not True:
        return "the runner's own closing figures are missing"
    if LogFlag.INJECTION in parsed.flags:
        return "the log holds text that imitates the runner"
    if LogFlag.PARTIAL in parsed.flags:
        return "outcomes without names"
    seen = (*parsed.statuses.values(), *parsed.events.values())
    if exit_code and not any(status.fails for status in seen):
        return f"exit code {exit_code}, but the log shows no failure"
    return ""


def _excerpts(data: bytes, parsed: ParsedLog) -> dict[str, str]:
    """The lines of the log that show the first failures."""
    failed = [test for test, status in parsed.statuses.items() if status.fails and test in parsed.evidence]
    if not failed:
        return {}
    lines = data.decode("utf-8", "replace").split("\n")
    shown = {}
    for test in failed[:_EXCERPTS]:
        spot = parsed.evidence[test]
        kept = lines[spot.first_line - 1 : spot.last_line]
        section = next((n for n, line in enumerate(kept) if n and _SECTION.match(line)), len(kept))
        kept = kept[:section]  # pytest names the test once more in its closing summary
        if len(kept) > _EXCERPT_LINES:
            kept = [*kept[: _EXCERPT_LINES // 2], "[...]", *kept[-_EXCERPT_LINES // 2 :]]
        shown[test] = _steady("\n".join(line.rstrip("\r")[:500] for line in kept))
    return shown


def _steady(text: str) -> str:
    """The text without addresses in memory, which differ between two runs of one program."""
    return _ADDRESS.sub("0x...", text)


def _all_met(passes: list[bool | None]) -> bool | None:
    """True when every listed test passes, False when one fails or none is known to pass."""
    if False in passes or (passes and True not in passes):
        return False
    return True if passes and None not in passes else None


def _as_official(data: bytes, nonce: str, exit_code: int | None) -> bytes:
    """Our log as swebench 5 would have written it: bare markers, and the exit code behind the End marker."""
    bare = data.replace(f" {nonce}'".encode(), b"'")
    return bare + f"\n>>>>> Test Exit Code: {exit_code}\n".encode()
