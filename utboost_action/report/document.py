"""The audit as JSON values: `report.json` (docs/report.schema.json) and `badge.json` (shields endpoint).

Both hold no clock times and no durations, so equal audits give equal bytes.
"""

from __future__ import annotations

from collections import Counter

from utboost_action import __version__
from utboost_action.model import Audit, Difference, Verdict, VerdictKind
from utboost_action.report.evidence import ReproduceCommand, test_source
from utboost_action.report.rates import Rates, rates_of

SCHEMA = 1
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
        return None if count is None else {"count": count, "percent": round(figures.percent(count), 4)}

    return {
        "claimed": rate(figures.claimed),
        "regraded": rate(figures.regraded),
        "replayed": rate(figures.replayed),
        "adjusted": {"low": rate(figures.low), "high": rate(figures.high)},
        "coverage": {"audited": figures.audited, "submitted": figures.submitted, "instances": figures.total},
    }


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
        "reproduce": command.for_instance(verdict.instance_id),
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
        "test_source": test_source(difference, tests)[:_SOURCE_LIMIT],
        "gold_log": difference.gold_log,
        "candidate_log": difference.candidate_log,
    }
