"""A pull request's facts, asked for at the moment they are needed; nothing of it is taken from artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from github.PullRequest import PullRequest as ApiPullRequest

from utboost_action.github.client import Api
from utboost_action.github.payload import is_sha
from utboost_action.github.problems import GitHubError, Obstacle, SupersededError, doing


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What the audit needs to know of a pull request.

    base_sha: the tip of the base branch as GitHub knows it for this pull request (see `merge_base`).
    head_repository: `owner/name`, None when the fork is gone. head_pushed_at: the last push to any
    branch of it (UTC), None when not known.
    """

    repository: str
    number: int
    state: str
    author: str
    head_sha: str
    base_sha: str
    base_ref: str
    head_repository: str | None
    head_pushed_at: datetime | None = None
    locked: bool = False
    draft: bool = False
    changed_files: int = 0

    @property
    def is_fork(self) -> bool:
        """Whether the head lies in another repository, or in one that is gone."""
        return self.head_repository != self.repository


def pull_request(api: Api, repository: str, number: int) -> PullRequest:
    """Read one pull request. Raises GitHubError."""
    with doing(f"read pull request #{number}"):
        found = api.repository(repository).get_pull(number)
        return _facts(repository, found)


def pull_request_of_head(
    api: Api, repository: str, head_repository: str, head_branch: str, head_sha: str
) -> PullRequest:
    """The open pull request whose head is exactly this commit (a `workflow_run` of a fork names none).

    head_repository: "" when the fork is gone; then every open pull request is looked at. Raises
    GitHubError (NOT_FOUND) when no open pull request from that branch has this head.
    """
    owner = head_repository.partition("/")[0]
    with doing(f"find the pull request of {head_sha[:12]}"):
        board = api.repository(repository)
        if owner:
            pulls = board.get_pulls(state="open", head=f"{owner}:{head_branch}")
        else:
            pulls = board.get_pulls(state="open")
        numbers = [pull.number for pull in pulls if pull.head.sha == head_sha]
    if not numbers:
        raise GitHubError(
            Obstacle.NOT_FOUND,
            f"no open pull request has the head {head_sha[:12]}: it was closed or moved on; "
            "there is nothing to report to",
        )
    return pull_request(api, repository, max(numbers))


def require_head(api: Api, repository: str, number: int, head_sha: str) -> PullRequest:
    """The pull request, provided that its head is still `head_sha`. Raises SupersededError otherwise.

    Asked before reading and again before each writing, so that a slow run never overwrites a newer one.
    """
    found = pull_request(api, repository, number)
    if found.head_sha != head_sha:
        raise SupersededError(number, head_sha, found.head_sha)
    return found


def merge_base(api: Api, pull: PullRequest) -> str:
    """The commit that the pull request's own changes are counted from.

    The second page of a comparison names it without listing files. Raises GitHubError.
    """
    path = f"/repos/{pull.repository}/compare/{pull.base_sha}...{pull.head_sha}"
    reply = api.get(path, {"per_page": 1, "page": 2})
    commit = reply.get("merge_base_commit") if isinstance(reply, Mapping) else None
    found = commit.get("sha") if isinstance(commit, Mapping) else None
    if not isinstance(found, str) or not is_sha(found):
        raise GitHubError(Obstacle.UNEXPECTED, f"GitHub names no merge base for #{pull.number}")
    return found


def _facts(repository: str, found: ApiPullRequest) -> PullRequest:
    head: object = found.head.raw_data.get("repo")
    name = head.get("full_name") if isinstance(head, Mapping) else None
    pushed = head.get("pushed_at") if isinstance(head, Mapping) else None
    return PullRequest(
        repository,
        found.number,
        found.state,
        found.user.login if found.user else "ghost",
        found.head.sha,
        found.base.sha,
        found.base.ref,
        name if isinstance(name, str) else None,
        datetime.fromisoformat(pushed) if isinstance(pushed, str) else None,
        bool(found.raw_data.get("locked")),
        bool(found.raw_data.get("draft")),
        found.changed_files,
    )
