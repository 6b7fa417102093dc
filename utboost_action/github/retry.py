"""When a request to GitHub is sent again, and how long the action is willing to wait in all.

Limits come as 403 or 429: wait what Retry-After says, else until the reset of an exhausted limit, else
60 seconds and twice as long each time. Server faults: 1, 2, 4, ... seconds, and only for methods that
may be repeated without harm (PATCH of a comment sets the same text again; POST may post twice).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from github.GithubException import RateLimitExceededException
from github.Requester import Requester
from urllib3.connectionpool import ConnectionPool
from urllib3.response import BaseHTTPResponse
from urllib3.util.retry import Retry

from utboost_action.github.problems import GitHubError, Obstacle

REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"})
_SERVER_FAULTS = frozenset(range(500, 600))
_UNSTATED_WAIT = 60.0  # seconds; GitHub's advice for a secondary limit without Retry-After


@dataclass(slots=True)
class Patience:
    """How long one run may wait for GitHub, in seconds; shared by all its requests, so `spent` adds up.

    longest: one wait beyond it is not begun. total: nor one that would make the sum larger than this.
    attempts: how often one request is repeated. note: is told of each wait before it begins.
    """

    longest: float = 120.0
    total: float = 600.0
    attempts: int = 5
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    note: Callable[[str], None] = lambda _line: None
    spent: float = 0.0

    def wait(self, seconds: float, why: str) -> None:
        """Wait, or raise GitHubError (RATE_LIMITED) when that is longer than this run may take."""
        if seconds > self.longest or self.spent + seconds > self.total:
            raise GitHubError(
                Obstacle.RATE_LIMITED,
                f"{why}: GitHub asks to wait {seconds:.0f} s, more than this run may (at most "
                f"{self.longest:.0f} s at a time, {self.total - self.spent:.0f} s left); "
                "run the job again later",
            )
        self.note(f"{why}: waiting {seconds:.0f} s")
        self.sleep(seconds)
        self.spent += seconds


class ApiRetry(Retry):
    """The repeats of one request, as urllib3 asks for them; all waiting goes through one Patience."""

    def __init__(self, *, patience: Patience, **settings: Any) -> None:
        self.patience = patience
        super().__init__(**settings)

    def new(self, **settings: Any) -> Self:
        """A copy with other counters, as urllib3 makes for each repeat."""
        return super().new(patience=self.patience, **settings)

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:  # noqa: ARG002 (urllib3 calls it so)
        """Whether to look at a reply again: every 403 and 429 (`increment` judges), faults by method."""
        if status_code in (403, 429):
            return True
        return status_code in _SERVER_FAULTS and method.upper() in REPEATABLE

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """Wait for the next attempt; GithubException: this reply is final, GitHubError: too long a wait."""
        what = f"{method} {(url or '').partition('?')[0]}"
        earlier = len(self.history)
        limited = response is not None and response.status in (403, 429)
        if limited and response is not None:
            reply = _reply(response)
            headers = {name.lower(): value for name, value in response.headers.items()}
            if not _is_limit(response, reply) or self.total in (0, None):
                if response.status == 429:
                    raise RateLimitExceededException(429, reply, headers)
                raise Requester.createException(response.status, headers, dict(reply))
            following = super().increment(method, url, response, error, _pool, _stacktrace)
            self.patience.wait(self._limit_wait(response, earlier), f"{what}: limit ({response.status})")
            return following
        following = super().increment(method, url, response, error, _pool, _stacktrace)
        asked = self.get_retry_after(response) if response is not None else None
        reason = f"status {response.status}" if response is not None else type(error).__name__
        self.patience.wait(asked if asked is not None else 2.0**earlier, f"{what}: {reason}")
        return following

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Nothing: `increment` has waited."""

    def _limit_wait(self, response: BaseHTTPResponse, earlier: int) -> float:
        asked = self.get_retry_after(response)
        return asked if asked is not None else limit_wait(response.headers, earlier, self.patience.now())


def limit_wait(headers: Mapping[str, Any], earlier: int, now: float) -> float:
    """Seconds to wait for a limit that comes without Retry-After, after `earlier` waits for the same reply.

    headers: looked up case-insensitively or in lower case. now: seconds since the epoch.
    """
    reset = str(headers.get("x-ratelimit-reset", ""))
    if str(headers.get("x-ratelimit-remaining", "")) == "0" and reset.isdigit():
        return max(float(reset) - now, 0.0) + 1.0
    return _UNSTATED_WAIT * 2.0**earlier


def api_retry(patience: Patience) -> ApiRetry:
    """The retry of the one configured client."""
    return ApiRetry(
        patience=patience,
        total=patience.attempts,
        allowed_methods=REPEATABLE,
        raise_on_status=False,
        respect_retry_after_header=True,
    )


def _reply(response: BaseHTTPResponse) -> Mapping[str, Any]:
    try:
        value = json.loads(response.data)
    except (ValueError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_limit(response: BaseHTTPResponse, reply: Mapping[str, Any]) -> bool:
    return (
        response.status == 429
        or "Retry-After" in response.headers
        or response.headers.get("X-RateLimit-Remaining") == "0"
        or Requester.isRateLimitError(str(reply.get("message") or ""))
    )
