from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.github_double import Contract, GitHubDouble, Identity, Repository, missing_openapi
from tests.github_double.state import READ_ONLY
from utboost_action.github.client import Api, connection_from
from utboost_action.github.retry import Patience

BOARD = "board/experiments"
TOKEN = "token-of-the-action-0123456789"
READER = "token-of-a-fork-0123456789"


@dataclass
class Clock:
    """Time that passes only when somebody waits."""

    at: float = 1_700_000_000.0
    waits: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.at += seconds

    def patience(self, **limits: float) -> Patience:
        return Patience(sleep=self.sleep, now=lambda: self.at, note=self.notes.append, **limits)  # type: ignore[arg-type]


@dataclass
class Stage:
    """The double, its one board, and clients for it."""

    double: GitHubDouble
    board: Repository
    clock: Clock

    def api(self, token: str = TOKEN, **limits: float) -> Api:
        connection = connection_from(self.double.environ, token)
        return Api(connection, self.clock.patience(**limits), reads=0.0, writes=0.0)

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"]}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A board with one merged submission; afterwards every exchange is held against GitHub's description."""
    with GitHubDouble(tmp_path / "github") as double:
        board = double.add_repository(
            BOARD,
            {
                "README.md": b"A board.\n",
                "evaluation/lite/20240101_first/all_preds.jsonl": b"{}\n",
                "evaluation/lite/20240101_first/metadata.yaml": b"name: First\n",
            },
        )
        double.add_repository("submitter/experiments")
        double.tokens[TOKEN] = Identity("github-actions[bot]")
        double.tokens[READER] = Identity("github-actions[bot]", may_write=READ_ONLY)
        yield Stage(double, board, Clock())
        exchanges = list(double.exchanges)
    if missing_openapi() is None:
        problems = [problem for exchange in exchanges for problem in Contract.load().problems(exchange)]
        assert not problems, "\n".join(problems[:20])
