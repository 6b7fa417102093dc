"""Tests from a model, between jobs: who holds the key, what the model sees, and what becomes of its tests."""

from __future__ import annotations

import json

from tests.integration.action.conftest import EXAMPLES, Board, submission_files
from tests.model_server import by_stage, model_server, refusal

ONE = "example__pocketknife-1"
KEY = "model-key-0123456789"


def answers() -> dict[str, str | list[str]]:
    """What was recorded for the demo, by stage."""
    lines = (EXAMPLES / "benchmark/transcript.jsonl").read_text().splitlines()
    recorded = [json.loads(line) for line in lines]
    return {each["stage"]: each["replies"][0]["text"] for each in recorded if each["instance"] == ONE}


def test_the_model_writes_tests_that_the_audit_uses_and_the_branch_keeps(board: Board):
    event = board.pull_event(7)
    common = {"bank": "", "instances": ONE, "data_branch": "utboost-data"}
    assert board.run("pull_request", event, mode="collect", **common).code == 0
    with model_server(by_stage(answers())) as server:
        done = board.run(
            "", {}, mode="generate", token="", bank="", model="some", model_url=server.url, model_key=KEY
        )
    assert done.code == 0, done.log
    assert all(headers["authorization"] == f"Bearer {KEY}" for headers in server.headers)
    prompts = json.dumps(server.requests)
    for line in submission_files().values():
        assert line.decode()[:200] not in prompts
    plan = (board.folder / "exchange/plan.json").read_text()
    assert KEY not in plan
    assert KEY not in "\n".join(line for line in done.log.splitlines() if "add-mask" not in line)
    value = json.loads(plan)
    assert value["generated"]
    assert {test["status"] for test in value["tests"]} == {"candidate"}

    assert board.run("", {}, mode="execute", shard="1", token="", bank="").code == 0
    done = board.run("pull_request", event, mode="report", **common)
    assert done.code == 0, done.log
    assert done.outputs["holds"] == "1"
    kept = json.loads(board.data(f"bank/{ONE}.json"))
    assert [test["id"] for test in kept["tests"]] == value["generated"]


def test_one_job_asks_the_model_too(board: Board):
    with model_server(by_stage(answers())) as server:
        done = board.run(
            "pull_request", board.pull_event(7),
            model="test-model", model_url=server.url, model_key=KEY, bank="", instances=ONE,
        )  # fmt: skip
    assert done.code == 0, done.log
    assert server.requests
    assert done.outputs["holds"] == "1"


def test_a_model_that_refuses_leaves_a_note_not_a_verdict(board: Board):
    with model_server(lambda _body, _number: refusal(401, "no such key")) as server:
        done = board.run(
            "pull_request", board.pull_event(7),
            model="test-model", model_url=server.url, model_key=KEY, bank="", instances=ONE,
        )  # fmt: skip
    assert done.outputs["inconclusive"] == "1", done.log
    assert "no test generated" in done.summary
