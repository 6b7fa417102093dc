"""The job summary: Markdown appended to the file that the runner names in GITHUB_STEP_SUMMARY."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.github.levels import SUMMARY_BYTES, Fitted, largest_that_fits


def write_summary(path: Path, levels: Sequence[str]) -> Fitted:
    """Append the most detailed text that fits beside what the step has written before.

    The limit holds for the whole file: one byte too many and the runner drops all of it, so nothing is
    written where nothing fits. Raises InputError when the file cannot be written.
    """
    try:
        before = path.stat().st_size if path.exists() else 0
        fitted = largest_that_fits([level.rstrip() + "\n" for level in levels], SUMMARY_BYTES - before - 1)
        if fitted.text:
            with path.open("ab") as file:
                file.write((("\n" if before else "") + fitted.text).encode())
    except OSError as problem:
        raise InputError(
            f"environment GITHUB_STEP_SUMMARY: {str(path)!r} cannot be written ({problem.strerror})"
        ) from None
    return fitted
