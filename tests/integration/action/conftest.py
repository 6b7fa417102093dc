"""A board on the GitHub double, and steps of a workflow run on it as `main` would run them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.github_double import Contract, GitHubDouble, Identity, Repository, missing_openapi
from tests.github_double.runner import RunnerCommand, commands_in, outputs_in
from tests.github_double.state import READ_ONLY
from utboost_action import main

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FOLDER = "evaluation/demo/20260101_example_agent"
BOARD = "board/experiments"
TOKEN = "token-of-the-action-0123456789"
READER = "token-of-a-fork-0123456789"
SMALL = "example__pocketknife-1,example__pocketknife-2"


def submission_files(folder: str = FOLDER) -> dict[str, bytes]:
    root = EXAMPLES / "leaderboard" / FOLDER
    return {
        f"{folder}/{path.relative_to(root)}": path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


@dataclass
class Done:
    """What one step left behind."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def commands(self) -> list[RunnerCommand]:
        return commands_in(self.log)

    def annotations(self, level: str) -> list[str]:
        return [f"{c.properties.get('title', '')}: {c.data}" for c in self.commands if c.name == level]


@dataclass
class Board:
    """The double, the board's repository, and a runner for steps."""

    double: GitHubDouble
    repository: Repository
    folder: Path
    cache: Path
    steps: int = 0
    inputs: dict[str, str] = field(default_factory=dict)

    def event(self, name: str, **payload: Any) -> Path:
        path = self.folder / f"event-{self.steps}-{name}.json"
        whole = {"repository": {"full_name": BOARD, "default_branch": "main"}, **payload}
        path.write_text(json.dumps(whole))
        return path

    def pull_event(self, number: int, head_repository: str | None = BOARD) -> dict[str, Any]:
        pull = self.repository.pulls[number]
        repo = {"full_name": head_repository} if head_repository else None
        return {
            "action": "opened",
            "pull_request": {
                "number": number,
                "state": "open",
                "head": {"sha": pull.head_sha, "repo": repo},
                "base": {"sha": self.repository.sha("refs/heads/main")},
            },
        }

    def comment_event(self, number: int, body: str, login: str = "maintainer") -> dict[str, Any]:
        found = self.double.comment(BOARD, number, login, body)
        comment = self.repository.comments[found]
        return {
            "action": "created",
            "issue": {"number": number, "state": "open", "pull_request": {}},
            "comment": {
                "id": found,
                "body": body,
                "created_at": comment.at,
                "user": {"login": login, "type": "User"},
            },
        }

    def run(
        self,
        event: str,
        payload: Mapping[str, Any],
        *,
        token: str = TOKEN,
        environ: Mapping[str, str] | None = None,
        **inputs: str,
    ) -> Done:
        """One step; inputs with `_` for `-`."""
        self.steps += 1
        place = self.folder / f"step-{self.steps}"
        place.mkdir()
        given = {
            "github-token": token,
            "benchmark": str(EXAMPLES / "benchmark/rows.jsonl"),
            "bank": str(EXAMPLES / "benchmark/bank"),
            "sandbox": "local",
            "trees": str(EXAMPLES / "benchmark/trees"),
            "repeats": "1",
            "instances": SMALL,
            "out": str(place / "out"),
            "cache": str(self.cache),
            "exchange": str(self.folder / "exchange"),
            **self.inputs,
            **{name.replace("_", "-"): value for name, value in inputs.items()},
        }
        variables = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(self.event(event, **payload)),
            "GITHUB_OUTPUT": str(place / "output"),
            "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "GITHUB_SHA": self.repository.sha("refs/heads/main"),
            "GITHUB_REPOSITORY": BOARD,
            "GITHUB_RUN_ID": "77",
            **self.double.environ,
            **{f"INPUT_{name.upper()}": value for name, value in given.items()},
            **(environ or {}),
        }
        scratch = place / "scratch"
        scratch.mkdir()
        log = io.StringIO()
        code = main.run(variables, log, scratch)
        texts = [path.read_text() if path.exists() else "" for path in (place / "output", place / "summary")]
        return Done(code, log.getvalue(), outputs_in(texts[0]), texts[1])

    def data(self, path: str) -> str:
        return self.repository.git("show", f"refs/heads/utboost-data:{path}").decode()

    def data_paths(self) -> list[str]:
        listed = self.repository.git("ls-tree", "-r", "--name-only", "refs/heads/utboost-data")
        return listed.decode().split()

    @property
    def our_comments(self) -> list[str]:
        found = sorted(self.repository.comments.values(), key=lambda comment: comment.id)
        return [comment.body for comment in found if comment.login == "github-actions[bot]"]


@pytest.fixture(scope="session")
def gold_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gold")


@pytest.fixture
def board(tmp_path: Path, gold_cache: Path) -> Iterator[Board]:
    """A board with pull request 7; afterwards every exchange is held against GitHub's description."""
    with GitHubDouble(tmp_path / "github") as double:
        repository = double.add_repository(BOARD, {"README.md": b"A board.\n"})
        double.add_repository("submitter/experiments")
        double.tokens[TOKEN] = Identity("github-actions[bot]")
        double.tokens[READER] = Identity("github-actions[bot]", may_write=READ_ONLY)
        repository.permissions["maintainer"] = "maintain"
        repository.open_pull(7, submission_files(), head_repository=BOARD)
        yield Board(double, repository, tmp_path, gold_cache)
        exchanges = list(double.exchanges)
    if missing_openapi() is None:
        problems = [problem for exchange in exchanges for problem in Contract.load().problems(exchange)]
        assert not problems, "\n".join(problems[:20])
