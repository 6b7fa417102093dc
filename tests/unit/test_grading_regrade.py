"""One instance and its log, joined: claimed, official, corrected."""

from __future__ import annotations

import json

import pytest

from utboost_action.errors import InputError
from utboost_action.model import Finding, Instance, Prediction, PredictionClass
from utboost_action.regrade import doubts_about, regrade_log

F2P, P2P = "t/test_a.py::test_new", "t/test_a.py::test_old"
START, END = "+ : '>>>>> Start Test Output'", "+ : '>>>>> End Test Output'"


def instance(**changes: str | None) -> Instance:
    row = {"log_parser": "parse_log_pytest", "repo": "pallets/flask"} | changes
    return Instance(
        "o__r-1", str(row["repo"]), "0" * 40, "", "", (F2P,), (P2P,), log_parser=row["log_parser"]
    )


def marked(*results: str, code: int = 0, applied: str = "Applied patch t/test_a.py cleanly.") -> bytes:
    passed = sum(line.startswith("PASSED") for line in results)
    failed = len(results) - passed
    counts = f"{failed} failed, {passed} passed" if failed else f"{passed} passed"
    lines = (
        "+ git apply -v -",
        applied,
        START,
        "============================= test session starts ==============================",
        "collected 2 items",
        "",
        "=========================== short test summary info ============================",
        *results,
        f"============================== {counts} in 0.10s ===============================",
        f"+ SWEBENCH_TEST_EXIT_CODE={code}",
        END,
        f"+ echo '>>>>> Test Exit Code: {code}'",
        f">>>>> Test Exit Code: {code}",
        "",
    )
    return "\n".join(lines).encode()


GREEN = marked(f"PASSED {F2P}", f"PASSED {P2P}")
RED = marked(f"PASSED {P2P}", f"FAILED {F2P} - assert 1 == 2", code=1)


def test_readings_that_agree() -> None:
    good = regrade_log(instance(), GREEN, claimed=True)
    assert good.official is not None
    assert (good.claimed, good.official.resolved, good.corrected.resolved) == (True, True, True)
    assert good.official_latest is good.official
    assert good.disagreements == ()
    assert good.findings == ()


def test_a_claim_that_its_own_log_contradicts_shows_the_line() -> None:
    bad = regrade_log(instance(), RED, claimed=True)
    assert bad.corrected.resolved is False
    (claim,) = bad.disagreements
    assert claim.test == F2P
    assert claim.lines == (9, 9)


def test_a_quoted_log_is_graded_like_the_log() -> None:
    quoted = json.dumps(RED.decode()).encode()
    result = regrade_log(instance(), quoted)
    assert result.official is not None
    assert result.official.refused is None
    assert result.corrected.resolved is False


def test_a_log_without_markers_is_graded_by_its_own_harness_and_by_the_latest() -> None:
    log = GREEN.replace(START.encode() + b"\n", b"+ pytest -rA t/test_a.py\n").replace(
        END.encode() + b"\n", b""
    )
    result = regrade_log(instance(), log)
    assert result.official is not None
    assert result.official_latest is not None
    assert result.official.resolved
    assert result.official_latest.refused is not None


def test_a_test_patch_that_did_not_apply_makes_the_log_worthless() -> None:
    log = marked(f"PASSED {F2P}", f"PASSED {P2P}", applied="error: unrecognized input")
    assert regrade_log(instance(), log).corrected.resolved is None


def test_without_a_log_nothing_is_known_and_an_empty_patch_is_unresolved() -> None:
    assert regrade_log(instance(), None).corrected.resolved is None
    empty = Prediction("o__r-1", "", PredictionClass.EMPTY, "preds.jsonl:1")
    assert regrade_log(instance(), GREEN, prediction=empty).corrected.resolved is False


def test_a_log_of_another_patch_says_nothing_of_the_submitted_one() -> None:
    findings = [Finding("patch_differs", "", ("o__r-1",)), Finding("patch_differs", "", ("o__r-2",))]
    doubts = doubts_about("o__r-1", findings)
    assert len(doubts) == 1
    result = regrade_log(instance(), GREEN, doubts=doubts)
    assert result.corrected.resolved is None
    assert result.corrected.log_reasons == doubts
    assert doubts_about("o__r-3", findings) == ()


def test_a_row_without_a_parser_takes_its_repositorys() -> None:
    assert regrade_log(instance(log_parser=None), GREEN).corrected.resolved is True
    with pytest.raises(InputError, match="o__r-1"):
        regrade_log(instance(log_parser=None, repo="o/r"), GREEN)
    with pytest.raises(InputError, match="parse_log_jest"):
        regrade_log(instance(log_parser="parse_log_jest"), GREEN)
