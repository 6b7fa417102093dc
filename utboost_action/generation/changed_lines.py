"""The lines that the gold patch adds or changes, and how much of them tests run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import unidiff.errors
from unidiff.patch import PatchSet

from utboost_action.patches import with_final_newline


@dataclass(frozen=True, slots=True)
class Coverage:
    """Lines of the gold patch that hold code, and which of them ran.

    executable, original, with_new: (path, line in the patched file) pairs; `original` ran under the
    official tests, `with_new` under those and the new ones.
    """

    executable: frozenset[tuple[str, int]]
    original: frozenset[tuple[str, int]]
    with_new: frozenset[tuple[str, int]]


def changed_lines(gold_patch: str) -> Mapping[str, tuple[int, ...]]:
    """Path -> the numbers, after the patch, of the lines it adds to Python files; empty if unreadable."""
    try:
        patch = PatchSet(with_final_newline(gold_patch))
    except (unidiff.errors.UnidiffParseError, ValueError):
        return {}
    found = {}
    for file in patch:
        numbers = tuple(
            line.target_line_no for hunk in file for line in hunk if line.is_added and line.target_line_no
        )
        if file.path.endswith(".py") and numbers:
            found[file.path] = numbers
    return found
