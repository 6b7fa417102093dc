"""Reading a pull request from its number to folders on disk: the story of the package's reading half."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.github.client import Api
from utboost_action.github.git import Git, Remote, git_available
from utboost_action.github.git_source import GitSource, Sizes
from utboost_action.github.problems import GitHubError, Obstacle
from utboost_action.github.pull_request import PullRequest, merge_base, require_head
from utboost_action.github.rest_source import RestSource, tree_sizes
from utboost_action.github.source import Source
from utboost_action.github.submissions import (
    ExportedSubmission,
    Limits,
    Located,
    export,
    locate,
    names_matter_only,
)

_OVERHEAD = 256 << 20  # bytes that git may write beside the contents: trees, indexes
_GIT_MAY_BE_BARRED = frozenset(
    {
        Obstacle.NO_GIT,
        Obstacle.NOT_FOUND,
        Obstacle.MISSING_PERMISSION,
        Obstacle.UNREACHABLE,
        Obstacle.SERVER_FAULT,
        Obstacle.UNEXPECTED,
    }
)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read.

    patterns: shell patterns of submission folders; none: found by content (`submissions.locate`).
    names_only: which files (path inside the submission) are written empty, since nothing but their
    names is looked at. remote: where to fetch from; None: the repository's https address.
    """

    patterns: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    names_only: Callable[[str], bool] = names_matter_only
    allow_git: bool = True
    remote: Remote | None = None


@dataclass(frozen=True, slots=True)
class ReadPullRequest:
    """A pull request as it was read, at `pull.head_sha` exactly.

    without_git: why the REST interface was used, "" when git was.
    """

    pull: PullRequest
    located: Located
    submissions: tuple[ExportedSubmission, ...]
    without_git: str = ""


def read_pull_request(
    api: Api,
    repository: str,
    number: int,
    head_sha: str,
    workspace: Path,
    environ: Mapping[str, str],
    options: ReadOptions | None = None,
) -> ReadPullRequest:
    """Read the submissions of a pull request into `workspace` (an empty or new folder).

    The folder gets `objects/` (git's) and `tree/` (the export). Where git is absent, not allowed or
    barred, the REST interface reads. Raises SupersededError when the head has moved on, GitHubError,
    InputError.
    """
    _require_empty(workspace)
    options = options or ReadOptions()
    pull = require_head(api, repository, number, head_sha)
    reason = "git is not allowed here" if not options.allow_git else "there is no git"
    if options.allow_git and git_available(environ):
        try:
            source = GitSource(
                _git(api, repository, workspace, environ, options),
                head_sha,
                merge_base(api, pull),
                number=number,
                sizes=_sizes(api, repository),
                patience=api.patience,
            )
            source.fetch()
            return ReadPullRequest(pull, *_read(source, workspace, options))
        except GitHubError as problem:
            if problem.obstacle not in _GIT_MAY_BE_BARRED:
                raise
            reason = str(problem)
            shutil.rmtree(workspace / "tree", ignore_errors=True)
    return ReadPullRequest(pull, *_read(RestSource(api, pull), workspace, options), reason)


def read_board(
    api: Api,
    repository: str,
    commit: str,
    workspace: Path,
    environ: Mapping[str, str],
    paths: Sequence[str] = (),
    options: ReadOptions | None = None,
) -> tuple[ExportedSubmission, ...]:
    """Read submissions that are merged already, at a commit of the board (a re-audit by hand).

    paths: folders of submissions; none: every submission of the board. The workspace is as in
    `read_pull_request`; there is no way without git. Raises InputError for a path that is none of the
    submissions, GitHubError.
    """
    _require_empty(workspace)
    options = options or ReadOptions()
    git = _git(api, repository, workspace, environ, options)
    source = GitSource(git, commit, None, sizes=_sizes(api, repository), patience=api.patience)
    source.fetch()
    folders = locate(source.changes(), source.known_files(), options.patterns).folders
    wanted = tuple(dict.fromkeys(path.strip("/") for path in paths))
    for path in wanted:
        if path not in folders:
            raise InputError(f"input submission-path: {path!a} is no submission at {commit[:12]}")
    return _export(source, wanted or folders, workspace, options)


def _read(
    source: Source, workspace: Path, options: ReadOptions
) -> tuple[Located, tuple[ExportedSubmission, ...]]:
    located = locate(source.changes(), source.known_files(), options.patterns)
    return located, _export(source, located.folders, workspace, options)


def _export(
    source: Source, folders: Sequence[str], workspace: Path, options: ReadOptions
) -> tuple[ExportedSubmission, ...]:
    return export(source, folders, workspace / "tree", limits=options.limits, names_only=options.names_only)


def _git(api: Api, repository: str, workspace: Path, environ: Mapping[str, str], options: ReadOptions) -> Git:
    connection = api.connection
    remote = options.remote or Remote(
        connection.clone_url(repository), connection.token, connection.ca_bundle
    )
    return Git(workspace / "objects", remote, environ, max_bytes=2 * options.limits.bytes + _OVERHEAD)


def _sizes(api: Api, repository: str) -> Sizes:
    return lambda tree_id: tree_sizes(api, repository, tree_id)


def _require_empty(workspace: Path) -> None:
    if workspace.exists() and any(workspace.iterdir()):
        raise InputError(f"folder {str(workspace)!r}: not empty; give a new one")
