"""Findings on the predictions themselves: ids, keys, classes, and the lint of each patch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from utboost_action.leaderboard.integrity import lint
from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.material import MAX_PATCH_CHARACTERS, Material
from utboost_action.leaderboard.patch_classes import PatchForm
from utboost_action.leaderboard.tree import shown
from utboost_action.model import Finding, PredictionClass
from utboost_action.patches import touched_paths

MAX_LINT_FINDINGS = 5_000
MAX_HITS = 100
_EXPECTED_KEYS = ("instance_id", "model_name_or_path", "model_patch")


def prediction_findings(material: Material) -> list[Finding]:
    """Every finding on ids, keys and classes, one a kind with all its ids."""
    if not material.file.path:
        return [finding(FindingKind.NO_PREDICTIONS, "no predictions file in the tree")]
    return [*_ids(material), *_classes(material), *_names(material)]


def lint_findings(material: Material) -> list[Finding]:
    """The integrity lint over the predictions that count; `where` names the line of the patch."""
    found: list[Finding] = []
    for instance_id, number in material.last.items():
        if len(found) > MAX_LINT_FINDINGS:
            detail = (
                f"more than {MAX_LINT_FINDINGS:,} findings on patches; from {instance_id} on none is linted"
            )
            return [*found, finding(FindingKind.FILE_TOO_LARGE, detail)]
        if instance_id not in material.touched:
            continue
        text = material.forms[number].text
        instance = (material.instances or {}).get(instance_id)
        official = touched_paths(instance.test_patch) if instance is not None else ()
        where = material.rows[number].where
        for hit in lint(text, official, paths=material.touched[instance_id])[:MAX_HITS]:
            line = f", line {hit.line} of the patch" if hit.line else ""
            found.append(finding(hit.kind, hit.detail[:300], (instance_id,), where + line))
    unread = tuple(material.last.keys() - material.touched.keys())
    if unread:
        detail = (
            f"not linted: a huge line, or the patches come to more than {MAX_PATCH_CHARACTERS:,} characters"
        )
        found.append(finding(FindingKind.FILE_TOO_LARGE, detail, unread, material.file.path))
    return found


def _ids(material: Material) -> Iterator[Finding]:
    path = material.file.path
    if material.of_other_benchmark:
        detail = f"a {material.layout} submission; none of its ids is in the benchmark given"
        yield finding(FindingKind.OTHER_BENCHMARK, detail, where=path)
    elif material.benchmark_split is not None and not _same_split(material):
        detail = f"the path says {material.split}, the benchmark given is {material.benchmark_split}"
        yield finding(FindingKind.OTHER_BENCHMARK, detail, where=path)
    if material.unknown:
        detail = f"not in the split ({material.split or 'benchmark given'})"
        yield finding(FindingKind.UNKNOWN_ID, detail, tuple(material.unknown), path)
    for split, ids in material.other_splits.items():
        elsewhere = tuple(material.unknown & frozenset(ids))
        if elsewhere:
            yield finding(FindingKind.OTHER_SPLIT_ID, f"an id of the split {split}", elsewhere, path)


def _same_split(material: Material) -> bool:
    """bash-only is graded against the rows of Verified; `test` is what the full set calls its rows."""
    names = {"bash-only": "verified", "test": "full"}
    ours, given = material.split or "", material.benchmark_split or ""
    return names.get(ours, ours) == names.get(given, given)


def _classes(material: Material) -> Iterator[Finding]:
    path = material.file.path

    def ids(wanted: Callable[[PatchForm], bool]) -> tuple[str, ...]:
        return tuple(key for key, number in material.last.items() if wanted(material.forms[number]))

    if empty := ids(lambda form: form.kind is PredictionClass.EMPTY):
        yield finding(FindingKind.EMPTY_PATCH, "the patch is null or blank", empty, path)
    if fenced := ids(lambda form: form.kind is PredictionClass.FENCED):
        sound = sum(1 for key in fenced if not material.forms[material.last[key]].detail)
        detail = (
            f"the patch is wrapped in a Markdown fence; taken out of it, {sound} of {len(fenced)} are sound"
        )
        yield finding(FindingKind.FENCED_PATCH, detail, fenced, path)
    if corrupt := ids(lambda form: form.kind is PredictionClass.CORRUPT):
        first = material.forms[material.last[corrupt[0]]].detail
        detail = f"git apply cannot read the patch (the first: {first})"
        yield finding(FindingKind.CORRUPT_PATCH, detail, corrupt, path)
    if binary := ids(lambda form: form.binary):
        yield finding(FindingKind.BINARY_PATCH, "the patch holds a binary file", binary, path)
    if returns := ids(lambda form: form.carriage_returns):
        yield finding(FindingKind.CARRIAGE_RETURNS, "the patch holds carriage returns", returns, path)
    if unended := ids(lambda form: form.no_final_newline):
        detail = "the patch lacks the final newline that git apply insists on; it is added"
        yield finding(FindingKind.NO_FINAL_NEWLINE, detail, unended, path)
    if nul := ids(lambda form: form.nul):
        yield finding(FindingKind.NUL_BYTES, "the patch holds NUL characters", nul, path)
    if wrong := ids(lambda form: form.kind is PredictionClass.MISSING_KEY):
        yield finding(FindingKind.WRONG_KEYS, _wrong_keys(material, wrong), wrong, path)


def _wrong_keys(material: Material, ids: tuple[str, ...]) -> str:
    keys = sorted({key for instance_id in ids for key in material.rows[material.last[instance_id]].keys})
    extra = [shown(key) for key in keys if key not in _EXPECTED_KEYS][:10]
    missing = [key for key in _EXPECTED_KEYS if key not in keys]
    return f"keys {', '.join(extra) or '(none)'} instead of {', '.join(missing)}"


def _names(material: Material) -> Iterator[Finding]:
    names = dict.fromkeys(row.model_name for row in material.rows if row.model_name)
    if len(names) > 1:
        detail = (
            f"{len(names)} names in model_name_or_path: {', '.join(shown(name) for name in list(names)[:5])}"
        )
        yield finding(FindingKind.SEVERAL_MODEL_NAMES, detail, where=material.file.path)
