"""The image as GitHub's runner starts it: its mounts, users and files, and what earlier steps leave."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.github_double import GitHubDouble, Identity
from tests.github_double.runner import commands_in, outputs_in

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "utboost-action:test"
BOARD = "board/experiments"
TOKEN = "token-of-the-action-0123456789"
FOLDER = "evaluation/demo/20260101_example_agent"
RUNNER_USER = 1001
# host folder of the runner's work directory -> where the container sees it
MOUNTS = {
    "_temp": "/github/runner_temp",
    "_temp/_github_home": "/github/home",
    "_temp/_github_workflow": "/github/workflow",
    "_temp/_runner_file_commands": "/github/file_commands",
    "experiments/experiments": "/github/workspace",
}


@dataclass
class Done:
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@dataclass
class Runner:
    """The work directory of a runner on this host."""

    work: Path
    double: GitHubDouble

    @property
    def workspace(self) -> Path:
        return self.work / "experiments/experiments"

    def run(
        self, payload: dict[str, object], *, event: str = "pull_request", hostile: bool = True, **inputs: str
    ) -> Done:
        """One step, as the runner's ContainerActionHandler puts it together."""
        commands = self.work / "_temp/_runner_file_commands"
        for name in ("set_output", "step_summary"):
            (commands / name).write_text("")
        (self.work / "_temp/_github_workflow/event.json").write_text(json.dumps(payload))
        _give(self.work)
        given = {
            "github-token": TOKEN, "benchmark": "benchmark/rows.jsonl", "bank": "benchmark/bank",
            "sandbox": "local", "trees": "benchmark/trees", "repeats": "1", **inputs,
        }  # fmt: skip
        variables = {
            **{f"INPUT_{name.upper().replace('_', '-')}": value for name, value in given.items()},
            **self.double.environ,
            "HOME": "/github/home",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_OUTPUT": "/github/file_commands/set_output",
            "GITHUB_STEP_SUMMARY": "/github/file_commands/step_summary",
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_REPOSITORY": BOARD,
            "GITHUB_SHA": self.double.repositories[BOARD].sha("refs/heads/main"),
            "GITHUB_RUN_ID": "77",
            "RUNNER_TEMP": "/github/runner_temp",
            "RUNNER_WORKSPACE": str(self.work / "experiments"),
            "ACTIONS_RUNTIME_TOKEN": "runtime-token-0123456789",
        }
        if hostile:
            variables |= {
                "PATH": "/opt/hostedtoolcache/Python/3.8/x64/bin:/nonexistent",
                "PYTHONPATH": "/github/workspace/evil",
                "PYTHONHOME": "/nonexistent",
                "LD_LIBRARY_PATH": "/github/workspace/evil",
                "LD_PRELOAD": "/github/workspace/evil/absent.so",
                "pythonLocation": "/opt/hostedtoolcache/Python/3.8/x64",
                "GIT_DIR": "/github/workspace/evil",
            }
        words = ["docker", "run", "--rm", "--network", "host", "--workdir", "/github/workspace"]
        for host, inside in MOUNTS.items():
            words += ["-v", f"{self.work / host}:{inside}"]
        words += ["-v", "/var/run/docker.sock:/var/run/docker.sock"]
        for name, value in variables.items():
            words += ["-e", f"{name}={value}"]
        done = subprocess.run([*words, IMAGE], capture_output=True, text=True, timeout=600, check=False)
        return Done(
            done.returncode,
            done.stdout + done.stderr,
            outputs_in((commands / "set_output").read_text()),
            (commands / "step_summary").read_text(),
        )

    def pull_event(self, number: int = 7) -> dict[str, object]:
        board = self.double.repositories[BOARD]
        return {
            "action": "opened",
            "repository": {"full_name": BOARD, "default_branch": "main"},
            "pull_request": {
                "number": number,
                "state": "open",
                "head": {"sha": board.pulls[number].head_sha, "repo": {"full_name": BOARD}},
                "base": {"sha": board.sha("refs/heads/main")},
            },
        }


def _give(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, RUNNER_USER, RUNNER_USER, follow_symlinks=False)


@pytest.fixture(scope="module")
def image() -> str:
    script = ROOT / "tests/end_to_end/build_image.sh"
    subprocess.run([str(script), IMAGE], check=True, timeout=1500, capture_output=True)
    return IMAGE


@pytest.fixture
def runner(image: str, tmp_path: Path) -> Iterator[Runner]:
    if os.geteuid() != 0:
        pytest.skip("needs root, to lay out the runner's folders as another user's")
    work = tmp_path / "work"
    for host in MOUNTS:
        (work / host).mkdir(parents=True, exist_ok=True)
    workspace = work / "experiments/experiments"
    shutil.copytree(ROOT / "examples/benchmark", workspace / "benchmark")
    evil = workspace / "evil"
    evil.mkdir()
    for name in ("json.py", "typing.py", "sitecustomize.py", "utboost_action.py"):
        (evil / name).write_text("raise SystemExit('taken over')\n")
    shutil.copytree(evil, workspace, dirs_exist_ok=True)  # also in the work folder itself
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    root = ROOT / "examples/leaderboard" / FOLDER
    files = {f"{FOLDER}/{p.relative_to(root)}": p.read_bytes() for p in root.rglob("*") if p.is_file()}
    with GitHubDouble(tmp_path / "github") as double:
        board = double.add_repository(BOARD, {"README.md": b"A board.\n"})
        double.tokens[TOKEN] = Identity("github-actions[bot]")
        board.open_pull(7, files, head_repository=BOARD)
        yield Runner(work, double)


def test_the_image_audits_under_a_hostile_environment(runner: Runner):
    done = runner.run(runner.pull_event(), instances="example__pocketknife-2")
    assert done.code == 0, done.log
    assert done.outputs["outcome"] == "done"
    assert done.outputs["wrong"] == "1"
    assert "UTBoost audit of" in done.summary
    (comment,) = runner.double.repositories[BOARD].comments.values()
    assert "WRONG" in comment.body
    report = json.loads((runner.workspace / done.outputs["report"]).read_text())
    assert report["instances"][0]["verdict"] == "WRONG"
    left = [path for path in runner.work.rglob("*") if path.lstat().st_uid != RUNNER_USER]
    assert not [path for path in left if "_runner_file_commands" not in str(path)], left
    assert "runtime-token" not in done.log
    assert {command.name for command in commands_in(done.log)} <= {"add-mask", "notice", "warning"}


def test_the_image_reaches_the_engine_and_says_when_an_image_is_not_there(runner: Runner):
    done = runner.run(
        runner.pull_event(), instances="example__pocketknife-2", sandbox="docker", trees="", pull="false"
    )
    assert done.code == 0, done.log
    assert done.outputs["inconclusive"] == "1"
    assert "image local:pocketknife is not here" in (runner.workspace / done.outputs["report"]).read_text()


def test_a_step_that_is_told_nothing_says_what_it_needs(runner: Runner):
    done = runner.run(runner.pull_event(), benchmark="")
    assert done.code == 2
    assert "input benchmark" in done.log


def test_the_image_is_the_command_line_too(image: str):
    done = subprocess.run(
        ["docker", "run", "--rm", "--network", "none", image, "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("utboost-action ")


def test_without_the_socket_the_step_says_so(runner: Runner, image: str):
    words = ["docker", "run", "--rm", "--network", "none", image, "audit"]
    examples = "/opt/utboost/examples"
    words += [f"{examples}/leaderboard/{FOLDER}", "--benchmark", f"{examples}/benchmark/rows.jsonl"]
    done = subprocess.run([*words, "--out", "/tmp/out"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no Docker engine answers" in done.stderr
