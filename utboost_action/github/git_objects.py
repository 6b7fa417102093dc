"""Blobs of a partial clone: fetched in one batch, read in one stream."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence

from utboost_action.github.git import Git
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


def read_blobs(git: Git, patience: Patience, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The contents of blobs, each id once, in order; one that is withheld is a GitHubError.

    One fetch brings what is missing: reading them one by one would ask the remote for each.
    """
    if not ids:
        return
    lines = "".join(f"{object_id}\n" for object_id in ids).encode()
    online(
        git,
        patience,
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--recurse-submodules=no",
        "--filter=blob:none",
        "--stdin",
        "origin",
        stdin=lines,
    )
    with tempfile.TemporaryFile() as output:
        git.run_to(output, "cat-file", "--batch", "--buffer", stdin=lines, offline=True)
        output.seek(0)
        for object_id in ids:
            head = output.readline().split()
            if len(head) != 3 or head[0].decode() != object_id or head[1] != b"blob":
                raise GitHubError(Obstacle.UNEXPECTED, f"the blob {object_id[:12]} was not delivered")
            data = output.read(int(head[2]))
            output.read(1)
            yield object_id, data


def blob_id(content: bytes, like: str) -> str:
    """The id that git gives this content, in the hash of the id `like` (SHA-1 or SHA-256)."""
    head = f"blob {len(content)}\0".encode()
    if len(like) == 64:
        return hashlib.sha256(head + content).hexdigest()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
