"""SWE-bench/experiments, G0 and G1: one log file an instance, as swebench 1.x writes it (no containers)."""

from __future__ import annotations

from collections.abc import Collection

from utboost_action.leaderboard.layouts.base import Artefacts, Layout, id_in_name, trajectories
from utboost_action.leaderboard.prediction_files import is_instance_id
from utboost_action.leaderboard.tree import SubmissionTree


def _log_files(tree: SubmissionTree) -> list[str]:
    """`*.eval.log` and `<id>.*.log`, in logs/ (any depth) or beside the predictions."""
    return [
        path
        for path in tree.files
        if path.endswith(".log")
        and (path.startswith("logs/") or "/" not in path)
        and (path.endswith(".eval.log") or "__" in path.rpartition("/")[2])
    ]


def _matches(tree: SubmissionTree) -> bool:
    return bool(_log_files(tree))


def _collect(tree: SubmissionTree, known: Collection[str]) -> Artefacts:
    logs: dict[str, str] = {}
    for path in _log_files(tree):
        instance_id = id_in_name(path.rpartition("/")[2], known)
        if is_instance_id(instance_id):
            logs.setdefault(instance_id, path)
    trajs, suffixes = trajectories(tree, known)
    model = any(path.endswith(".eval.log") for path in logs.values())
    form = "logs/<instance_id>.<model>.eval.log" if model else "logs/<instance_id>.log"
    return Artefacts(logs=logs, trajs=trajs, traj_suffixes=suffixes, name_form=form)


LAYOUT = Layout("conda", _matches, _collect)
