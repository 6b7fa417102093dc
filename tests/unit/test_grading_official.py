"""The official status table, name rules and refusals."""

from __future__ import annotations

import pytest

from utboost_action.grading import OfficialRules, Resolution, grade_official

TABLE = [  # status, F2P, P2P, fail_only
    ("PASSED", "success", "success", "success"),
    ("XFAIL", "success", "success", "success"),
    ("FAILED", "failure", "failure", "failure"),
    ("ERROR", "failure", "failure", "success"),
    ("SKIPPED", "failure", "success", "success"),
    (None, "failure", "failure", "success"),
    ("ERROR:", "neither", "neither", "success"),
    ("XPASS", "neither", "neither", "success"),
]


@pytest.mark.parametrize(("status", "f2p", "p2p", "fail_only"), TABLE)
def test_the_status_table(status: str | None, f2p: str, p2p: str, fail_only: str) -> None:
    statuses = {"t": status} if status else {}
    grade = grade_official(statuses, ["t"], ["t"])
    assert getattr(grade.fail_to_pass, f2p) == ("t",)
    assert getattr(grade.pass_to_pass, p2p) == ("t",)
    lenient = grade_official(statuses, ["t"], ["t"], fail_only=True)
    assert getattr(lenient.fail_to_pass, fail_only) == ("t",)
    assert getattr(lenient.pass_to_pass, fail_only) == ("t",)


def test_a_skip_drops_out_by_the_rules_of_2x() -> None:
    grade = grade_official({"a": "PASSED", "b": "SKIPPED"}, ["a", "b"], ["b"], rules=OfficialRules.V2)
    assert grade.fail_to_pass.neither == ("b",)
    assert grade.resolved


@pytest.mark.parametrize(
    ("statuses", "resolution"),
    [
        ({"f": "PASSED", "g": "PASSED", "p": "PASSED"}, Resolution.FULL),
        ({"f": "PASSED", "g": "FAILED", "p": "PASSED"}, Resolution.PARTIAL),
        ({"f": "PASSED", "g": "FAILED", "p": "FAILED"}, Resolution.NO),
        ({"f": "FAILED", "g": "FAILED", "p": "PASSED"}, Resolution.NO),
        ({"f": "PASSED", "g": "PASSED", "p": "FAILED"}, Resolution.NO),
    ],
)
def test_the_resolution(statuses: dict[str, str], resolution: Resolution) -> None:
    grade = grade_official(statuses, ["f", "g"], ["p"])
    assert grade.resolution is resolution
    assert grade.resolved == (resolution is Resolution.FULL)


def test_empty_lists_are_resolved() -> None:
    assert grade_official({}, [], []).resolved


def test_a_refused_log_is_not_resolved_whatever_it_holds() -> None:
    grade = grade_official({"t": "PASSED"}, ["t"], [], refused="no markers")
    assert not grade.resolved
    assert grade.resolution is Resolution.NO
    assert grade.refused == "no markers"


def test_a_cut_id_takes_its_prefix_group_when_it_agrees() -> None:
    statuses = {"t::p[a-1]": "PASSED", "t::p[a-2]": "XFAIL"}
    grade = grade_official(statuses, ["t::p[a"], [])
    assert grade.resolved
    assert grade.statuses == {"t::p[a": "PASSED"}
    assert not grade_official(statuses | {"t::p[a-3]": "FAILED"}, ["t::p[a"], []).resolved
    assert not grade_official(statuses, ["t::p"], []).resolved  # not cut: exact only
    assert not grade_official(statuses, ["t::p[a"], [], rules=OfficialRules.V2).resolved


def test_the_first_of_the_prefix_group_gives_the_word() -> None:
    skipped_first = {"t::p[a-1]": "SKIPPED", "t::p[a-2]": "FAILED"}
    assert grade_official(skipped_first, [], ["t::p[a"]).resolved
    assert not grade_official(dict(reversed(skipped_first.items())), [], ["t::p[a"]).resolved
