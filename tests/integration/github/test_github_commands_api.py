from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.github_double import Identity
from tests.integration.github.conftest import BOARD, READER, Stage
from utboost_action.github.commands import (
    Accepted,
    BadCommand,
    Command,
    CommandKind,
    CommandRequest,
    Declined,
    Reaction,
    check_command,
    parse_command,
    react,
)
from utboost_action.github.problems import GitHubError, Obstacle

WRITTEN = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _pull(stage: Stage) -> None:
    stage.board.open_pull(7, {"evaluation/lite/20240202_new/all_preds.jsonl": b"{}\n"})
    stage.board.permissions = {
        "admin": "admin",
        "maintainer": "maintain",
        "writer": "write",
        "triager": "triage",
        "reader": "read",
    }


def request(author: str, body: str = "/utboost audit") -> CommandRequest:
    command = parse_command(body)
    assert command is not None
    return CommandRequest(BOARD, 7, 1, author, WRITTEN, command)


@pytest.mark.parametrize("author", ["admin", "maintainer", "writer"])
def test_who_can_write_may_command(stage: Stage, author: str) -> None:
    found = check_command(stage.api(), request(author))
    assert isinstance(found, Accepted)
    assert found.command == Command(CommandKind.AUDIT)
    assert found.pull.head_sha == stage.board.pulls[7].head_sha


@pytest.mark.parametrize("author", ["triager", "reader", "nobody", "../../orgs", "a/b"])
def test_who_cannot_write_may_not(stage: Stage, author: str) -> None:
    if "/" in author:  # no login at all: the double, like GitHub, knows no such address
        stage.board.permissions.clear()
    found = check_command(stage.api(), request(author))
    assert isinstance(found, Declined)
    assert found.reaction is Reaction.REFUSED
    stage.double.exchanges.clear()


def test_permission_comes_before_grammar(stage: Stage) -> None:
    found = check_command(stage.api(), request("reader", "/utboost dance"))
    assert isinstance(found, Declined)
    assert found.reaction is Reaction.REFUSED
    found = check_command(stage.api(), request("writer", "/utboost dance"))
    assert isinstance(found, Declined)
    assert found.reaction is Reaction.NOT_UNDERSTOOD
    assert isinstance(request("writer", "/utboost dance").command, BadCommand)


def test_a_head_that_was_pushed_after_the_command_is_not_audited(stage: Stage) -> None:
    fork = stage.double.repositories["submitter/experiments"]
    fork.pushed_at = (WRITTEN + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = check_command(stage.api(), request("writer"))
    assert isinstance(found, Declined)
    head = stage.board.pulls[7].head_sha
    assert head[:12] in found.reason
    assert isinstance(check_command(stage.api(), request("writer", f"/utboost audit {head}")), Accepted)
    assert isinstance(check_command(stage.api(), request("writer", f"/utboost audit {head[:8]}")), Accepted)
    assert isinstance(check_command(stage.api(), request("writer", "/utboost audit 0000000")), Declined)


def test_a_command_is_answered_by_a_reaction_once(stage: Stage) -> None:
    comment = stage.double.comment(BOARD, 7, "writer", "/utboost audit")
    for _ in range(2):
        react(stage.api(), BOARD, comment, Reaction.SEEN)
    react(stage.api(), BOARD, comment, Reaction.DONE)
    assert stage.board.comments[comment].reactions == [
        ("github-actions[bot]", "eyes"),
        ("github-actions[bot]", "rocket"),
    ]
    with pytest.raises(GitHubError) as refused:
        react(stage.api(READER), BOARD, comment, Reaction.SEEN)
    assert refused.value.obstacle is Obstacle.MISSING_PERMISSION
    assert Identity("x").may_write
