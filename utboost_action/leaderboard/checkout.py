"""A leaderboard's checkout: where its submissions lie, and what each claims, without reading its logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.leaderboard.metadata import read_metadata
from utboost_action.leaderboard.results import read_report, read_results
from utboost_action.leaderboard.tree import SubmissionTree, list_tree

_MARKS = ("metadata.yaml", "metadata.yml", "all_preds.jsonl", "preds.json", "results", "README.md")


@dataclass(frozen=True, slots=True)
class ClaimedResult:
    """One submission of a board. name: its folder; title: what it calls itself, "" where it does not say.

    resolved: the ids that it claims; None where it names none.
    """

    name: str
    title: str
    split: str | None
    resolved: frozenset[str] | None


def submission_folders(leaderboard: Path, split: str | None = None) -> Iterator[tuple[str | None, Path]]:
    """(split, folder) of each submission, sorted: `evaluation/<split>/<folder>`, or the folders themselves.

    split: only those of this split; folders that lie below no split count for every split. Raises
    InputError where there is no such folder, or no submission in it.
    """
    if not leaderboard.is_dir():
        raise InputError(
            f"leaderboard {str(leaderboard)!r}: no such folder; give a checkout with evaluation/<split>/..."
        )
    found = list(_folders(leaderboard))
    if not found:
        raise InputError(
            f"leaderboard {str(leaderboard)!r}: no submission in it or in its evaluation/ folder"
        )
    wanted = [(own, folder) for own, folder in found if split is None or own in (None, split)]
    if not wanted:
        splits = ", ".join(sorted({own for own, _ in found if own}))
        raise InputError(
            f"leaderboard {str(leaderboard)!r}: no submission of split {split!r}; there are {splits}"
        )
    yield from wanted


def _folders(leaderboard: Path) -> Iterator[tuple[str | None, Path]]:
    evaluation = leaderboard / "evaluation"
    if evaluation.is_dir() and not evaluation.is_symlink():
        for split in _subfolders(evaluation):
            for folder in _subfolders(split):
                yield split.name, folder
        return
    for folder in _subfolders(leaderboard):
        if any((folder / mark).exists() for mark in _MARKS):
            yield None, folder


def _subfolders(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())


def read_claimed(folder: Path, split: str | None = None) -> ClaimedResult:
    """What one submission claims, by its results, else its metadata, else its per-instance reports."""
    tree = list_tree(folder)
    metadata = read_metadata(tree)
    return ClaimedResult(folder.name, metadata.name or "", split, _resolved(tree, metadata.resolved_ids))


def _resolved(tree: SubmissionTree, listed: object) -> frozenset[str] | None:
    for results in read_results(tree):
        if results.resolved is not None:
            return results.resolved
    if isinstance(listed, frozenset | set | tuple | list):
        return frozenset(map(str, listed))
    reports = [path for path in tree.files if path.startswith("logs/") and path.endswith("/report.json")]
    if not reports:
        return None
    resolved = set()
    for path in reports:
        instance_id = path.split("/")[-2]
        report, _ = read_report(tree, path, instance_id)
        if report is not None and report.resolved:
            resolved.add(instance_id)
    return frozenset(resolved)
