"""Every shape of results.json, run report and per-instance report into one: which ids, under which list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from utboost_action.leaderboard.documents import read_json
from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.prediction_files import is_instance_id
from utboost_action.leaderboard.tree import SubmissionTree, shown
from utboost_action.model import Finding

MAX_RESULTS_BYTES = 32 * 1024 * 1024
MAX_REPORT_BYTES = 8 * 1024 * 1024
_TEN_LISTS = frozenset(
    {"generated", "with_logs", "install_fail", "reset_failed", "no_apply", "applied", "test_errored",
     "test_timeout"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Results:
    """One results file.

    shape: `10 lists`, `3 lists`, `run report`, `by id` ...; lists: list name (without `_ids`) -> the
    valid ids in it; counts: the figures of a run report, by the same names.
    """

    path: str
    shape: str
    resolved: frozenset[str] | None
    lists: Mapping[str, frozenset[str]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def source(self) -> str:
        """The file and its shape, as in `results/results.json (3 lists)`."""
        return f"{self.path} ({self.shape})" if self.shape else self.path

    @property
    def ten_lists(self) -> bool:
        """Whether this is the shape of swebench 1.x."""
        return bool(_TEN_LISTS & self.lists.keys()) and not self.counts


@dataclass(frozen=True, slots=True)
class InstanceReport:
    """A per-instance report.json. None: it does not say. success/failure: the listed test names."""

    resolved: bool | None
    applied: bool | None
    success: frozenset[str] = frozenset()
    failure: frozenset[str] = frozenset()


def read_results(tree: SubmissionTree) -> tuple[Results, ...]:
    """All results files of a tree: results/results.json, results.json, run reports; the main one first."""
    paths = [path for path in ("results/results.json", "results.json") if path in tree.files]
    paths += [
        path
        for path in tree.files
        if path.count("/") <= 1
        and path.endswith(".json")
        and path not in paths
        and _is_run_report(tree, path)
    ]
    return tuple(_read(tree, path) for path in paths)


def repo_totals(tree: SubmissionTree) -> dict[str, int]:
    """The number of resolved instances by `resolved_by_repo.json` and `resolved_by_time.json`."""
    totals = {}
    for path in ("results/resolved_by_repo.json", "results/resolved_by_time.json"):
        value = read_json(tree, path, MAX_REPORT_BYTES).value if path in tree.files else None
        if isinstance(value, dict):
            numbers = [item.get("resolved") for item in value.values() if isinstance(item, dict)]
            totals[path] = sum(number for number in numbers if isinstance(number, int))
    return totals


def read_report(
    tree: SubmissionTree, path: str, instance_id: str
) -> tuple[InstanceReport | None, tuple[Finding, ...]]:
    """One `logs/<id>/report.json`, of swebench (by id) or of Multi-SWE-bench (flat)."""
    document = read_json(tree, path, MAX_REPORT_BYTES)
    value = document.value
    if not isinstance(value, dict):
        return None, document.findings or (
            finding(FindingKind.UNREADABLE_FILE, "no object", (instance_id,), path),
        )
    if not value:
        detail = "an empty object: it says nothing of the instance"
        return None, (finding(FindingKind.UNREADABLE_FILE, detail, (instance_id,), path),)
    if instance_id in value and isinstance(value[instance_id], dict):
        entry = value[instance_id]
    elif "resolved" in value or "fixed_tests" in value:
        entry = value
    else:
        detail = f"the report is of {', '.join(shown(key) for key in list(value)[:3])}"
        return None, (finding(FindingKind.REPORT_OF_OTHER_INSTANCE, detail, (instance_id,), path),)
    assert isinstance(entry, dict)
    resolved = entry.get("resolved", entry.get("valid"))
    applied = entry.get("patch_successfully_applied", entry.get("patch_applied"))
    success, failure = _tests(entry.get("tests_status"))
    report = InstanceReport(
        resolved if isinstance(resolved, bool) else None,
        applied if isinstance(applied, bool) else None,
        success,
        failure,
    )
    found = list(document.findings)
    if report.resolved and report.failure:
        detail = f"resolved, with {len(failure)} listed test(s) under failure"
        found.append(finding(FindingKind.REPORT_CONTRADICTS_ITSELF, detail, (instance_id,), path))
    return report, tuple(found)


def _tests(value: object) -> tuple[frozenset[str], frozenset[str]]:
    """The listed tests (FAIL_TO_PASS and PASS_TO_PASS) under `success` and under `failure`."""
    success: set[str] = set()
    failure: set[str] = set()
    for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        part = value.get(name) if isinstance(value, dict) else None
        if isinstance(part, dict):
            success.update(test for test in part.get("success") or [] if isinstance(test, str))
            failure.update(test for test in part.get("failure") or [] if isinstance(test, str))
    return frozenset(success), frozenset(failure)


def _is_run_report(tree: SubmissionTree, path: str) -> bool:
    name = path.rpartition("/")[2]
    if name in ("metadata.json", "run.json", "report.json") or name.startswith(
        ("resolved_by_", "all_preds", "preds")
    ):
        return False
    folder = path.rpartition("/")[0]
    if folder not in ("", "results", "evaluation_results") or tree.files[path] > MAX_RESULTS_BYTES:
        return False
    value = read_json(tree, path, MAX_RESULTS_BYTES).value
    return isinstance(value, dict) and ("resolved_ids" in value or "total_instances" in value)


def _read(tree: SubmissionTree, path: str) -> Results:
    document = read_json(tree, path, MAX_RESULTS_BYTES)
    value = document.value
    found = list(document.findings)
    if isinstance(value, list):
        value = {"resolved": value}
    if not isinstance(value, dict):
        if not found:
            found.append(
                finding(FindingKind.RESULTS_UNKNOWN_SHAPE, "neither lists nor an object", where=path)
            )
        return Results(path, "", None, findings=tuple(found))
    if value and all(is_instance_id(key) and isinstance(item, bool | dict) for key, item in value.items()):
        return _by_id(path, value, found)
    lists, list_findings = _lists(path, value)
    counts = {
        key.removesuffix("_instances"): number
        for key, number in value.items()
        if key.endswith("_instances") and isinstance(number, int)
    }
    found += list_findings
    if "resolved" not in lists:
        detail = "no list of resolved ids" if isinstance(value.get("resolved"), int) else "no known key"
        found.append(finding(FindingKind.RESULTS_UNKNOWN_SHAPE, detail, where=path))
    run_report = bool(counts) or "schema_version" in value
    shape = "run report" if run_report else f"{len(lists)} list{'s' if len(lists) != 1 else ''}"
    found += _miscounted(path, lists, counts)
    return Results(path, shape, lists.get("resolved"), lists, counts, tuple(found))


def _by_id(path: str, value: Mapping[str, object], found: list[Finding]) -> Results:
    resolved = set()
    for key, item in value.items():
        verdict = item.get("resolved") if isinstance(item, dict) else item
        if verdict is True:
            resolved.add(key)
    lists = {"resolved": frozenset(resolved), "submitted": frozenset(value)}
    return Results(path, "by id", frozenset(resolved), lists, findings=tuple(found))


def _lists(path: str, value: Mapping[str, object]) -> tuple[dict[str, frozenset[str]], list[Finding]]:
    lists: dict[str, frozenset[str]] = {}
    invalid: dict[str, None] = {}
    repeated: dict[str, None] = {}
    for key, items in value.items():
        if not isinstance(items, list) or key in ("unstopped_containers", "unremoved_images"):
            continue
        valid: dict[str, None] = {}
        for item in items:
            if not is_instance_id(item):
                invalid.setdefault(shown(str(item)))
            elif item in valid:
                repeated.setdefault(item)
            else:
                valid.setdefault(item)
        name = key.removesuffix("_ids")
        lists[name] = lists.get(name, frozenset()) | frozenset(valid)
    found = []
    if invalid:
        detail = "no form of an instance id; not counted"
        found.append(finding(FindingKind.INVALID_ID, detail, tuple(invalid), path))
    if repeated:
        detail = "more than once in one list; counted once"
        found.append(finding(FindingKind.RESULTS_MISCOUNTED, detail, tuple(repeated), path))
    return lists, found


def _miscounted(path: str, lists: Mapping[str, frozenset[str]], counts: Mapping[str, int]) -> list[Finding]:
    wrong = [
        f"{name}: {counts[name]} counted, {len(lists[name])} listed"
        for name in counts
        if name in lists and counts[name] != len(lists[name])
    ]
    return [finding(FindingKind.RESULTS_MISCOUNTED, "; ".join(wrong), where=path)] if wrong else []
