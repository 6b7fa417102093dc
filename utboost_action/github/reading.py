"""Reading a pull request from its number to folders on disk: the story of the package's reading half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.github.client import Api
from utboost_action.github.git import Git, Remote, git_available
from utboost_action.github.git_source import GitSource
from utboost_action.github.pull_request import PullRequest, merge_base, require_head
from utboost_action.github.rest_source import RestSource, tree_sizes
from utboost_action.github.source import Source
from utboost_action.github.submissions import ExportedSubmission, Limits, Located, export, locate

_OVERHEAD = 256 << 20  # bytes that git may write beside the contents: trees, indexes


@dataclass(frozen=True, slots=True)
class ReadPullRequest:
    """A pull request as it was read, at `pull.head_sha` exactly; `by` is `git` or `rest`."""

    pull: PullRequest
    located: Located
    submissions: tuple[ExportedSubmission, ...]
    by: str


def read_pull_request(
    api: Api,
    repository: str,
    number: int,
    head_sha: str,
    workspace: Path,
    environ: Mapping[str, str],
    *,
    patterns: Sequence[str] = (),
    limits: Limits | None = None,
    allow_git: bool = True,
    remote: Remote | None = None,
) -> ReadPullRequest:
    """Read the submissions of a pull request into `workspace` (an empty or new folder).

    The folder gets `objects/` (git's) and `submissions/` (the export). remote: where to fetch from;
    None: the repository's https address. Without git, or where it is not allowed, the REST interface is
    used. Raises SupersededError when the head has moved on, GitHubError, InputError.
    """
    _require_empty(workspace)
    limits = limits or Limits()
    pull = require_head(api, repository, number, head_sha)
    use_git = allow_git and git_available(environ)
    source: Source
    if use_git:
        source = _fetched(
            api, repository, head_sha, merge_base(api, pull), number, workspace, environ, limits, remote
        )
    else:
        source = RestSource(api, pull)
    located = locate(source.changes(), source.known_files(), patterns)
    written = export(source, located.folders, workspace / "submissions", limits=limits)
    return ReadPullRequest(pull, located, written, "git" if use_git else "rest")


def read_board(
    api: Api,
    repository: str,
    commit: str,
    workspace: Path,
    environ: Mapping[str, str],
    *,
    paths: Sequence[str] = (),
    patterns: Sequence[str] = (),
    limits: Limits | None = None,
    remote: Remote | None = None,
) -> tuple[ExportedSubmission, ...]:
    """Read submissions that are merged already, at a commit of the board (a re-audit by hand).

    paths: folders of submissions; none: every submission of the board. The rest is as in
    `read_pull_request`, but there is no way without git. Raises InputError for a path that is none of
    the submissions, GitHubError.
    """
    _require_empty(workspace)
    limits = limits or Limits()
    source = _fetched(api, repository, commit, None, None, workspace, environ, limits, remote)
    known = source.known_files()
    folders = locate(source.changes(), known, patterns).folders
    wanted = tuple(dict.fromkeys(path.strip("/") for path in paths))
    for path in wanted:
        if path not in folders:
            raise InputError(f"input submission-path: {path!a} is no submission at {commit[:12]}")
    return export(source, wanted or folders, workspace / "submissions", limits=limits)


def _fetched(
    api: Api,
    repository: str,
    head_sha: str,
    base_sha: str | None,
    number: int | None,
    workspace: Path,
    environ: Mapping[str, str],
    limits: Limits,
    remote: Remote | None,
) -> GitSource:
    connection = api.connection
    origin = remote or Remote(connection.clone_url(repository), connection.token, connection.ca_bundle)
    source = GitSource(
        Git(workspace / "objects", origin, environ, max_bytes=2 * limits.bytes + _OVERHEAD),
        head_sha,
        base_sha,
        number=number,
        sizes=lambda tree_id: tree_sizes(api, repository, tree_id),
        patience=api.patience,
    )
    source.fetch()
    return source


def _require_empty(workspace: Path) -> None:
    if workspace.exists() and any(workspace.iterdir()):
        raise InputError(f"folder {str(workspace)!r}: not empty; give a new one")
