"""Commands of maintainers in comments: their grammar, who may give them, and the head they hold for.

    /utboost audit [sha]
    /utboost recheck <instance> [sha]
    /utboost confirm <instance> <test>
    /utboost dispute <instance> <reason>

A command is the first line of a comment; a reason may go on below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from utboost_action.github.client import Api
from utboost_action.github.payload import is_instance_id, is_sha
from utboost_action.github.problems import GitHubError, Obstacle, doing, one_line
from utboost_action.github.pull_request import PullRequest, pull_request

PREFIX = "/utboost"
_MAX_TEST = 500
_MAX_REASON = 2_000
_MAY_COMMAND = frozenset({"write", "maintain", "admin"})


class CommandKind(StrEnum):
    """What a maintainer may ask for."""

    AUDIT = "audit"
    RECHECK = "recheck"
    CONFIRM = "confirm"
    DISPUTE = "dispute"


class Reaction(StrEnum):
    """How a command is answered at its comment; the value is GitHub's name."""

    SEEN = "eyes"
    DONE = "rocket"
    NOT_UNDERSTOOD = "confused"
    REFUSED = "-1"


@dataclass(frozen=True, slots=True)
class Command:
    """A well-formed command; `test` and `reason` are a stranger's text, `sha` is "" when none was named."""

    kind: CommandKind
    instance_id: str = ""
    test: str = ""
    reason: str = ""
    sha: str = ""


@dataclass(frozen=True, slots=True)
class BadCommand:
    """A comment that begins as a command and is none; `problem` says what is wrong and how it is written."""

    problem: str


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A command as it came: where it stands, who wrote it and when (UTC)."""

    repository: str
    number: int
    comment_id: int
    author: str
    written_at: datetime
    command: Command | BadCommand


@dataclass(frozen=True, slots=True)
class Accepted:
    """A command that may be carried out, for exactly this head (`pull.head_sha`)."""

    command: Command
    pull: PullRequest


@dataclass(frozen=True, slots=True)
class Declined:
    """A command that may not be carried out, with the reaction that says so and the reason for the log."""

    reaction: Reaction
    reason: str


def parse_command(body: str) -> Command | BadCommand | None:
    """The command of a comment; None when its first line doesn't begin with `/utboost`."""
    first, _, below = body.strip().replace("\r\n", "\n").partition("\n")
    words = first.split()
    if not words or words[0] != PREFIX:
        return None
    if len(words) < 2 or words[1] not in list(CommandKind):
        return BadCommand(f"expected one of {', '.join(f'{PREFIX} {kind}' for kind in CommandKind)}")
    kind = CommandKind(words[1])
    if kind is CommandKind.AUDIT:
        return _with_sha(Command(kind), words[2:])
    if len(words) < 3 or not is_instance_id(words[2]):
        return BadCommand(f"expected {PREFIX} {kind} owner__repo-number")
    instance_id = words[2]
    if kind is CommandKind.RECHECK:
        return _with_sha(Command(kind, instance_id), words[3:])
    rest = " ".join(words[3:])
    if kind is CommandKind.CONFIRM:
        if not rest or len(rest) > _MAX_TEST or not rest.isprintable():
            return BadCommand(f"expected {PREFIX} {kind} {instance_id} and the id of one augmented test")
        return Command(kind, instance_id, test=rest)
    reason = f"{rest}\n{below.strip()}".strip()
    if not reason or len(reason) > _MAX_REASON:
        return BadCommand(
            f"expected {PREFIX} {kind} {instance_id} and a reason of 1 to {_MAX_REASON} characters"
        )
    return Command(kind, instance_id, reason=reason)


def check_command(api: Api, request: CommandRequest) -> Accepted | Declined:
    """Whether a command may be carried out, and the head it holds for.

    Only people with write permission may command (asked for at this moment: `author_association` is
    coarse). A named sha must be the head; without one, a fork that was pushed to after the comment was
    written makes the command void, since the maintainer has not seen that head.
    """
    permission = permission_of(api, request.repository, request.author)
    if permission not in _MAY_COMMAND:
        reason = f"{one_line(request.author)} has permission {permission!r}; commands need write"
        return Declined(Reaction.REFUSED, reason)
    if isinstance(request.command, BadCommand):
        return Declined(Reaction.NOT_UNDERSTOOD, request.command.problem)
    pull = pull_request(api, request.repository, request.number)
    named = request.command.sha
    if named and not pull.head_sha.startswith(named):
        return Declined(Reaction.REFUSED, f"the head is {pull.head_sha[:12]}, the command names {named[:12]}")
    pushed = pull.head_pushed_at
    if not named and pull.is_fork and pushed is not None and pushed > request.written_at:
        reason = f"the fork was pushed to after the command; repeat it, or name the head {pull.head_sha[:12]}"
        return Declined(Reaction.REFUSED, reason)
    return Accepted(request.command, pull)


def permission_of(api: Api, repository: str, login: str) -> str:
    """`admin`, `maintain`, `write`, `triage`, `read` or `none` (also for who is no collaborator)."""
    try:
        with doing(f"read the permission of {one_line(login)}"):
            return api.repository(repository).get_collaborator_permission(login)
    except GitHubError as problem:
        if problem.obstacle is Obstacle.NOT_FOUND:
            return "none"
        raise


def react(api: Api, repository: str, comment_id: int, reaction: Reaction) -> None:
    """Answer a comment; GitHub keeps one reaction of each kind, so repeating is harmless."""
    path = f"/repos/{repository}/issues/comments/{comment_id}/reactions"
    api.repeated(lambda: api.post(path, {"content": reaction.value}))


def _with_sha(command: Command, words: list[str]) -> Command | BadCommand:
    if not words:
        return command
    sha = words[0].lower()
    if len(words) > 1 or not (is_sha(sha) or (7 <= len(sha) < 40 and is_sha(sha.ljust(40, "0")))):
        return BadCommand(
            f"expected {PREFIX} {command.kind} {command.instance_id}".rstrip() + " and at most a sha"
        )
    return Command(command.kind, command.instance_id, sha=sha)
