"""Known ways around the official grader, and what makes readings differ."""

from __future__ import annotations

import pytest

from utboost_action.bypasses import BypassKind, find_bypasses
from utboost_action.disagreement import Defect, explain_difference
from utboost_action.grading import CorrectedGrade, OfficialGrade, grade_corrected, grade_official
from utboost_action.model import Evidence, Instance, ParsedLog, TestStatus

P, F, S, XF = TestStatus.PASSED, TestStatus.FAILED, TestStatus.SKIPPED, TestStatus.XFAIL
START, END = "+ : '>>>>> Start Test Output'", "+ : '>>>>> End Test Output'"


def log(*lines: str, code: int = 0) -> bytes:
    tail = (
        f"+ SWEBENCH_TEST_EXIT_CODE={code}",
        END,
        f"+ echo '>>>>> Test Exit Code: {code}'",
        f">>>>> Test Exit Code: {code}",
    )
    return "\n".join((START, *lines, *tail, "")).encode()


def graded(
    official: dict[str, str],
    corrected: dict[str, TestStatus],
    f2p: tuple[str, ...],
    p2p: tuple[str, ...] = (),
    **kind: bool,
) -> tuple[OfficialGrade, CorrectedGrade, ParsedLog]:
    inst = Instance("o__r-1", "o/r", "0" * 40, "", "", f2p, p2p)
    parsed = ParsedLog(
        corrected, complete=True, evidence={name: Evidence(4, 5, "summary") for name in corrected}
    )
    return grade_official(official, f2p, p2p, **kind), grade_corrected(parsed, inst), parsed


def kinds(
    data: bytes,
    official: dict[str, str],
    corrected: dict[str, TestStatus],
    f2p: tuple[str, ...] = ("t::a",),
    p2p: tuple[str, ...] = (),
    **kind: bool,
) -> set[str]:
    grade, right, parsed = graded(official, corrected, f2p, p2p, **kind)
    return {found.kind for found in find_bypasses(data, official, grade, right, parsed)}


def test_an_honest_log_has_no_finding() -> None:
    assert kinds(log(), {"t::a": "PASSED"}, {"t::a": P}) == set()
    assert kinds(log(code=1), {"t::a": "PASSED", "t::b": "FAILED"}, {"t::a": P, "t::b": F}) == set()


@pytest.mark.parametrize("line", [">>>>> Test Exit Code: 0", "x >>>>> Test Exit Code:\n0"])
def test_an_exit_code_before_the_end(line: str) -> None:
    assert BypassKind.EARLY_EXIT_CODE in kinds(log(line), {"t::a": "PASSED"}, {"t::a": P})


@pytest.mark.parametrize("line", [START, END, ">>>>> End Test Output", "echo '>>>>> Start Test Output'"])
def test_a_printed_marker(line: str) -> None:
    assert kinds(log(line), {"t::a": "PASSED"}, {"t::a": P}) == {BypassKind.PRINTED_MARKER}


def test_a_failure_code_in_the_output_has_its_line() -> None:
    grade, right, parsed = graded({}, {"t::a": P}, ("t::a",))
    (found,) = find_bypasses(log("x", ">>>>> Patch Apply Failed"), {}, grade, right, parsed)
    assert found.kind == BypassKind.FAILURE_CODE_IN_OUTPUT
    assert found.where == "line 3"


def test_a_decoy_is_a_failure_that_no_test_had() -> None:
    official = {"t::a": "PASSED", "t::decoy": "FAILED"}
    found = kinds(log(code=1), official, {"t::a": P})
    assert found == {BypassKind.DECOY_FAILURE, BypassKind.EXIT_CODE_DISAGREES}


def test_a_failure_known_by_its_bare_name_is_no_decoy() -> None:
    official = {"t::a": "PASSED", "test_b": "FAILED", "s/x.py:test_c": "FAILED"}
    assert kinds(log(code=1), official, {"t::a": P, "test_b (m.B)": F}) == set()
    assert kinds(log(code=1), official, {"t::a": P, "test_c": F}) == set()


@pytest.mark.parametrize(("code", "status"), [(1, P), (0, F)])
def test_an_exit_code_that_the_output_does_not_explain(code: int, status: TestStatus) -> None:
    assert BypassKind.EXIT_CODE_DISAGREES in kinds(log(code=code), {"t::a": str(status)}, {"t::a": status})


def test_what_the_grader_counts_as_success() -> None:
    official = {"t::a": "PASSED", "s": "SKIPPED", "x": "XFAIL", "u": "ERROR:"}
    corrected = {"t::a": P, "s": S, "x": XF}
    assert kinds(log(), official, corrected, p2p=("s", "x", "u")) == {
        BypassKind.SKIPPED_PASS_TO_PASS,
        BypassKind.XFAIL_COUNTED,
        BypassKind.UNKNOWN_STATUS_DROPPED,
    }
    assert kinds(log(), {}, {"t::b": P}, fail_only=True) == {BypassKind.ABSENT_COUNTED}
    assert kinds(log(), {}, {"t::b": P}, f2p=()) == {BypassKind.NOTHING_LISTED}


def test_a_pass_that_only_the_harness_reads() -> None:
    assert kinds(log(code=1), {"t::a": "PASSED", "b": "FAILED"}, {"t::a": F, "b": F}) == {
        BypassKind.PRINTED_RESULT
    }


# ------------------------------------------------------------------------ disagreement


def defects(official: dict[str, str], corrected: dict[str, TestStatus], *names: str) -> list[Defect]:
    grade, right, _ = graded(official, corrected, names)
    return [found.defect for found in explain_difference(grade, right)]


@pytest.mark.parametrize(
    ("official", "corrected", "name", "defect"),
    [
        ({}, {"t": P}, "t", Defect.LOST),
        ({"t": "PASSED"}, {"t": F}, "t", Defect.FALSE_PASS),
        ({"t": "FAILED"}, {"t": P}, "t", Defect.FALSE_FAIL),
        ({"t": "PASSED"}, {"u": P}, "t", Defect.NO_TEST),
        ({}, {"test_a (m.A)": P}, "test_a", Defect.NAME),
        ({"t": "ERROR:"}, {"t": P}, "t", Defect.UNKNOWN_STATUS),
        ({"t::p[a": "PASSED"}, {"t::p[a b]": P, "t::p[a c]": F}, "t::p[a", Defect.AMBIGUOUS),
    ],
)
def test_a_difference_has_its_defect(
    official: dict[str, str], corrected: dict[str, TestStatus], name: str, defect: Defect
) -> None:
    assert defects(official, corrected, name) == [defect]


def test_readings_that_agree_have_no_difference() -> None:
    assert defects({"t": "PASSED", "u": "FAILED"}, {"t": P, "u": F}, "t", "u") == []


def test_a_false_pass_shows_its_test_and_lines() -> None:
    grade, right, _ = graded({"t": "PASSED"}, {"t": F}, ("t",))
    claim, test = explain_difference(grade, right, claimed=True)
    assert claim.defect is Defect.CLAIM
    assert (claim.official, claim.corrected) == ("resolved", "not resolved")
    assert (test.test, test.official, test.corrected, test.lines) == ("t", "PASSED", "FAILED", (4, 5))


def test_a_refusal_is_told_once() -> None:
    _, right, _ = graded({}, {"t": P}, ("t",))
    (found,) = explain_difference(grade_official({}, ["t"], [], refused="no markers"), right)
    assert (found.defect, found.detail, found.corrected) == (Defect.REFUSED, "no markers", "resolved")


def test_a_log_that_supports_no_grade_says_why() -> None:
    inst = Instance("o__r-1", "o/r", "0" * 40, "", "", ("t",), ())
    right = grade_corrected(ParsedLog({"t": P}, complete=False), inst)
    (found,) = explain_difference(grade_official({"t": "PASSED"}, ["t"], []), right)
    assert (found.defect, found.detail) == (Defect.UNSUPPORTED, "the log was cut")


def test_a_skip_is_its_own_defect() -> None:
    grade, right, _ = graded({"t": "SKIPPED"}, {"t": S}, (), ("t",))
    assert [found.defect for found in explain_difference(grade, right)] == [Defect.SKIPPED]


@pytest.mark.parametrize("claimed", [None, True])
def test_a_claim_is_held_against_known_results_only(claimed: bool | None) -> None:
    unknown = CorrectedGrade(None, log_reasons=("there is no log",))
    assert explain_difference(None, unknown, claimed) == ()
