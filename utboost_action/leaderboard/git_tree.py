"""A submission from git objects: the regular files of a tree, written out; links and submodules only named.

Nothing is checked out: no filter, no hook, no link on disk. The repository is read with plumbing commands
that run nothing of its configuration.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from utboost_action.errors import AuditError, InputError
from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.tree import (
    MAX_DEPTH,
    MAX_ENTRIES,
    SubmissionTree,
    list_tree,
    plain_name,
    shown,
)
from utboost_action.model import Finding

MAX_TOTAL_BYTES = 2 * 1024**3
MAX_BLOB_BYTES = 256 * 1024**2
_SECONDS = 600


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    name: str
    path: str
    size: int


def is_git_directory(path: Path) -> bool:
    """Whether a folder is a bare repository (or a `.git` folder) rather than files."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def read_git_tree(repository: Path, revision: str = "HEAD") -> SubmissionTree:
    """The tree of a revision, written to a folder of its own that goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="utboost-submission-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    found = export_tree(repository, _resolved(repository, revision), folder)
    tree = list_tree(folder)
    return SubmissionTree(tree.root, tree.files, (*tree.findings, *found))


def _resolved(repository: Path, revision: str) -> str:
    """The revision; for a HEAD that points at no commit, the only branch there is."""
    if revision != "HEAD":
        return revision
    branches = (
        _git(repository, "for-each-ref", "--format=%(objectname) %(HEAD)", "refs/heads").decode().split("\n")
    )
    names = [line.split()[0] for line in branches if line.strip()]
    on_head = any(line.rstrip().endswith("*") for line in branches)
    return names[0] if len(names) == 1 and not on_head else revision


def export_tree(repository: Path, revision: str, into: Path) -> tuple[Finding, ...]:
    """Write the regular files of a revision below `into` (an empty folder); the rest becomes findings.

    Raises InputError when the revision is not there, AuditError without git.
    """
    found: list[Finding] = []
    wanted: list[_Entry] = []
    total = 0
    for entry in _entries(repository, revision):
        refused = _refusal(entry)
        if refused is None and total + entry.size > MAX_TOTAL_BYTES:
            detail = f"more than {MAX_TOTAL_BYTES:,} bytes in all; not read"
            refused = finding(FindingKind.TREE_TOO_LARGE, detail, where=shown(entry.path))
        if refused is not None:
            found.append(refused)
            continue
        total += entry.size
        wanted.append(entry)
    _write(repository, wanted, into)
    return tuple(found)


def _entries(repository: Path, revision: str) -> Iterator[_Entry]:
    run = _git(repository, "ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", revision)
    for number, record in enumerate(run.split(b"\0")):
        if number >= MAX_ENTRIES or not record:
            return
        head, _, path = record.partition(b"\t")
        mode, _, name, size = head.split()
        yield _Entry(mode.decode(), name.decode(), os.fsdecode(path), int(size) if size.isdigit() else 0)


def _refusal(entry: _Entry) -> Finding | None:
    where = shown(entry.path)
    parts = entry.path.split("/")
    if entry.mode == "120000":
        return finding(FindingKind.LINK, "a link; not followed", where=where)
    if entry.mode == "160000":
        return finding(FindingKind.SUBMODULE, "a submodule; not fetched", where=where)
    if len(parts) > MAX_DEPTH or not all(plain_name(part) for part in parts):
        return finding(FindingKind.INVALID_NAME, "no plain name of a regular file; not read", where=where)
    if entry.size > MAX_BLOB_BYTES:
        detail = f"{entry.size:,} bytes, more than the {MAX_BLOB_BYTES:,} read of a file"
        return finding(FindingKind.FILE_TOO_LARGE, detail, where=where)
    return None


def _write(repository: Path, entries: list[_Entry], into: Path) -> None:
    """One `cat-file --batch` for all; each blob goes from the pipe to its file."""
    git = subprocess.Popen(
        _command(repository, "cat-file", "--batch"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )
    assert git.stdin is not None
    assert git.stdout is not None
    with git, git.stdin as ask, git.stdout as answer:
        for entry in entries:
            ask.write(f"{entry.name}\n".encode())
            ask.flush()
            head = answer.readline().split()
            if len(head) != 3 or not head[2].isdigit():
                raise InputError(
                    f"submission {str(repository)!r}: object {entry.name} of {shown(entry.path)} is missing; "
                    "fetch it first"
                )
            left = int(head[2])
            target = into / entry.path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                while left:
                    chunk = answer.read(min(left, 1 << 20))
                    if not chunk:
                        raise InputError(f"submission {str(repository)!r}: git ended early; is it sound?")
                    file.write(chunk)
                    left -= len(chunk)
            answer.read(1)


def _git(repository: Path, *arguments: str) -> bytes:
    run = subprocess.run(
        _command(repository, *arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=_environment(),
        timeout=_SECONDS,
        check=False,
    )
    if run.returncode:
        reason = (run.stderr.decode("utf-8", "replace").strip().splitlines() or ["git failed"])[-1]
        raise InputError(
            f"submission {str(repository)!r}: {shown(reason)}; give a repository with that commit"
        )
    return run.stdout


def _command(repository: Path, *arguments: str) -> list[str]:
    git = shutil.which("git")
    if git is None:
        raise AuditError("git is not installed; it is needed to read a submission from a repository")
    return [git, "-c", "safe.directory=*", "--git-dir", str(repository.absolute()), *arguments]


def _environment() -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
