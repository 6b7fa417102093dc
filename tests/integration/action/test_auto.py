"""Mode auto on a GitHub double, in the local sandbox: a pull request from event to comment."""

from __future__ import annotations

import json
import re

import pytest

from tests.integration.action.conftest import (
    BOARD,
    FOLDER,
    READER,
    Board,
    submission_files,
)
from utboost_action import sharding
from utboost_action.activities import zones

ONE, TWO = "example__pocketknife-1", "example__pocketknife-2"


def test_a_first_run_comments_and_a_second_one_updates(board: Board):
    event = board.pull_event(7)
    first = board.run("pull_request", event, data_branch="utboost-data", instances="")
    assert first.code == 0, first.log
    assert first.outputs["outcome"] == "done"
    (comment,) = board.our_comments
    assert "UTBoost audit of" in comment
    assert TWO in comment.replace("&#95;", "_").replace("&#45;", "-")
    (status,) = board.repository.statuses[board.repository.pulls[7].head_sha]
    assert status["state"] == "success"
    assert status["context"] == "utboost/audit"
    assert status["description"] == "claimed 6, adjusted 2 to 4 of 7: 2 wrong, 1 suspect"
    assert status["target_url"].endswith(f"/{BOARD}/actions/runs/77")
    assert first.outputs["comment-url"] in [
        f"{board.double.url}/{BOARD}/pull/7#issuecomment-{found}" for found in board.repository.comments
    ]
    figures = {name: first.outputs[name] for name in ("claimed", "regraded", "adjusted-low", "adjusted-high")}
    assert figures == {"claimed": "6", "regraded": "", "adjusted-low": "2", "adjusted-high": "4"}
    assert json.loads(first.outputs["results"])[0]["path"] == FOLDER
    assert "UTBoost audit of" in first.summary
    badge = json.loads(board.data(f"pulls/7/{FOLDER}/badge.json"))
    assert badge["message"] == "28.6%-57.1% of 85.7% claimed"
    report = json.loads(board.data(f"pulls/7/{FOLDER}/report.json"))
    assert f"audit {FOLDER} --benchmark" in report["instances"][0]["reproduce"]

    files = submission_files()
    predictions = files[f"{FOLDER}/all_preds.jsonl"].splitlines(keepends=True)
    files[f"{FOLDER}/all_preds.jsonl"] = b"".join(predictions[:2])
    board.repository.push_head(7, files)
    second = board.run("pull_request", board.pull_event(7), data_branch="utboost-data", instances="")
    assert second.code == 0, second.log
    (updated,) = board.our_comments
    assert updated != comment
    assert second.outputs["comment-url"] == first.outputs["comment-url"]


def test_a_run_that_changes_nothing_sends_no_comment_again(board: Board):
    event = board.pull_event(7)
    assert board.run("pull_request", event, instances=ONE).code == 0
    board.double.reset_counters()
    assert board.run("pull_request", event, instances=ONE).code == 0
    assert not [each for each in board.double.exchanges if each.method == "PATCH"]


def test_a_read_only_token_writes_the_summary_and_names_what_it_could_not(board: Board):
    done = board.run("pull_request", board.pull_event(7), token=READER, instances=ONE)
    assert done.code == 1
    assert done.outputs["outcome"] == "not delivered"
    assert "UTBoost audit of" in done.summary
    assert "commit status" in done.summary
    titles = [text.partition(": Git")[0] for text in done.annotations("error")]
    assert "UTBoost: comment not written: missing permission" in titles
    assert "UTBoost: commit status not written: missing permission" in titles
    assert not board.our_comments


def test_a_read_only_token_is_enough_when_only_the_summary_is_wanted(board: Board):
    done = board.run(
        "pull_request", board.pull_event(7), token=READER, comment="false", status="false", instances=ONE
    )
    assert (done.code, done.outputs["outcome"]) == (0, "done")
    assert "UTBoost audit of" in done.summary


def test_a_head_that_moved_on_ends_neutral_and_writes_nothing(board: Board):
    event = board.pull_event(7)
    board.repository.push_head(7, submission_files())
    board.repository.push_head(7, {**submission_files(), "x": b"1"})
    done = board.run("pull_request", event)
    assert (done.code, done.outputs["outcome"]) == (0, "superseded")
    assert not board.our_comments
    assert not board.repository.statuses
    assert "superseded" in done.annotations("notice")[0]


def test_a_push_during_the_audit_ends_neutral_and_leaves_the_comment_to_the_newer_run(
    board: Board, monkeypatch: pytest.MonkeyPatch
):
    def pushed_meanwhile(*arguments: object) -> object:
        board.repository.push_head(7, {**submission_files(), "x": b"1"})
        return sharding.execute(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(zones, "execute", pushed_meanwhile)
    done = board.run("pull_request", board.pull_event(7), instances=ONE)
    assert (done.code, done.outputs["outcome"]) == (0, "superseded")
    assert not board.our_comments
    assert not board.repository.statuses


def test_a_locked_conversation_is_named(board: Board):
    board.repository.pulls[7].locked = True
    done = board.run("pull_request", board.pull_event(7), instances=ONE)
    assert (done.code, done.outputs["outcome"]) == (1, "not delivered")
    assert "comment (conversation locked)" in done.annotations("error")[-1]
    (status,) = board.repository.statuses[board.repository.pulls[7].head_sha]
    assert status["state"] == "success"


def test_fail_on_fails_the_step_and_the_status(board: Board):
    done = board.run("pull_request", board.pull_event(7), fail_on="wrong", instances=TWO)
    assert (done.code, done.outputs["outcome"]) == (3, "flagged")
    (status,) = board.repository.statuses[board.repository.pulls[7].head_sha]
    assert status["state"] == "failure"


def test_a_set_up_at_fault_is_an_error_not_a_result(board: Board, tmp_path):
    done = board.run("pull_request", board.pull_event(7), trees=str(tmp_path), instances="")
    assert (done.code, done.outputs["outcome"]) == (1, "incomplete")
    (status,) = board.repository.statuses[board.repository.pulls[7].head_sha]
    assert status["state"] == "error"
    assert status["description"].startswith("audit incomplete: the set-up is at fault")


def test_several_submissions_in_one_pull_request(board: Board):
    files = {f"evaluation/demo/2026010{n}_agent/{name}": data for n in (1, 2) for name, data in _inside()}
    board.repository.open_pull(8, {**files, "setup.py": b"1\n"}, head_repository=BOARD)
    done = board.run("pull_request", board.pull_event(8), instances=ONE)
    assert done.code == 0, done.log
    assert done.outputs["submissions"] == "2"
    assert "claimed" not in done.outputs
    (comment,) = board.our_comments
    assert comment.count("UTBoost audit of") == 2
    assert "Changed files that belong to no submission (1)" in comment


def test_a_pull_request_without_a_submission_is_no_failure(board: Board):
    board.repository.open_pull(8, {"README.md": b"Better.\n"}, head_repository=BOARD)
    done = board.run("pull_request", board.pull_event(8))
    assert (done.code, done.outputs["outcome"]) == (0, "neutral")
    (status,) = board.repository.statuses[board.repository.pulls[8].head_sha]
    assert status["state"] == "success"
    assert status["description"] == "no submission in this pull request"
    assert not board.our_comments


def test_what_cannot_be_audited_is_said_and_does_not_hinder_the_others(board: Board):
    bad = {"evaluation/demo/20260102_bad/README.md": b"Nothing.\n"}
    board.repository.open_pull(8, {**submission_files(), **bad}, head_repository=BOARD)
    done = board.run("pull_request", board.pull_event(8), instances=ONE)
    assert done.code == 0, done.log
    assert "20260102" in board.our_comments[0]
    assert "not audited" in board.our_comments[0]
    (status,) = board.repository.statuses[board.repository.pulls[8].head_sha]
    assert status["description"].endswith("; 1 not audited")


def test_a_submission_that_cannot_be_read_is_never_a_green_nothing(board: Board):
    board.repository.open_pull(
        8, {"evaluation/demo/20260102_bad/README.md": b"Nothing.\n"}, head_repository=BOARD
    )
    done = board.run("pull_request", board.pull_event(8))
    assert (done.code, done.outputs["outcome"]) == (1, "incomplete")
    (status,) = board.repository.statuses[board.repository.pulls[8].head_sha]
    assert (status["state"], status["description"]) == ("error", "audit incomplete: 1 submission not audited")
    (comment,) = board.our_comments
    assert "No submission could be audited." in comment
    assert "20260102" in comment


def test_instances_that_the_board_does_not_have_are_named(board: Board):
    done = board.run("pull_request", board.pull_event(7), instances=f"{ONE},example__pocketknife-99")
    assert (done.code, done.outputs["outcome"]) == (2, "wrong input")
    assert "input instances: example__pocketknife-99" in done.annotations("error")[0]


def test_a_submission_without_an_instance_asked_for_is_audited_for_the_others(board: Board):
    files = submission_files()
    path = f"{FOLDER}/all_preds.jsonl"
    kept = [line for line in files[path].splitlines(keepends=True) if TWO.encode() not in line]
    board.repository.push_head(7, {**files, path: b"".join(kept)})
    done = board.run("pull_request", board.pull_event(7), instances=f"{ONE},{TWO}")
    assert (done.code, done.outputs["holds"]) == (0, "1"), done.log
    assert f"no prediction for {TWO}" in board.our_comments[0].replace("&#95;", "_").replace("&#45;", "-")
    done = board.run("pull_request", board.pull_event(7), instances=TWO)
    assert (done.code, done.outputs["outcome"]) == (1, "incomplete")


def test_a_fork_never_gets_the_local_sandbox(board: Board):
    board.repository.open_pull(8, submission_files(), head_repository="submitter/experiments")
    done = board.run("pull_request_target", board.pull_event(8, "submitter/experiments"))
    assert (done.code, done.outputs["outcome"]) == (2, "wrong input")
    assert "local isolates nothing" in done.annotations("error")[0]


@pytest.mark.parametrize(
    ("event", "payload", "says"),
    [
        ("pull_request", {"action": "labeled", "pull_request": {}}, "neither its head nor its base"),
        ("release", {}, "none that this action handles"),
    ],
)
def test_what_is_not_ours_ends_neutral_and_says_why(board: Board, event, payload, says):
    done = board.run(event, payload)
    assert (done.code, done.outputs["outcome"]) == (0, "neutral")
    assert says in done.annotations("notice")[0]
    assert "nothing to do" in done.summary


@pytest.mark.parametrize(
    ("inputs", "code", "says"),
    [
        ({"github_token": ""}, 2, "input github-token"),
        ({"benchmark": ""}, 2, "input benchmark"),
        ({"repeats": "many"}, 2, "input repeats"),
        ({"fail_on": "always"}, 2, "input fail-on"),
        ({"mode": "everything"}, 2, "auto, collect, generate, execute, report"),
        ({"model": "some-model"}, 2, "input model-key"),
        ({"bank": "/nowhere"}, 2, "/nowhere"),
    ],
)
def test_a_missing_or_wrong_input_is_loud(board: Board, inputs, code, says):
    given = {**inputs, "instances": "example__pocketknife-6" if "model" in inputs else ONE}
    if "model" in inputs:
        given["bank"] = ""
    done = board.run("pull_request", board.pull_event(7), **given)
    assert (done.code, done.outputs["outcome"]) == (code, "wrong input")
    assert says in done.annotations("error")[-1]


def test_no_secret_and_no_foreign_command_reaches_log_summary_or_outputs(board: Board):
    files = submission_files()
    evil = b"\n::error::taken over\n##[error]taken\n::add-mask::a\n"
    files[f"{FOLDER}/README.md"] = evil
    files[f"{FOLDER}/metadata.yaml"] = b"name: |\n  ::error::x\n  @everyone closes #1 <img src=x>\n"
    files[f"{FOLDER}/\xe2\x80\xae::error::x.json".encode("latin-1").decode()] = evil
    board.repository.push_head(7, files)
    done = board.run("pull_request", board.pull_event(7), instances=ONE)
    assert done.code == 0, done.log
    known = ("UTBoost", "add-mask")
    for command in done.commands:
        assert command.name == "add-mask" or command.properties.get("title", "").startswith(known)
    plain = re.sub(r"::add-mask::.*", "", done.log)
    for text in (plain, done.summary, json.dumps(done.outputs), *board.our_comments):
        assert "token-of-the-action" not in text
        assert "<img" not in text


def _inside() -> list[tuple[str, bytes]]:
    return [(path.removeprefix(f"{FOLDER}/"), data) for path, data in submission_files().items()]
