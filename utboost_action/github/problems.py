"""What can stand in the way at GitHub, as a closed list, and the one place that reads its error replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum

import requests
from github import GithubException
from github.GithubException import RateLimitExceededException

from utboost_action.errors import AuditError

_SHOWN = 200


class Obstacle(StrEnum):
    """Why GitHub did not do what was asked; the value is the name that people see."""

    MISSING_PERMISSION = "missing permission"
    BAD_CREDENTIALS = "bad credentials"
    LOCKED = "conversation locked"
    SWITCHED_OFF = "switched off"
    NOT_FOUND = "not found"
    INVALID = "refused as invalid"
    RATE_LIMITED = "rate limited"
    SERVER_FAULT = "server fault"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too large"
    SUPERSEDED = "superseded"
    NO_GIT = "no git"
    CONTENDED = "contended"
    UNEXPECTED = "unexpected reply"


_MENDS: Mapping[Obstacle, str] = {
    Obstacle.BAD_CREDENTIALS: "give the input `github-token` a token that is still valid",
    Obstacle.LOCKED: "unlock the conversation, or read the job summary instead",
    Obstacle.NOT_FOUND: "check the name and that the token may see the repository",
    Obstacle.RATE_LIMITED: "run the job again later",
    Obstacle.SERVER_FAULT: "run the job again",
    Obstacle.UNREACHABLE: "check the network, the proxy and the CA bundle of the runner",
}


class GitHubError(AuditError):
    """GitHub, or git talking to it, did not do what was asked (`obstacle` says which kind of refusal)."""

    def __init__(self, obstacle: Obstacle, message: str) -> None:
        super().__init__(message)
        self.obstacle = obstacle


class SupersededError(GitHubError):
    """The pull request moved on: what was to be read or written belongs to an older head (ends neutral)."""

    def __init__(self, number: int, expected: str, found: str) -> None:
        super().__init__(
            Obstacle.SUPERSEDED,
            f"pull request #{number} is superseded: its head is {found[:12]} now, this run is for "
            f"{expected[:12]}; the run of the newer head reports",
        )
        self.expected = expected
        self.found = found


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Turn what PyGithub and requests raise into a GitHubError; `what` reads like "post the comment"."""
    try:
        yield
    except GithubException as problem:
        raise _refusal(what, problem) from None
    except requests.exceptions.RequestException as problem:
        raise GitHubError(
            Obstacle.UNREACHABLE,
            f"could not {what}: GitHub does not answer ({_unreachable(problem)}); "
            f"{_MENDS[Obstacle.UNREACHABLE]}",
        ) from None


def obstacle_of(status: int, message: str) -> Obstacle:
    """The kind of refusal that an HTTP status and GitHub's own message stand for (limits excepted)."""
    text = message.lower()
    if status in (401, 404, 410, 429):
        return {
            401: Obstacle.BAD_CREDENTIALS,
            404: Obstacle.NOT_FOUND,
            410: Obstacle.SWITCHED_OFF,
            429: Obstacle.RATE_LIMITED,
        }[status]
    if status == 403:
        return Obstacle.LOCKED if "locked" in text else Obstacle.MISSING_PERMISSION
    if status == 422:
        return Obstacle.TOO_LARGE if "too long" in text or "too large" in text else Obstacle.INVALID
    return Obstacle.SERVER_FAULT if status >= 500 else Obstacle.UNEXPECTED


def one_line(text: str) -> str:
    """Text from outside for an error message: printable ASCII in one line, at most 200 characters."""
    line = " ".join(text.split()).encode("ascii", "backslashreplace").decode("ascii")
    line = "".join(character if character.isprintable() else "?" for character in line)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."


def _refusal(what: str, problem: GithubException) -> GitHubError:
    data: object = problem.data
    message = str(data.get("message") or "") if isinstance(data, Mapping) else str(data or "")
    if isinstance(data, Mapping):
        message = _with_details(message, data.get("errors"))
    message = message or problem.message or "no message"
    limited = isinstance(problem, RateLimitExceededException) or type(problem).__name__.startswith(
        "RateLimit"
    )
    kind = Obstacle.RATE_LIMITED if limited else obstacle_of(problem.status, message)
    mend = _MENDS.get(kind, "")
    if kind is Obstacle.MISSING_PERMISSION:
        needed = dict(problem.headers or {}).get("x-accepted-github-permissions", "")
        mend = (
            f"the job needs `permissions:` {one_line(str(needed)) or 'for this'}; "
            "a pull request from a fork runs with a read-only token (docs/github.md, Forks)"
        )
    text = f"GitHub refused to {what}: {kind} ({problem.status} {one_line(message)})"
    return GitHubError(kind, f"{text}; {mend}" if mend else text)


def _with_details(message: str, errors: object) -> str:
    """GitHub's message with the first of its `errors`, which is where 422 says what is too long."""
    if not isinstance(errors, list) or not errors:
        return message
    first: object = errors[0]
    detail = first.get("message") or first.get("code") if isinstance(first, Mapping) else first
    return f"{message}: {detail}" if message and detail else message or str(detail or "")


def _unreachable(problem: Exception) -> str:
    text = str(problem)
    for sign, words in (
        ("CERTIFICATE_VERIFY", "its certificate is not trusted"),
        ("timed out", "timed out"),
        ("Name or service not known", "its name cannot be resolved"),
        ("Connection refused", "connection refused"),
    ):
        if sign in text:
            return words
    return type(problem).__name__
