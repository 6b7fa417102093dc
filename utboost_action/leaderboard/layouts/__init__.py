"""The layouts a submission may have, found by content; the first that matches is it.

A new layout is one module beside these and one line in LAYOUTS.
"""

from __future__ import annotations

from utboost_action.leaderboard.layouts import bare, conda, experiments, multi_swe, nocode, polybench
from utboost_action.leaderboard.layouts.base import Artefacts, Layout
from utboost_action.leaderboard.tree import SubmissionTree

LAYOUTS: tuple[Layout, ...] = (
    polybench.LAYOUT,
    nocode.LAYOUT,
    multi_swe.LAYOUT,
    experiments.LAYOUT,
    conda.LAYOUT,
    bare.LAYOUT,
)


def layout_of(tree: SubmissionTree) -> Layout:
    """The layout of a tree seen from the submission's folder."""
    return next(layout for layout in LAYOUTS if layout.matches(tree))


__all__ = ["LAYOUTS", "Artefacts", "Layout", "layout_of"]
