"""The JSON of `utboost-action inspect`: what was submitted, in the words of docs/leaderboard.md.

Keys: generation, layout, split, predictions, logs, trajs, metadata, claimed, findings. Texts come from
the submission and are not escaped here; whoever shows them outside of JSON has to do that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from utboost_action.leaderboard.claims import headline, listed_resolved, percent_of, readme_claims
from utboost_action.leaderboard.crosscheck import report_vs_regrade
from utboost_action.leaderboard.intake import Intake, take_in
from utboost_action.leaderboard.integrity import is_test_like, runner_configuration
from utboost_action.leaderboard.kinds import FindingKind, weight_of
from utboost_action.leaderboard.material import Material
from utboost_action.leaderboard.similarity import Similarity
from utboost_action.model import Finding, Instance, PredictionClass
from utboost_action.patches import touched_paths

SCHEMA = 1
MAX_KEY_SETS = 50

Json = dict[str, object]


def inspect(
    path: Path,
    *,
    instances: Mapping[str, Instance] | None = None,
    split: str | None = None,
    other_splits: Mapping[str, Collection[str]] | None = None,
) -> Json:
    """Read the submission at `path` (as `read_submission`) and describe it. Raises InputError alike."""
    return describe(take_in(path, instances=instances, split=split, other_splits=other_splits))


def describe(
    intake: Intake,
    *,
    more: Iterable[Finding] = (),
    regraded: Mapping[str, bool | None] | None = None,
) -> Json:
    """The JSON of an intake.

    more: findings of other stages. regraded: instance id -> resolved by the corrected reading of its
    log (None: it does not say); where the reports say otherwise, `report_vs_log` is added.
    """
    material = intake.material
    findings = [*intake.submission.findings, *more, *report_vs_regrade(material, regraded or {})]
    return {
        "schema": SCHEMA,
        "submission": intake.submission.name,
        "generation": intake.submission.generation,
        "layout": material.layout,
        "split": material.split,
        "predictions": _predictions(material, intake.similarity),
        "logs": _logs(material),
        "trajs": {
            "count": sum(material.artefacts.traj_suffixes.values()),
            "suffixes": dict(sorted(material.artefacts.traj_suffixes.items())),
        },
        "metadata": {
            "file": material.metadata.path or None,
            "name": material.metadata.name,
            "site": material.metadata.site,
            "attempts": material.metadata.attempts,
            "assets": dict(material.metadata.assets or {}),
        },
        "claimed": _claimed(material),
        "findings": [finding_json(item) for item in findings],
    }


def finding_json(item: Finding) -> Json:
    """One finding with its weight and the number of its ids."""
    return {
        "kind": item.kind,
        "weight": weight_of(item.kind).value,
        "ids": list(item.ids),
        "count": len(item.ids),
        "detail": item.detail,
        "where": item.where,
    }


def _predictions(material: Material, similarity: Similarity) -> Json:
    rows, forms = material.rows, material.forms
    named = [row.instance_id for row in rows if row.instance_id is not None]
    ids: dict[str, list[str]] = {}
    for row, form in zip(rows, forms, strict=True):
        if form.kind is not PredictionClass.OK and row.instance_id is not None:
            ids.setdefault(form.kind.value, []).append(row.instance_id)
    fenced = [form for form in forms if form.kind is PredictionClass.FENCED]
    touched = material.touched
    described: Json = {
        "file": material.file.path or None,
        "format": material.file.form or None,
        "predictions": len(rows),
        "key_sets": [list(keys) for keys in sorted({row.keys for row in rows})[:MAX_KEY_SETS]],
        "classes": dict(sorted(Counter(form.kind.value for form in forms).items())),
        "ids": {name: sorted(set(found)) for name, found in sorted(ids.items())},
        "unique_ids": len(material.last),
        "duplicate_ids": sorted(key for key, number in Counter(named).items() if number > 1),
        "invalid_ids": len(rows) - len(named),
        "no_final_newline": _ids_where(material, "no_final_newline"),
        "carriage_returns": _ids_where(material, "carriage_returns"),
        "binary": _ids_where(material, "binary"),
        "touches_test_like_paths": sorted(
            key for key, paths in touched.items() if any(is_test_like(path) for path in paths)
        ),
        "touches_runner_configuration": sorted(
            key for key, paths in touched.items() if runner_configuration(paths)
        ),
    }
    if fenced:
        described["fenced_inner_diff_ok"] = sum(1 for form in fenced if not form.detail)
    if material.held_against is not None:
        described |= _against_split(material, material.held_against, touched, similarity)
    return described


def _against_split(
    material: Material,
    instances: Mapping[str, Instance],
    touched: Mapping[str, tuple[str, ...]],
    similarity: Similarity,
) -> Json:
    official = {
        key: set(touched_paths(instances[key].test_patch))
        for key in touched
        if key in instances and touched[key]
    }
    return {
        **{
            f"in_{name}": sorted(material.last.keys() & set(ids))
            for name, ids in material.other_splits.items()
        },
        "unknown_ids": sorted(material.unknown),
        "split_size": len(instances),
        "not_attempted": len(instances.keys() - material.last.keys()),
        "touches_official_test_files": sorted(
            key for key, paths in official.items() if not paths.isdisjoint(touched[key])
        ),
        "identical_to_gold": len(similarity.identical),
        "gold_similarity": {
            "compared": len(similarity.ratios),
            "same_changes": len(similarity.matching),
            "percent": round(similarity.percent, 1),
            "by_instance": {key: round(ratio, 3) for key, ratio in sorted(similarity.ratios.items())},
        },
    }


def _ids_where(material: Material, name: str) -> list[str]:
    return sorted(
        {
            row.instance_id
            for row, form in zip(material.rows, material.forms, strict=True)
            if row.instance_id is not None and getattr(form, name)
        }
    )


def _logs(material: Material) -> Json:
    artefacts = material.artefacts
    described: Json = {"count": len(artefacts.logs)}
    if artefacts.name_form:
        described["name_form"] = artefacts.name_form
    if material.layout == "polybench":
        described |= {
            "results": len(artefacts.reports),
            "metrics": artefacts.metrics,
            "form": artefacts.name_form,
        }
    if material.logs:
        facts = material.logs
        described |= {
            "markers": any(fact.markers for fact in facts.values()),
            "generations": dict(sorted(Counter(fact.generation for fact in facts.values()).items())),
            "bytes": sum(fact.size for fact in facts.values()),
            "quoted": sorted(key for key, fact in facts.items() if fact.quoted),
            "without_test_result": sorted(key for key, fact in facts.items() if not fact.tests_ran),
            "patch_not_applied": sorted(key for key, fact in facts.items() if fact.patch_applied is False),
        }
    if material.external_logs:
        described["elsewhere"] = material.external_logs
    return described


def _claimed(material: Material) -> Json:
    main = headline(material)
    listed = listed_resolved(material)
    readme = next((claim for claim in readme_claims(material) if claim.resolved is not None), None)
    rate = next(
        (claim for claim in material.metadata.claims if claim.percent is not None and claim.key), None
    )
    claimed: Json = {
        "resolved": main.resolved,
        "source": main.source or None,
        "ids": sorted(main.ids) if main.ids is not None else None,
        "readme": readme.text if readme is not None else None,
        "percent": percent_of(material) or None,
        "pass_rate": rate.text if rate is not None else None,
    }
    if main.ids is not None and material.held_against is not None:
        claimed["within_split"] = len(main.ids & material.held_against.keys())
    if material.row_verdicts and listed.resolved is not None:
        claimed |= {
            "resolved_in_results": sorted(listed.resolved),
            "resolved_count": len(listed.resolved),
        }
    if material.artefacts.logs and main.ids is not None:
        claimed["resolved_with_log_here"] = sorted(main.ids & material.artefacts.logs.keys())
    return claimed


KINDS = tuple(kind.value for kind in FindingKind)
