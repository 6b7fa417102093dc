"""From what the three sides showed to a verdict, by the rules of docs/method.md. Pure functions only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from utboost_action.model import (
    ORIGINAL,
    AugmentedTest,
    BankStatus,
    Cause,
    Difference,
    DifferenceKind,
    Run,
    RunState,
    SideRun,
    SideState,
    Standing,
    TestMode,
    Verdict,
    VerdictKind,
)
from utboost_action.oracle.confirmation import DEFAULT_THRESHOLDS, Thresholds, grounds_of
from utboost_action.oracle.narrowness import asks_for
from utboost_action.oracle.relation import Outcomes, compare, outcomes_of
from utboost_action.oracle.setup_faults import died_alone


@dataclass(frozen=True, slots=True)
class Sides:
    """All that a verdict rests on. reverted: the candidate again, with `runner_files` put back to the base.

    base is None where no augmented test asks for it; reverted where the candidate touches no runner file.
    candidate_key: a digest of the candidate's patch, so that it is no juror of its own case. tricks: what
    in the patch's text can make tests look passed; with any of them nothing HOLDS. gold_names: names that
    only gold brings (`narrowness.names_of_gold`). doubt: why the second look shows too little to accuse.
    """

    instance_id: str
    claimed: bool | None
    gold: SideRun
    base: SideRun | None
    candidate: SideRun
    reverted: SideRun | None
    runner_files: tuple[str, ...]
    tests: tuple[AugmentedTest, ...]
    candidate_key: str = ""
    tricks: tuple[str, ...] = ()
    gold_names: frozenset[str] = frozenset()
    doubt: str = ""
    thresholds: Thresholds = DEFAULT_THRESHOLDS


def is_plausible(gold: SideRun, runs: Sequence[Run]) -> bool:
    """P(T_orig) = P'(T_orig), as far as these runs of the original tests show; asked while a box is open."""
    candidate = outcomes_of(SideRun(key="", state=SideState.OK, runs=tuple(runs)), ORIGINAL)
    reference = outcomes_of(gold, ORIGINAL)
    if candidate.obstacle or reference.obstacle:
        return False
    return not compare(ORIGINAL, reference, candidate, Outcomes(obstacle="not asked")).differences


def judge(sides: Sides) -> Verdict:
    """The verdict of one candidate, with reasons and evidence.

    Order: gold first, then whether the candidate could be run, then the original tests, then the
    augmented ones, then what the candidate changed of the runner's own files.
    """
    blank = Verdict(
        instance_id=sides.instance_id,
        kind=VerdictKind.INCONCLUSIVE,
        reasons=(),
        claimed=sides.claimed,
        applied_with=sides.candidate.applied_with,
        official=_official(sides.candidate),
    )
    gold = outcomes_of(sides.gold, ORIGINAL)
    if problem := _gold_problem(sides.gold, gold):
        return _inconclusive(blank, Cause.GOLD_UNUSABLE, problem)
    if sides.candidate.state is SideState.PATCH_FAILED:
        return _inconclusive(blank, Cause.PATCH_FAILED, sides.candidate.detail)
    if sides.candidate.state is not SideState.OK:
        return _inconclusive(blank, Cause.SETUP_FAILED, sides.candidate.detail or sides.candidate.state)
    original = _original(sides, sides.candidate, gold, blank)
    if original.kind is not VerdictKind.HOLDS:
        return original
    blank = replace(blank, plausible=True, flaky=original.flaky)
    if sides.reverted is not None:
        return _doubted(sides, _with_reverted_files(sides, gold, blank))
    verdict = _doubted(sides, _augmented(sides, sides.candidate, blank))
    if sides.tricks and verdict.kind in (VerdictKind.HOLDS, VerdictKind.INCONCLUSIVE):
        named = f"the patch can make tests look passed: {', '.join(sides.tricks)}"
        return replace(verdict, kind=VerdictKind.SUSPECT, reasons=(named, *verdict.reasons), cause=None)
    return verdict


def with_second_look(sides: Sides, gold: SideRun, judged: SideRun) -> Sides:
    """The same sides with more runs of gold and of the program that is judged, from fresh boxes.

    A test that fails by chance alone may pass every time on gold and fail every time on the candidate in a
    few repeats; twice as many tell it from a fault. Runs that ended without a result are left out, and
    then nobody is accused: the doubt says so.
    """
    doubt = _incomplete(gold, "gold") or _incomplete(judged, "the patch")
    more = replace(sides, gold=_with_runs(sides.gold, gold), doubt=doubt)
    if sides.reverted is not None:
        return replace(more, reverted=_with_runs(sides.reverted, judged))
    return replace(more, candidate=_with_runs(sides.candidate, judged))


def _with_runs(side: SideRun, again: SideRun) -> SideRun:
    usable = tuple(run for run in again.runs if run.state is RunState.OK)
    return replace(side, runs=(*side.runs, *usable), retried=side.retried or again.retried)


def _incomplete(again: SideRun, whose: str) -> str:
    """What of a second look is missing, "" when it is whole."""
    if again.state is not SideState.OK:
        return f"the second look at {whose} could not be had: {again.state}"
    ended = next((run for run in again.runs if run.state is not RunState.OK), None)
    return f"the second look at {whose} is not whole: {ended.suite}: {ended.state}" if ended else ""


def _doubted(sides: Sides, verdict: Verdict) -> Verdict:
    if not sides.doubt or verdict.kind is not VerdictKind.WRONG:
        return verdict
    return replace(verdict, kind=VerdictKind.SUSPECT, reasons=(sides.doubt, *verdict.reasons))


def _original(sides: Sides, candidate: SideRun, gold: Outcomes, blank: Verdict) -> Verdict:
    """HOLDS when the original tests come out as with gold; otherwise the verdict that this makes."""
    shown = outcomes_of(candidate, ORIGINAL)
    if shown.obstacle:
        return _inconclusive(blank, Cause.RUN_UNKNOWN, f"original tests: {shown.obstacle}")
    result = compare(ORIGINAL, gold, shown, outcomes_of(sides.base, ORIGINAL))
    faulty = all(difference.fault for difference in result.differences)
    believed = bool(sides.claimed) or bool(blank.official)
    if result.differences and faulty and (believed or not candidate.retried):
        return _like_the_setup(replace(blank, differences=result.differences), candidate)
    if result.differences:
        what = "claimed resolved" if sides.claimed else "resolved by the official reading"
        reason = f"{_count(len(result.differences), 'original test')} that gold passes did not pass"
        return replace(
            blank,
            kind=VerdictKind.MISGRADED if believed else VerdictKind.NOT_PLAUSIBLE,
            reasons=(f"{what}, but {reason}" if believed else reason,),
            plausible=False,
            differences=result.differences,
            flaky=result.flaky_on_trusted,
        )
    if result.flaky_on_candidate:
        return _inconclusive(blank, Cause.UNSTABLE, _wavering("original", result.flaky_on_candidate))
    return replace(blank, kind=VerdictKind.HOLDS, flaky=result.flaky_on_trusted)


def _with_reverted_files(sides: Sides, gold: Outcomes, blank: Verdict) -> Verdict:
    """Results count only if they stand without the candidate's edits of files that steer the runner."""
    assert sides.reverted is not None
    files = ", ".join(sides.runner_files)
    original = _original(sides, sides.reverted, gold, blank)
    if original.kind in (VerdictKind.MISGRADED, VerdictKind.NOT_PLAUSIBLE):
        return replace(
            original,
            kind=VerdictKind.WRONG,
            plausible=True,
            reasons=(f"the original tests pass only with the patch's own {files}",),
        )
    if original.kind in (VerdictKind.INCONCLUSIVE, VerdictKind.SUSPECT):
        return replace(original, reasons=(f"with {files} put back: {original.reasons[0]}",))
    augmented = _augmented(sides, sides.reverted, blank)
    if augmented.kind in (VerdictKind.WRONG, VerdictKind.SUSPECT):
        return augmented
    edited = f"the patch edits files that steer the test runner: {files}"
    return replace(augmented, kind=VerdictKind.SUSPECT, reasons=(edited, *augmented.reasons), cause=None)


def _augmented(sides: Sides, candidate: SideRun, blank: Verdict) -> Verdict:
    """HOLDS when every usable augmented test agrees; what unconfirmed tests show is at most SUSPECT."""
    tests = [test for test in sides.tests if test.status is not BankStatus.RETIRED]
    if not tests:
        return _inconclusive(blank, Cause.NO_AUGMENTED_TEST, "the bank holds no test for this instance")
    found: list[Difference] = []
    flaky: dict[str, None] = dict.fromkeys(blank.flaky)
    unusable, unknown, wavering = [], [], []
    official = frozenset(outcomes_of(sides.gold, ORIGINAL).passing())
    for test in tests:
        gold, shown = outcomes_of(sides.gold, test.id), outcomes_of(candidate, test.id)
        base = outcomes_of(sides.base, test.id)
        if problem := _unusable(test, gold, base, official):
            unusable.append(f"{test.id}: on gold: {problem}")
            continue
        if shown.obstacle:
            unknown.append(f"{test.id}: {shown.obstacle}")
            continue
        result = compare(test.id, gold, shown, base, test.signals.base_messages)
        found.extend(_weighed(test, difference, sides) for difference in result.differences)
        flaky.update(dict.fromkeys(result.flaky_on_trusted))
        if result.flaky_on_candidate:
            wavering.append(_wavering(test.id, result.flaky_on_candidate))
    verdict = replace(blank, differences=tuple(found), flaky=tuple(flaky))
    if found and all(difference.fault for difference in found):
        return _like_the_setup(verdict, candidate)
    if found:
        return _differing(verdict)
    if candidate.retried and (died := died_alone(candidate, sides.gold)):
        reason = f"{died}: no result, alone as well; gold ends properly in the same image"
        return replace(verdict, kind=VerdictKind.SUSPECT, reasons=(reason, *unknown))
    if unknown:
        return _inconclusive(verdict, Cause.RUN_UNKNOWN, *unknown)
    if wavering:
        return _inconclusive(verdict, Cause.UNSTABLE, *wavering)
    if len(unusable) == len(tests):
        return _inconclusive(verdict, Cause.NO_USABLE_TEST, *unusable)
    agreed = f"agrees with gold on {_count(len(tests) - len(unusable), 'augmented test suite')}"
    return replace(verdict, kind=VerdictKind.HOLDS, reasons=(agreed, *unusable))


def _unusable(test: AugmentedTest, gold: Outcomes, base: Outcomes, official: frozenset[str]) -> str:
    """Why a suite can show nothing: what it is about does not pass on gold, is flaky, or was never run.

    official: what passes of the original suite, to which an entry that extends it must add something. The
    names of a published entry may be aliases, and what it replaces may keep its names.
    """
    if gold.obstacle:
        return gold.obstacle
    steady = [name for name in gold.passing() if name not in base.wavering]
    known = [name for name in test.targets if name in gold.stable or name in gold.wavering]
    if known and not set(known) & set(steady):
        return "none of the tests that it is about passes in every repeat"
    if test.mode is TestMode.EXTENDS and not known and not set(steady) - official:
        return "none of the tests that it is about was run"
    return "" if steady else "no test passes in every repeat"


def _weighed(test: AugmentedTest, difference: Difference, sides: Sides) -> Difference:
    if difference.kind is DifferenceKind.INCOMPLETE_FIX and asks_for(difference.message, sides.gold_names):
        difference = replace(difference, kind=DifferenceKind.DIVERGENCE)
    grounds = grounds_of(test, difference, sides.candidate_key, sides.thresholds)
    return replace(difference, standing=grounds.standing, grounds=grounds.words)


def _differing(verdict: Verdict) -> Verdict:
    """WRONG when a confirmed test differs, SUSPECT when only others do; the believed ones come first."""
    order = {Standing.CONFIRMED: 0, Standing.OPEN: 1, Standing.DOUBTED: 2}
    found = tuple(sorted(verdict.differences, key=lambda difference: order[difference.standing]))
    kinds = ", ".join(sorted({str(difference.kind) for difference in found}))
    first = found[0]
    standing = {
        Standing.CONFIRMED: "a confirmed augmented test",
        Standing.OPEN: "an augmented test not confirmed yet",
        Standing.DOUBTED: "a doubted augmented test",
    }[first.standing]
    return replace(
        verdict,
        kind=VerdictKind.WRONG if first.standing is Standing.CONFIRMED else VerdictKind.SUSPECT,
        reasons=(
            f"differs from gold on {_count(len(found), 'test')} of {standing} ({kinds})",
            *first.grounds,
        ),
        differences=found,
    )


def _like_the_setup(verdict: Verdict, candidate: SideRun) -> Verdict:
    """Failures that look like the set-up prove nothing; what stays when it runs alone is at least named."""
    faults = ", ".join(sorted({difference.fault for difference in verdict.differences}))
    tests = _count(len(verdict.differences), "test")
    if not candidate.retried:
        return _inconclusive(verdict, Cause.SETUP_FAILED, f"{tests} failed as if by the set-up: {faults}")
    reason = (
        f"{tests} failed as if by the set-up ({faults}), alone as well; gold passes them in the same image"
    )
    return replace(verdict, kind=VerdictKind.SUSPECT, reasons=(reason,))


def _gold_problem(side: SideRun, outcomes: Outcomes) -> str:
    if outcomes.obstacle:
        return f"gold: {outcomes.obstacle}"
    if not outcomes.passing():
        return "gold: no original test passes"
    fixes = [run.fixes for run in side.runs if run.suite == ORIGINAL]
    if False in fixes:
        how = "wavers" if True in fixes else "does not pass"
        return f"gold: a FAIL_TO_PASS test {how} in this image"
    return ""


def _official(candidate: SideRun) -> bool | None:
    return next((run.official for run in candidate.runs if run.suite == ORIGINAL), None)


def _inconclusive(verdict: Verdict, cause: Cause, *reasons: str) -> Verdict:
    return replace(verdict, kind=VerdictKind.INCONCLUSIVE, cause=cause, reasons=reasons)


def inconclusive(instance_id: str, claimed: bool | None, cause: Cause, reason: str) -> Verdict:
    """The verdict of an instance that was never run."""
    return Verdict(instance_id, VerdictKind.INCONCLUSIVE, (reason,), claimed=claimed, cause=cause)


def _wavering(suite: str, tests: Mapping[str, tuple[str, ...]]) -> str:
    shown = "; ".join(f"{test}: {', '.join(words)}" for test, words in list(tests.items())[:5])
    return f"{suite}: the candidate's outcome changes between repeats ({shown})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
