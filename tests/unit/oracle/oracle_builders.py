"""Small sides and entries, so that a test says only what it is about."""

from collections.abc import Mapping, Sequence

from utboost_action.model import (
    ORIGINAL,
    AugmentedTest,
    BankStatus,
    Decision,
    Opinion,
    ProgramKind,
    Run,
    RunState,
    Showing,
    SideRun,
    SideState,
    Signals,
    TestMode,
    TestStatus,
)
from utboost_action.oracle.verdicts import Sides, judge

P, F, E = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR
SUITE = "x__y-1:t"
PATCH = "diff --git a/t.py b/t.py\n--- a/t.py\n+++ b/t.py\n@@ -1 +1,2 @@\n a\n+b\n"


def run(
    suite: str,
    outcomes: Mapping[str, TestStatus],
    repeat: int = 0,
    messages: Mapping[str, str] | None = None,
    state: RunState = RunState.OK,
    fixes: bool | None = True,
) -> Run:
    return Run(suite, repeat, state, outcomes=outcomes, messages=messages or {}, fixes=fixes, exit_code=0)


def side(
    original: Sequence[Mapping[str, TestStatus]],
    augmented: Sequence[Mapping[str, TestStatus]] = (),
    messages: Mapping[str, str] | None = None,
    retried: str = "",
) -> SideRun:
    """One side: the outcomes of each repeat of the original suite, then of the augmented one."""
    runs = [run(ORIGINAL, each, n, messages) for n, each in enumerate(original)]
    runs += [run(SUITE, each, n, messages) for n, each in enumerate(augmented)]
    return SideRun("key", SideState.OK, tuple(runs), retried=retried)


def entry(
    status: BankStatus = BankStatus.CANDIDATE,
    signals: Signals | None = None,
    mode: TestMode = TestMode.EXTENDS,
) -> AugmentedTest:
    return AugmentedTest(
        SUITE, "x__y-1", mode, PATCH, ("new",), "generated", status, signals=signals or Signals()
    )


def showing(kind: ProgramKind, number: int = 0, *fails: str, plausible: bool | None = True) -> Showing:
    return Showing(kind, f"{kind} {number}", f"{kind}-{number}", plausible, fails)


def variants(number: int, *fails: str) -> tuple[Showing, ...]:
    return tuple(showing(ProgramKind.VARIANT, n, *fails) for n in range(number))


def jurors(passing: int, failing: int, test: str = "new") -> tuple[Showing, ...]:
    return tuple(
        showing(ProgramKind.JUROR, n, *(() if n < passing else (test,))) for n in range(passing + failing)
    )


def said(opinion: Opinion, test: str = "") -> Decision:
    return Decision(opinion, "somebody", "a reason", "2026-01-01T00:00:00Z", test)


def verdict(
    gold: SideRun,
    candidate: SideRun,
    base: SideRun | None,
    *entries: AugmentedTest,
    claimed: bool | None = True,
):
    return judge(
        Sides("x__y-1", claimed, gold, base, candidate, None, (), entries or (entry(),), candidate_key="own")
    )
