"""The submissions of a pull request: found by path, checked entry by entry, written as a plain folder.

What is written can be handed to `leaderboard.read_submission`: regular files with checked names and
sizes, mode 644, nothing else. Links, submodules and strange names become findings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from utboost_action.github.payload import is_plain_path
from utboost_action.github.problems import GitHubError, Obstacle
from utboost_action.github.source import REGULAR_MODES, Change, ChangeKind, Source, TreeEntry
from utboost_action.model import Finding

_PREDICTIONS = re.compile(r"(?:.*preds.*|.*predictions.*|evaluation_details)\.jsonl?")
_BOARD = "evaluation"  # evaluation/<split>/<name>: the layout of SWE-bench/experiments and its kin
_BOARD_DEPTH = 3
_NAMES_ONLY = ("trajs", "trajectories")  # only their names are ever looked at


@dataclass(frozen=True, slots=True)
class Limits:
    """What one pull request may cost, in files and bytes."""

    submissions: int = 100
    files: int = 150_000
    file_bytes: int = 256 << 20
    bytes: int = 2 << 30


@dataclass(frozen=True, slots=True)
class Located:
    """Where the submissions of a pull request are.

    folders: those with something at the head. removed: those that the pull request deletes. others:
    changed paths that belong to no submission.
    """

    folders: tuple[str, ...]
    removed: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportedSubmission:
    """One submission as a folder.

    folder: its path in the repository. tree: git's id of it. root: the folder that was written. files,
    bytes: what was written with content. names_only: files that were written empty, since only their
    names matter (trajectories). findings: kinds as in `leaderboard.kinds`.
    """

    folder: str
    tree: str
    root: Path
    files: int
    bytes: int
    names_only: int
    findings: tuple[Finding, ...]


def locate(changes: Sequence[Change], known_files: Collection[str], patterns: Sequence[str] = ()) -> Located:
    """Find the submissions that changed paths belong to.

    patterns: shell patterns of submission folders (`evaluation/*/*`); a `*` stays within one part of a
    path. Without any: the outermost folder that holds a predictions file, below `evaluation/` never
    higher than its third part, and there the third part when no folder holds one.
    """
    marked = {folder for folder, _, name in _split(known_files) if _PREDICTIONS.fullmatch(name)}
    folders: dict[str, bool] = {}
    others: list[str] = []
    for change in changes:
        folder = _by_pattern(change.path, patterns) if patterns else _by_content(change.path, marked)
        if not folder or not is_plain_path(folder):
            others.append(change.path)
        else:
            folders[folder] = folders.get(folder, False) or change.kind is not ChangeKind.DELETED
    gone = {folder for folder, alive in folders.items() if not alive and not _any_below(folder, known_files)}
    return Located(tuple(sorted(set(folders) - gone)), tuple(sorted(gone)), tuple(others))


def names_matter_only(path: str) -> bool:
    """Whether a file (its path inside the submission) is never read, only its name: trajectories."""
    return path.partition("/")[0] in _NAMES_ONLY


def export(
    source: Source,
    folders: Sequence[str],
    destination: Path,
    *,
    limits: Limits | None = None,
    names_only: Callable[[str], bool] = names_matter_only,
) -> tuple[ExportedSubmission, ...]:
    """Write the submissions below `destination` (an empty folder), each under its own path.

    Sizes are compared with the limits before contents are asked for, and again when they are there.
    All contents come in one batch. Raises GitHubError (TOO_LARGE) when the whole is beyond its limits.
    """
    limits = limits or Limits()
    if len(folders) > limits.submissions:
        raise GitHubError(
            Obstacle.TOO_LARGE,
            f"{len(folders)} submissions in one pull request, more than the {limits.submissions} allowed; "
            "split it",
        )
    listings = source.listings(folders)
    plans = {folder: _Plan(folder, listings[folder], limits, names_only) for folder in folders}
    _check_whole(plans.values(), limits)
    owner = {entry.path: plan for plan in plans.values() for entry in plan.wanted}
    for plan in plans.values():
        plan.make_folders(destination)
    total = 0
    for entry, data in source.blobs([entry for plan in plans.values() for entry in plan.wanted]):
        total += len(data)
        if total > limits.bytes:
            raise _too_large(total, limits)
        owner[entry.path].write(entry, data, destination)
    return tuple(plan.result(destination, source.tree_id(plan.folder)) for plan in plans.values())


class _Plan:
    """What of one submission is written, and what is said instead."""

    def __init__(
        self, folder: str, entries: Sequence[TreeEntry], limits: Limits, names_only: Callable[[str], bool]
    ) -> None:
        self.folder = folder
        self.wanted: list[TreeEntry] = []
        self.empty: list[TreeEntry] = []
        self.findings: list[Finding] = []
        self.written = self.bytes = 0
        self._limit = limits.file_bytes
        taken: set[str] = set()
        for entry in sorted(entries, key=lambda entry: entry.path):
            inside = entry.path[len(folder) + 1 :]
            if problem := _unfit(entry, inside, taken):
                self.findings.append(problem)
            elif names_only(inside):
                self.empty.append(entry)
            elif entry.size is not None and entry.size > self._limit:
                self.findings.append(_file_too_large(inside, entry.size, self._limit))
            else:
                self.wanted.append(entry)

    def make_folders(self, destination: Path) -> None:
        parents = {self.folder} | {
            entry.path.rpartition("/")[0] for group in (self.wanted, self.empty) for entry in group
        }
        for parent in sorted(parents):
            (destination / parent).mkdir(parents=True, exist_ok=True)
        for entry in self.empty:
            _write(destination / entry.path, b"")

    def write(self, entry: TreeEntry, data: bytes, destination: Path) -> None:
        if len(data) > self._limit:
            self.findings.append(_file_too_large(entry.path[len(self.folder) + 1 :], len(data), self._limit))
            return
        _write(destination / entry.path, data)
        self.written += 1
        self.bytes += len(data)

    def result(self, destination: Path, tree: str) -> ExportedSubmission:
        return ExportedSubmission(
            self.folder,
            tree,
            destination / self.folder,
            self.written,
            self.bytes,
            len(self.empty),
            tuple(self.findings),
        )


def _split(paths: Collection[str]) -> Iterator[tuple[str, str, str]]:
    return (path.rpartition("/") for path in paths)


def _by_pattern(path: str, patterns: Sequence[str]) -> str:
    parts = path.split("/")
    for pattern in patterns:
        wanted = pattern.strip("/").split("/")
        if len(parts) > len(wanted) and all(map(fnmatchcase, parts, wanted)):
            return "/".join(parts[: len(wanted)])
    return ""


def _by_content(path: str, marked: Collection[str]) -> str:
    parts = path.split("/")[:-1]
    least = _BOARD_DEPTH if parts[:1] == [_BOARD] else 1
    for depth in range(least, len(parts) + 1):
        folder = "/".join(parts[:depth])
        if folder in marked:
            return folder
    return "/".join(parts[:_BOARD_DEPTH]) if parts[:1] == [_BOARD] and len(parts) >= _BOARD_DEPTH else ""


def _any_below(folder: str, paths: Collection[str]) -> bool:
    return any(path.startswith(f"{folder}/") for path in paths)


def _unfit(entry: TreeEntry, inside: str, taken: set[str]) -> Finding | None:
    """Why an entry is not written; `taken` collects paths and folders, so that none takes another's place."""
    shown = ascii(inside)[1:-1][:120]
    if entry.mode == "120000":
        return Finding("link", "a link; not followed", where=shown)
    if entry.mode == "160000":
        return Finding("submodule", "a repository inside the submission; not read", where=shown)
    if entry.mode not in REGULAR_MODES or not is_plain_path(entry.path) or len(entry.path.encode()) > 3_000:
        return Finding("invalid_name", "no plain name of a regular file; not read", where=shown)
    parts = inside.split("/")
    above = {"/".join(parts[:depth]) + "/" for depth in range(1, len(parts))}
    if inside in taken or f"{inside}/" in taken or any(folder[:-1] in taken for folder in above):
        return Finding("invalid_name", "one name twice in a folder; not read", where=shown)
    taken.add(inside)
    taken.update(above)
    return None


def _file_too_large(inside: str, size: int, limit: int) -> Finding:
    return Finding(
        "file_too_large",
        f"{size:,} bytes, more than the {limit:,} read of one file",
        where=ascii(inside)[1:-1][:120],
    )


def _check_whole(plans: Collection[_Plan], limits: Limits) -> None:
    files = sum(len(plan.wanted) + len(plan.empty) for plan in plans)
    if files > limits.files:
        raise GitHubError(
            Obstacle.TOO_LARGE, f"{files:,} files in the submissions, more than the {limits.files:,} allowed"
        )
    total = sum(entry.size or 0 for plan in plans for entry in plan.wanted)
    if total > limits.bytes:
        raise _too_large(total, limits)


def _too_large(total: int, limits: Limits) -> GitHubError:
    return GitHubError(
        Obstacle.TOO_LARGE, f"the submissions hold {total:,} bytes or more; at most {limits.bytes:,} are read"
    )


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
