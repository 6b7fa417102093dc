"""Resolve rates: claimed, regraded, replayed, and adjusted as an interval, over the size of the split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from utboost_action.model import Cause, Verdict, VerdictKind
from utboost_action.report.intervals import Estimate, Interval, Stratum, estimate, wilson


@dataclass(frozen=True, slots=True)
class Whole:
    """The adjusted rate of the whole split, estimated from an audited sample, as shares of the split.

    low, high: as in `Rates`, had everything been audited; each with its 95 % interval. sampled: audited
    instances among the `population`, those claimed (without a claim: submitted).
    """

    low: Estimate
    high: Estimate
    sampled: int
    population: int


@dataclass(frozen=True, slots=True)
class Rates:
    """Counts of resolved instances; a rate is a count over `total`, the size of the split.

    claimed: None when the submission claims nothing; regraded: None without logs. replayed: plausible in
    our own run. low counts HOLDS only; high adds what may still be right (SUSPECT, INCONCLUSIVE, not
    audited), as far as the submission claims it or the replay resolves it. audited: instances with a
    verdict that was run for; coverage is audited over `submitted`, the instances with a prediction.
    whole: where only a sample was audited, what it lets expect of all.
    """

    total: int
    submitted: int
    audited: int
    claimed: int | None
    regraded: int | None
    replayed: int
    low: int
    high: int
    whole: Whole | None = None

    def percent(self, count: int) -> float:
        """A count as a percentage of the split."""
        return 100.0 * count / self.total if self.total else 0.0

    def interval(self, count: int) -> Interval:
        """Wilson's 95 % interval of a count over the split, as shares."""
        return wilson(min(count, self.total), self.total)


def rates_of(
    verdicts: Iterable[Verdict],
    *,
    total: int,
    claimed: Collection[str] | None,
    regraded: int | None = None,
) -> Rates:
    """Fold verdicts, one for each submitted instance, into rates.

    claimed: the ids of the split that the submission claims; one without a verdict counts into high.
    """
    verdicts = list(verdicts)
    audited = [verdict for verdict in verdicts if verdict.cause is not Cause.NOT_AUDITED]
    holds = {verdict.instance_id for verdict in audited if verdict.kind is VerdictKind.HOLDS}
    judged = {verdict.instance_id for verdict in verdicts}
    may_hold = {verdict.instance_id for verdict in verdicts if _may_hold(verdict)}
    if claimed is not None:
        may_hold |= set(claimed) - judged
    return Rates(
        total=total,
        submitted=len(verdicts),
        audited=len(audited),
        claimed=None if claimed is None else len(claimed),
        regraded=regraded,
        replayed=sum(verdict.plausible is True for verdict in audited),
        low=len(holds),
        high=len(holds | may_hold),
        whole=_whole(verdicts, audited, total, claimed),
    )


def repository_of(instance_id: str) -> str:
    """`owner__repository` of an instance id `owner__repository-number`."""
    return instance_id.rpartition("-")[0] or instance_id


def _whole(
    verdicts: Collection[Verdict], audited: Collection[Verdict], total: int, claimed: Collection[str] | None
) -> Whole | None:
    """None where everything in question was audited, or nothing was."""
    population = set(claimed) if claimed is not None else {verdict.instance_id for verdict in verdicts}
    sample = [verdict for verdict in audited if verdict.instance_id in population]
    if not sample or len(sample) == len(population) or not total:
        return None
    holds = {verdict.instance_id for verdict in sample if verdict.kind is VerdictKind.HOLDS}
    high = holds | {verdict.instance_id for verdict in sample if _may_hold(verdict)}
    extra = [v for v in audited if v.instance_id not in population and v.kind is VerdictKind.HOLDS]
    sizes = Counter(map(repository_of, population))
    sampled = Counter(repository_of(verdict.instance_id) for verdict in sample)

    def over_the_split(successes: Collection[str]) -> Estimate:
        won = Counter(map(repository_of, successes))
        part = estimate([Stratum(sizes[repo], sampled[repo], won[repo]) for repo in sorted(sizes)])

        def share(value: float) -> float:
            return min(1.0, (value * len(population) + len(extra)) / total)

        interval = Interval(share(part.interval.low), share(part.interval.high))
        return Estimate(share(part.share), interval, part.audited, part.size)

    return Whole(over_the_split(holds), over_the_split(high), len(sample), len(population))


def _may_hold(verdict: Verdict) -> bool:
    """Whether an open verdict may turn out right: claimed, claimed by nobody's word, or plausible here."""
    is_open = verdict.kind in (VerdictKind.SUSPECT, VerdictKind.INCONCLUSIVE)
    return is_open and (verdict.claimed is not False or verdict.plausible is True)
