from __future__ import annotations

import json
import random
import threading
from pathlib import Path

import pytest

from tests.github_double import Fault
from tests.integration.github.conftest import BOARD, READER, TOKEN, Stage
from utboost_action.errors import InputError
from utboost_action.github.data_branch import DataTree, Pushed, Writer, update_data_branch
from utboost_action.github.git import Git, Remote
from utboost_action.github.problems import GitHubError, Obstacle

BRANCH = "utboost-data"


def update(stage: Stage, folder: Path, write: Writer, *, token: str = TOKEN, attempts: int = 8) -> Pushed:
    git = Git(folder, Remote(f"{stage.double.url}/{BOARD}.git", token), stage.environ)
    return update_data_branch(
        git, BRANCH, write, "Audit", patience=stage.clock.patience(), attempts=attempts, spread=lambda: 0.5
    )


def add(name: str) -> Writer:
    """A badge of its own, and the board's list, made from what is there."""

    def write(tree: DataTree) -> dict[str, bytes | None]:
        before = json.loads(tree.read(["board.json"]).get("board.json", b"[]"))
        return {
            f"badges/{name}.json": b"{}\n",
            "board.json": json.dumps(sorted({*before, name})).encode(),
        }

    return write


def on_branch(stage: Stage, path: str) -> bytes:
    return stage.board.git("cat-file", "blob", f"refs/heads/{BRANCH}:{path}")


def test_the_branch_is_made_without_history_and_then_grows(stage: Stage, tmp_path: Path) -> None:
    first = update(stage, tmp_path / "a", add("one"))
    second = update(stage, tmp_path / "b", add("two"))
    assert (first.pushes, second.pushes) == (1, 1)
    assert json.loads(on_branch(stage, "board.json")) == ["one", "two"]
    log = stage.board.git("rev-list", f"refs/heads/{BRANCH}").decode().split()
    assert log == [second.commit, first.commit]
    assert on_branch(stage, "badges/one.json") == b"{}\n"


def test_nothing_changed_nothing_pushed(stage: Stage, tmp_path: Path) -> None:
    first = update(stage, tmp_path / "a", add("one"))
    again = update(stage, tmp_path / "b", add("one"))
    assert again == Pushed(first.commit, 0, ())


def test_a_file_is_deleted(stage: Stage, tmp_path: Path) -> None:
    update(stage, tmp_path / "a", add("one"))
    found = update(stage, tmp_path / "b", lambda tree: {"badges/one.json": None, "absent": None})
    assert found.paths == ("badges/one.json",)
    assert stage.board.git("ls-tree", "-r", "--name-only", f"refs/heads/{BRANCH}") == b"board.json\n"


def test_a_rejected_push_makes_the_files_again_from_what_is_there(stage: Stage, tmp_path: Path) -> None:
    update(stage, tmp_path / "a", add("one"))
    calls = 0

    def write(tree: DataTree) -> dict[str, bytes | None]:
        nonlocal calls
        calls += 1
        if calls == 1:
            update(stage, tmp_path / "other", add("meanwhile"))
        return dict(add("mine")(tree))

    found = update(stage, tmp_path / "b", write)
    assert (calls, found.pushes) == (2, 2)
    assert json.loads(on_branch(stage, "board.json")) == ["meanwhile", "mine", "one"]


def test_two_runs_make_the_branch_at_once(stage: Stage, tmp_path: Path) -> None:
    calls = 0

    def write(tree: DataTree) -> dict[str, bytes | None]:
        nonlocal calls
        calls += 1
        if calls == 1:
            update(stage, tmp_path / "other", add("first"))
        return dict(add("second")(tree))

    update(stage, tmp_path / "b", write)
    assert json.loads(on_branch(stage, "board.json")) == ["first", "second"]


def test_six_runs_at_once_lose_nothing(stage: Stage, tmp_path: Path) -> None:
    problems: list[BaseException] = []

    def run(name: str) -> None:
        try:
            update(stage, tmp_path / name, add(name), attempts=20)
        except BaseException as problem:
            problems.append(problem)

    names = [f"run{n}" for n in range(6)]
    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert json.loads(on_branch(stage, "board.json")) == names


def test_a_push_that_never_comes_through_is_named(stage: Stage, tmp_path: Path) -> None:
    update(stage, tmp_path / "a", add("one"))
    calls = 0

    def write(tree: DataTree) -> dict[str, bytes | None]:
        nonlocal calls
        calls += 1
        update(stage, tmp_path / f"other{calls}", add(f"other{calls}"))
        return dict(add("mine")(tree))

    with pytest.raises(GitHubError, match="concurrency group") as refused:
        update(stage, tmp_path / "b", write, attempts=3)
    assert refused.value.obstacle is Obstacle.CONTENDED
    assert "mine" not in json.loads(on_branch(stage, "board.json"))


def test_a_server_fault_is_repeated(stage: Stage, tmp_path: Path) -> None:
    stage.double.faults.append(Fault("POST", r"git-receive-pack", 502))
    assert update(stage, tmp_path / "a", add("one")).paths


def test_a_read_only_token_is_named(stage: Stage, tmp_path: Path) -> None:
    with pytest.raises(GitHubError) as refused:
        update(stage, tmp_path / "a", add("one"), token=READER)
    assert refused.value.obstacle is Obstacle.MISSING_PERMISSION
    assert READER not in str(refused.value)


def test_a_large_branch_is_not_downloaded(stage: Stage, tmp_path: Path) -> None:
    noise = random.Random(3)
    stage.board.commit(f"refs/heads/{BRANCH}", {f"runs/{n}.gz": noise.randbytes(50_000) for n in range(60)})
    stage.double.reset_counters()
    update(stage, tmp_path / "a", add("one"))
    assert stage.double.sent < 30_000
    assert on_branch(stage, "board.json") == b'["one"]'
    assert len(on_branch(stage, "runs/7.gz")) == 50_000


@pytest.mark.parametrize("path", ["../x", "/x", "a/.git/config", 'a"b', "a\nb", ""])
def test_a_path_that_is_not_plain_is_refused(stage: Stage, tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match="plain path"):
        update(stage, tmp_path / "a", lambda tree: {path: b""})


@pytest.mark.parametrize("branch", ["", "-x", "a..b", "a b", "x.lock", "+x:y"])
def test_a_branch_that_is_none_is_refused(stage: Stage, tmp_path: Path, branch: str) -> None:
    git = Git(tmp_path / "a", Remote(f"{stage.double.url}/{BOARD}.git", TOKEN), stage.environ)
    with pytest.raises(InputError, match="data-branch"):
        update_data_branch(git, branch, add("x"), "Audit")
