"""The audit as JSON values: `report.json` (docs/report.schema.json) and `badge.json` (shields endpoint).

Both hold no clock times and no durations, so equal audits give equal bytes.
"""

from __future__ import annotations

from collections import Counter

from utboost_action import __version__
from utboost_action.model import Audit, Difference, Verdict, VerdictKind
from utboost_action.report.evidence import ReproduceCommand, test_source
from utboost_action.report.intervals import Interval
from utboost_action.report.minimal import minimal_evidence
from utboost_action.report.rates import Rates, Whole, rates_of

SCHEMA = 1
_FLAGS = (VerdictKind.WRONG, VerdictKind.SUSPECT, VerdictKind.MISGRADED)
_SOURCE_LIMIT = 20_000  # characters of one test source in the report


def rates(audit: Audit, regraded: int | None = None) -> Rates:
    """The rates of an audit; claims outside the split do not count."""
    resolved = audit.submission.claim.resolved
    return rates_of(
        audit.verdicts,
        total=audit.total,
        claimed=None if resolved is None else resolved & audit.split_ids,
        regraded=regraded,
    )


def report_document(
    audit: Audit, command: ReproduceCommand, regraded: dict[str, bool | None] | None = None
) -> dict[str, object]:
    """The value of report.json. regraded: instance id -> resolved by the submission's own log."""
    known = None if regraded is None else sum(value is True for value in regraded.values())
    figures = rates(audit, known)
    kinds = Counter(verdict.kind for verdict in audit.verdicts)
    return {
        "schema": SCHEMA,
        "tool": __version__,
        "submission": {
            "name": audit.submission.name,
            "generation": audit.submission.generation,
            "split": audit.submission.split,
        },
        "benchmark": {"source": audit.benchmark, "instances": audit.total},
        "settings": {"sandbox": audit.sandbox, "repeats": audit.repeats},
        "problem": audit.problem or None,
        "rates": _rates_value(figures),
        "verdicts": {str(kind): kinds.get(kind, 0) for kind in VerdictKind},
        "instances": [_instance(audit, verdict, command, regraded or {}) for verdict in audit.verdicts],
        "findings": [
            {"kind": found.kind, "ids": list(found.ids), "detail": found.detail, "where": found.where}
            for found in audit.submission.findings
        ],
        "notes": list(audit.notes),
    }


def badge_document(figures: Rates, problem: str = "") -> dict[str, object]:
    """The value of badge.json, https://shields.io/badges/endpoint-badge; ASCII only."""
    if problem:
        return _badge("audit incomplete", "lightgrey") | {"isError": True}
    low, high = figures.percent(figures.low), figures.percent(figures.high)
    adjusted = f"{low:.1f}%" if figures.low == figures.high else f"{low:.1f}-{high:.1f}%"
    if figures.claimed is None:
        return _badge(f"adjusted {adjusted}", "blue")
    lost = figures.claimed - figures.high
    color = (
        "yellow" if figures.low < figures.claimed <= figures.high else "red" if lost > 0 else "brightgreen"
    )
    return _badge(f"claimed {figures.percent(figures.claimed):.1f}%, adjusted {adjusted}", color)


def _badge(message: str, color: str) -> dict[str, object]:
    return {"schemaVersion": 1, "label": "UTBoost audit", "message": message, "color": color}


def _rates_value(figures: Rates) -> dict[str, object]:
    def rate(count: int | None) -> dict[str, object] | None:
        if count is None:
            return None
        percent = round(figures.percent(count), 4)
        return {"count": count, "percent": percent, "interval": _percents(figures.interval(count))}

    return {
        "claimed": rate(figures.claimed),
        "regraded": rate(figures.regraded),
        "replayed": rate(figures.replayed),
        "adjusted": {"low": rate(figures.low), "high": rate(figures.high)},
        "coverage": {"audited": figures.audited, "submitted": figures.submitted, "instances": figures.total},
        "estimate": _estimate(figures.whole) if figures.whole else None,
    }


def _estimate(whole: Whole) -> dict[str, object]:
    """What the audited sample lets expect of the whole split, in percent."""
    return {
        "sampled": whole.sampled,
        "population": whole.population,
        "low": {"percent": round(100 * whole.low.share, 4), "interval": _percents(whole.low.interval)},
        "high": {"percent": round(100 * whole.high.share, 4), "interval": _percents(whole.high.interval)},
    }


def _percents(interval: Interval) -> list[float]:
    return [round(100 * interval.low, 4), round(100 * interval.high, 4)]


def _instance(
    audit: Audit, verdict: Verdict, command: ReproduceCommand, regraded: dict[str, bool | None]
) -> dict[str, object]:
    return {
        "instance_id": verdict.instance_id,
        "verdict": str(verdict.kind),
        "cause": str(verdict.cause) if verdict.cause else None,
        "reasons": list(verdict.reasons),
        "claimed": verdict.claimed,
        "regraded": regraded.get(verdict.instance_id),
        "official": verdict.official,
        "plausible": verdict.plausible,
        "applied_with": verdict.applied_with or None,
        "flaky_tests": list(verdict.flaky),
        "differences": [_difference(audit, verdict, difference) for difference in verdict.differences],
        "evidence": _evidence(audit, verdict),
        "reproduce": command.for_instance(verdict.instance_id),
    }


def _evidence(audit: Audit, verdict: Verdict) -> dict[str, object] | None:
    """The least that shows a flag; None for what is none."""
    prediction = audit.submission.predictions.get(verdict.instance_id)
    found = minimal_evidence(
        verdict.differences,
        audit.tests.get(verdict.instance_id, ()),
        audit.gold.get(verdict.instance_id, ""),
        prediction.patch if prediction else "",
    )
    if found is None or verdict.kind not in _FLAGS:
        return None
    return {
        "test": found.test,
        "suite": found.suite,
        "test_source": found.source[:_SOURCE_LIMIT],
        "gold_value": found.gold,
        "candidate_value": found.candidate,
        "log": found.log[:_SOURCE_LIMIT],
        "patches": found.patches[:_SOURCE_LIMIT],
    }


def _difference(audit: Audit, verdict: Verdict, difference: Difference) -> dict[str, object]:
    tests = audit.tests.get(verdict.instance_id, ())
    entry = next((test for test in tests if test.id == difference.suite), None)
    return {
        "test": difference.test,
        "suite": difference.suite,
        "kind": str(difference.kind),
        "status": str(entry.status) if entry else None,
        "source": entry.source if entry else "official",
        "base": difference.base,
        "gold": difference.gold,
        "candidate": difference.candidate,
        "repeats": difference.repeats,
        "message": difference.message,
        "base_message": difference.base_message,
        "fault": difference.fault or None,
        "standing": str(difference.standing),
        "grounds": list(difference.grounds),
        "test_source": test_source(difference, tests)[:_SOURCE_LIMIT],
        "gold_log": difference.gold_log,
        "candidate_log": difference.candidate_log,
    }
