"""The intramorphic relation P(T) = P'(T): what a suite showed on each side, and where the sides differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from utboost_action.model import (
    ORIGINAL,
    Difference,
    DifferenceKind,
    Run,
    RunState,
    SideRun,
    SideState,
    TestStatus,
)
from utboost_action.oracle.setup_faults import failure_message, fault_in

MISSING = "missing"  # a run that ended by itself does not show the test

_GREEN = ("passes", "expected failure")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_PLACE = re.compile(r"(?:[\w./~-]*/)?[\w.-]+\.py:\d+|line \d+|\bat \d{4,}\b")


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What all repeats of one suite on one side showed.

    obstacle: why it is unknown what the suite does here; empty when every repeat ended by itself.
    stable: test -> status word, the same class (passes, fails, skipped, missing) in every repeat.
    wavering: test -> its status words in the order of the repeats.
    """

    obstacle: str = ""
    state: RunState = RunState.OK
    repeats: int = 0
    stable: Mapping[str, str] = field(default_factory=dict)
    wavering: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    log: str = ""
    excerpts: Mapping[str, str] = field(default_factory=dict)

    def of(self, test: str) -> str:
        """The stable status word of a test; `missing` where no repeat shows it."""
        return self.stable.get(test, MISSING)

    def passing(self) -> tuple[str, ...]:
        """The tests that passed in every repeat, in order of appearance."""
        return tuple(test for test, status in self.stable.items() if _class(status) in _GREEN)


def outcomes_of(side: SideRun | None, suite: str) -> Outcomes:
    """Fold the repeats of a suite. An absent side, a failed set-up or a stopped run is an obstacle."""
    if side is None:
        return Outcomes(obstacle="not run", state=RunState.KILLED)
    if side.state is not SideState.OK:
        return Outcomes(obstacle=_with_detail(side.state, side.detail), state=RunState.KILLED)
    runs = [run for run in side.runs if run.suite == suite]
    if not runs:
        return Outcomes(obstacle="not run", state=RunState.KILLED)
    for run in runs:
        if run.state is not RunState.OK:
            return Outcomes(
                obstacle=_with_detail(run.state, run.detail),
                state=run.state,
                repeats=len(runs),
                log=_log(side, run),
            )
    stable: dict[str, str] = {}
    wavering: dict[str, tuple[str, ...]] = {}
    for test in dict.fromkeys(test for run in runs for test in run.outcomes):
        words = tuple(_word(run.outcomes.get(test)) for run in runs)
        if len({_class(word) for word in words}) == 1:
            stable[test] = words[0]
        else:
            wavering[test] = words
    return Outcomes(
        repeats=len(runs),
        stable=stable,
        wavering=wavering,
        messages={test: text for run in reversed(runs) for test, text in run.messages.items()},
        log=_log(side, runs[0]),
        excerpts={test: text for run in reversed(runs) for test, text in run.excerpts.items()},
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """One suite on gold and candidate: the stable differences, what wavers on gold or base, or here."""

    differences: tuple[Difference, ...]
    flaky_on_trusted: tuple[str, ...]
    flaky_on_candidate: Mapping[str, tuple[str, ...]]


def compare(
    suite: str,
    gold: Outcomes,
    candidate: Outcomes,
    base: Outcomes,
    base_messages: Mapping[str, Sequence[str]] | None = None,
) -> Comparison:
    """Where P(T) = P'(T) does not hold, over the tests that gold passes in every repeat.

    Gold is judged first: what it fails, skips or wavers on counts for nothing. An augmented test that
    wavers on base is flaky as well; an original one is the benchmark's own and stays. Both sides must be
    without an obstacle; base may have one, and then the kind of a difference is unknown.
    base_messages: as `Signals.base_messages`.
    """
    differences = []
    wavering: dict[str, tuple[str, ...]] = {}
    flaky = dict.fromkeys(gold.wavering)
    for test in gold.passing():
        if test in base.wavering and suite != ORIGINAL:
            flaky[test] = None
        elif test in candidate.wavering:
            wavering[test] = candidate.wavering[test]
        elif not agrees(gold.of(test), candidate.of(test)):
            differences.append(_difference(test, suite, gold, candidate, base, base_messages or {}))
    return Comparison(tuple(differences), tuple(flaky), wavering)


def _difference(
    test: str,
    suite: str,
    gold: Outcomes,
    candidate: Outcomes,
    base: Outcomes,
    base_messages: Mapping[str, Sequence[str]],
) -> Difference:
    message = candidate.messages.get(test, "")
    return Difference(
        test=test,
        suite=suite,
        kind=_kind(test, base, candidate, base_messages.get(test, ())),
        gold=gold.of(test),
        candidate=candidate.of(test),
        base="unknown" if base.obstacle else _base_word(test, base),
        repeats=min(gold.repeats, candidate.repeats),
        message=message,
        gold_log=gold.log,
        candidate_log=candidate.log,
        base_message=base.messages.get(test, ""),
        fault=_fault(test, candidate, base),
        excerpt=candidate.excerpts.get(test, ""),
    )


def _fault(test: str, candidate: Outcomes, base: Outcomes) -> str:
    """What in the set-up the failure looks like; what base says in the same words is the program's own."""
    message = _message(test, candidate)
    fault = fault_in(message)
    if fault is None or _bare(message) in {_bare(text) for text in base.messages.values()}:
        return ""
    return str(fault)


def _message(test: str, shown: Outcomes) -> str:
    """What a side says of a test; of one that it does not show, what failed before any test."""
    statuses = {name: TestStatus(word) for name, word in shown.stable.items() if word != MISSING}
    return failure_message(statuses, shown.messages, test)


def _kind(test: str, base: Outcomes, candidate: Outcomes, alone: Sequence[str]) -> DifferenceKind:
    """alone: what base says at each assertion of the test, where that was asked."""
    if base.obstacle or test in base.wavering:
        return DifferenceKind.UNKNOWN
    if _class(base.of(test)) == "passes":
        return DifferenceKind.REGRESSION
    same_status = _class(base.of(test)) == _class(candidate.of(test))
    told = {_bare(text) for text in (_message(test, base), *alone)} - {""}  # silence is no likeness
    same_message = _bare(_message(test, candidate)) in told
    return DifferenceKind.INCOMPLETE_FIX if same_status and same_message else DifferenceKind.DIVERGENCE


def _base_word(test: str, base: Outcomes) -> str:
    return "/".join(base.wavering[test]) if test in base.wavering else base.of(test)


def _bare(message: str) -> str:
    """A failure message without what differs between two runs of one program: addresses and places."""
    return _PLACE.sub("", _ADDRESS.sub("0x", message)).strip()


def _word(status: TestStatus | None) -> str:
    return MISSING if status is None else str(status)


def _class(word: str) -> str:
    if word == MISSING:
        return MISSING
    status = TestStatus(word)
    if status in (TestStatus.XFAIL, TestStatus.XPASS):
        return "expected failure"
    return "passes" if status.passes else "fails" if status.fails else "skipped"


def agrees(gold: str, candidate: str) -> bool:
    """Whether a candidate's status word is as good as gold's, gold being green.

    A test that gold passes must pass: one that a candidate turns into an expected failure does not. A
    test that is an expected failure with gold may pass.
    """
    return _class(candidate) == _class(gold) or (
        _class(gold) == "expected failure" and _class(candidate) == "passes"
    )


def _with_detail(what: str, detail: str) -> str:
    return f"{what} ({detail})" if detail else str(what)


def _log(side: SideRun, run: Run) -> str:
    return f"{side.key}/{run.log}"
