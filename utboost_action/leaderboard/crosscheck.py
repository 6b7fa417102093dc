"""The parts of a submission held against each other: predictions, patch.diff, results, reports, logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from utboost_action.leaderboard.claims import listed_resolved
from utboost_action.leaderboard.documents import decode, read_bytes
from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.material import Material
from utboost_action.leaderboard.results import Results, repo_totals
from utboost_action.model import Finding
from utboost_action.patches import normalised

MAX_PATCH_BYTES = 16 * 1024 * 1024
_NOT_RESOLVED = (
    "no_generation", "no_logs", "unresolved", "empty_patch", "error", "incomplete", "no_apply",
    "install_fail", "reset_failed",
)  # fmt: skip
_EVALUATED = ("resolved", "generated", "with_logs", "applied", "submitted", "completed", "unresolved")


def artefact_findings(material: Material) -> list[Finding]:
    """Every contradiction between the artefacts, the same each time it is asked."""
    conflicts, same_as_first = duplicate_conflicts(material)
    return [
        *_duplicates(material, conflicts, same_as_first),
        *_patch_files(material, conflicts),
        *_results(material),
        *_result_lists(material),
        *_reports(material),
        *_logs(material),
        *_trajectories(material),
    ]


def report_vs_regrade(material: Material, regraded: Mapping[str, bool | None]) -> list[Finding]:
    """Instances whose report.json (or results) says resolved while the regraded log says otherwise.

    regraded: instance id -> resolved by the corrected reading, None where the log does not say.
    """
    claimed = listed_resolved(material).resolved or frozenset()
    ids = []
    for instance_id, resolved in regraded.items():
        report = material.reports.get(instance_id)
        said = (
            report.resolved if report is not None and report.resolved is not None else instance_id in claimed
        )
        if resolved is not None and said is not resolved:
            ids.append(instance_id)
    detail = "report.json or results.json and the log do not agree on resolved"
    return [finding(FindingKind.REPORT_VS_LOG, detail, tuple(ids))] if ids else []


def duplicate_conflicts(material: Material) -> tuple[frozenset[str], frozenset[str]]:
    """(ids with different patches, those of them whose patch.diff is an earlier one and not the last)."""
    counted = Counter(row.instance_id for row in material.rows)
    texts: dict[str, list[str]] = {}
    for row, form in zip(material.rows, material.forms, strict=True):
        if row.instance_id is not None and counted[row.instance_id] > 1:
            texts.setdefault(row.instance_id, []).append(_same_line_ends(form.text))
    conflicts = frozenset(key for key, found in texts.items() if len(set(found)) > 1)
    earlier = set()
    for key in conflicts:
        evaluated = _patch_text(material, key)
        if evaluated is not None and _same_line_ends(evaluated) in texts[key][:-1]:
            earlier.add(key)
    return conflicts, frozenset(earlier)


def _duplicates(material: Material, conflicts: frozenset[str], earlier: frozenset[str]) -> Iterator[Finding]:
    counted = Counter(row.instance_id for row in material.rows if row.instance_id is not None)
    same = tuple(key for key, number in counted.items() if number > 1 and key not in conflicts)
    if same:
        yield finding(
            FindingKind.DUPLICATE_ID, "the same patch more than once: harmless", same, material.file.path
        )
    if conflicts:
        detail = (
            "different patches for one id (more than one attempt?); the last one counts, as in the harness"
        )
        if earlier:
            detail += f"; patch.diff is an earlier one: {', '.join(sorted(earlier))}"
        yield finding(FindingKind.DUPLICATE_ID_CONFLICT, detail, tuple(conflicts), material.file.path)


def _patch_text(material: Material, instance_id: str) -> str | None:
    path = material.artefacts.patches.get(instance_id)
    data = read_bytes(material.tree, path, MAX_PATCH_BYTES) if path is not None else None
    return decode(data)[0] if isinstance(data, bytes) else None


def _patch_files(material: Material, conflicts: frozenset[str]) -> Iterator[Finding]:
    """Predictions against the patch that was evaluated (logs/<id>/patch.diff)."""
    kinds: dict[FindingKind, list[str]] = {}
    for instance_id in material.artefacts.patches:
        evaluated = _patch_text(material, instance_id)
        if evaluated is None:
            detail = "the evaluated patch cannot be read or is too large"
            path = material.artefacts.patches[instance_id]
            yield finding(FindingKind.UNREADABLE_FILE, detail, (instance_id,), path)
            continue
        kind = _patch_kind(material, instance_id, evaluated)
        if kind is not None and not (instance_id in conflicts and kind is FindingKind.PATCH_DIFFERS):
            kinds.setdefault(kind, []).append(instance_id)
    for kind, ids in sorted(kinds.items()):
        yield finding(kind, _PATCH_DETAILS[kind], tuple(ids), "logs/<id>/patch.diff")


_PATCH_DETAILS = {
    FindingKind.PATCH_DIFFERS: "patch.diff holds another change than the prediction",
    FindingKind.PATCH_DIFF_EMPTY: "patch.diff is empty, the prediction is not",
    FindingKind.PATCH_DIFF_WITHOUT_PREDICTION: "patch.diff holds a change, the predictions hold none",
    FindingKind.PATCH_SAME_AFTER_NORMALISING: (
        "patch.diff differs from the prediction in line ends, index lines or the final newline only"
    ),
}


def _patch_kind(material: Material, instance_id: str, evaluated: str) -> FindingKind | None:
    if instance_id not in material.with_patch:
        return FindingKind.PATCH_DIFF_WITHOUT_PREDICTION if evaluated.strip() else None
    if not evaluated.strip():
        return FindingKind.PATCH_DIFF_EMPTY
    number = material.last[instance_id]
    raw = material.rows[number].patch
    text = raw if isinstance(raw, str) else ""
    if evaluated == text:
        return None
    forms = {_same_line_ends(text), _same_line_ends(material.forms[number].text)}
    same = _same_line_ends(evaluated) in forms
    return FindingKind.PATCH_SAME_AFTER_NORMALISING if same else FindingKind.PATCH_DIFFERS


def _same_line_ends(patch: str) -> str:
    """The normal form with LF throughout: what a file system or a mailer did to a patch is no difference."""
    return normalised(patch.replace("\r\n", "\n"))


def _results(material: Material) -> Iterator[Finding]:
    """The claimed ids against predictions and split."""
    claimed = listed_resolved(material)
    resolved = claimed.resolved or frozenset()
    mentioned = set(resolved) | material.row_verdicts.keys()
    for results in material.results:
        for name in _EVALUATED:
            mentioned |= results.lists.get(name, frozenset())
    if material.rows:
        missing = tuple(mentioned - material.last.keys())
        if missing:
            detail = "in the results, no line in the predictions"
            yield finding(FindingKind.RESULT_WITHOUT_PREDICTION, detail, missing, claimed.where)
        hollow = tuple((resolved & material.last.keys()) - material.with_patch)
        if hollow:
            detail = "resolved by the results, and the prediction holds no patch"
            yield finding(FindingKind.RESOLVED_WITHOUT_PATCH, detail, hollow, claimed.where)
    if material.held_against is not None:
        strange = tuple(resolved - material.held_against.keys())
        if strange:
            detail = "resolved by the results, and not in the split"
            yield finding(FindingKind.CLAIMED_ID_UNKNOWN, detail, strange, claimed.where)
        size = len(material.held_against)
        everything = mentioned.union(*(ids for results in material.results for ids in results.lists.values()))
        total = max((results.counts.get("total", 0) for results in material.results), default=0)
        if max(len(everything), total) > size:
            detail = f"results for {max(len(everything), total)} instances, the split has {size}"
            yield finding(FindingKind.MORE_RESULTS_THAN_INSTANCES, detail, where=claimed.where)


def _result_lists(material: Material) -> Iterator[Finding]:
    """The lists of the results against each other and against the predictions."""
    for results in material.results:
        resolved = results.resolved or frozenset()
        for name in _NOT_RESOLVED:
            both = tuple(resolved & results.lists.get(name, frozenset()))
            if both:
                detail = f"listed as resolved and as {name}"
                yield finding(FindingKind.RESULTS_CONTRADICT, detail, both, results.path)
        if material.rows:
            yield from _lists_against_predictions(material, results)
    yield from _results_against_each_other(material)


def _lists_against_predictions(material: Material, results: Results) -> Iterator[Finding]:
    for name in ("no_generation", "empty_patch"):
        with_patch = tuple(results.lists.get(name, frozenset()) & material.with_patch)
        if with_patch:
            detail = f"listed as {name}, and the prediction holds a patch"
            yield finding(FindingKind.RESULTS_VS_PREDICTIONS, detail, with_patch, results.path)
    submitted = results.counts.get("submitted")
    if submitted is not None and submitted != len(material.last):
        detail = f"submitted_instances is {submitted}, the predictions hold {len(material.last)} ids"
        yield finding(FindingKind.RESULTS_VS_PREDICTIONS, detail, where=results.path)


def _results_against_each_other(material: Material) -> Iterator[Finding]:
    main = material.main_results
    if main is None or main.resolved is None:
        return
    for other in material.results:
        if other.resolved is not None and other.resolved != main.resolved:
            ids = tuple(main.resolved ^ other.resolved)
            detail = f"{main.path} and {other.path} do not agree on resolved"
            yield finding(FindingKind.RESULTS_CONTRADICT, detail, ids, other.path)
    for path, total in repo_totals(material.tree).items():
        if total != len(main.resolved):
            detail = f"{path} adds up to {total} resolved, {main.path} lists {len(main.resolved)}"
            yield finding(FindingKind.RESULTS_MISCOUNTED, detail, where=path)


def _reports(material: Material) -> Iterator[Finding]:
    main = material.main_results
    if main is not None and main.resolved is not None and material.layout != "polybench":
        ids = tuple(
            key
            for key, report in material.reports.items()
            if report.resolved is not None and report.resolved != (key in main.resolved)
        )
        if ids:
            detail = f"{main.path} and report.json do not agree on resolved"
            yield finding(FindingKind.RESULTS_VS_REPORT, detail, ids, main.path)
    ran = tuple(
        key
        for key, report in material.reports.items()
        if report.applied is False and key in material.logs and material.logs[key].tests_ran
    )
    if ran:
        detail = (
            "report.json says that the patch did not apply, and the log shows tests that ran; "
            "a correct verdict is inconclusive, not a failed patch"
        )
        yield finding(
            FindingKind.REPORT_SAYS_PATCH_NOT_APPLIED_BUT_TESTS_RAN, detail, ran, "logs/<id>/report.json"
        )


def _logs(material: Material) -> Iterator[Finding]:
    logs = material.artefacts.logs
    if not logs:
        yield from _without_logs(material)
        return
    if missing := tuple(_missing_logs(material)):
        yield finding(FindingKind.MISSING_LOG, "evaluated by the results, and no log in the tree", missing)
    stray = tuple(logs.keys() - material.last.keys()) if material.rows else ()
    if stray:
        yield finding(FindingKind.LOG_WITHOUT_PREDICTION, "a log, and no line in the predictions", stray)
    facts = material.logs
    if material.layout == "experiments":
        bare = tuple(key for key, fact in facts.items() if fact.generation == "G2")
        if bare:
            detail = (
                "no start or end marker in the test output; swebench >= 3 grades these logs as not applied"
            )
            yield finding(FindingKind.NO_MARKERS, detail, bare, "logs/<id>/test_output.txt")
    quoted = tuple(key for key, fact in facts.items() if fact.quoted)
    if quoted:
        detail = "the log is one JSON string; to be unquoted before reading"
        yield finding(FindingKind.QUOTED_TEST_OUTPUT, detail, quoted)
    for key, fact in facts.items():
        if fact.forged:
            yield finding(FindingKind.FORGED_LOG, fact.forged, (key,), logs[key])
    generations = Counter(fact.generation for fact in facts.values())
    if len(generations) > 1:
        detail = ", ".join(f"{name}: {number}" for name, number in sorted(generations.items()))
        yield finding(FindingKind.MIXED_GENERATIONS, f"logs of several generations ({detail})")


def _without_logs(material: Material) -> Iterator[Finding]:
    ids = tuple(material.last)
    if material.layout != "nocode" and (
        material.row_verdicts or material.artefacts.reports or material.artefacts.run_logs
    ):
        return
    if material.external_logs or material.layout == "nocode":
        detail = f"the logs are elsewhere ({material.external_logs or material.artefacts.name_form})"
        yield finding(FindingKind.LOGS_NOT_IN_PULL_REQUEST, detail, ids, material.metadata.path)
    else:
        yield finding(FindingKind.NO_LOGS, "no log in the tree", ids)


def _missing_logs(material: Material) -> Iterator[str]:
    main = material.main_results
    lists = main.lists if main is not None else {}
    expected = lists.get("with_logs")
    if expected is None:
        expected = (
            material.with_patch - lists.get("no_logs", frozenset()) - lists.get("no_generation", frozenset())
        )
        expected -= material.unknown
    artefacts = material.artefacts
    graded = {key for key, report in material.reports.items() if report.resolved or report.success}
    told = artefacts.run_logs.keys() | artefacts.reports.keys()  # why there is no test output
    return (
        key for key in sorted(expected) if key not in artefacts.logs and (key not in told or key in graded)
    )


def _trajectories(material: Material) -> Iterator[Finding]:
    trajs = material.artefacts.trajs
    if not trajs:
        if material.rows and "trajs" not in (material.metadata.assets or {}) and material.metadata.path:
            yield finding(FindingKind.NO_TRAJS, "no trajectories in the tree, and none named in the metadata")
        return
    stray = tuple(trajs.keys() - material.last.keys()) if material.rows else ()
    if stray:
        detail = "a trajectory, and no line in the predictions"
        yield finding(FindingKind.TRAJ_WITHOUT_PREDICTION, detail, stray, "trajs/")
    missing = tuple(material.last.keys() - trajs.keys())
    if missing:
        yield finding(FindingKind.MISSING_TRAJ, "a prediction without a trajectory", missing, "trajs/")
