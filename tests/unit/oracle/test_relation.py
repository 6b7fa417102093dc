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
    TestMode,
    TestStatus,
    VerdictKind,
)
from utboost_action.oracle.relation import Outcomes, compare, outcomes_of
from utboost_action.oracle.setup_faults import SetupFault, fault_in, setup_doubt
from utboost_action.oracle.stability import REVERSED, environment_of, environments
from utboost_action.oracle.verdicts import Sides, judge, with_second_look

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
    assert verdict(GOLD, candidate, BASE, earned).kind is VerdictKind.SUSPECT  # silence is no likeness
    told = [side([{"a": w}] * n, [{"a": w, "new": F}] * n, {"new": "no"}) for w, n in ((P, 3), (F, 2))]
    assert verdict(GOLD, *told, earned).kind is VerdictKind.WRONG


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


def test_a_test_that_both_sides_lack_for_other_reasons_is_a_divergence():
    def missing(word: TestStatus, repeats: int, why: str) -> SideRun:
        return side([{"a": word}] * repeats, [{"a": word}] * repeats, {"t.py": why})

    def kind(mine: str, theirs: str) -> DifferenceKind:
        candidate, base = missing(P, 3, mine), missing(F, 2, theirs)
        return verdict(GOLD, candidate, base, CONFIRMED).differences[0].kind

    assert kind("RuntimeError: mine", "ImportError: cannot import it") is DifferenceKind.DIVERGENCE
    assert kind("ImportError: cannot import it", "ImportError: cannot import it") is (
        DifferenceKind.INCOMPLETE_FIX
    )


def test_a_suite_that_adds_no_test_that_ran_shows_nothing():
    gold, candidate = side([{"a": P}] * 3, [{"a": P}] * 3), side([{"a": P}] * 3, [{"a": P}] * 3)
    base = side([{"a": F}] * 2, [{"a": F}] * 2)
    found = verdict(gold, candidate, base, CONFIRMED)
    assert (found.kind, found.cause) == (VerdictKind.INCONCLUSIVE, Cause.NO_USABLE_TEST)
    assert "none of the tests that it is about was run" in found.reasons[0]
    replaced = entry(BankStatus.CONFIRMED, mode=TestMode.REPLACES)  # may keep names, and be known by aliases
    assert verdict(gold, candidate, base, replaced).kind is VerdictKind.HOLDS


def second_look(gold: SideRun, judged: SideRun) -> VerdictKind:
    """The verdict of a patch that would be WRONG, after a second look that showed this."""
    candidate = side([{"a": P}] * 3, [{"a": P, "new": F}] * 3)
    sides = Sides("x__y-1", True, GOLD, BASE, candidate, None, (), (CONFIRMED,))
    assert judge(sides).kind is VerdictKind.WRONG
    return judge(with_second_look(sides, gold, judged)).kind


def test_a_second_look_that_is_not_whole_accuses_nobody_and_keeps_what_it_saw():
    wrong = side([{"a": P}] * 3, [{"a": P, "new": F}] * 3)
    killed = replace(wrong, runs=(*wrong.runs[:5], run(SUITE, {}, 2, state=RunState.KILLED)))
    passing = side([{"a": P}] * 3, [{"a": P, "new": P}] * 2)
    mends = replace(passing, runs=(*passing.runs, run(SUITE, {}, 2, state=RunState.KILLED)))
    gold_fails = replace(mends, runs=(*wrong.runs[:5], mends.runs[-1]))
    assert second_look(GOLD, wrong) is VerdictKind.WRONG
    assert second_look(GOLD, killed) is VerdictKind.SUSPECT
    assert second_look(GOLD, mends) is VerdictKind.INCONCLUSIVE  # it wavers now
    assert second_look(gold_fails, wrong) is VerdictKind.INCONCLUSIVE  # gold does
    assert second_look(GOLD, SideRun("k", SideState.SETUP_FAILED)) is VerdictKind.SUSPECT


@pytest.mark.parametrize(
    ("claimed", "kind"), [(True, VerdictKind.SUSPECT), (False, VerdictKind.NOT_PLAUSIBLE)]
)
def test_original_tests_that_fail_as_if_by_the_set_up_condemn_nobody(claimed: bool, kind: VerdictKind):
    refused = side([{"a": E}] * 3, messages={"a": "ConnectionRefusedError: no"}, retried="once")
    assert verdict(GOLD, refused, BASE, CONFIRMED, claimed=claimed).kind is kind
    fine = side([{"a": P}] * 3, [{"a": P, "new": P}] * 3)
    with_files = Sides("x__y-1", True, GOLD, BASE, fine, refused, ("conftest.py",), (CONFIRMED,))
    assert judge(with_files).kind is VerdictKind.SUSPECT


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
