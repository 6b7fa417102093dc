"""Multi-SWE-bench/experiments: `logs/<org>/<repo>/evals/pr-<n>/...`, or `logs/<id>/run_instance.log` only."""

from __future__ import annotations

import re
from collections.abc import Collection

from utboost_action.leaderboard.documents import read_json
from utboost_action.leaderboard.layouts.base import Artefacts, Layout, trajectories
from utboost_action.leaderboard.prediction_files import is_instance_id
from utboost_action.leaderboard.tree import SubmissionTree

_EVALS = re.compile(r"(?:.*/)?([^/]+)/([^/]+)/evals/pr-(\d+)/([^/]+)")
_FLAT = re.compile(r"logs/([^/]+)/run_instance\.log")
_MAX_BYTES = 8 * 1024 * 1024


def _matches(tree: SubmissionTree) -> bool:
    if any(_EVALS.fullmatch(path) for path in tree.files):
        return True
    if not any(_FLAT.fullmatch(path) for path in tree.files) or any(
        path.endswith(("/test_output.txt", "/report.json", "/patch.diff")) for path in tree.below("logs")
    ):
        return False
    value = (
        read_json(tree, "results/results.json", _MAX_BYTES).value
        if "results/results.json" in tree.files
        else None
    )
    return isinstance(value, dict) and "total_instances" in value and isinstance(value.get("resolved"), list)


def _collect(tree: SubmissionTree, known: Collection[str]) -> Artefacts:
    by_name: dict[str, dict[str, str]] = {}
    for path in tree.files:
        if match := _EVALS.fullmatch(path):
            org, repo, number, name = match.groups()
            instance_id = f"{org}__{repo}-{number}"
        elif match := _FLAT.fullmatch(path):
            instance_id, name = match.group(1), "run_instance.log"
        else:
            continue
        if is_instance_id(instance_id):
            by_name.setdefault(name, {})[instance_id] = path
    trajs, suffixes = trajectories(tree, known)
    return Artefacts(
        logs=by_name.get("fix-patch-run.log", {}),
        run_logs=by_name.get("run_instance.log", {}),
        reports=by_name.get("report.json", {}),
        patches=by_name.get("fix.patch", {}),
        trajs=trajs,
        traj_suffixes=suffixes,
        name_form="logs/<org>/<repo>/evals/pr-<n>/fix-patch-run.log"
        if "fix-patch-run.log" in by_name
        else "logs/<id>/run_instance.log, no test output",
    )


LAYOUT = Layout("multi-swe", _matches, _collect)
