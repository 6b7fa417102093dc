"""SWE-PolyBench (branch `submission`): `logs/<id>_result.json` and `_metrics.json`, no test output."""

from __future__ import annotations

from collections.abc import Collection

from utboost_action.leaderboard.documents import read_json
from utboost_action.leaderboard.layouts.base import Artefacts, Layout, trajectories
from utboost_action.leaderboard.prediction_files import is_instance_id
from utboost_action.leaderboard.tree import SubmissionTree

_RESULT, _METRICS = "_result.json", "_metrics.json"
_MAX_BYTES = 8 * 1024 * 1024


def _matches(tree: SubmissionTree) -> bool:
    return any(path.endswith(_RESULT) for path in tree.below("logs"))


def _collect(tree: SubmissionTree, known: Collection[str]) -> Artefacts:
    verdicts: dict[str, bool] = {}
    reports: dict[str, str] = {}
    metrics = 0
    for path in tree.files:
        name = path.rpartition("/")[2]
        metrics += name.endswith(_METRICS)
        instance_id = name.removesuffix(_RESULT)
        if not name.endswith(_RESULT) or not is_instance_id(instance_id):
            continue
        reports[instance_id] = path
        value = read_json(tree, path, _MAX_BYTES).value
        if isinstance(value, dict) and isinstance(value.get("resolved"), bool):
            verdicts[instance_id] = value["resolved"]
    trajs, suffixes = trajectories(tree, known)
    return Artefacts(
        reports=reports,
        verdicts=verdicts,
        verdict_form=f"logs/*{_RESULT}",
        metrics=metrics,
        trajs=trajs,
        traj_suffixes=suffixes,
        name_form=f"logs/<id>{_RESULT} + logs/<id>{_METRICS}, no test output",
    )


LAYOUT = Layout("polybench", _matches, _collect)
