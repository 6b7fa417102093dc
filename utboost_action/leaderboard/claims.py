"""What the submission claims, and whether its figures agree with its own lists and with arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.material import Material
from utboost_action.leaderboard.metadata import FigureClaim
from utboost_action.model import Claim, Finding


@dataclass(frozen=True, slots=True)
class Headline:
    """The claim that stands for the submission: how many, which (None: only a figure), and where."""

    resolved: int | None = None
    ids: frozenset[str] | None = None
    source: str = ""


def headline(material: Material) -> Headline:
    """The main claim: results file, else figures of the metadata, else verdicts by instance, else README."""
    results = material.main_results
    if results is not None and results.resolved is not None:
        return Headline(len(results.resolved), results.resolved, results.source)
    ids = listed_resolved(material)
    figures = [claim for claim in material.metadata.claims if claim.resolved is not None]
    if material.metadata.resolved_ids is not None:
        listed = frozenset(material.metadata.resolved_ids)
        return Headline(len(listed), listed, f"{material.metadata.path} resolved")
    if figures:
        return Headline(figures[0].resolved, ids.resolved, figures[0].source)
    if ids.resolved is not None:
        return Headline(len(ids.resolved), ids.resolved, ids.where)
    prose = next((claim for claim in material.readme if claim.resolved is not None), None)
    if prose is not None:
        return Headline(prose.resolved, None, prose.source)
    rate = next(iter((*material.metadata.claims, *material.readme)), None)
    return Headline(None, None, rate.source if rate else "")


def listed_resolved(material: Material) -> Claim:
    """The resolved ids that the submission names, and where: results, result files, report.json."""
    results = material.main_results
    if results is not None:
        return Claim(results.resolved, results.source)
    verdicts = material.row_verdicts
    if verdicts:
        resolved = frozenset(key for key, value in verdicts.items() if value)
        return Claim(resolved, material.artefacts.verdict_form)
    if material.metadata.resolved_ids is not None:
        return Claim(frozenset(material.metadata.resolved_ids), f"{material.metadata.path} resolved")
    said = {key: report.resolved for key, report in material.reports.items() if report.resolved is not None}
    if said:
        return Claim(frozenset(key for key, value in said.items() if value), "logs/*/report.json")
    return Claim()


def percent_of(material: Material) -> str:
    """The rate as claimed (`63.2%`), "" where there is none."""
    for claim in _figures(material):
        if claim.percent is not None:
            return f"{claim.percent:.{claim.decimals}f}%"
    return ""


def claim_findings(material: Material) -> list[Finding]:
    """Every contradiction between the figures and the lists, and of the figures in themselves."""
    found = [*_counts(material), *_rates(material), *_totals(material)]
    main = headline(material)
    logless = not material.artefacts.logs and not material.artefacts.reports and not material.row_verdicts
    if main.resolved and logless and not material.external_logs and material.layout != "nocode":
        detail = f"{main.resolved} resolved claimed in {main.source}, no log in the tree"
        found.append(finding(FindingKind.CLAIM_WITHOUT_LOGS, detail, where=main.source))
    return found


def readme_claims(material: Material) -> tuple[FigureClaim, ...]:
    """The README's claims about this submission.

    A README also speaks of other agents and other splits: when any of its figures agrees with the list
    of resolved ids, the others are taken to be about something else.
    """
    listed = listed_resolved(material).resolved
    if listed is None:
        return material.readme
    size = len(material.held_against or material.last)
    agreeing = tuple(
        claim
        for claim in material.readme
        if claim.resolved == len(listed)
        or (claim.resolved is None and size and _agrees(claim, len(listed), size))
    )
    return agreeing or material.readme


def _figures(material: Material) -> tuple[FigureClaim, ...]:
    return (*material.metadata.claims, *readme_claims(material))


def _counts(material: Material) -> Iterator[Finding]:
    listed = listed_resolved(material)
    figures = [claim for claim in _figures(material) if claim.resolved is not None]
    if listed.resolved is not None:
        allowed = {len(listed.resolved)}
        if material.held_against is not None:
            allowed.add(len(listed.resolved & material.held_against.keys()))
        wrong = [claim for claim in figures if claim.resolved not in allowed]
        if wrong:
            said = "; ".join(f"{claim.source}: {claim.resolved}" for claim in wrong)
            detail = f"{said}; {listed.where} lists {len(listed.resolved)}"
            yield finding(FindingKind.CLAIM_DIFFERS, detail, where=wrong[0].where)
    elif len({claim.resolved for claim in figures}) > 1:
        detail = "; ".join(f"{claim.source}: {claim.resolved}" for claim in figures)
        yield finding(FindingKind.CLAIM_DIFFERS, detail, where=figures[0].where)


def _rates(material: Material) -> Iterator[Finding]:
    counts = {claim.resolved for claim in _figures(material) if claim.resolved is not None}
    totals = {claim.total for claim in _figures(material) if claim.total} | {len(material.last)}
    if material.held_against is not None:
        totals.add(len(material.held_against))
    listed = listed_resolved(material).resolved
    if listed is not None:
        counts.add(len(listed))
    for claim in _figures(material):
        if claim.resolved is not None and claim.total is not None and claim.resolved > claim.total:
            detail = f"{claim.resolved} of {claim.total} is more than all"
            yield finding(FindingKind.RATE_MISCOMPUTED, detail, where=claim.source)
        elif claim.percent is not None:
            pairs = (
                [(claim.resolved, claim.total)]
                if claim.resolved is not None and claim.total
                else [(count, total) for count in counts for total in totals if total]
            )
            if pairs and not any(_agrees(claim, count, total) for count, total in pairs):
                known = " or ".join(f"{count}/{total}" for count, total in sorted(pairs)[:4])
                detail = f"{claim.percent:.{claim.decimals}f}% claimed, which is not {known}"
                yield finding(FindingKind.RATE_MISCOMPUTED, detail, where=claim.source)


def _agrees(claim: FigureClaim, count: int, total: int) -> bool:
    """Within one unit of the last digit shown, so that cutting counts as rounding."""
    assert claim.percent is not None
    return bool(abs(100 * count / total - claim.percent) <= 10.0**-claim.decimals + 1e-9)


def _totals(material: Material) -> Iterator[Finding]:
    """A total in the metadata counts always; one behind `n of` only when it is not the split's size."""
    split_size = None if material.held_against is None else len(material.held_against)
    predictions = len(material.rows)
    for claim in _figures(material):
        if claim.total is None or claim.total <= predictions or not predictions:
            continue
        is_field = claim.percent is None and "/" not in claim.text and claim.where == material.metadata.path
        if is_field or (split_size is not None and claim.total != split_size):
            detail = f"{claim.source} says {claim.total} tasks, the file holds {predictions}"
            yield finding(FindingKind.PREDICTIONS_FEWER_THAN_CLAIMED_TOTAL, detail, where=claim.source)
            return
