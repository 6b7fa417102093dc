"""Pull requests that strain a whole run: many submissions, a fork that is gone, a long conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.integration.action.conftest import BOARD, FOLDER, READER, Board, submission_files
from utboost_action import sharding
from utboost_action.activities import zones
from utboost_action.settings import SandboxKind

ONE, TWO = "example__pocketknife-1", "example__pocketknife-2"
DATA = "utboost-data"
PAGE = 100  # comments
GONE = None  # the head repository of a pull request whose fork was deleted


def agents(count: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Submissions that differ: every other one, from the first, holds no patch for the second instance."""
    for number in range(count):
        folder = f"evaluation/demo/202601{number + 1:02}_agent"
        files = submission_files(folder)
        if number % 2 == 0:
            path = f"{folder}/all_preds.jsonl"
            kept = [line for line in files[path].splitlines(keepends=True) if TWO.encode() not in line]
            files[path] = b"".join(kept)
        yield folder, files


def comment_of(board: Board) -> str:
    (comment,) = board.our_comments
    return comment


def shown(text: str) -> str:
    """Markdown as a reader sees it, as far as these tests look."""
    return text.replace("&#95;", "_").replace("&#45;", "-").replace("&#47;", "/")


def test_twenty_submissions_in_one_pull_request(board: Board):
    submissions = dict(agents(20))
    files = {path: data for inside in submissions.values() for path, data in inside.items()}
    board.repository.open_pull(8, files, head_repository=BOARD)
    done = board.run("pull_request", board.pull_event(8), data_branch=DATA)
    assert (done.code, done.outputs["outcome"]) == (0, "done"), done.log
    assert done.outputs["submissions"] == "20"
    assert shown(comment_of(board)).count(f"no prediction for {TWO}") == 10
    rows = json.loads(done.outputs["results"])
    assert [row["path"] for row in rows] == sorted(submissions)
    assert {row["claimed"] for row in rows[1::2]} == {rows[1]["claimed"]}
    assert (done.outputs["holds"], done.outputs["wrong"]) == ("20", "10")
    comment = comment_of(board)
    assert len(comment.encode()) <= 65_000
    for text in (comment, done.summary):
        assert [folder for folder in submissions if folder not in shown(text)] == []
    (status,) = board.repository.statuses[board.repository.pulls[8].head_sha]
    assert status["description"] == "20 submissions: 10 wrong"
    kept = {path for path in board.data_paths() if path.startswith("pulls/8/")}
    assert kept == {
        f"pulls/8/{folder}/{name}" for folder in submissions for name in ("report.json", "badge.json", "tree")
    }
    trees = {folder: board.data(f"pulls/8/{folder}/tree").strip() for folder in submissions}
    head = board.repository.pulls[8].head_sha
    assert trees == {folder: board.repository.sha(f"{head}:{folder}") for folder in submissions}


def test_several_submissions_are_merged_from_shards(board: Board):
    submissions = dict(agents(4))
    files = {path: data for inside in submissions.values() for path, data in inside.items()}
    board.repository.commit(
        f"refs/heads/{DATA}", {"durations.json": json.dumps({ONE: 400, TWO: 400}).encode()}
    )
    board.repository.open_pull(8, files, head_repository=BOARD)
    event = board.pull_event(8)
    collected = board.run("pull_request", event, mode="collect", data_branch=DATA)
    assert collected.code == 0, collected.log
    shards = json.loads(collected.outputs["shards"])
    assert len(shards) == 2  # each instance with all its submissions, since its gold runs serve them all
    for shard in shards:
        assert board.run("", {}, mode="execute", shard=str(shard), token="").code == 0
    done = board.run("pull_request", event, mode="report", data_branch=DATA)
    assert done.code == 0, done.log
    assert (done.outputs["submissions"], done.outputs["missing-shards"]) == ("4", "")
    assert (done.outputs["holds"], done.outputs["wrong"]) == ("4", "2")
    assert len(board.our_comments) == 1


@pytest.fixture
def stand_in_for_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The local sandbox where the settings say docker, so that a fork's pull request is carried out here."""

    def execute(settings: Any, *arguments: Any) -> sharding.ShardResult:
        return sharding.execute(replace(settings, sandbox=SandboxKind.LOCAL), *arguments)

    monkeypatch.setattr(zones, "execute", execute)


@pytest.mark.usefixtures("stand_in_for_containers")
@pytest.mark.parametrize("git", [True, False], ids=["git", "rest"])
def test_a_pull_request_whose_fork_is_gone_is_audited(board: Board, git: bool):
    board.repository.open_pull(8, submission_files(), head_repository=GONE)
    event = board.pull_event(8, GONE)
    environ = {} if git else {"PATH": "/nowhere"}
    done = board.run(
        "pull_request_target", event, sandbox="docker", data_branch=DATA if git else "", environ=environ
    )
    assert (done.code, done.outputs["outcome"]) == (0, "done"), done.log
    assert (done.outputs["holds"], done.outputs["wrong"]) == ("1", "1"), done.summary
    assert done.outputs["head-sha"] == board.repository.pulls[8].head_sha
    (comment,) = board.our_comments
    assert FOLDER in shown(comment)
    (status,) = board.repository.statuses[board.repository.pulls[8].head_sha]
    assert status["state"] == "success"
    if git:
        assert json.loads(board.data(f"pulls/8/{FOLDER}/report.json"))["instances"]


@pytest.mark.usefixtures("stand_in_for_containers")
def test_a_maintainer_may_ask_for_it_though_the_fork_is_gone(board: Board):
    board.repository.open_pull(8, submission_files(), head_repository=GONE)
    event = board.comment_event(8, "/utboost audit")
    done = board.run("issue_comment", event, sandbox="docker", instances=ONE)
    assert done.code == 0, done.log
    assert done.outputs["holds"] == "1"
    by_hand = board.run("workflow_dispatch", {"inputs": {"pr-number": "8"}}, sandbox="docker", instances=ONE)
    assert by_hand.code == 0, by_hand.log
    assert len(board.our_comments) == 1


@pytest.mark.usefixtures("stand_in_for_containers")
def test_a_run_of_another_workflow_is_reported_though_the_fork_is_gone(board: Board):
    board.repository.open_pull(8, submission_files(), head_repository=GONE)
    run = {
        "id": 5,
        "event": "pull_request",
        "head_sha": board.repository.pulls[8].head_sha,
        "head_repository": None,
        "head_branch": "submission",
    }
    payload = {"action": "completed", "workflow_run": run}
    done = board.run("workflow_run", payload, sandbox="docker", instances=ONE)
    assert (done.code, done.outputs["outcome"]) == (0, "done"), done.log
    assert [comment.number for comment in board.repository.comments.values()] == [8]


def test_a_fork_that_is_gone_is_trusted_no_more_than_another(board: Board):
    board.repository.open_pull(8, submission_files(), head_repository=GONE)
    done = board.run("pull_request_target", board.pull_event(8, GONE))
    assert (done.code, done.outputs["outcome"]) == (2, "wrong input")
    assert "local isolates nothing" in done.annotations("error")[0]


@pytest.mark.usefixtures("stand_in_for_containers")
def test_a_fork_that_is_gone_has_a_read_only_token_that_is_named(board: Board):
    board.repository.open_pull(8, submission_files(), head_repository=GONE)
    done = board.run("pull_request", board.pull_event(8, GONE), token=READER, sandbox="docker", instances=ONE)
    assert (done.code, done.outputs["outcome"]) == (1, "not delivered")
    assert "UTBoost audit of" in done.summary
    assert not board.our_comments


def test_a_comment_on_page_three_is_updated_by_the_next_run(board: Board):
    for number in range(2 * PAGE + 10):
        board.double.comment(BOARD, 7, "someone", f"comment {number}")
    first = board.run("pull_request", board.pull_event(7), instances=ONE)
    assert first.code == 0, first.log
    for number in range(PAGE):
        board.double.comment(BOARD, 7, "someone", f"later {number}")
    before = dict(board.repository.comments)
    board.double.reset_counters()
    second = board.run("pull_request", board.pull_event(7), instances=TWO)
    assert second.code == 0, second.log
    asked = [e.query.get("page") for e in board.double.exchanges if e.path.endswith("/7/comments")]
    assert asked == [None, "2", "3", "4"]
    assert second.outputs["comment-url"] == first.outputs["comment-url"]
    (comment,) = board.our_comments
    assert TWO in shown(comment)
    assert set(board.repository.comments) == set(before)
    others = [each for each in board.repository.comments.values() if each.login == "someone"]
    assert not any(each.edits for each in others)


def test_a_conversation_that_was_locked_later_keeps_its_comment_up_to_date(board: Board):
    assert board.run("pull_request", board.pull_event(7), instances=ONE).code == 0
    board.repository.pulls[7].locked = True
    done = board.run("pull_request", board.pull_event(7), instances=TWO)
    assert (done.code, done.outputs["outcome"]) == (0, "done"), done.log
    assert done.outputs["wrong"] == "1"
    assert TWO in shown(comment_of(board))


def test_a_locked_conversation_takes_no_reaction_from_a_command(board: Board):
    board.repository.pulls[7].locked = True
    event = board.comment_event(7, "/utboost audit")
    done = board.run("issue_comment", event, instances=ONE)
    assert (done.code, done.outputs["outcome"]) == (1, "not delivered")
    assert "conversation locked" in done.annotations("error")[-1]
    assert "UTBoost audit of" in done.summary
    assert not board.our_comments


def test_a_push_between_the_jobs_and_one_during_the_report_are_superseded(
    board: Board, monkeypatch: pytest.MonkeyPatch
):
    event = board.pull_event(7)
    assert board.run("pull_request", event, mode="collect").code == 0
    assert board.run("", {}, mode="execute", shard="1", token="").code == 0

    def pushed_meanwhile(*arguments: Any) -> Any:
        board.repository.push_head(7, {**submission_files(), "x": b"1"})
        return sharding.report(*arguments)

    monkeypatch.setattr(zones, "report", pushed_meanwhile)
    done = board.run("pull_request", event, mode="report", data_branch=DATA)
    assert (done.code, done.outputs["outcome"]) == (0, "superseded")
    assert not board.our_comments
    assert not board.repository.statuses
    assert board.repository.git("for-each-ref", f"refs/heads/{DATA}") == b""


def test_a_push_while_the_submission_is_read_is_superseded(board: Board, monkeypatch: pytest.MonkeyPatch):
    """GitHub's answer still names the old head, git's ref has moved on already."""
    event = board.pull_event(7)
    old = board.repository.pulls[7].head_sha
    board.repository.push_head(7, {**submission_files(), "x": b"1"})
    board.repository.pulls[7].head_sha = old
    done = board.run("pull_request", event)
    assert (done.code, done.outputs["outcome"]) == (0, "superseded")
    assert not board.our_comments
    assert not board.repository.statuses
