"""Maintainers' commands, re-audits by hand, runs of other workflows, and the board's badges."""

from __future__ import annotations

import json

import pytest

from tests.integration.action.conftest import BOARD, FOLDER, Board, submission_files

ONE, TWO = "example__pocketknife-1", "example__pocketknife-2"
DATA = "utboost-data"


def reactions(board: Board, payload: dict) -> list[str]:
    return [content for _, content in board.repository.comments[payload["comment"]["id"]].reactions]


def test_a_maintainer_has_it_audited(board: Board):
    event = board.comment_event(7, "/utboost audit")
    done = board.run("issue_comment", event, instances=ONE)
    assert done.code == 0, done.log
    assert reactions(board, event) == ["eyes", "rocket"]
    assert len(board.our_comments) == 1


def test_a_recheck_runs_one_instance_and_keeps_the_report(board: Board):
    assert board.run("pull_request", board.pull_event(7), instances=ONE).code == 0
    event = board.comment_event(7, f"/utboost recheck {TWO}")
    done = board.run("issue_comment", event, data_branch=DATA)
    assert done.code == 0, done.log
    first, second = board.our_comments
    assert "key:audit" in first
    assert "key:recheck" in second
    assert len(board.repository.statuses[board.repository.pulls[7].head_sha]) == 1
    assert done.outputs["wrong"] == "1"


@pytest.mark.parametrize(
    ("words", "login", "answer", "says"),
    [
        ("/utboost audit", "stranger", "-1", "commands need write"),
        ("/utboost frobnicate", "maintainer", "confused", "expected one of"),
        ("/utboost audit 1234567", "maintainer", "-1", "the command names 1234567"),
    ],
)
def test_who_may_not_is_declined_and_told(board: Board, words, login, answer, says):
    event = board.comment_event(7, words, login)
    done = board.run("issue_comment", event)
    assert (done.code, done.outputs["outcome"]) == (0, "declined")
    assert reactions(board, event) == [answer]
    assert says in done.summary.replace("&#45;", "-")
    assert says in done.log


def test_a_word_on_a_test_changes_the_verdict(board: Board):
    before = board.run("pull_request", board.pull_event(7), data_branch=DATA, instances=TWO)
    assert before.outputs["wrong"] == "1"
    disputed = board.comment_event(7, f"/utboost dispute {TWO} it asks for one taste\nand no more")
    done = board.run("issue_comment", disputed, data_branch=DATA)
    assert done.code == 0, done.log
    assert reactions(board, disputed) == ["rocket"]
    entry = json.loads(board.data(f"bank/{TWO}.json"))["tests"][0]
    assert entry["status"] == "candidate"
    (decision,) = entry["signals"]["decisions"]
    assert (decision["who"], decision["why"]) == ("maintainer", "it asks for one taste\nand no more")
    doubted = board.run("pull_request", board.pull_event(7), data_branch=DATA, instances=TWO)
    assert (doubted.outputs["wrong"], doubted.outputs["suspect"]) == ("0", "1")
    confirmed = board.comment_event(7, f"/utboost confirm {TWO} {entry['id']}")
    assert board.run("issue_comment", confirmed, data_branch=DATA).code == 0
    again = board.run("pull_request", board.pull_event(7), data_branch=DATA, instances=TWO)
    assert again.outputs["wrong"] == "1"


def test_a_word_needs_a_branch_and_a_test_that_there_is(board: Board):
    event = board.comment_event(7, f"/utboost dispute {TWO} no")
    done = board.run("issue_comment", event)
    assert done.code == 2
    assert "input data-branch" in done.annotations("error")[0]
    event = board.comment_event(7, f"/utboost confirm {TWO} no-such-test")
    done = board.run("issue_comment", event, data_branch=DATA)
    assert done.code == 2
    assert "no such test" in done.annotations("error")[0]


def test_a_pull_request_is_audited_again_by_hand(board: Board):
    event = {"inputs": {"pr-number": "7", "instances": TWO, "force": "true", "dry-run": "true"}}
    done = board.run("workflow_dispatch", event)
    assert done.code == 0, done.log
    assert done.outputs["wrong"] == "1"
    assert "UTBoost audit of" in done.summary
    assert not board.our_comments
    assert not board.repository.statuses


def test_a_merged_submission_is_audited_by_its_path(board: Board):
    board.repository.commit(
        "refs/heads/main", submission_files(), parent=board.repository.sha("refs/heads/main")
    )
    event = {"inputs": {"submission-path": FOLDER}}
    done = board.run("workflow_dispatch", event, data_branch=DATA, instances=ONE)
    assert done.code == 0, done.log
    assert {f"audits/{FOLDER}/report.json", f"badges/{FOLDER}.json"} <= set(board.data_paths())
    refreshed = board.run("schedule", {}, data_branch=DATA)
    assert refreshed.code == 0, refreshed.log
    assert json.loads(board.data("badges/board.json"))["message"] == "1 of 1 submissions"


def test_a_run_of_another_workflow_is_reported_at_its_pull_request(board: Board):
    pull = board.repository.pulls[7]
    run = {
        "id": 5,
        "event": "pull_request",
        "head_sha": pull.head_sha,
        "head_repository": {"full_name": BOARD},
        "head_branch": "submission",
    }
    done = board.run("workflow_run", {"action": "completed", "workflow_run": run}, instances=ONE)
    assert done.code == 0, done.log
    assert len(board.our_comments) == 1
    run["head_sha"] = "0" * 40
    done = board.run("workflow_run", {"action": "completed", "workflow_run": run})
    assert (done.code, done.outputs["outcome"]) == (0, "neutral")


def test_an_audit_counts_for_the_board_once_the_board_holds_that_very_folder(board: Board):
    assert board.run("pull_request", board.pull_event(7), data_branch=DATA, instances=ONE).code == 0
    main = board.repository.sha("refs/heads/main")
    push = {"ref": "refs/heads/main", "deleted": False}
    other = {**submission_files(), f"{FOLDER}/README.md": b"Another.\n"}
    changed = board.repository.commit("refs/heads/main", other, parent=main)
    done = board.run("push", push | {"after": changed}, data_branch=DATA, benchmark="")
    assert done.code == 0, done.log
    assert json.loads(board.data("badges/board.json"))["message"] == "0 of 1 submissions"
    merged = board.repository.commit("refs/heads/main", submission_files(), parent=changed)
    done = board.run("push", push | {"after": merged}, data_branch=DATA, benchmark="")
    assert done.code == 0, done.log
    assert json.loads(board.data("badges/board.json"))["message"] == "1 of 1 submissions"
    assert board.data(f"badges/{FOLDER}.json") == board.data(f"pulls/7/{FOLDER}/badge.json")
    assert board.run("schedule", {}, data_branch=DATA).code == 0
    pages = {path for path in board.data_paths() if path.startswith("board/")}
    assert pages == {f"board/demo/board.{kind}" for kind in ("json", "md", "html")}
    assert json.loads(board.data("board/demo/board.json"))
    before = board.repository.sha(f"refs/heads/{DATA}")
    assert board.run("schedule", {}, data_branch=DATA).code == 0
    assert board.repository.sha(f"refs/heads/{DATA}") == before


def test_refreshing_without_a_branch_is_loud(board: Board):
    done = board.run("schedule", {})
    assert done.code == 2
    assert "input data-branch" in done.annotations("error")[0]
