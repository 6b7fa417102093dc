"""A pull request's content as data: what a source of it answers, whether it is git or the REST interface."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

REGULAR_MODES = frozenset({"100644", "100755"})


class ChangeKind(StrEnum):
    """What the pull request does to a path."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed path; names that are no UTF-8 carry surrogate escapes."""

    path: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One entry of the head's tree.

    path: from the root of the repository. mode: six octal digits. size: bytes, None where not known.
    """

    path: str
    mode: str
    object_id: str
    size: int | None = None


class Source(Protocol):
    """Where the content of one pull request comes from; every method raises GitHubError."""

    def changes(self) -> Sequence[Change]:
        """Every path that the pull request changes, sorted."""

    def known_files(self) -> Collection[str]:
        """Paths of files at the head, at least those beside the changed ones in their top-level folders."""

    def listings(self, folders: Sequence[str]) -> Mapping[str, Sequence[TreeEntry]]:
        """Every file, link and submodule below each folder of the head, with sizes if they can be had."""

    def tree_id(self, folder: str) -> str:
        """git's id of a folder of the head."""

    def blobs(self, entries: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
        """The contents of regular files, in any order, each entry once."""


def by_object(entries: Sequence[TreeEntry]) -> dict[str, list[TreeEntry]]:
    """The regular files among these by their blob's id, since equal contents are read once."""
    found: dict[str, list[TreeEntry]] = {}
    for entry in entries:
        if entry.mode in REGULAR_MODES:
            found.setdefault(entry.object_id, []).append(entry)
    return found
