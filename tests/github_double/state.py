"""What the double remembers: repositories with real git data, pull requests, comments, statuses, tokens."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ALL_PERMISSIONS = frozenset({"contents", "pull_requests", "issues", "statuses"})
READ_ONLY = frozenset[str]()


@dataclass(frozen=True)
class Identity:
    """Who a token speaks for, and what it may write."""

    login: str
    kind: str = "Bot"
    may_write: frozenset[str] = ALL_PERMISSIONS


@dataclass
class Comment:
    """One comment; bodies are kept as they were sent."""

    id: int
    number: int
    login: str
    kind: str
    body: str
    at: str
    minimized: bool = False
    edits: int = 0
    reactions: list[tuple[str, str]] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        return f"IC_double{self.id}"


@dataclass
class Pull:
    """One pull request; head_repository None: the fork is gone."""

    number: int
    head_sha: str
    base_ref: str
    head_repository: str | None
    head_ref: str = "submission"
    author: str = "submitter"
    state: str = "open"
    locked: bool = False
    draft: bool = False


@dataclass
class Fault:
    """A reply that the double gives instead of its own, `times` times.

    carried_out: the request takes effect all the same (a reply that got lost).
    """

    method: str
    path: str
    status: int
    message: str = "Server Error"
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    carried_out: bool = False

    def matches(self, method: str, path: str) -> bool:
        return self.times > 0 and method == self.method and re.search(self.path, path) is not None


@dataclass(frozen=True)
class Exchange:
    """One request and its reply. path: below the API's address. injected: the reply is a Fault's."""

    method: str
    path: str
    query: Mapping[str, str]
    request: Any
    status: int
    response: Any
    authorization: str
    injected: bool = False


@dataclass
class Repository:
    """One repository: a bare one of git, and what GitHub keeps beside it."""

    full_name: str
    git_dir: Path
    default_branch: str = "main"
    pushed_at: str = "2026-01-01T00:00:00Z"
    permissions: dict[str, str] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    statuses: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def create(cls, full_name: str, git_dir: Path) -> Repository:
        git_dir.mkdir(parents=True)
        made = cls(full_name, git_dir)
        made.git("init", "--quiet", "--bare", "--initial-branch=main", ".")
        for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant", "http.receivepack"):
            made.git("config", name, "true")
        return made

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.git_dir), "LC_ALL": "C"}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.git_dir,
            env=environment,
            input=stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"git {arguments}: {done.stderr.decode()}")
        return done.stdout

    def sha(self, revision: str) -> str:
        return self.git("rev-parse", "--verify", revision).decode().strip()

    def commit(
        self,
        ref: str,
        files: Mapping[str, bytes | tuple[str, bytes] | None],
        *,
        parent: str | None = None,
        message: str = "change",
    ) -> str:
        """A commit on `ref`: path -> content, (mode, content) or None to delete. parent: a commit or None."""
        lines = [f"reset {ref}\n\ncommit {ref}\nmark :1\n".encode()]
        lines.append(b"committer Someone <someone@example.org> 1767225600 +0000\n")
        lines.append(f"data {len(message)}\n{message}\n".encode())
        if parent:
            lines.append(f"from {parent}\n".encode())
        for path, content in files.items():
            if content is None:
                lines.append(f"D {path}\n".encode())
                continue
            mode, data = ("100644", content) if isinstance(content, bytes) else content
            if mode == "160000":
                lines.append(f"M 160000 {data.decode()} {path}\n".encode())
            else:
                lines.append(f"M {mode} inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
        lines.append(b"get-mark :1\ndone\n")
        found = self.git("fast-import", "--quiet", "--done", "--force", stdin=b"".join(lines))
        return found.decode().strip()

    def open_pull(
        self,
        number: int,
        files: Mapping[str, bytes | tuple[str, bytes] | None],
        *,
        head_repository: str | None = "submitter/experiments",
        parent: str = "refs/heads/main",
    ) -> Pull:
        """A pull request whose head adds `files` on top of `parent`."""
        sha = self.commit(f"refs/pull/{number}/head", files, parent=self.sha(parent), message="submission")
        self.pulls[number] = Pull(number, sha, self.default_branch, head_repository)
        return self.pulls[number]

    def push_head(self, number: int, files: Mapping[str, bytes | tuple[str, bytes] | None]) -> str:
        """A force-push: a new head on the default branch's tip."""
        sha = self.commit(
            f"refs/pull/{number}/head", files, parent=self.sha("refs/heads/main"), message="again"
        )
        self.pulls[number].head_sha = sha
        return sha
