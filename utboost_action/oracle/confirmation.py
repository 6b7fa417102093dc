"""May a difference be held against a patch? The signals that the bank holds, combined by one pure rule.

The table of the rule stands in docs/method.md and is held to this module by a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from utboost_action.model import (
    AugmentedTest,
    BankStatus,
    Decision,
    Difference,
    DifferenceKind,
    Opinion,
    ProgramKind,
    Showing,
    Standing,
)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How much a machine's confirmation takes.

    repeats: runs of gold and candidate that must agree. variants: rewritings of gold that must pass the
    test. jurors: independent plausible patches that make a jury, and jury_share: the share of them
    that must pass the test for the jury to speak for it. taste_jurors, taste_share: of so many jurors, when
    at most this share passes, the test is suspected of being gold's own taste.
    """

    repeats: int = 3
    variants: int = 2
    jurors: int = 2
    jury_share: float = 0.5
    taste_jurors: int = 3
    taste_share: float = 0.2


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Grounds:
    """Whether a difference may be believed, and what speaks for and against it, in words."""

    standing: Standing
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """The recorded signals about one test, counted. Programs whose original tests differ count nowhere."""

    variants_passed: int = 0
    narrow: tuple[str, ...] = ()  # names of the variants that fail it
    jury_passed: int = 0
    jury: int = 0
    killed: tuple[str, ...] = ()  # names of the mutants that only this test kills
    mutants: int = 0  # that the original tests leave alive
    has_issue: bool = False  # a person says which sentence of the issue the test rests on
    proposed: bool = False  # a model does

    @property
    def jury_share(self) -> float:
        """The share of the jury that passes; 0 without a jury."""
        return self.jury_passed / self.jury if self.jury else 0.0


def tally_of(entry: AugmentedTest, test: str, candidate_key: str = "") -> Tally:
    """Count the signals of an entry about one of its tests; the candidate's own patch is no juror."""
    seen: dict[tuple[ProgramKind, str], Showing] = {}
    for showing in entry.signals.showings:
        if showing.plausible and not (showing.kind is ProgramKind.JUROR and showing.key == candidate_key):
            seen[showing.kind, showing.key] = showing

    def of(kind: ProgramKind) -> list[Showing]:
        return [showing for (found, _), showing in seen.items() if found is kind]

    variants, jurors, mutants = of(ProgramKind.VARIANT), of(ProgramKind.JUROR), of(ProgramKind.MUTANT)
    return Tally(
        variants_passed=sum(test not in showing.fails for showing in variants),
        narrow=tuple(showing.name for showing in variants if test in showing.fails),
        jury_passed=sum(test not in showing.fails for showing in jurors),
        jury=len(jurors),
        killed=tuple(showing.name for showing in mutants if test in showing.fails),
        mutants=len(mutants),
        has_issue=bool(entry.signals.issue) and not entry.signals.issue_proposed,
        proposed=entry.signals.issue_proposed,
    )


def grounds_of(
    entry: AugmentedTest,
    difference: Difference,
    candidate_key: str = "",
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
) -> Grounds:
    """The rule. A person's last word decides; without one, doubts come before confirmations.

    candidate_key: the digest of the candidate's patch, as in `Showing.key`.
    """
    if difference.fault:
        return Grounds(Standing.DOUBTED, (f"the failure looks like the set-up: {difference.fault}",))
    if (person := _person(entry, difference.test)) is not None:
        return person
    tally = tally_of(entry, difference.test, candidate_key)
    if doubts := _doubts(tally, thresholds):
        return Grounds(Standing.DOUBTED, doubts)
    support, missing = _weigh(tally, difference, thresholds)
    if missing:
        return Grounds(Standing.OPEN, (*support, *missing))
    return Grounds(Standing.CONFIRMED, support)


def _person(entry: AugmentedTest, test: str) -> Grounds | None:
    """The last decision about the test or the whole entry; a confirmed entry is somebody's confirmation."""
    decisions: Sequence[Decision] = [d for d in entry.signals.decisions if d.test in ("", test)]
    if decisions:
        last = decisions[-1]
        words = (f"{last.opinion} by {last.who}: {last.why}",)
        if last.opinion is Opinion.CONFIRM:
            return Grounds(Standing.CONFIRMED, words)
        return Grounds(Standing.DOUBTED, words)
    if entry.status is BankStatus.CONFIRMED:
        return Grounds(Standing.CONFIRMED, (f"confirmed by people ({entry.source})",))
    return None


def _doubts(tally: Tally, thresholds: Thresholds) -> tuple[str, ...]:
    doubts = []
    if tally.narrow:
        doubts.append(f"over-narrow: gold itself fails it when rewritten ({', '.join(tally.narrow)})")
    if tally.jury >= thresholds.taste_jurors and tally.jury_share <= thresholds.taste_share:
        doubts.append(f"gold's own taste? {tally.jury_passed} of {tally.jury} other plausible patches pass")
    return tuple(doubts)


def _weigh(
    tally: Tally, difference: Difference, thresholds: Thresholds
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(what speaks for the test, what a confirmation still lacks)."""
    by_variants = tally.variants_passed >= thresholds.variants
    by_jury = tally.jury >= thresholds.jurors and tally.jury_share >= thresholds.jury_share
    support = []
    if tally.variants_passed:
        support.append(f"{tally.variants_passed} rewritings of gold pass it")
    if tally.jury:
        support.append(f"{tally.jury_passed} of {tally.jury} other plausible patches pass it")
    if tally.killed:
        support.append(
            f"it kills {len(tally.killed)} of {tally.mutants} mutants that the original tests let live"
        )
    if tally.has_issue:
        support.append("it rests on a sentence of the issue")
    if tally.proposed:
        support.append("its author, a model, quotes the issue for it")
    missing = []
    if difference.repeats < thresholds.repeats:
        missing.append(f"only {difference.repeats} of {thresholds.repeats} repeats")
    if difference.kind is DifferenceKind.UNKNOWN:
        missing.append("base is unknown")
    if not by_variants and not by_jury:
        missing.append(
            f"neither {thresholds.variants} rewritings of gold nor half of a jury of "
            f"{thresholds.jurors} pass it yet"
        )
    more = by_jury or (tally.killed and tally.has_issue)
    if difference.kind is DifferenceKind.DIVERGENCE and not more:
        missing.append("a divergence takes a jury as well, or a killed mutant and a sentence of the issue")
    return tuple(support), tuple(missing)
