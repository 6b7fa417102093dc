"""The one configured client for GitHub's REST and GraphQL interfaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from github import Auth, Github
from github.Repository import Repository

from utboost_action import __version__
from utboost_action.errors import InputError
from utboost_action.github.problems import GitHubError, Obstacle, doing
from utboost_action.github.retry import Patience, api_retry, limit_wait

_PASSING = (Obstacle.SERVER_FAULT, Obstacle.UNREACHABLE)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Connection:
    """Where GitHub is and how to speak to it; the token stays out of every representation.

    api_url, graphql_url, server_url: without a final slash (Enterprise Server: `https://HOST/api/v3`,
    `https://HOST/api/graphql`, `https://HOST`). ca_bundle: PEM file that replaces the default ones.
    """

    token: str = field(repr=False)
    api_url: str = "https://api.github.com"
    graphql_url: str = "https://api.github.com/graphql"
    server_url: str = "https://github.com"
    ca_bundle: Path | None = None

    def clone_url(self, repository: str) -> str:
        """The https address of a repository (`owner/name`), without credentials."""
        return f"{self.server_url}/{repository}.git"


def connection_from(environ: Mapping[str, str], token: str) -> Connection:
    """The connection of a workflow run, from what the runner sets (GITHUB_API_URL and its kin).

    The CA bundle is REQUESTS_CA_BUNDLE, else SSL_CERT_FILE. Raises InputError that names the variable.
    """
    if not token or token != token.strip() or not token.isprintable() or " " in token:
        raise InputError("input github-token: empty or no token; give `github-token: ${{ github.token }}`")
    defaults = Connection(token)
    return Connection(
        token,
        _url(environ, "GITHUB_API_URL", defaults.api_url),
        _url(environ, "GITHUB_GRAPHQL_URL", defaults.graphql_url),
        _url(environ, "GITHUB_SERVER_URL", defaults.server_url),
        _bundle(environ),
    )


class Api:
    """Calls to GitHub for one token: paged by 100, repeated and waited for as `Patience` allows.

    reads, writes: least seconds between two requests and two writes (secondary limits: 900 points a
    minute, 80 writes a minute).
    """

    def __init__(
        self,
        connection: Connection,
        patience: Patience | None = None,
        *,
        reads: float = 0.07,
        writes: float = 1.0,
        timeout: int = 30,
    ) -> None:
        self.connection = connection
        self.patience = patience or Patience()
        self.github = Github(
            auth=Auth.Token(connection.token),
            base_url=connection.api_url,
            verify=str(connection.ca_bundle) if connection.ca_bundle else True,
            retry=api_retry(self.patience),
            per_page=100,
            lazy=True,
            timeout=timeout,
            user_agent=f"utboost-action/{__version__}",
            seconds_between_requests=reads,
            seconds_between_writes=writes,
        )

    def repository(self, name: str) -> Repository:
        """A handle on `owner/name`; asks nothing yet."""
        return self.github.get_repo(name)

    def get(self, path: str, parameters: Mapping[str, str | int] | None = None) -> object:
        """One GET below the API's address; the decoded JSON."""
        with doing(f"read {path}"):
            return self.github.requester.requestJsonAndCheck("GET", path, dict(parameters or {}))[1]

    def post(self, path: str, value: Mapping[str, object]) -> object:
        """One POST, not repeated on server faults (see `repeated`); the decoded JSON."""
        with doing(f"write {path}"):
            return self.github.requester.requestJsonAndCheck("POST", path, input=dict(value))[1]

    def graphql(self, query: str, variables: Mapping[str, object], what: str) -> Mapping[str, object]:
        """The `data` of one GraphQL reply; only for queries and for mutations that may be repeated.

        Raises GitHubError; a reply with `errors` is one (FORBIDDEN and NOT_FOUND keep their kinds).
        """
        for attempt in range(self.patience.attempts):
            headers, reply = self.repeated(lambda: self._graphql(query, variables, what))
            errors = reply.get("errors")
            if not errors:
                break
            problem = _graphql_refusal(what, errors)
            if problem.obstacle is not Obstacle.RATE_LIMITED or attempt == self.patience.attempts - 1:
                raise problem
            self.patience.wait(limit_wait(headers, attempt, self.patience.now()), "GraphQL: limit")
        data = reply.get("data")
        if not isinstance(data, Mapping):
            raise GitHubError(Obstacle.UNEXPECTED, f"GitHub's reply holds no data: could not {what}")
        return data

    def repeated(self, action: Callable[[], _T]) -> _T:
        """Run an action that is safe to repeat, again after passing faults."""
        for attempt in range(self.patience.attempts):
            try:
                return action()
            except GitHubError as problem:
                if problem.obstacle not in _PASSING:
                    raise
                self.patience.wait(2.0**attempt, str(problem).partition(";")[0])
        return action()

    def _graphql(
        self, query: str, variables: Mapping[str, object], what: str
    ) -> tuple[Mapping[str, object], Mapping[str, object]]:
        """(headers in lower case, reply)."""
        with doing(what):
            headers, reply = self.github.requester.requestJsonAndCheck(
                "POST", self.connection.graphql_url, input={"query": query, "variables": dict(variables)}
            )
        return headers, reply if isinstance(reply, Mapping) else {}


def _graphql_refusal(what: str, errors: object) -> GitHubError:
    first: object = errors[0] if isinstance(errors, list) and errors else None
    kind, message = "", ""
    if isinstance(first, Mapping):
        kind, message = str(first.get("type") or ""), str(first.get("message") or "")
    obstacle = {
        "FORBIDDEN": Obstacle.MISSING_PERMISSION,
        "NOT_FOUND": Obstacle.NOT_FOUND,
        "RATE_LIMITED": Obstacle.RATE_LIMITED,
    }.get(kind, Obstacle.UNEXPECTED)
    shown = "".join(c if c.isprintable() and c.isascii() else "?" for c in message)[:200]
    return GitHubError(obstacle, f"GitHub refused to {what}: {obstacle} ({shown or 'no message'})")


def _url(environ: Mapping[str, str], name: str, default: str) -> str:
    value = environ.get(name, "").strip().rstrip("/") or default
    parts = urlsplit(value)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.query:
        raise InputError(f"environment {name}: no plain http(s) address; expected one like {default}")
    return value


def _bundle(environ: Mapping[str, str]) -> Path | None:
    for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
        if value := environ.get(name, ""):
            path = Path(value)
            if not path.is_file():
                raise InputError(f"environment {name}: {value!r} is no file; give the path of a PEM bundle")
            return path
    return None
