"""A step of a workflow as values: what it was told, what it may reach, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from utboost_action.github.annotations import foreign_lines
from utboost_action.settings import Settings

if TYPE_CHECKING:
    from utboost_action.github.client import Api


class Ending(StrEnum):
    """How a step ended; the value is the output `outcome`."""

    DONE = "done"
    NEUTRAL = "neutral"
    SUPERSEDED = "superseded"
    DECLINED = "declined"
    FLAGGED = "flagged"
    INCOMPLETE = "incomplete"
    NOT_DELIVERED = "not delivered"
    FAILED = "failed"
    WRONG_INPUT = "wrong input"

    @property
    def exit_code(self) -> int:
        """0 done or nothing to do; 1 not done or not said; 2 wrong input; 3 `fail-on` was met."""
        return _EXIT_CODES.get(self, 0)


_EXIT_CODES = {
    Ending.FLAGGED: 3,
    Ending.INCOMPLETE: 1,
    Ending.NOT_DELIVERED: 1,
    Ending.FAILED: 1,
    Ending.WRONG_INPUT: 2,
}


@dataclass(frozen=True, slots=True)
class Result:
    """How an activity ended, in one sentence, and the step outputs it leaves."""

    ending: Ending
    message: str
    outputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """The effects and settings of one step, made by `main` and passed down.

    environ: the variables as the runner gave them, without inputs and secrets. stream: the step's log.
    scratch: a folder of its own that goes when the step ends. api: makes the client (InputError without a
    token). commit: the commit that the workflow runs for (GITHUB_SHA).
    """

    settings: Settings
    environ: Mapping[str, str]
    stream: TextIO
    scratch: Path
    api: Callable[[], Api]
    now: Callable[[], datetime]
    clock: Callable[[], float]

    @property
    def commit(self) -> str:
        """The commit that the workflow runs for."""
        return self.environ.get("GITHUB_SHA", "")

    @property
    def run_url(self) -> str:
        """The page of this workflow run, "" outside of one."""
        names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
        server, repository, run = (self.environ.get(name, "") for name in names)
        return f"{server}/{repository}/actions/runs/{run}" if server and repository and run else ""

    def file(self, name: str) -> Path | None:
        """A file that the runner names in the environment (GITHUB_OUTPUT and its kin)."""
        found = self.environ.get(name, "")
        return Path(found) if found else None

    def say(self, text: str) -> None:
        """A line for the log; whatever is in it, the runner takes it for no command."""
        self.stream.write(foreign_lines(text) + "\n")
        self.stream.flush()
