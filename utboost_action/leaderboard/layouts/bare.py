"""Predictions, metadata and results without logs: pull requests of today's boards, or a file alone."""

from __future__ import annotations

from collections.abc import Collection

from utboost_action.leaderboard.layouts.base import Artefacts, Layout, trajectories
from utboost_action.leaderboard.tree import SubmissionTree


def _collect(tree: SubmissionTree, known: Collection[str]) -> Artefacts:
    trajs, suffixes = trajectories(tree, known)
    return Artefacts(trajs=trajs, traj_suffixes=suffixes)


LAYOUT = Layout("preds-only", lambda _tree: True, _collect)
