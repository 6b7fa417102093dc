"""The corrected grade over readings built by hand."""

from __future__ import annotations

from typing import Any

import pytest

from utboost_action.aliases import AliasRule
from utboost_action.grading import CorrectedGrade, ListName, grade_corrected
from utboost_action.model import Evidence, Instance, LogFlag, ParsedLog, RunnerSummary, TestStatus

P, F, E, S = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.SKIPPED
XF, XP = TestStatus.XFAIL, TestStatus.XPASS


def instance(f2p: str | list[str], p2p: list[str] | None = None, files: tuple[str, ...] = ()) -> Instance:
    patch = "".join(
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n" for path in files
    )
    names = [f2p] if isinstance(f2p, str) else f2p
    return Instance("o__r-1", "o/r", "0" * 40, "", patch, tuple(names), tuple(p2p or ()))


def grade(statuses: dict[str, TestStatus], inst: Instance, **parsed: Any) -> CorrectedGrade:
    return grade_corrected(ParsedLog(statuses, complete=parsed.pop("complete", True), **parsed), inst)


ALIASES = [
    ("t.py::a", {"t.py::a": P}, {}, AliasRule.EXACT, ("t.py::a",)),
    ("t.py::A::()::a", {"t.py::A::a": P}, {}, AliasRule.EXACT, ("t.py::A::a",)),
    (
        "Adds two numbers.",
        {"test_a (m.A)": P},
        {"docstrings": {"test_a (m.A)": "Adds two numbers."}},
        AliasRule.DOCSTRING,
        ("test_a (m.A)",),
    ),
    (
        "Adds 1",
        {"test_a (m.A)": P},
        {"docstrings": {"test_a (m.A)": "Adds 1 ... and 2"}},
        AliasRule.DOCSTRING,
        ("test_a (m.A)",),
    ),
    (
        "test_a",
        {"test_a (m.A)": P, "test_a (m.B)": P},
        {},
        AliasRule.BARE_NAME,
        ("test_a (m.A)", "test_a (m.B)"),
    ),
    ("test_a (m.A)", {"test_a (m.A.test_a)": P}, {}, AliasRule.UNITTEST_ID, ("test_a (m.A.test_a)",)),
    ("test_a (m.A.test_a)", {"test_a (m.A)": P}, {}, AliasRule.UNITTEST_ID, ("test_a (m.A)",)),
    (
        "t::p[a",
        {"t::p[a b]": P, "t::p[a c]": P, "t::p[ab]": F},
        {},
        AliasRule.CUT_ID,
        ("t::p[a b]", "t::p[a c]"),
    ),
    ("t::p[a", {"t::p[ab]": P}, {}, AliasRule.CUT_ID, ("t::p[ab]",)),
    ("t::p[1]", {"t::p[MouseButton.LEFT]": P}, {}, AliasRule.REWRITTEN, ("t::p[MouseButton.LEFT]",)),
    ("t::p[/f.txt]", {"t::p[/a/f.txt]": P}, {}, AliasRule.REWRITTEN, ("t::p[/a/f.txt]",)),
    ("t::p]", {"t::p[30m]": P}, {}, AliasRule.REWRITTEN, ("t::p[30m]",)),
    ("t::a - x: y", {"t::a": P}, {}, AliasRule.REWRITTEN, ("t::a",)),
    ("t::p[a - b] - x", {"t::p[a - b]": P}, {}, AliasRule.REWRITTEN, ("t::p[a - b]",)),
    (
        "Applying sites.0002_alter_domain_unique...test_m (m.A)",
        {"test_m (m.A)": P},
        {},
        AliasRule.MIGRATION,
        ("test_m (m.A)",),
    ),
    ("[100%]", {"t::a": P}, {}, AliasRule.ARTEFACT, ()),
    ("t::gone", {"t::a": P}, {}, AliasRule.MISSING, ()),
]


@pytest.mark.parametrize(("name", "statuses", "parsed", "rule", "ids"), ALIASES)
def test_what_a_listed_name_stands_for(
    name: str,
    statuses: dict[str, TestStatus],
    parsed: dict[str, Any],
    rule: AliasRule,
    ids: tuple[str, ...],
) -> None:
    (test,) = grade(statuses, instance(name), **parsed).tests
    assert test.standing.rule is rule
    assert test.standing.ids == ids
    assert test.passes is (True if ids else None)


def test_sympy_names_go_by_the_files_of_the_test_patch() -> None:
    inst = instance("test_a", files=("s/test_x.py", "s/test_y.py"))
    statuses = {"s/test_x.py:test_a": P, "s/test_y.py:test_a": F, "s/test_z.py:test_a": E}
    result = grade(statuses, inst)
    (test,) = result.tests
    assert test.standing.rule is AliasRule.SYMPY_FILE
    assert test.standing.ids == ("s/test_x.py:test_a", "s/test_y.py:test_a")
    assert test.status is F
    assert result.resolved is False
    qualified = grade({"test_a": P}, instance("s/test_x.py:test_a", files=("s/test_x.py",)))
    assert qualified.resolved is True


def test_tests_that_share_a_docstring_must_all_pass() -> None:
    statuses = {"test_a (m.A)": P, "test_b (m.A)": F}
    result = grade(statuses, instance("Same."), docstrings=dict.fromkeys(statuses, "Same."))
    assert result.resolved is False
    assert [test.name for test in result.ambiguous] == ["Same."]


def test_tests_behind_a_cut_id_that_disagree_settle_nothing() -> None:
    result = grade({"t::p[a b]": P, "t::p[a c]": F}, instance("t::p[a"))
    assert result.resolved is None
    assert "disagree" in result.reasons[0]


@pytest.mark.parametrize(
    ("status", "f2p", "p2p"),
    [
        (P, True, True),
        (XF, True, True),
        (XP, True, True),
        (F, False, False),
        (E, False, False),
        (S, False, None),
    ],
)
def test_what_a_status_is_worth(status: TestStatus, f2p: bool | None, p2p: bool | None) -> None:
    assert grade({"t": status}, instance("t")).resolved is f2p
    assert grade({"t": status}, instance([], ["t"])).resolved is p2p


@pytest.mark.parametrize(("skips", "resolved"), [({"t"}, True), (set(), False), (None, None)])
def test_a_skipped_test_is_held_against_golds_skips(skips: set[str] | None, resolved: bool | None) -> None:
    parsed = ParsedLog({"t": S}, complete=True)
    assert grade_corrected(parsed, instance([], ["t"]), gold_skips=skips).resolved is resolved


def test_a_missing_test_is_unknown_but_a_failing_one_settles_it() -> None:
    assert grade({"a": P}, instance("a", ["b"])).resolved is None
    assert grade({"a": F}, instance("a", ["b"])).resolved is False


def test_a_run_that_ended_before_any_test_passed_is_a_failure() -> None:
    counts = RunnerSummary(1, 0, 0, 1, 0, 0, 0)
    assert grade({}, instance("a"), summary=counts).resolved is False
    assert grade({}, instance("a"), summary=counts, complete=False).resolved is None
    assert grade({}, instance("a"), summary=RunnerSummary(2, 1, 0, 1, 0, 0, 0)).resolved is None


def test_nothing_listed_is_nothing_to_grade() -> None:
    assert grade({"a": P}, instance([])).resolved is None


EVENTS = [
    ("t/test_a.py::test_x", "t/test_a.py"),
    ("test_x (m.tests.B)", "setUpClass (m.tests.B)"),
    ("test_x (m.tests.B)", "setUpModule (m.tests)"),
    ("s/test_c.py:test_x", "s/test_c.py"),
    ("test_x", "s/test_c.py"),
]


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_a_failed_event_fails_the_listed_tests_it_covers(name: str, event: str) -> None:
    result = grade({}, instance(name, files=("s/test_c.py",)), events={event: E})
    assert result.tests[0].standing.rule is AliasRule.EVENT
    assert result.resolved is False


def test_an_event_of_another_class_or_file_says_nothing() -> None:
    events = {"setUpClass (m.tests.Base)": E, "t/test_b.py": E}
    assert grade({}, instance("test_x (m.tests.B)"), events=events).resolved is None
    assert grade({}, instance("t/test_a.py::x"), events=events).resolved is None


def test_a_module_that_cannot_be_imported_fails_its_tests() -> None:
    statuses = {"m.tests (unittest.loader._FailedTest.m.tests)": E}
    assert grade(statuses, instance("test_x (m.tests.B)")).resolved is False


@pytest.mark.parametrize(
    "log", [{"complete": False}, {"gradable": False}, {"flags": frozenset({LogFlag.INJECTION})}]
)
def test_a_doubtful_log_supports_no_resolved(log: dict[str, Any]) -> None:
    result = grade({"a": P}, instance("a"), **log)
    assert result.resolved is None
    assert result.log_reasons


@pytest.mark.parametrize("log", [{"complete": False}, {"gradable": False}])
def test_a_printed_failure_counts_in_a_cut_log(log: dict[str, Any]) -> None:
    assert grade({"a": F}, instance("a"), **log).resolved is False


def test_a_test_left_open_by_a_cut_log_is_unknown() -> None:
    evidence = {"a": Evidence(3, 3, "inline", "no verdict: the test did not finish")}
    assert grade({"a": E}, instance("a"), evidence=evidence, complete=False).resolved is None


@pytest.mark.parametrize(("kind", "resolved"), [("summary", False), ("inline", None)])
def test_where_text_was_injected_only_the_closing_section_fails(kind: str, resolved: bool | None) -> None:
    log = {"flags": frozenset({LogFlag.INJECTION}), "evidence": {"a": Evidence(1, 1, kind)}}
    assert grade({"a": F}, instance("a"), **log).resolved is resolved


def test_an_artefact_is_graded_as_the_official_reading_does_and_never_fails() -> None:
    parsed = ParsedLog({"t::a": P}, complete=True)
    inst = instance("t::a", ["[100%]"])
    assert grade_corrected(parsed, inst, official={"[100%]": "PASSED"}).resolved is True
    assert grade_corrected(parsed, inst, official={"[100%]": "FAILED"}).resolved is None
    assert grade_corrected(parsed, inst).resolved is None


def test_every_listed_test_says_where_it_stands() -> None:
    evidence = {"t::a": Evidence(7, 9, "summary", "boom")}
    result = grade({"t::a": F, "t::b": P}, instance("t::a", ["t::b"]), evidence=evidence)
    (failing,) = result.failing
    assert failing.listed_in is ListName.FAIL_TO_PASS
    assert failing.evidence == evidence["t::a"]
    assert result.reasons == ("t::a: FAILED",)
    assert not result.unknown
