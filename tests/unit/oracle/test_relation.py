"""Stability, the kind of a difference, and failures of the set-up told apart."""

from dataclasses import replace

import pytest
from unit.oracle.oracle_builders import SUITE, E, F, P, entry, run, side, variants, verdict

from utboost_action.model import (
    ORIGINAL,
    BankStatus,
    Cause,
    DifferenceKind,
    Run,
    RunState,
    SideRun,
    SideState,
    Signals,
    TestStatus,
    VerdictKind,
)
from utboost_action.oracle.relation import Outcomes, compare, outcomes_of
from utboost_action.oracle.setup_faults import SetupFault, fault_in, setup_doubt
from utboost_action.oracle.stability import REVERSED, environment_of, environments

GOLD = side([{"a": P}] * 3, [{"a": P, "new": P}] * 3)
BASE = side([{"a": F}] * 2, [{"a": F, "new": F}] * 2)
CONFIRMED = entry(BankStatus.CONFIRMED)


def test_the_first_repeat_is_the_scripts_own_and_the_others_differ():
    first, *others = environments(4)
    assert first == {}
    assert len({tuple(each.items()) for each in others}) == 3
    assert {"PYTHONHASHSEED", "TZ"} <= set(others[0])
    assert any(each.get("order") == REVERSED for each in others)
    assert environment_of(2) == environment_of(2)


def test_a_stable_failure_of_a_confirmed_test_is_wrong():
    candidate = side([{"a": P}] * 3, [{"a": P, "new": F}] * 3)
    assert verdict(GOLD, candidate, BASE, CONFIRMED).kind is VerdictKind.WRONG
    assert verdict(GOLD, candidate, BASE).kind is VerdictKind.SUSPECT
    earned = entry(signals=Signals(variants(2)))
    assert verdict(GOLD, candidate, BASE, earned).kind is VerdictKind.WRONG


def test_what_wavers_on_gold_or_base_is_listed_and_never_counts():
    gold = side([{"a": P}] * 3, [{"new": P}, {"new": F}, {"new": P}])
    candidate = side([{"a": P}] * 3, [{"new": F}] * 3)
    found = verdict(gold, candidate, BASE, CONFIRMED)
    assert found.kind is VerdictKind.INCONCLUSIVE
    gold = side([{"a": P}] * 3, [{"new": P, "other": P}] * 3)
    wavering = side([{"a": F}] * 2, [{"new": F, "other": F}, {"new": P, "other": F}])
    candidate = side([{"a": P}] * 3, [{"new": F, "other": P}] * 3)
    both = replace(CONFIRMED, targets=("new", "other"))
    found = verdict(gold, candidate, wavering, both)
    assert (found.kind, found.flaky) == (VerdictKind.HOLDS, ("new",))
    assert verdict(gold, candidate, wavering, CONFIRMED).cause is Cause.NO_USABLE_TEST


def test_a_candidate_that_wavers_is_inconclusive_with_both_outcomes():
    candidate = side([{"a": P}] * 3, [{"a": P, "new": P}, {"a": P, "new": F}, {"a": P, "new": P}])
    found = verdict(GOLD, candidate, BASE, CONFIRMED)
    assert (found.kind, found.cause) == (VerdictKind.INCONCLUSIVE, Cause.UNSTABLE)
    assert "PASSED, FAILED, PASSED" in found.reasons[0]


def test_a_fail_to_pass_test_that_wavers_on_gold_makes_the_instance_unusable():
    runs = tuple(run(ORIGINAL, {"b": P, "a": P if n else F}, n, fixes=bool(n)) for n in range(3))
    found = verdict(SideRun("k", SideState.OK, runs), side([{"a": P}] * 3), BASE)
    assert (found.kind, found.cause) == (VerdictKind.INCONCLUSIVE, Cause.GOLD_UNUSABLE)
    assert "wavers" in found.reasons[0]


@pytest.mark.parametrize(
    ("base", "candidate", "alone", "kind"),
    [
        (P, "AssertionError: 1", (), DifferenceKind.REGRESSION),
        (F, "AssertionError: 1", (), DifferenceKind.INCOMPLETE_FIX),
        (F, "AssertionError: 2", (), DifferenceKind.DIVERGENCE),
        (F, "AssertionError: 2", ("AssertionError: 3", "AssertionError: 2"), DifferenceKind.INCOMPLETE_FIX),
    ],
)
def test_the_kind_is_told_by_base(
    base: TestStatus, candidate: str, alone: tuple[str, ...], kind: DifferenceKind
):
    def outcomes(status: TestStatus, message: str) -> Outcomes:
        return Outcomes(repeats=3, stable={"new": str(status)}, messages={"new": message} if message else {})

    shown = compare(
        SUITE, outcomes(P, ""), outcomes(F, candidate), outcomes(base, "AssertionError: 1"), {"new": alone}
    )
    assert [difference.kind for difference in shown.differences] == [kind]


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("ConnectionRefusedError: [Errno 111] Connection refused", SetupFault.NETWORK),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", SetupFault.NETWORK),
        ("ModuleNotFoundError: No module named 'numpy'", SetupFault.PACKAGE),
        ("MemoryError", SetupFault.MEMORY),
        ("OSError: [Errno 28] No space left on device", SetupFault.DISK),
        ("Failed: Timeout >30.0s", SetupFault.TIME),
        ("ModuleNotFoundError: No module named 'django.utils.thing'", None),
        ("AssertionError: 1 != 2", None),
        ("ValueError: timed out of range", None),
        ("", None),
    ],
)
def test_messages_that_speak_of_the_set_up(message: str, fault: SetupFault | None):
    assert fault_in(message) is fault


def refused(retried: str = "", message: str = "ConnectionRefusedError: no") -> SideRun:
    return side([{"a": P}] * 3, [{"a": P, "new": E}] * 3, {"new": message}, retried)


def test_a_set_up_failure_is_retried_and_never_makes_a_patch_wrong():
    assert "network refused" in setup_doubt(refused(), GOLD, BASE)
    first = verdict(GOLD, refused(), BASE, CONFIRMED)
    assert (first.kind, first.cause) == (VerdictKind.INCONCLUSIVE, Cause.SETUP_FAILED)
    assert verdict(GOLD, refused("once"), BASE, CONFIRMED).kind is VerdictKind.SUSPECT


def test_what_base_says_in_the_same_words_is_no_fault_of_the_set_up():
    message = "ModuleNotFoundError: No module named 'made_by_gold'"
    base = side([{"a": F}] * 2, [{"a": F, "new": E}] * 2, {"new": message})
    candidate = refused(message=message)
    assert setup_doubt(candidate, GOLD, base) == ""
    assert verdict(GOLD, candidate, base, CONFIRMED).kind is VerdictKind.WRONG


def test_stopped_runs_and_failed_set_ups_are_retried():
    stopped = SideRun("k", SideState.OK, (Run(ORIGINAL, 0, RunState.TIMEOUT),))
    assert "timeout" in setup_doubt(stopped, GOLD)
    assert (
        setup_doubt(SideRun("k", SideState.SETUP_FAILED, (), "exit code 1")) == "set-up failed (exit code 1)"
    )
    assert setup_doubt(SideRun("k", SideState.PATCH_FAILED)) == ""
    assert setup_doubt(GOLD) == ""
    assert setup_doubt(side([{"a": P}], [{"new": F}]), GOLD, BASE) == ""


@pytest.mark.parametrize(
    "how", [RunState.TIMEOUT, RunState.KILLED, RunState.LOG_LIMIT, RunState.DISK_LIMIT, RunState.NOT_GRADABLE]
)
def test_a_candidate_that_never_ends_a_suite_that_gold_ends_is_suspect_once_it_was_alone(how: RunState):
    def candidate(retried: str = "") -> SideRun:
        ended = side([{"a": P}] * 3, retried=retried)
        return replace(ended, runs=(*ended.runs, run(SUITE, {}, state=how)))

    assert setup_doubt(candidate(), GOLD, BASE) == f"{SUITE}: {how}"
    first = verdict(GOLD, candidate(), BASE, CONFIRMED)
    assert (first.kind, first.cause) == (VerdictKind.INCONCLUSIVE, Cause.RUN_UNKNOWN)
    assert verdict(GOLD, candidate("once"), BASE, CONFIRMED).kind is VerdictKind.SUSPECT
    dying = replace(GOLD, runs=(*GOLD.runs[:3], run(SUITE, {}, state=how)))
    assert verdict(dying, candidate("once"), BASE, CONFIRMED).kind is VerdictKind.INCONCLUSIVE


def test_a_test_that_is_missing_because_a_file_was_not_collected_takes_its_message():
    candidate = side([{"a": P}] * 3, [{"a": P}] * 3, {"t.py": "ModuleNotFoundError: No module named 'numpy'"})
    found = verdict(GOLD, candidate, BASE, CONFIRMED)
    assert (found.kind, found.differences[0].fault) == (VerdictKind.INCONCLUSIVE, "package missing")


def test_outcomes_know_why_nothing_is_known():
    assert outcomes_of(None, ORIGINAL).obstacle == "not run"
    assert outcomes_of(side([]), ORIGINAL).obstacle == "not run"
