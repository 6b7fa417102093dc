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
    if workspace.exists() and any(workspace.iterdir()):
        raise InputError(f"folder {str(workspace)!r}: not empty; give a new one for the pull request")
    limits = limits or Limits()
    pull = require_head(api, repository, number, head_sha)
    use_git = allow_git and git_available(environ)
    source: Source
    if use_git:
        connection = api.connection
        origin = remote or Remote(connection.clone_url(repository), connection.token, connection.ca_bundle)
        fetched = GitSource(
            Git(workspace / "objects", origin, environ, max_bytes=2 * limits.bytes + _OVERHEAD),
            number,
            head_sha,
            merge_base(api, pull),
            sizes=lambda tree_id: tree_sizes(api, repository, tree_id),
            patience=api.patience,
        )
        fetched.fetch()
        source = fetched
    else:
        source = RestSource(api, pull)
    located = locate(source.changes(), source.known_files(), patterns)
    written = export(source, located.folders, workspace / "submissions", limits=limits)
    return ReadPullRequest(pull, located, written, "git" if use_git else "rest")
