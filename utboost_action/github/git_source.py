"""A pull request as git data: two commits without blobs, their difference, and one batch of what is wanted.

Nothing is ever checked out, so links, attributes, filters, hooks and LFS have no chance to act. Measured
figures are in docs/github.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, takewhile

from utboost_action.github.git import Git
from utboost_action.github.git_objects import fetch, list_tree, object_id, read_blobs
from utboost_action.github.problems import SupersededError
from utboost_action.github.retry import Patience
from utboost_action.github.source import Change, ChangeKind, TreeEntry, by_object

_BASE, _HEAD = "refs/audit/base", "refs/audit/head"
_ARGUMENTS = 100  # paths for one command
_ASKED_SINGLY = 30
_KINDS = {"A": ChangeKind.ADDED, "D": ChangeKind.DELETED}

Sizes = Callable[[str], Mapping[str, int]]
"""From a tree's id to the sizes (bytes) of all blobs below it, by blob id; raises GitHubError."""


class GitSource:
    """Implements `source.Source` over a partial, shallow fetch into an empty repository.

    base_sha: what the changes are counted from (the merge base); None: from nothing, so every file is an
    added one. number: the pull request whose head `head_sha` is to be; None: any commit that the remote
    gives out. sizes: asked before any blob is fetched; None: sizes are known only afterwards, and git's
    own byte limit is the only one before.
    """

    def __init__(
        self,
        git: Git,
        head_sha: str,
        base_sha: str | None,
        *,
        number: int | None = None,
        sizes: Sizes | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._git = git
        self._number = number
        self._head = head_sha
        self._base = base_sha
        self._sizes = sizes
        self._patience = patience or Patience()
        self._changes: tuple[Change, ...] | None = None
        self._listed: dict[str, list[TreeEntry]] = {}  # by top-level folder of the head
        self._trees: dict[str, str] = {}  # ids of the head's folders that were listed

    def fetch(self) -> None:
        """Fetch both commits and their trees. Raises SupersededError when the head has moved on."""
        self._git.init(partial=True)
        head = self._head if self._number is None else f"refs/pull/{self._number}/head"
        base = [f"+{self._base}:{_BASE}"] if self._base else []
        fetch(self._git, self._patience, "--depth=1", "origin", *base, f"+{head}:{_HEAD}")
        found = object_id(self._git, _HEAD)
        if found != self._head:
            raise SupersededError(self._number or 0, self._head, found)

    def changes(self) -> Sequence[Change]:
        """Every path that differs between the base and the head; no limit, no blob."""
        if self._changes is not None:
            return self._changes
        if self._base is None:
            entries = self._ls_tree()
            for entry in entries:
                self._listed.setdefault(_top(entry.path), []).append(entry)
            listed = (Change(entry.path, ChangeKind.ADDED) for entry in entries)
            self._changes = tuple(sorted(listed, key=lambda change: change.path))
            return self._changes
        output = self._git.run(
            "diff-tree", "-r", "--no-renames", "--raw", "-z", "--no-abbrev", _BASE, _HEAD, offline=True
        )
        fields = output.split(b"\0")
        found = [
            Change(_text(path), _KINDS.get(_text(state.rsplit(b" ", 1)[-1]), ChangeKind.MODIFIED))
            for state, path in zip(fields[0::2], fields[1::2], strict=False)
        ]
        self._changes = tuple(sorted(found, key=lambda change: change.path))
        return self._changes

    def known_files(self) -> Collection[str]:
        """Every file of the head in the top-level folders that the pull request touches."""
        tops = {_top(change.path) for change in self.changes() if "/" in change.path}
        return {entry.path for entry in self._below(tops)}

    def listings(self, folders: Sequence[str]) -> Mapping[str, Sequence[TreeEntry]]:
        """The entries below each folder, with sizes as far as `sizes` knows them.

        Up to 30 folders cost one question for sizes each; for more, the folder above them all is asked
        for once.
        """
        found: dict[str, list[TreeEntry]] = {folder: [] for folder in folders}
        entries = self._below({_top(folder) for folder in folders})
        sizes: dict[str, int] = {}
        if self._sizes is not None:
            for folder in folders if len(folders) <= _ASKED_SINGLY else [_above(folders)]:
                sizes.update(self._sizes(self.tree_id(folder)))
        for entry in entries:
            above = [folder for folder in _folders_of(entry.path) if folder in found]
            if above:
                size = sizes.get(entry.object_id)
                found[above[-1]].append(TreeEntry(entry.path, entry.mode, entry.object_id, size))
        return found

    def tree_id(self, folder: str) -> str:
        """git's id of a folder of the head. Raises GitHubError."""
        return self._trees.get(folder) or object_id(self._git, f"{_HEAD}:{folder}")

    def blobs(self, entries: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
        """Contents by one batched fetch and one `cat-file --batch`; a blob that is withheld is an error."""
        wanted = by_object(entries)
        for found, data in read_blobs(self._git, self._patience, list(wanted)):
            for entry in wanted[found]:
                yield entry, data

    def _below(self, tops: Collection[str]) -> Iterator[TreeEntry]:
        """The files of these top-level folders of the head; each folder is listed once."""
        missing = sorted(set(tops) - set(self._listed))
        for start in range(0, len(missing), _ARGUMENTS):
            some = missing[start : start + _ARGUMENTS]
            self._listed.update({top: [] for top in some})
            for entry in self._ls_tree(*some):
                self._listed[_top(entry.path)].append(entry)
        return chain.from_iterable(self._listed[top] for top in sorted(set(tops)))

    def _ls_tree(self, *paths: str) -> list[TreeEntry]:
        """The files below these paths, or of the whole head; the folders' ids are kept on the way."""
        entries: list[TreeEntry] = []
        for mode, kind, found, path in list_tree(self._git, _HEAD, *paths):
            if kind == "tree":
                self._trees[path] = found
            else:
                entries.append(TreeEntry(path, mode, found))
        return entries


def _top(path: str) -> str:
    return path.partition("/")[0]


def _folders_of(path: str) -> Iterator[str]:
    """The folders above a path, the deepest first."""
    while path := path.rpartition("/")[0]:
        yield path


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _above(folders: Sequence[str]) -> str:
    """The deepest folder that holds all of these; "" for the root."""
    parts = [folder.split("/")[:-1] for folder in folders]
    shared = takewhile(lambda same: len(set(same)) == 1, zip(*parts, strict=False))
    return "/".join(same[0] for same in shared)
