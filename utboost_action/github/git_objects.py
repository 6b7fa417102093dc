"""Objects of a partial clone: fetched without blobs, listed, and blobs in one batch and one stream."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence

from utboost_action.github.git import Git
from utboost_action.github.payload import is_sha
from utboost_action.github.problems import GitHubError, Obstacle
from utboost_action.github.retry import Patience

_PASSING = (Obstacle.SERVER_FAULT, Obstacle.UNREACHABLE, Obstacle.RATE_LIMITED)
_UNSTATED_WAIT = 60.0  # seconds


def online(git: Git, patience: Patience, *arguments: str, stdin: bytes = b"") -> bytes:
    """One git command that talks to the remote, again after passing faults. Raises GitHubError."""
    for attempt in range(patience.attempts):
        try:
            return git.run(*arguments, stdin=stdin)
        except GitHubError as problem:
            if problem.obstacle not in _PASSING:
                raise
            wait = _UNSTATED_WAIT if problem.obstacle is Obstacle.RATE_LIMITED else 2.0**attempt
            patience.wait(wait, f"git {arguments[0]}: {problem.obstacle}")
    return git.run(*arguments, stdin=stdin)


def fetch(git: Git, patience: Patience, *arguments: str, stdin: bytes = b"") -> None:
    """Fetch from the remote without blobs, tags or any ref that is not named. Raises GitHubError."""
    fixed = ("--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none")
    online(git, patience, "fetch", *fixed, *arguments, stdin=stdin)


def object_id(git: Git, revision: str) -> str:
    """The id that a revision names, as it stands here. Raises GitHubError, also for what is no id."""
    found = git.run("rev-parse", "--verify", revision, offline=True).decode("ascii", "replace").strip()
    if not is_sha(found):
        raise GitHubError(Obstacle.UNEXPECTED, f"{revision!a} is no object here")
    return found


def list_tree(git: Git, revision: str, *paths: str) -> Iterator[tuple[str, str, str, str]]:
    """(mode, kind, id, path) of everything below a commit, folders too; only below `paths` if any are given.

    Names that are no UTF-8 carry surrogate escapes.
    """
    listed = git.run("ls-tree", "-r", "-t", "-z", "--full-tree", revision, "--", *paths, offline=True)
    for line in listed.split(b"\0"):
        facts, tab, path = line.partition(b"\t")
        if tab:
            mode, kind, found = facts.decode("ascii").split(" ")
            yield mode, kind, found, path.decode("utf-8", "surrogateescape")


def read_blobs(git: Git, patience: Patience, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The contents of blobs, each id once, in order; one that is withheld is a GitHubError.

    One fetch brings what is missing: reading them one by one would ask the remote for each.
    """
    if not ids:
        return
    lines = "".join(f"{wanted}\n" for wanted in ids).encode()
    fetch(git, patience, "--stdin", "origin", stdin=lines)
    with tempfile.TemporaryFile() as output:
        git.run_to(output, "cat-file", "--batch", "--buffer", stdin=lines, offline=True)
        output.seek(0)
        for wanted in ids:
            head = output.readline().split()
            if len(head) != 3 or head[0].decode() != wanted or head[1] != b"blob":
                raise GitHubError(Obstacle.UNEXPECTED, f"the blob {wanted[:12]} was not delivered")
            data = output.read(int(head[2]))
            output.read(1)
            yield wanted, data


def blob_id(content: bytes, like: str) -> str:
    """The id that git gives this content, in the hash of the id `like` (SHA-1 or SHA-256)."""
    head = f"blob {len(content)}\0".encode()
    if len(like) == 64:
        return hashlib.sha256(head + content).hexdigest()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
