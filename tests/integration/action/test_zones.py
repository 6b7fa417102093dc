"""The jobs apart: collect, execute, report; what travels between them, and what is not believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.action.conftest import BOARD, FOLDER, SMALL, Board, submission_files

ONE, TWO = "example__pocketknife-1", "example__pocketknife-2"


@pytest.fixture
def planned(board: Board) -> Board:
    """Two shards, planned from known durations."""
    seconds = json.dumps({ONE: 400, TWO: 400}).encode()
    board.repository.commit("refs/heads/utboost-data", {"durations.json": seconds})
    done = board.run("pull_request", board.pull_event(7), mode="collect", data_branch="utboost-data")
    assert (done.code, done.outputs["shards"]) == (0, "[1, 2]")
    return board


def test_the_jobs_together_say_what_one_job_says(planned: Board):
    board, event = planned, planned.pull_event(7)
    for shard in ("1", "2"):
        done = board.run("", {}, mode="execute", shard=shard, token="")
        assert done.code == 0, done.log
        assert done.outputs["result"].endswith(f"shard-{shard}.json")
    merged = board.run("pull_request", event, mode="report")
    assert merged.code == 0, merged.log
    whole = board.run("pull_request", event)
    reports = [json.loads(Path(done.outputs["report"]).read_text()) for done in (merged, whole)]
    assert reports[0] == reports[1]
    assert merged.outputs["missing-shards"] == ""
    assert len(board.our_comments) == 1


def test_a_missing_shard_is_said_and_neither_passes_nor_fails(planned: Board):
    board = planned
    assert board.run("", {}, mode="execute", shard="1", token="").code == 0
    done = board.run("pull_request", board.pull_event(7), mode="report")
    assert (done.code, done.outputs["outcome"]) == (1, "incomplete")
    assert done.outputs["missing-shards"] == "2"
    assert done.outputs["inconclusive"] == "1"
    (status,) = board.repository.statuses[board.repository.pulls[7].head_sha]
    assert status["state"] == "error"
    assert "shard 2 of 2 is missing" in status["description"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda value: value | {"plan": "0" * 32}, "another plan"),
        (lambda value: value | {"tool": "9.9.9"}, "another version"),
        (lambda value: value | {"index": 1}, "another shard's"),
        (lambda value: value | {"comment": "<b>hi</b>"}, "unknown key"),
        (lambda value: {**value, "verdicts": "none"}, "no list"),
        (lambda value: {**value, "verdicts": value["verdicts"] * 2}, "not given"),
    ],
)
def test_a_result_that_does_not_fit_counts_as_missing(planned: Board, change, why):
    board = planned
    for shard in ("1", "2"):
        assert board.run("", {}, mode="execute", shard=shard, token="").code == 0
    path = board.folder / "exchange" / "shard-2.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    done = board.run("pull_request", board.pull_event(7), mode="report", comment="false")
    assert done.code == 1
    assert why in done.log
    assert done.outputs["missing-shards"] == "2"


def test_the_pull_request_comes_from_the_event_not_from_the_plan(planned: Board):
    board = planned
    board.repository.open_pull(8, {**submission_files(), "x": b"1"}, head_repository=BOARD)
    done = board.run("pull_request", board.pull_event(8), mode="report")
    assert (done.code, done.outputs["outcome"]) == (0, "superseded")
    assert not board.our_comments


def test_a_head_that_moved_on_before_the_report_ends_neutral(planned: Board):
    board, event = planned, planned.pull_event(7)
    board.repository.push_head(7, {**submission_files(), "x": b"1"})
    done = board.run("pull_request", event, mode="report")
    assert (done.code, done.outputs["outcome"]) == (0, "superseded")


def test_jobs_that_were_told_otherwise_are_refused(planned: Board):
    done = planned.run("", {}, mode="execute", shard="1", token="", repeats="2")
    assert done.code == 2
    assert "input repeats" in done.annotations("error")[0]


@pytest.mark.parametrize(
    ("content", "why"),
    [("", "no valid JSON"), ("[]", "no object"), ('{"schema": NaN}', "NaN"), ('{"a":1,"a":2}', "repeated")],
)
def test_a_plan_that_is_none_is_refused(planned: Board, content, why):
    (planned.folder / "exchange" / "plan.json").write_text(content)
    done = planned.run("", {}, mode="execute", shard="1", token="")
    assert done.code == 2
    assert why in done.annotations("error")[0]


def test_a_shard_that_is_not_planned_and_a_missing_plan_are_refused(planned: Board):
    assert planned.run("", {}, mode="execute", shard="3", token="").code == 2
    assert planned.run("", {}, mode="execute", token="").code == 2
    (planned.folder / "exchange" / "plan.json").unlink()
    done = planned.run("pull_request", planned.pull_event(7), mode="report")
    assert done.code == 2
    assert "plan.json: no such file" in done.annotations("error")[0]


def test_generate_without_a_key_is_loud(planned: Board):
    done = planned.run("", {}, mode="generate", token="", model="some-model")
    assert done.code == 2
    assert "input model-key" in done.annotations("error")[0]
    done = planned.run("", {}, mode="generate", token="")
    assert done.code == 2
    assert "input model:" in done.annotations("error")[0]


def test_generate_asks_nobody_when_every_instance_has_tests(planned: Board):
    done = planned.run("", {}, mode="generate", token="", model="some-model", model_key="k" * 20)
    assert done.code == 0, done.log
    assert "the model is not asked" in done.log


def test_nothing_to_audit_leaves_no_shards_and_is_reported(board: Board):
    board.repository.open_pull(8, {"README.md": b"Better.\n"}, head_repository=BOARD)
    collected = board.run("pull_request", board.pull_event(8), mode="collect")
    assert (collected.code, collected.outputs["shards"]) == (0, "[]")
    done = board.run("pull_request", board.pull_event(8), mode="report")
    assert (done.code, done.outputs["outcome"]) == (0, "neutral")


def test_a_command_that_audits_nothing_is_left_to_the_report(board: Board):
    event = board.comment_event(7, f"/utboost dispute {TWO} too narrow")
    collected = board.run("issue_comment", event, mode="collect")
    assert (collected.code, collected.outputs["shards"]) == (0, "[]")
    assert "plan" not in collected.outputs
    done = board.run("issue_comment", event, mode="report", data_branch="utboost-data")
    assert done.code == 0, done.log
    assert f"bank/{TWO}.json" in board.data_paths()


def test_the_plan_holds_no_file_of_the_submission_beside_its_patches(planned: Board):
    value = json.loads((planned.folder / "exchange" / "plan.json").read_text())
    (submitted,) = value["submissions"]
    assert submitted["path"] == FOLDER
    assert submitted["instances"] == SMALL.split(",")
