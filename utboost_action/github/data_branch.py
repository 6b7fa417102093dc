"""The data branch: audits, bank and badges in commits of their own, beside the repository's history.

Two runs may write at once. A rejected push is answered by fetching again and *making the files again*
from what is there now; nothing is rebased and nothing is forced, so no run overwrites another's data.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from utboost_action.errors import InputError
from utboost_action.github.git import Git
from utboost_action.github.git_objects import blob_id, fetch, list_tree, object_id, online, read_blobs
from utboost_action.github.payload import is_plain_path
from utboost_action.github.problems import GitHubError, Obstacle
from utboost_action.github.retry import Patience

AUTHOR = "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>"
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_LOCAL = "refs/audit/data"
_ABSENT = "couldn't find remote ref"


@dataclass(frozen=True, slots=True)
class DataTree:
    """The branch as it stands: path -> blob id; contents come on demand."""

    ids: Mapping[str, str]
    _blobs: Callable[[Sequence[str]], Mapping[str, bytes]] = lambda _ids: {}

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The contents of those of the files that are there, in one batch. Raises GitHubError."""
        wanted = {path: self.ids[path] for path in paths if path in self.ids}
        blobs = self._blobs(sorted(set(wanted.values())))
        return {path: blobs[found] for path, found in wanted.items()}


Writer = Callable[[DataTree], Mapping[str, bytes | None]]
"""From the branch as it stands to what changes: path -> new content, None to delete. Called again after
each rejected push, with the new state; it must not remember what it saw before."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """The branch's head now, how many pushes it took (0: nothing had changed), and the paths written."""

    commit: str
    pushes: int
    paths: tuple[str, ...]


def update_data_branch(
    git: Git,
    branch: str,
    write: Writer,
    message: str,
    *,
    patience: Patience | None = None,
    attempts: int = 8,
    spread: Callable[[], float] = random.random,
) -> Pushed:
    """Commit what `write` makes of the branch, and push it; the branch is made when it is not there.

    git: over a new folder and the repository's remote (token with `contents: write`). spread: a number
    in [0, 1) that keeps two runs from meeting again. Raises GitHubError (CONTENDED after `attempts`).
    """
    if not _BRANCH.fullmatch(branch) or ".." in branch or branch.endswith(".lock"):
        raise InputError(f"input data-branch: {branch!r} is no name of a branch; for example utboost-data")
    patience = patience or Patience()
    git.init(partial=True)
    for attempt in range(attempts):
        parent, tree = _fetch(git, branch, patience)
        changes = _effective(tree, write(tree))
        if not changes:
            return Pushed(parent, attempt, ())
        commit = _commit(git, parent, changes, message)
        if _push(git, branch, commit, patience):
            return Pushed(commit, attempt + 1, tuple(changes))
        patience.wait(min(2.0**attempt, 16.0) * (0.5 + spread()), f"data branch {branch}: push rejected")
    raise GitHubError(
        Obstacle.CONTENDED,
        f"data branch {branch}: {attempts} pushes were rejected, others write to it all the time; "
        "run the job again, with a concurrency group for jobs that write data",
    )


def _fetch(git: Git, branch: str, patience: Patience) -> tuple[str, DataTree]:
    """(the branch's head or "", its tree)."""
    try:
        fetch(git, patience, "--depth=1", "--update-shallow", "origin", f"+refs/heads/{branch}:{_LOCAL}")
    except GitHubError as problem:
        if _ABSENT in str(problem):
            return "", DataTree({})
        raise
    parent = object_id(git, _LOCAL)
    ids = {path: found for _mode, kind, found, path in list_tree(git, _LOCAL) if kind != "tree"}
    return parent, DataTree(ids, lambda wanted: dict(read_blobs(git, patience, wanted)))


def _effective(tree: DataTree, changes: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """The changes that change something, sorted by path."""
    found: dict[str, bytes | None] = {}
    for path in sorted(changes):
        if not is_plain_path(path) or '"' in path:
            raise InputError(f"data branch: {path[:120]!a} is no plain path")
        content = changes[path]
        there = tree.ids.get(path)
        if (content is None and there is None) or (
            content is not None and there is not None and blob_id(content, there) == there
        ):
            continue
        found[path] = content
    return found


def _commit(git: Git, parent: str, changes: Mapping[str, bytes | None], message: str) -> str:
    """One commit on top of `parent` ("" for the first), by fast-import: no index and no work tree."""
    text = message.encode("utf-8", "backslashreplace")
    lines = [
        b"reset refs/audit/next\n\ncommit refs/audit/next\nmark :1\n",
        f"committer {AUTHOR} now\ndata {len(text)}\n".encode() + text + b"\n",
    ]
    if parent:
        lines.append(f"from {parent}\n".encode())
    for path, content in changes.items():
        if content is None:
            lines.append(f'D "{path}"\n'.encode())
        else:
            lines.append(f'M 100644 inline "{path}"\ndata {len(content)}\n'.encode() + content + b"\n")
    lines.append(b"get-mark :1\ndone\n")
    options = ("--quiet", "--done", "--force", "--date-format=now")
    output = git.run("fast-import", *options, stdin=b"".join(lines))
    return output.decode("ascii").strip()


def _push(git: Git, branch: str, commit: str, patience: Patience) -> bool:
    """Whether the push was taken; False when another run was faster."""
    try:
        online(git, patience, "push", "--quiet", "origin", f"{commit}:refs/heads/{branch}")
    except GitHubError as problem:
        if problem.obstacle is Obstacle.CONTENDED:
            return False
        raise
    return True
