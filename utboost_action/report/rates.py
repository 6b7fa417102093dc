"""Resolve rates: claimed, regraded, replayed, and adjusted as an interval, over the size of the split."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from utboost_action.model import Cause, Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class Rates:
    """Counts of resolved instances; a rate is a count over `total`, the size of the split.

    claimed: None when the submission claims nothing; regraded: None without logs. replayed: plausible in
    our own run. low counts HOLDS only; high adds what may still be right (SUSPECT, INCONCLUSIVE, not
    audited), as far as the submission claims it or the replay resolves it. audited: instances with a
    verdict that was run for; coverage is audited over `submitted`, the instances with a prediction.
    """

    total: int
    submitted: int
    audited: int
    claimed: int | None
    regraded: int | None
    replayed: int
    low: int
    high: int

    def percent(self, count: int) -> float:
        """A count as a percentage of the split."""
        return 100.0 * count / self.total if self.total else 0.0


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
    )


def _may_hold(verdict: Verdict) -> bool:
    """Whether an open verdict may turn out right: claimed, claimed by nobody's word, or plausible here."""
    is_open = verdict.kind in (VerdictKind.SUSPECT, VerdictKind.INCONCLUSIVE)
    return is_open and (verdict.claimed is not False or verdict.plausible is True)
