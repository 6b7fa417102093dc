"""Our own workflow files, run by act with the built image: real patches, doubles of GitHub and the model.

What differs from a board's own run: the image's name, where the rows lie, that instances' images are kept
(they cannot be pulled again), and the three actions of GitHub's own (checkout, artifacts), which cannot be
fetched here and are stood in for by `stubs/`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.github_double import Contract, GitHubDouble, Identity, Repository, missing_openapi
from tests.github_double.state import READ_ONLY
from tests.model_server import by_stage, model_server, stage_of

pytestmark = [pytest.mark.docker, pytest.mark.shared, pytest.mark.xdist_group("docker")]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
IMAGE = "utboost-action:test"
BOARD = "board/experiments"
FORK = "submitter/experiments"
TOKEN = "token-of-the-action-0123456789"
READER = "token-of-a-fork-0123456789"
FOLDER = "evaluation/lite/20260101_made"
INSTANCE = "mwaskom__seaborn-3010"
OTHER = "django__django-14787"
MODEL_KEY = "key-of-the-model-0123456789"
# what a model would write for INSTANCE: its issue says that rows with missing values break the fit
WRITTEN = """FILE: tests/_stats/test_polyfit_missing.py
<<<<<<< SEARCH
=======
import numpy as np
import pandas as pd
from pandas.testing import assert_frame_equal

from seaborn._core.groupby import GroupBy
from seaborn._stats.regression import PolyFit


def test_a_row_with_one_missing_value_is_left_out():
    whole = pd.DataFrame({"x": np.arange(9.0), "y": np.arange(9.0) ** 2})
    holes = pd.DataFrame({"x": [np.nan, 4.5], "y": [20.0, np.nan]})
    holed = pd.concat([whole, holes], ignore_index=True)
    fit = PolyFit(order=2, gridsize=10)
    groups = GroupBy(["group"])
    assert_frame_equal(fit(holed, groups, "x", {}), fit(whole, groups, "x", {}))
>>>>>>> REPLACE
"""
REPLIES: dict[str, str | list[str]] = {"files": "{}", "places": "{}", "lines": "{}", "write": WRITTEN}
_CHECKOUT = (
    r"\1- uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683\n"
    r"\1  with: {ref: main, persist-credentials: false}\n"
)
_USES = re.compile(r"(actions/[a-z-]+)@([0-9a-f]{40})")


@dataclass
class Stage:
    """A board on the double, a folder that act takes for its checkout, and what the runner mounts."""

    act: Path
    double: GitHubDouble
    board: Repository
    folder: Path

    @property
    def artifacts(self) -> Path:
        return self.folder / "stand-in" / "artifacts"

    def run(
        self, workflow: str, event: str, payload: dict[str, Any], *, token: str = TOKEN, **inputs: str
    ) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(self.artifacts, ignore_errors=True)
        self.artifacts.mkdir(parents=True)
        workflows = self.folder / "checkout" / ".github" / "workflows"
        shutil.rmtree(workflows, ignore_errors=True)
        workflows.mkdir(parents=True)
        text = (ROOT / "examples/workflows" / workflow).read_text()
        (workflows / workflow).write_text(_adapted(text, inputs))
        (workflows / "audit.yml").write_text(_adapted((ROOT / ".github/workflows/audit.yml").read_text(), {}))
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(payload))
        stubs = [
            f"--local-repository={name}@{sha}={HERE / 'stubs' / name.partition('/')[2]}"
            for name, sha in sorted(set(_USES.findall((ROOT / ".github/workflows/audit.yml").read_text())))
        ]
        variables = {
            **self.double.environ,
            "GITHUB_REPOSITORY": BOARD,
            "GITHUB_SHA": self.board.sha("refs/heads/main"),
        }
        done = subprocess.run(
            [
                *(
                    str(self.act),
                    event,
                    "--eventpath",
                    str(event_file),
                    "--workflows",
                    str(workflows / workflow),
                ),
                *(
                    "--platform",
                    "ubuntu-24.04=utboost-base:bookworm",
                    "--pull=false",
                    "--rm",
                    "--no-cache-server",
                ),
                *("--network", "host", "--container-options", f"-v {self.folder / 'stand-in'}:/stand-in"),
                *(
                    "--secret",
                    f"GITHUB_TOKEN={token}",
                    "--secret",
                    f"MODEL_KEY={MODEL_KEY}",
                    "--json",
                    *stubs,
                ),
                *(f"--env={name}={value}" for name, value in variables.items()),
            ],
            cwd=self.folder / "checkout",
            env={**os.environ, "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
        )
        (self.folder / "act.jsonl").write_text(done.stdout + done.stderr)
        return done

    def pull_event(self, number: int, head_repository: str) -> dict[str, Any]:
        pull = self.board.pulls[number]
        return {
            "action": "opened",
            "number": number,
            "repository": {"full_name": BOARD, "default_branch": "main", "owner": {"login": "board"}},
            "pull_request": {
                "number": number,
                "state": "open",
                "head": {"sha": pull.head_sha, "ref": "submission", "repo": {"full_name": head_repository}},
                "base": {"sha": self.board.sha("refs/heads/main"), "ref": "main"},
            },
        }

    @property
    def our_comments(self) -> list[str]:
        return [one.body for one in self.board.comments.values() if one.login == "github-actions[bot]"]

    def statuses(self, number: int) -> list[dict[str, Any]]:
        return self.board.statuses.get(self.board.pulls[number].head_sha, [])

    def data(self, path: str) -> Any:
        return json.loads(self.board.git("show", f"refs/heads/utboost-data:{path}"))


def _adapted(text: str, inputs: dict[str, str]) -> str:
    """The workflow with the images of this machine and rows from the checkout, and more inputs."""
    text = re.sub(r"docker://ghcr\.io/[^\s]+", f"docker://{IMAGE}", text)
    text = text.replace('remove-images: "true"', 'remove-images: "false"')
    text = re.sub(r"utboost/utboost-action/(\.github/workflows/audit\.yml)@0{40}.*", r"./\1", text)
    text = re.sub(
        r"( *)- uses: utboost/utboost-action@0{40}.*", rf"{_CHECKOUT}\1- uses: docker://{IMAGE}", text
    )
    more = {"benchmark": "benchmark/lite.parquet", "bank": "benchmark/augtests.json", **inputs}
    lines: list[str] = []
    secrets: list[str] = []  # the example's last lines are its inputs
    for line in text.splitlines():
        if line.strip() == "benchmark: lite":
            indent = line[: len(line) - len(line.lstrip())]
            lines += [f'{indent}{name}: "{value}"' for name, value in more.items()]
            if "model" in inputs:
                secrets.append(f"{indent[:-2]}secrets: {{model-key: '${{{{ secrets.MODEL_KEY }}}}'}}")
            if (
                f"docker://{IMAGE}" in text and "uses: ./" not in text
            ):  # an action's own defaults, by action.yml
                lines.append(f"{indent}github-token: ${{{{ github.token }}}}")
        else:
            lines.append(line)
    return "\n".join([*lines, *secrets]) + "\n"


@pytest.fixture(scope="module")
def tools() -> Path:
    """act, and the image built."""
    subprocess.run([str(HERE / "build_image.sh"), IMAGE], check=True, timeout=1500, capture_output=True)
    own = Path(sys.executable).parent / "act"
    if own.exists():
        return own
    found = subprocess.run(
        [str(HERE / "fetch_act.sh")], check=True, timeout=600, stdout=subprocess.PIPE, text=True
    )
    return Path(found.stdout.strip())


@pytest.fixture
def stage(tools: Path, shared: Path, built: Any, tmp_path: Path) -> Iterator[Stage]:
    built(INSTANCE, OTHER)
    checkout = tmp_path / "stand-in" / "checkout" / "benchmark"
    checkout.mkdir(parents=True)
    for name in ("lite.parquet", "augtests.json"):
        shutil.copy(shared / "real/benchmark" / name, checkout / name)
    (tmp_path / "checkout").mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "checkout")], check=True)
    with GitHubDouble(tmp_path / "github") as double:
        board = double.add_repository(BOARD, {"README.md": b"A board.\n"})
        double.add_repository(FORK)
        double.tokens[TOKEN] = Identity("github-actions[bot]")
        double.tokens[READER] = Identity("github-actions[bot]", may_write=READ_ONLY)
        yield Stage(tools, double, board, tmp_path)
        exchanges = list(double.exchanges)
    if missing_openapi() is None:
        problems = [problem for exchange in exchanges for problem in Contract.load().problems(exchange)]
        assert not problems, "\n".join(problems[:20])


def _files(shared: Path, name: str = "made") -> dict[str, bytes]:
    root = shared / f"real/instances/leaderboard/evaluation/lite/20260101_{name}"
    return {
        f"{FOLDER}/{path.relative_to(root)}": path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def _said(done: subprocess.CompletedProcess[str]) -> str:
    """The steps' output, for a failed assertion."""
    lines = []
    for line in done.stdout.splitlines():
        try:
            lines.append(json.loads(line).get("msg", "").rstrip())
        except ValueError:
            lines.append(line)
    return "\n".join(lines[-150:]) + done.stderr[-3000:]


def test_a_fork_is_audited_in_four_jobs_and_with_a_models_tests_after_a_push(stage: Stage, shared: Path):
    durations = {INSTANCE: 400, OTHER: 400}  # two shards
    stage.board.commit("refs/heads/utboost-data", {"durations.json": json.dumps(durations).encode()})
    stage.board.open_pull(7, _files(shared), head_repository=FORK)
    inputs = {"instances": f"{INSTANCE},{OTHER}", "repeats": "1"}
    done = stage.run("forks.yml", "pull_request_target", stage.pull_event(7, FORK), **inputs)
    assert done.returncode == 0, _said(done)
    assert {path.name for path in stage.artifacts.iterdir()} == {
        "utboost-plan", "utboost-shard-1", "utboost-shard-2", "utboost-logs-1", "utboost-logs-2",
        "utboost-report",
    }  # fmt: skip
    (comment,) = stage.our_comments
    assert "UTBoost audit of" in comment
    assert "WRONG" in comment
    (status,) = stage.statuses(7)
    assert status["context"] == "utboost/audit"
    assert status["state"] == "success"
    report = stage.data(f"pulls/7/{FOLDER}/report.json")
    verdicts = {entry["instance_id"]: entry["verdict"] for entry in report["instances"]}
    assert verdicts[INSTANCE] == "WRONG"
    badge = stage.data(f"pulls/7/{FOLDER}/badge.json")
    assert badge["schemaVersion"] == 1
    assert set(stage.data("durations.json")) == {INSTANCE, OTHER}
    assert "outcome" in done.stdout
    assert "comment-url" in done.stdout

    stage.board.push_head(7, {**_files(shared), f"{FOLDER}/NOTES.md": b"Pushed again.\n"})
    with model_server(by_stage(REPLIES)) as model:
        inputs |= {"instances": INSTANCE, "bank": "", "model": "test-model", "model-url": model.url}
        again = stage.run("forks.yml", "pull_request_target", stage.pull_event(7, FORK), **inputs)
    assert again.returncode == 0, _said(again)
    (updated,) = stage.our_comments
    assert updated != comment
    assert stage.statuses(7)[0]["state"] == "success"
    assert {stage_of(request) for request in model.requests} == set(REPLIES)
    assert {headers["authorization"] for headers in model.headers} == {f"Bearer {MODEL_KEY}"}
    (kept,) = stage.data(f"bank/{INSTANCE}.json")["tests"]
    assert kept["status"] == "candidate"
    assert "test_a_row_with_one_missing_value_is_left_out" in kept["patch"]
    report = stage.data(f"pulls/7/{FOLDER}/report.json")
    verdicts = {entry["instance_id"]: entry["verdict"] for entry in report["instances"]}
    assert verdicts[INSTANCE] == "SUSPECT"  # it differs, on a test that nobody has confirmed
    left = [path for path in stage.artifacts.rglob("*") if path.is_file()]
    assert [path for path in left if MODEL_KEY.encode() in path.read_bytes()] == []
    shown = [line for line in again.stdout.splitlines() if '"command":"add-mask"' not in line]
    assert MODEL_KEY not in "\n".join(shown) + again.stderr


def test_a_fork_with_a_read_only_token_gets_its_summary_and_is_not_green(stage: Stage, shared: Path):
    stage.board.open_pull(8, _files(shared), head_repository=FORK)
    done = stage.run(
        "same-repository.yml", "pull_request", stage.pull_event(8, FORK),
        token=READER, instances=INSTANCE, repeats="1",
    )  # fmt: skip
    said = _said(done)
    assert done.returncode != 0, said
    assert "comment (missing permission), commit status (missing permission)" in said
    assert "UTBoost audit of" in said  # act prints the summary
    assert "Job failed" in said
    assert not stage.our_comments
    assert not stage.statuses(8)
