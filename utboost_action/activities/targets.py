"""From an activity to what it is about: the pull request or board, at one pinned commit.

The pull request always comes from the event, or from GitHub's answer about the event; never from a file
that another job wrote.
"""

from __future__ import annotations

from dataclasses import dataclass

from utboost_action.github.client import Api
from utboost_action.github.commands import (
    Accepted,
    CommandKind,
    CommandRequest,
    Declined,
    check_command,
)
from utboost_action.github.events import (
    Activity,
    AuditAgain,
    AuditPullRequest,
    Neutral,
    RefreshBoard,
    ReportRun,
    RunCommand,
)
from utboost_action.github.problems import GitHubError, Obstacle
from utboost_action.github.pull_request import pull_request, pull_request_of_head


@dataclass(frozen=True, slots=True)
class PullTarget:
    """A pull request to audit at `head_sha`.

    read_only: the token cannot write. comment_key: which sticky comment holds the report. command: the
    comment that asked for it, to be answered, else None.
    """

    repository: str
    number: int
    head_sha: str
    read_only: bool = False
    from_fork: bool = True
    instances: tuple[str, ...] = ()
    force: bool = False
    dry_run: bool = False
    comment_key: str = "audit"
    command: int | None = None


@dataclass(frozen=True, slots=True)
class BoardTarget:
    """Submissions of the board itself, at a commit; no paths: all of them."""

    repository: str
    commit: str
    paths: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    force: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class OpinionTarget:
    """A maintainer's word on the bank's tests (confirm, dispute)."""

    request: CommandRequest
    accepted: Accepted


@dataclass(frozen=True, slots=True)
class DeclinedTarget:
    """A command that is not carried out."""

    request: CommandRequest
    declined: Declined


Target = PullTarget | BoardTarget | OpinionTarget | DeclinedTarget | RefreshBoard | Neutral


def target_of(api: Api, activity: Activity, commit: str) -> Target:
    """What an activity is about. commit: GITHUB_SHA, for submissions of the board. Raises GitHubError."""
    match activity:
        case AuditPullRequest():
            fork = activity.head_repository != activity.repository
            return PullTarget(
                activity.repository, activity.number, activity.head_sha, activity.read_only, fork
            )
        case AuditAgain():
            return _again(api, activity, commit)
        case RunCommand(request):
            return _commanded(api, request)
        case ReportRun():
            return _of_run(api, activity)
        case _:
            return activity


def _again(api: Api, activity: AuditAgain, commit: str) -> Target:
    asked = (activity.instances, activity.force, activity.dry_run)
    if activity.pull_request is None:
        return BoardTarget(activity.repository, commit, activity.paths, *asked)
    pull = pull_request(api, activity.repository, activity.pull_request)
    return PullTarget(activity.repository, pull.number, pull.head_sha, False, pull.is_fork, *asked)


def _commanded(api: Api, request: CommandRequest) -> Target:
    checked = check_command(api, request)
    if isinstance(checked, Declined):
        return DeclinedTarget(request, checked)
    if checked.command.kind in (CommandKind.CONFIRM, CommandKind.DISPUTE):
        return OpinionTarget(request, checked)
    pull = checked.pull
    recheck = checked.command.kind is CommandKind.RECHECK
    return PullTarget(
        pull.repository,
        pull.number,
        pull.head_sha,
        from_fork=pull.is_fork,
        instances=(checked.command.instance_id,) if recheck else (),
        force=recheck,
        comment_key="recheck" if recheck else "audit",
        command=request.comment_id,
    )


def _of_run(api: Api, activity: ReportRun) -> Target:
    try:
        pull = pull_request_of_head(
            api, activity.repository, activity.head_repository, activity.head_branch, activity.head_sha
        )
    except GitHubError as problem:
        if problem.obstacle is Obstacle.NOT_FOUND:
            return Neutral(str(problem))
        raise
    return PullTarget(activity.repository, pull.number, activity.head_sha, from_fork=pull.is_fork)
