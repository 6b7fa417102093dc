"""From an event to what is to be done: one pure function over the event's name and payload.

Nothing here asks GitHub. What is not ours ends neutral with a reason; a payload that lacks what its
event always has is an InputError, never a quiet success.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from utboost_action.errors import InputError
from utboost_action.github.commands import PREFIX, CommandRequest, parse_command
from utboost_action.github.payload import (
    Payload,
    is_instance_id,
    is_plain_path,
    number,
    optional_text,
    repository,
    sha,
    text,
    value,
)

_AUDITED_ACTIONS = frozenset({"opened", "reopened", "synchronize", "ready_for_review"})
_ALL = "all"


@dataclass(frozen=True, slots=True)
class AuditPullRequest:
    """Audit the submissions of a pull request at this head.

    base_sha: the base branch's tip in the event. head_repository: None when the fork is gone.
    read_only: the token cannot write (a fork's `pull_request` event), so only the summary can be had.
    """

    repository: str
    number: int
    head_sha: str
    base_sha: str
    head_repository: str | None
    read_only: bool


@dataclass(frozen=True, slots=True)
class AuditAgain:
    """A re-audit by hand: of one pull request, of submissions by path, or of the whole board.

    Exactly one of `pull_request`, `paths` and `whole_board` is given. instances: empty means all.
    """

    repository: str
    pull_request: int | None = None
    paths: tuple[str, ...] = ()
    whole_board: bool = False
    instances: tuple[str, ...] = ()
    force: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A comment that begins as a command; `commands.check_command` says whether it may be carried out."""

    request: CommandRequest


@dataclass(frozen=True, slots=True)
class ReportRun:
    """Report what another workflow run collected; its pull request is found by its head, not by artifacts.

    head_repository: "" when the fork is gone.
    """

    repository: str
    run_id: int
    head_sha: str
    head_repository: str
    head_branch: str


@dataclass(frozen=True, slots=True)
class RefreshBoard:
    """Bring badges and pages up to date. nightly: by schedule (else: the default branch moved to `sha`)."""

    repository: str
    nightly: bool
    sha: str = ""


@dataclass(frozen=True, slots=True)
class Neutral:
    """Nothing to do, and why."""

    reason: str


Activity = AuditPullRequest | AuditAgain | RunCommand | ReportRun | RefreshBoard | Neutral


def activity_of(event_name: str, payload: Payload) -> Activity:
    """What an event asks for.

    event_name as in GITHUB_EVENT_NAME, payload as in the file of GITHUB_EVENT_PATH. Raises InputError
    for a payload that is not this event's and for dispatch inputs that are not understood.
    """
    handler = _HANDLERS.get(event_name)
    if handler is None:
        return Neutral(f"event {_shown(event_name)} is none that this action handles")
    return handler(event_name, payload)


def _pull_request(event_name: str, payload: Payload) -> Activity:
    action = text(payload, "action")
    rebased = action == "edited" and value(payload, "changes", "base") is not None
    if action not in _AUDITED_ACTIONS and not rebased:
        return Neutral(f"pull request {_shown(action)}: neither its head nor its base changed")
    if text(payload, "pull_request", "state") != "open":
        return Neutral("the pull request is closed")
    board = repository(payload, "repository", "full_name")
    head_repository = optional_text(payload, "pull_request", "head", "repo", "full_name") or None
    return AuditPullRequest(
        board,
        number(payload, "pull_request", "number"),
        sha(payload, "pull_request", "head", "sha"),
        sha(payload, "pull_request", "base", "sha"),
        head_repository,
        read_only=event_name == "pull_request" and head_repository != board,
    )


def _issue_comment(_event_name: str, payload: Payload) -> Activity:
    action = text(payload, "action")
    if action != "created":
        return Neutral(f"comment {_shown(action)}: only a new comment can be a command")
    if value(payload, "issue", "pull_request") is None:
        return Neutral("the comment is not on a pull request")
    if text(payload, "issue", "state") != "open":
        return Neutral("the pull request is closed")
    if optional_text(payload, "comment", "user", "type") == "Bot":
        return Neutral("the comment is a bot's")
    command = parse_command(optional_text(payload, "comment", "body"))
    if command is None:
        return Neutral(f"the comment does not begin with {PREFIX}")
    written = text(payload, "comment", "created_at")
    try:
        written_at = datetime.fromisoformat(written)
    except ValueError:
        raise InputError("event payload: comment.created_at is no time") from None
    return RunCommand(
        CommandRequest(
            repository(payload, "repository", "full_name"),
            number(payload, "issue", "number"),
            number(payload, "comment", "id"),
            text(payload, "comment", "user", "login"),
            written_at,
            command,
        )
    )


def _workflow_dispatch(_event_name: str, payload: Payload) -> Activity:
    inputs = value(payload, "inputs")
    if not isinstance(inputs, Mapping):
        inputs = {}
    pull = _input(inputs, "pr-number")
    path = _input(inputs, "submission-path")
    if bool(pull) == bool(path):
        raise InputError("inputs pr-number and submission-path: give exactly one of them")
    if pull and not re.fullmatch(r"[1-9][0-9]{0,9}", pull):
        raise InputError(f"input pr-number: {_shown(pull)} is no number of a pull request; for example 12")
    paths = tuple(dict.fromkeys(_list(path)))
    whole_board = paths == (_ALL,)
    for one in paths:
        if not is_plain_path(one):
            raise InputError(
                f"input submission-path: {_shown(one)} is no path inside the repository; "
                "for example evaluation/lite/20240402_example, several with commas, or all"
            )
    instances = tuple(dict.fromkeys(_list(_input(inputs, "instances"))))
    for one in instances:
        if not is_instance_id(one):
            raise InputError(
                f"input instances: {_shown(one)} is no instance id; for example django__django-11099"
            )
    return AuditAgain(
        repository(payload, "repository", "full_name"),
        int(pull) if pull else None,
        () if whole_board else paths,
        whole_board,
        instances,
        _flag(inputs, "force"),
        _flag(inputs, "dry-run"),
    )


def _workflow_run(_event_name: str, payload: Payload) -> Activity:
    action = text(payload, "action")
    if action != "completed":
        return Neutral(f"workflow run {_shown(action)}: nothing to report yet")
    source = text(payload, "workflow_run", "event")
    if source != "pull_request":
        return Neutral(f"the workflow run was started by {_shown(source)}, not by a pull request")
    return ReportRun(
        repository(payload, "repository", "full_name"),
        number(payload, "workflow_run", "id"),
        sha(payload, "workflow_run", "head_sha"),
        optional_text(payload, "workflow_run", "head_repository", "full_name"),
        text(payload, "workflow_run", "head_branch"),
    )


def _push(_event_name: str, payload: Payload) -> Activity:
    ref = text(payload, "ref")
    if value(payload, "deleted") is True:
        return Neutral(f"{_shown(ref)} was deleted")
    if ref != f"refs/heads/{text(payload, 'repository', 'default_branch')}":
        return Neutral(f"push to {_shown(ref)}, which is not the default branch")
    return RefreshBoard(
        repository(payload, "repository", "full_name"), nightly=False, sha=sha(payload, "after")
    )


def _schedule(_event_name: str, payload: Payload) -> Activity:
    return RefreshBoard(repository(payload, "repository", "full_name"), nightly=True)


_HANDLERS: Mapping[str, Callable[[str, Payload], Activity]] = {
    "pull_request": _pull_request,
    "pull_request_target": _pull_request,
    "issue_comment": _issue_comment,
    "workflow_dispatch": _workflow_dispatch,
    "workflow_run": _workflow_run,
    "push": _push,
    "schedule": _schedule,
}


def _input(inputs: Mapping[str, object], name: str) -> str:
    found = inputs.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise InputError(f"input {name}: no text")
    return found.strip()


def _flag(inputs: Mapping[str, object], name: str) -> bool:
    found = inputs.get(name)
    words = str(found).lower() if isinstance(found, bool) else _input(inputs, name)
    if words not in ("", "true", "false"):
        raise InputError(f"input {name}: {_shown(words)} is neither true nor false")
    return words == "true"


def _list(words: str) -> list[str]:
    return [word.strip() for word in re.split(r"[,\n]", words) if word.strip()]


def _shown(words: str) -> str:
    """Text from the event inside a message: quoted, escaped, short."""
    return ascii(words if len(words) <= 80 else words[:77] + "...")
