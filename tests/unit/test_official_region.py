"""Which part of a log the official harness reads, and which logs it refuses."""

from __future__ import annotations

import pytest

from utboost_action.errors import InputError
from utboost_action.logs.official import Harness, Refusal, harness_of, official_report_map

START, END = "+ : '>>>>> Start Test Output'", "+ : '>>>>> End Test Output'"


def marked(*lines: str, after: str = "") -> bytes:
    return "\n".join((START, *lines, END, after)).encode()


def test_the_region_and_the_first_exit_code() -> None:
    reading = official_report_map(
        b"PASSED t::before\n" + marked("PASSED t::a", after=">>>>> Test Exit Code: 0"), "pytest"
    )
    assert reading.found
    assert reading.statuses == {"t::a": "PASSED"}
    assert reading.exit_code == 0
    assert not reading.whole_log


def test_a_second_start_marker_ends_the_region() -> None:
    reading = official_report_map(marked("PASSED t::a", START, "FAILED t::b"), "pytest")
    assert reading.statuses == {"t::a": "PASSED"}


def test_a_printed_end_marker_hides_what_follows() -> None:
    reading = official_report_map(marked("PASSED t::a", ">>>>> End Test Output", "FAILED t::b"), "pytest")
    assert reading.statuses == {"t::a": "PASSED"}


def test_an_empty_region_falls_back_to_the_whole_log() -> None:
    reading = official_report_map(b"PASSED t::a\n" + marked(), "pytest")
    assert reading.statuses == {"t::a": "PASSED"}
    assert reading.whole_log


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (marked("PASSED t::a", ">>>>> Patch Apply Failed"), Refusal.BAD_CODE),
        (b">>>>> Tests Timed Out\n" + marked("PASSED t::a"), Refusal.BAD_CODE),
        (b"PASSED t::a", Refusal.NO_MARKERS),
        (marked("nothing"), Refusal.NOTHING_READ),
        (marked("Executed 0 of 0"), Refusal.NOTHING_READ),
        (marked("PASSED t::a", after=">>>>> Test Exit Code: 1"), Refusal.EXIT_CODE),
        (marked("XFAIL t::a", after=">>>>> Test Exit Code: -9"), Refusal.EXIT_CODE),
        (marked("PASSED t::\xff").replace(b"\xc3\xbf", b"\xff"), Refusal.CRASH),
        (marked("PASSED t::a", after=">>>>> Test Exit Code: " + "1" * 5000), Refusal.CRASH),
    ],
)
def test_a_refusal(data: bytes, reason: Refusal) -> None:
    reading = official_report_map(data, "pytest")
    assert reading.refused is reason
    assert not reading.found
    assert reading.detail
    assert reading.statuses == {}


def test_a_bare_failure_header_makes_the_grader_fail() -> None:
    assert official_report_map(marked("FAIL:"), "django").refused is Refusal.CRASH


@pytest.mark.parametrize(
    "count", ["Executed 3 of 4", "0012 passing", "# tests 1", "5 specs, 0 failures", "x': ok"]
)
def test_a_count_of_a_runner_is_enough_for_an_empty_map(count: str) -> None:
    reading = official_report_map(marked(count), "pytest")
    assert reading.found
    assert reading.statuses == {}


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        (["PASSED t::a", "FAILED t::decoy"], ">>>>> Test Exit Code: 1"),  # a failure explains the code
        (["PASSED t::a", ">>>>> Test Exit Code: 0"], ">>>>> Test Exit Code: 1"),  # the first one counts
    ],
)
def test_the_known_ways_around_the_exit_code_work_as_in_the_original(lines: list[str], after: str) -> None:
    assert official_report_map(marked(*lines, after=after), "pytest").found


def test_line_endings_are_read_as_the_harness_reads_a_file() -> None:
    reading = official_report_map(marked("PASSED t::a", "PASSED t::b").replace(b"\n", b"\r"), "pytest")
    assert list(reading.statuses) == ["t::a", "t::b"]


def test_the_harness_of_a_log_is_told_by_its_markers() -> None:
    assert harness_of(marked()) is Harness.V5
    assert harness_of(b"+ git apply -v -") is Harness.V2


def test_2x_reads_after_the_last_applied_patch_and_wants_a_word_of_git() -> None:
    log = b"PASSED t::x\n>>>>> Applied Patch (pred)\nPASSED t::a\n"
    reading = official_report_map(log, "pytest", harness=Harness.V2)
    assert reading.statuses == {"t::a": "PASSED"}
    silent = official_report_map(b"PASSED t::a", "pytest", harness=Harness.V2)
    assert silent.refused is Refusal.NOT_APPLIED
    reset = official_report_map(log + b"Failed to reset task environment", "pytest", harness=Harness.V2)
    assert reset.refused is Refusal.BAD_CODE


def test_a_wrong_parser_is_an_error_whatever_the_log_holds() -> None:
    with pytest.raises(InputError):
        official_report_map(b"\xff", "parse_log_maven")
