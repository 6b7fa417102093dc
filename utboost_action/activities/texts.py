"""What people read of a run: the comment and summary in levels of detail, the status line, the outputs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from utboost_action.github.annotations import Annotation, Level, annotation_of
from utboost_action.github.badges import Badge, fault_badge, submission_badge
from utboost_action.leaderboard.kinds import Weight, weight_of
from utboost_action.model import VerdictKind
from utboost_action.report.escaping import Markdown
from utboost_action.report.render import Detail, markdown, render
from utboost_action.session import Outcome
from utboost_action.sharding import Reports

_LEVELS = {Weight.FAULT: Level.WARNING, Weight.REVIEW: Level.WARNING, Weight.NOTE: Level.NOTICE}
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._-]+(?::[0-9]+)?(?:/[A-Za-z0-9._-]+)*")
_FLAGS = (VerdictKind.WRONG, VerdictKind.MISGRADED, VerdictKind.SUSPECT)


def levels(reports: Reports, template: Path | None, run_url: str) -> list[str]:
    """Ready Markdown from most to least detail: the run's own part, then each submission's report."""
    loader = jinja2.FileSystemLoader(template) if template else None
    value = {
        "head": reports.plan.head_sha,
        "run_url": Markdown(run_url) if _ADDRESS.fullmatch(run_url) else "",
        "submissions": [
            {"path": submitted.path, **_figures(outcome)}
            for submitted, outcome in zip(reports.plan.submissions, reports.outcomes, strict=True)
        ],
        "others": list(reports.plan.others),
        "removed": list(reports.plan.removed),
        "not_audited": list(reports.plan.not_audited),
        "notes": list(reports.plan.notes),
    }
    found = []
    for detail in Detail:
        parts = [render(outcome.document, detail, loader=loader).strip() for outcome in reports.outcomes]
        frame = markdown("run.md.j2", loader, report=value, detail=str(detail)).strip()
        found.append("\n\n".join([*parts, frame]) + "\n")
    found.append(markdown("run.md.j2", loader, report=value, detail=str(Detail.HEADLINE)).strip() + "\n")
    return found


def headline(reports: Reports) -> str:
    """One sentence for the status and the log."""
    if any(outcome.audit.problem for outcome in reports.outcomes):
        first = next(outcome.audit.problem for outcome in reports.outcomes if outcome.audit.problem)
        return f"audit incomplete: {first}"
    refused = len(reports.plan.not_audited)
    if refused and not reports.outcomes:
        return f"audit incomplete: {refused} {'submission' if refused == 1 else 'submissions'} not audited"
    counts = _counts(reports)
    flags = ", ".join(f"{counts[kind]} {str(kind).lower()}" for kind in _FLAGS if counts[kind])
    found = flags or "nothing flagged"
    if refused:
        found += f"; {refused} not audited"
    if len(reports.outcomes) != 1:
        return f"{len(reports.outcomes)} submissions: {found}"
    figures = _figures(reports.outcomes[0])
    claimed = f"claimed {figures['claimed']}, " if figures["claimed"] is not None else ""
    low, high = figures["adjusted-low"], figures["adjusted-high"]
    adjusted = f"{low}" if low == high else f"{low} to {high}"
    return f"{claimed}adjusted {adjusted} of {figures['instances']}: {found}"


def outputs(reports: Reports, out: Path) -> dict[str, str]:
    """The step outputs of an audit; a submission's own figures only where there is exactly one."""
    counts = _counts(reports)
    rows = [
        {"path": submitted.path, "report": str(outcome.report.with_suffix(".json")), **_figures(outcome)}
        for submitted, outcome in zip(reports.plan.submissions, reports.outcomes, strict=True)
    ]
    found = {
        "head-sha": reports.plan.head_sha,
        "submissions": str(len(rows)),
        "report": str(rows[0]["report"]) if len(rows) == 1 else str(out),
        "results": json.dumps(rows, ensure_ascii=True, separators=(",", ":")),
        "missing-shards": ",".join(map(str, reports.missing)),
    }
    found |= {str(kind).lower().replace("_", "-"): str(counts[kind]) for kind in VerdictKind}
    if len(rows) == 1:
        found |= {
            name: "" if (value := rows[0][name]) is None else str(value)
            for name in ("claimed", "regraded", "replayed", "adjusted-low", "adjusted-high", "instances")
        }
    return found


def finding_annotations(reports: Reports) -> list[Annotation]:
    """The intake's findings at the submission's files, the weightiest first."""
    weighed = [
        (submitted.path, finding, weight_of(finding.kind))
        for submitted in reports.plan.submissions
        for finding in submitted.findings
    ]
    order = list(Weight)
    weighed.sort(key=lambda item: order.index(item[2]))
    return [annotation_of(finding, _LEVELS[weight], path) for path, finding, weight in weighed]


def badge_of(outcome: Outcome) -> Badge:
    """The badge of one audit."""
    figures = _figures(outcome)
    total = figures["instances"]
    if outcome.audit.problem or not isinstance(total, int) or total <= 0:
        return fault_badge()
    claimed, low, high = (figures[name] for name in ("claimed", "adjusted-low", "adjusted-high"))
    assert isinstance(low, int)
    assert isinstance(high, int)
    return submission_badge(claimed if isinstance(claimed, int) else None, low, high, total)


def _counts(reports: Reports) -> Counter[VerdictKind]:
    return Counter(verdict.kind for outcome in reports.outcomes for verdict in outcome.audit.verdicts)


def _figures(outcome: Outcome) -> dict[str, object]:
    """The figures of a report document that a reader compares first; None where not known."""
    rates = _object(outcome.document["rates"])
    adjusted = _object(rates["adjusted"])
    counts = Counter(verdict.kind for verdict in outcome.audit.verdicts)
    return {
        "claimed": _count(rates["claimed"]),
        "regraded": _count(rates["regraded"]),
        "replayed": _count(rates["replayed"]),
        "adjusted-low": _count(adjusted["low"]),
        "adjusted-high": _count(adjusted["high"]),
        "instances": _object(outcome.document["benchmark"])["instances"],
        "flagged": sum(counts[kind] for kind in _FLAGS),
    }


def _object(value: object) -> Mapping[str, object]:
    assert isinstance(value, Mapping)
    return value


def _count(rate: object) -> object:
    return _object(rate)["count"] if rate is not None else None


def plain_levels(title: str, lines: Sequence[str]) -> list[str]:
    """A short text of our own for the summary: a title and lines, each escaped as foreign text."""
    value = {"title": title, "lines": list(lines)}
    return [markdown("message.md.j2", report=value).strip() + "\n"]
