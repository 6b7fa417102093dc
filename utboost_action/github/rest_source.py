"""A pull request by the REST interface alone, for places where git may not talk; bounded and said so."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator, Mapping, Sequence

from utboost_action.github.client import Api
from utboost_action.github.problems import GitHubError, Obstacle, doing
from utboost_action.github.pull_request import PullRequest, require_head
from utboost_action.github.source import Change, ChangeKind, TreeEntry, by_object

MAX_FILES = 3_000  # GitHub lists no more files of a pull request
_KINDS = {"added": ChangeKind.ADDED, "removed": ChangeKind.DELETED, "copied": ChangeKind.ADDED}


def tree_sizes(api: Api, repository: str, tree_id: str) -> dict[str, int]:
    """The size in bytes of every blob below a tree, by blob id. Raises GitHubError."""
    return {
        entry.object_id: entry.size
        for entry in tree_entries(api, repository, tree_id, "")
        if entry.size is not None
    }


def tree_entries(api: Api, repository: str, tree_id: str, prefix: str) -> list[TreeEntry]:
    """Every file, link and submodule below a tree, with sizes; a truncated answer is asked for in parts."""
    with doing(f"list the tree {tree_id[:12]}"):
        raw = api.repository(repository).get_git_tree(tree_id, recursive=True).raw_data
    whole = not raw.get("truncated")
    if not whole:
        with doing(f"list the tree {tree_id[:12]}"):
            raw = api.repository(repository).get_git_tree(tree_id).raw_data
        if raw.get("truncated"):
            raise GitHubError(Obstacle.TOO_LARGE, f"the tree {tree_id[:12]} is too large for GitHub to list")
    found: list[TreeEntry] = []
    for item in raw["tree"]:
        path = f"{prefix}{item['path']}"
        if item["type"] != "tree":
            found.append(TreeEntry(path, item["mode"], item["sha"], item.get("size")))
        elif not whole:
            found += tree_entries(api, repository, item["sha"], f"{path}/")
    return found


class RestSource:
    """Implements `source.Source`; max_blobs: requests for contents (a token has 1,000 requests an hour)."""

    def __init__(self, api: Api, pull: PullRequest, *, max_blobs: int = 700) -> None:
        self._api = api
        self._pull = pull
        self._max_blobs = max_blobs
        self._trees: dict[str, Mapping[str, str]] = {}
        self._changes: tuple[Change, ...] | None = None

    def changes(self) -> Sequence[Change]:
        """The files of the pull request. Raises GitHubError (TOO_LARGE) beyond 3,000."""
        if self._changes is not None:
            return self._changes
        pull = require_head(self._api, self._pull.repository, self._pull.number, self._pull.head_sha)
        if pull.changed_files > MAX_FILES:
            raise GitHubError(
                Obstacle.TOO_LARGE,
                f"pull request #{pull.number} changes {pull.changed_files:,} files; without git at most "
                f"{MAX_FILES:,} can be listed; allow the runner to use git, or audit the submission by path",
            )
        found: list[Change] = []
        with doing(f"list the files of #{pull.number}"):
            for file in self._api.repository(pull.repository).get_pull(pull.number).get_files():
                if file.status == "renamed" and file.previous_filename:
                    found.append(Change(file.previous_filename, ChangeKind.DELETED))
                    found.append(Change(file.filename, ChangeKind.ADDED))
                else:
                    found.append(Change(file.filename, _KINDS.get(file.status, ChangeKind.MODIFIED)))
        self._changes = tuple(sorted(found, key=lambda change: change.path))
        return self._changes

    def known_files(self) -> Collection[str]:
        """The changed files that are there at the head; others would cost a request for each folder."""
        return {change.path for change in self.changes() if change.kind is not ChangeKind.DELETED}

    def listings(self, folders: Sequence[str]) -> Mapping[str, Sequence[TreeEntry]]:
        """The entries below each folder, found by walking down from the head's root."""
        name = self._pull.repository
        return {
            folder: tree_entries(self._api, name, self.tree_id(folder), f"{folder}/") for folder in folders
        }

    def blobs(self, entries: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
        """Contents, one request each. Raises GitHubError (TOO_LARGE), before the first, for too many."""
        wanted = by_object(entries)
        if len(wanted) > self._max_blobs:
            raise GitHubError(
                Obstacle.TOO_LARGE,
                f"{len(wanted):,} files are to be read; without git that is one request each, and at most "
                f"{self._max_blobs:,} are made; allow the runner to use git",
            )
        for object_id, named in wanted.items():
            with doing(f"read {named[0].path!a}"):
                blob = self._api.repository(self._pull.repository).get_git_blob(object_id)
                content = str(blob.content)
                data = base64.b64decode(content) if blob.encoding == "base64" else content.encode()
            for entry in named:
                yield entry, data

    def tree_id(self, folder: str) -> str:
        """git's id of a folder of the head. Raises GitHubError (NOT_FOUND)."""
        tree_id = self._pull.head_sha
        for part in folder.split("/"):
            children = self._children(tree_id)
            if part not in children:
                raise GitHubError(Obstacle.NOT_FOUND, f"no folder {folder!a} at {self._pull.head_sha[:12]}")
            tree_id = children[part]
        return tree_id

    def _children(self, tree_id: str) -> Mapping[str, str]:
        if tree_id not in self._trees:
            with doing(f"list the tree {tree_id[:12]}"):
                raw = self._api.repository(self._pull.repository).get_git_tree(tree_id).raw_data
            self._trees[tree_id] = {
                item["path"]: item["sha"] for item in raw["tree"] if item["type"] == "tree"
            }
        return self._trees[tree_id]
