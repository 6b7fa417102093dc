"""NoCode-bench: `evaluation_details.jsonl` holds patch and verdict of each instance; logs lie elsewhere."""

from __future__ import annotations

from collections.abc import Collection

from utboost_action.leaderboard.layouts.base import Artefacts, Layout, trajectories
from utboost_action.leaderboard.tree import SubmissionTree

DETAILS = "evaluation_details.jsonl"


def _matches(tree: SubmissionTree) -> bool:
    return DETAILS in tree.files


def _collect(tree: SubmissionTree, known: Collection[str]) -> Artefacts:
    trajs, suffixes = trajectories(tree, known)
    return Artefacts(
        verdict_form=DETAILS, trajs=trajs, traj_suffixes=suffixes, name_form="logs in a data set elsewhere"
    )


LAYOUT = Layout("nocode", _matches, _collect)
