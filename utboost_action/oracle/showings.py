"""What one more program showed of a bank entry, as the record that the bank keeps."""

from __future__ import annotations

from utboost_action.model import ORIGINAL, ProgramKind, Run, Showing, SideRun, SideState
from utboost_action.oracle.relation import Outcomes, compare, outcomes_of
from utboost_action.oracle.verdicts import is_plausible


def showing_of(
    entry_id: str, kind: ProgramKind, name: str, key: str, gold: SideRun, side: SideRun
) -> Showing:
    """Fold the runs of a program: did the original tests come out as with gold, which of the entry's fail.

    A test that wavers on the program counts as one that it fails: it is nothing to rest on.
    """
    if side.state is not SideState.OK:
        return Showing(kind, name, key, None, problem=str(side.state))
    original = outcomes_of(side, ORIGINAL)
    if original.obstacle:
        return Showing(kind, name, key, None, problem=f"original tests: {original.obstacle}")
    runs: list[Run] = [run for run in side.runs if run.suite == ORIGINAL]
    if not is_plausible(gold, runs):
        return Showing(kind, name, key, plausible=False)
    reference, shown = outcomes_of(gold, entry_id), outcomes_of(side, entry_id)
    if obstacle := reference.obstacle or shown.obstacle:
        return Showing(kind, name, key, None, problem=f"augmented tests: {obstacle}")
    result = compare(entry_id, reference, shown, Outcomes(obstacle="not asked"))
    faults = [difference for difference in result.differences if difference.fault]
    if faults:
        return Showing(kind, name, key, None, problem=f"as if by the set-up: {faults[0].fault}")
    fails = (*(difference.test for difference in result.differences), *result.flaky_on_candidate)
    return Showing(kind, name, key, plausible=True, fails=fails)
