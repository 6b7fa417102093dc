"""SWE-bench/experiments, G2 to G5: one folder an instance, as the container harness writes it.

`logs/<id>/...` as well as the harness's own `logs/run_evaluation/<run>/<model>/<id>/...`.
"""

from __future__ import annotations

from collections.abc import Collection

from utboost_action.leaderboard.layouts.base import Artefacts, Layout, trajectories
from utboost_action.leaderboard.prediction_files import is_instance_id
from utboost_action.leaderboard.tree import SubmissionTree

_LOG, _RUN_LOG, _REPORT, _PATCH = "test_output.txt", "run_instance.log", "report.json", "patch.diff"
_FILES = frozenset({_LOG, _RUN_LOG, _REPORT, _PATCH})


def _matches(tree: SubmissionTree) -> bool:
    return any(
        path.count("/") >= 1 and path.rpartition("/")[2] in (_LOG, _REPORT, _PATCH)
        for path in tree.below("logs")
    )


def _collect(tree: SubmissionTree, known: Collection[str]) -> Artefacts:
    by_name: dict[str, dict[str, str]] = {name: {} for name in _FILES}
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        instance_id = folder.rpartition("/")[2]
        if name in _FILES and "/" in folder and is_instance_id(instance_id):
            by_name[name].setdefault(instance_id, path)
    trajs, suffixes = trajectories(tree, known)
    return Artefacts(
        logs=by_name[_LOG],
        run_logs=by_name[_RUN_LOG],
        reports=by_name[_REPORT],
        patches=by_name[_PATCH],
        trajs=trajs,
        traj_suffixes=suffixes,
        name_form=f"logs/<instance_id>/{_LOG}" if by_name[_LOG] else "",
    )


LAYOUT = Layout("experiments", _matches, _collect)
