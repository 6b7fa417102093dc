"""A submission's folder as data: a bounded listing, and reads that follow no link and leave no folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.model import Finding

MAX_ENTRIES = 200_000
MAX_DEPTH = 24
_SHOWN = 120


class TooLargeError(Exception):
    """A file is larger than its reader allows; the message says both sizes."""


def shown(text: str) -> str:
    """Text from outside, fit to stand in a message: escaped to printable ASCII, at most 120 characters."""
    escaped = text.encode("unicode_escape").decode("ascii")
    if not escaped:
        return "(empty)"
    return escaped if len(escaped) <= _SHOWN else escaped[: _SHOWN - 3] + "..."


@dataclass(frozen=True, slots=True)
class SubmissionTree:
    """The regular files below `root`: path (posix, relative) -> size in bytes, sorted by path.

    Links, submodules and names that are no plain UTF-8 text are in `findings`, never in `files`.
    """

    root: Path
    files: Mapping[str, int]
    findings: tuple[Finding, ...] = ()

    def read(self, path: str, limit: int) -> bytes:
        """The bytes of one listed file. Raises TooLargeError beyond `limit`, OSError as `open` does."""
        if self.files[path] > limit:
            raise TooLargeError(f"{self.files[path]:,} bytes, more than the {limit:,} read of such a file")
        descriptor = os.open(self.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(limit)

    def below(self, folder: str) -> Iterator[str]:
        """The paths below a folder, without the folder's own name."""
        prefix = folder.rstrip("/") + "/"
        return (path[len(prefix) :] for path in self.files if path.startswith(prefix))

    def subtree(self, folder: str) -> SubmissionTree:
        """The same tree seen from a folder inside it (`""` for itself); findings stay."""
        if not folder:
            return self
        prefix = folder.rstrip("/") + "/"
        files = {path: self.files[prefix + path] for path in self.below(folder)}
        return SubmissionTree(self.root / folder, files, self.findings)


def list_tree(root: Path) -> SubmissionTree:
    """List a folder. Raises InputError when it cannot be listed at all."""
    walk = _Walk(root)
    try:
        walk.visit("", 0)
    except OSError as problem:
        raise InputError(
            f"submission {str(root)!r}: cannot be listed: {problem.strerror}; give a readable folder"
        ) from None
    return SubmissionTree(root, dict(sorted(walk.files.items())), walk.findings())


class _Walk:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, int] = {}
        self.links: list[str] = []
        self.submodules: list[str] = []
        self.strange: list[str] = []
        self.cut = ""
        self.seen = 0

    def visit(self, folder: str, depth: int) -> None:
        with os.scandir(self.root / folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        if folder and any(entry.name == ".git" for entry in listed):
            self.submodules.append(folder)
            return
        if folder and not listed and (self.root / ".git").exists():
            self.submodules.append(folder)  # git keeps no empty folders but those of submodules
        for entry in listed:
            self.seen += 1
            if self.seen > MAX_ENTRIES:
                self.cut = f"more than {MAX_ENTRIES:,} entries; the rest was not read"
                return
            self._entry(entry, f"{folder}/{entry.name}" if folder else entry.name, depth)

    def _entry(self, entry: os.DirEntry[str], path: str, depth: int) -> None:
        if entry.name.lower() == ".git":
            return
        if not plain_name(entry.name):
            self.strange.append(path)
        elif entry.is_symlink():
            self.links.append(path)
        elif entry.is_dir(follow_symlinks=False):
            if depth + 1 > MAX_DEPTH:
                self.cut = f"folders nested deeper than {MAX_DEPTH} ({shown(path)}); they were not read"
                return
            self.visit(path, depth + 1)
        else:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                self.files[path] = status.st_size
            else:
                self.strange.append(path)

    def findings(self) -> tuple[Finding, ...]:
        found = [finding(FindingKind.LINK, "a link; not followed", where=shown(path)) for path in self.links]
        found += [
            finding(FindingKind.SUBMODULE, "a repository inside the submission; not read", where=shown(path))
            for path in self.submodules
        ]
        found += [
            finding(FindingKind.INVALID_NAME, "no plain name of a regular file; not read", where=shown(path))
            for path in self.strange
        ]
        if self.cut:
            found.append(finding(FindingKind.TREE_TOO_LARGE, self.cut))
        return tuple(found)


def plain_name(name: str) -> bool:
    """Whether one part of a path is printable UTF-8 without a backslash, and neither `.`, `..` nor `.git`."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return name.isprintable() and "\\" not in name and name.lower() not in ("", ".", "..", ".git")
