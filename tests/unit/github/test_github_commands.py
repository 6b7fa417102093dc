from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utboost_action.github.commands import BadCommand, Command, CommandKind, parse_command

ID = "django__django-11099"
SHA = "0123456789abcdef" * 2 + "01234567"


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("/utboost audit", Command(CommandKind.AUDIT)),
        ("  /utboost  audit \r\nplease", Command(CommandKind.AUDIT)),
        (f"/utboost audit {SHA}", Command(CommandKind.AUDIT, sha=SHA)),
        ("/utboost audit 0123ABC", Command(CommandKind.AUDIT, sha="0123abc")),
        (f"/utboost recheck {ID}", Command(CommandKind.RECHECK, ID)),
        (f"/utboost recheck {ID} 0123abc", Command(CommandKind.RECHECK, ID, sha="0123abc")),
        (f"/utboost confirm {ID} aug-1 of  two", Command(CommandKind.CONFIRM, ID, test="aug-1 of two")),
        (f"/utboost dispute {ID} the gold patch is wrong\nsee below",
         Command(CommandKind.DISPUTE, ID, reason="the gold patch is wrong\nsee below")),
    ],
)  # fmt: skip
def test_commands(body: str, command: Command) -> None:
    assert parse_command(body) == command


@pytest.mark.parametrize(
    "body", ["", "thanks", "hello\n/utboost audit", "> /utboost audit", "/utboosted audit"]
)
def test_a_comment_that_is_no_command(body: str) -> None:
    assert parse_command(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "/utboost",
        "/utboost Audit",
        "/utboost audit now",
        "/utboost audit 012",
        "/utboost recheck",
        "/utboost recheck ../x",
        f"/utboost recheck {ID} 0123abc more",
        f"/utboost confirm {ID}",
        f"/utboost confirm {ID} {'x' * 501}",
        f"/utboost confirm {ID} a\u202eb",
        f"/utboost dispute {ID}",
        f"/utboost dispute {ID} {'x ' * 2000}",
    ],
)
def test_a_command_with_a_mistake_says_how_it_is_written(body: str) -> None:
    found = parse_command(body)
    assert isinstance(found, BadCommand)
    assert "expected" in found.problem
    assert found.problem.isprintable()


@given(st.text(max_size=200))
def test_no_text_breaks_the_grammar(text: str) -> None:
    found = parse_command(f"/utboost {text}")
    assert found is None or isinstance(found, BadCommand | Command)
    if isinstance(found, Command) and found.sha:
        assert set(found.sha) <= set("0123456789abcdef")
