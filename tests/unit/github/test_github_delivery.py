from __future__ import annotations

import pytest

from utboost_action.errors import InputError
from utboost_action.github.annotations import Level
from utboost_action.github.delivery import Surface, deliver, refusals
from utboost_action.github.problems import GitHubError, Obstacle, SupersededError, obstacle_of, one_line


def failing(problem: Exception) -> object:
    raise problem


def test_one_refused_surface_does_not_keep_the_others_from_being_written() -> None:
    done: list[str] = []
    found = deliver(
        [
            (Surface.COMMENT, lambda: failing(GitHubError(Obstacle.MISSING_PERMISSION, "no comment"))),
            (Surface.SUMMARY, lambda: done.append("summary")),
            (Surface.OUTPUTS, lambda: failing(InputError("no output file"))),
            (Surface.STATUS, lambda: done.append("status")),
        ]
    )
    assert done == ["summary", "status"]
    assert [delivery.written for delivery in found] == [False, True, False, True]
    loud = refusals(found)
    assert [annotation.level for annotation in loud] == [Level.ERROR, Level.ERROR]
    assert loud[0].title == "UTBoost: comment not written: missing permission"
    assert loud[0].message == "no comment"
    assert loud[1].title == "UTBoost: step outputs not written: failed"


def test_a_superseded_run_writes_nothing_more() -> None:
    done: list[str] = []
    with pytest.raises(SupersededError):
        deliver(
            [
                (Surface.COMMENT, lambda: failing(SupersededError(7, "a" * 40, "b" * 40))),
                (Surface.STATUS, lambda: done.append("status")),
            ]
        )
    assert done == []


@pytest.mark.parametrize(
    ("status", "message", "obstacle"),
    [
        (401, "Bad credentials", Obstacle.BAD_CREDENTIALS),
        (403, "Resource not accessible by integration", Obstacle.MISSING_PERMISSION),
        (403, "Unable to create comment because issue is locked.", Obstacle.LOCKED),
        (404, "Not Found", Obstacle.NOT_FOUND),
        (410, "Issues are disabled for this repo", Obstacle.SWITCHED_OFF),
        (422, "Validation Failed: Body is too long", Obstacle.TOO_LARGE),
        (422, "Validation Failed", Obstacle.INVALID),
        (429, "", Obstacle.RATE_LIMITED),
        (503, "", Obstacle.SERVER_FAULT),
        (418, "", Obstacle.UNEXPECTED),
    ],
)
def test_every_reply_has_its_name(status: int, message: str, obstacle: Obstacle) -> None:
    assert obstacle_of(status, message) is obstacle


def test_a_message_is_one_line_of_ascii() -> None:
    assert one_line("a\n\u202eb\x1b[0m") == "a \\u202eb?[0m"
    assert len(one_line("x" * 1_000)) == 200
