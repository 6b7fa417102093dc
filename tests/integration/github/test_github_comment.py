from __future__ import annotations

from pathlib import Path

import pytest

from tests.github_double import Fault, Identity
from tests.integration.github.conftest import BOARD, READER, TOKEN, Stage
from utboost_action.errors import InputError
from utboost_action.github.comment import CommentState, PostedComment, marker, post_comment
from utboost_action.github.delivery import Surface, deliver, refusals
from utboost_action.github.levels import COMMENT_BYTES
from utboost_action.github.outputs import write_outputs
from utboost_action.github.problems import GitHubError, Obstacle
from utboost_action.github.status import StatusState, set_status
from utboost_action.github.summary import write_summary

BOT = "github-actions[bot]"
MARK = marker("audit")


@pytest.fixture(autouse=True)
def _pull(stage: Stage) -> None:
    stage.board.open_pull(7, {"evaluation/lite/20240202_new/all_preds.jsonl": b"{}\n"})


def post(stage: Stage, *levels: str, token: str = TOKEN) -> PostedComment:
    return post_comment(stage.api(token), BOARD, 7, "audit", levels or ("A report.",))


def bodies(stage: Stage) -> list[str]:
    return [comment.body for comment in stage.board.comments.values()]


def writes(stage: Stage) -> list[str]:
    return [
        f"{e.method} {e.path}" for e in stage.double.exchanges if e.method != "GET" and e.path != "/graphql"
    ]


def test_the_first_run_posts_and_the_second_updates_in_place(stage: Stage) -> None:
    first = post(stage, "One.")
    again = post(stage, "One.")
    second = post(stage, "Two.")
    assert [one.state for one in (first, again, second)] == [
        CommentState.CREATED,
        CommentState.UNCHANGED,
        CommentState.UPDATED,
    ]
    assert first.url == again.url == second.url
    assert bodies(stage) == [f"{MARK}\nTwo."]
    assert len(writes(stage)) == 2


def test_a_comment_on_page_three_is_found(stage: Stage) -> None:
    for n in range(250):
        stage.double.comment(BOARD, 7, "someone", f"comment {n}")
    stage.double.comment(BOARD, 7, BOT, f"{MARK}\nOld.", "Bot")
    for n in range(30):
        stage.double.comment(BOARD, 7, "someone", f"more {n}")
    assert post(stage, "New.").state is CommentState.UPDATED
    pages = [e.query.get("page") for e in stage.double.exchanges if e.path.endswith("/7/comments")]
    assert pages == [None, "2", "3"]


@pytest.mark.parametrize("login", ["someone", "github-actions", "other[bot]"])
def test_a_marker_in_another_comment_means_nothing(stage: Stage, login: str) -> None:
    theirs = stage.double.comment(BOARD, 7, login, f"{MARK}\nI am the audit.")
    assert post(stage, "Mine.").state is CommentState.CREATED
    assert stage.board.comments[theirs].body == f"{MARK}\nI am the audit."
    assert not stage.board.comments[theirs].minimized


def test_a_marker_that_is_quoted_or_of_another_key_is_not_ours(stage: Stage) -> None:
    stage.double.comment(BOARD, 7, BOT, f"> {MARK}\nquoted", "Bot")
    stage.double.comment(BOARD, 7, BOT, f"text\n{MARK}", "Bot")
    stage.double.comment(BOARD, 7, BOT, f"{marker('other')}\nother", "Bot")
    assert post(stage).state is CommentState.CREATED


def test_line_ends_that_github_changed_are_no_difference(stage: Stage) -> None:
    stage.double.comment(BOARD, 7, BOT, f"{MARK}\r\nA\r\nB", "Bot")
    assert post(stage, "A\nB\n").state is CommentState.UNCHANGED


def test_of_several_the_newest_is_kept_and_the_others_are_minimised(stage: Stage) -> None:
    ids = [stage.double.comment(BOARD, 7, BOT, f"{MARK}\n{n}", "Bot") for n in range(3)]
    found = post(stage, "New.")
    assert (found.state, found.minimized, found.not_minimized) == (CommentState.UPDATED, 2, "")
    assert [stage.board.comments[number].minimized for number in ids] == [True, True, False]
    assert stage.board.comments[ids[2]].body.endswith("New.")
    assert post(stage, "New.").minimized == 0


def test_a_spare_comment_that_cannot_be_minimised_is_said(stage: Stage) -> None:
    for n in range(2):
        stage.double.comment(BOARD, 7, BOT, f"{MARK}\n{n}", "Bot")
    stage.double.tokens["no"] = Identity(BOT, may_write=frozenset())
    found = post_comment(stage.api("no"), BOARD, 7, "audit", ["1"])
    assert found.state is CommentState.UNCHANGED
    assert Obstacle.MISSING_PERMISSION in found.not_minimized


def test_the_largest_text_that_fits_is_posted(stage: Stage) -> None:
    found = post(stage, "\u00e9" * 40_000, "x" * (COMMENT_BYTES - len(MARK) - 1), "short")
    assert found.level == 1
    assert len(bodies(stage)[0].encode()) == COMMENT_BYTES
    assert post(stage, "x" * 70_000).level is None


def test_text_that_cannot_be_sent_is_mended(stage: Stage) -> None:
    post(stage, "a\ud800b\0c \U0001f600 d")
    assert bodies(stage) == [f"{MARK}\na\ufffdb\ufffdc \U0001f600 d"]
    assert post(stage, "a\ud800b\0c \U0001f600 d").state is CommentState.UNCHANGED


def test_a_locked_conversation_is_named(stage: Stage) -> None:
    stage.board.pulls[7].locked = True
    with pytest.raises(GitHubError, match="unlock the conversation") as refused:
        post(stage)
    assert refused.value.obstacle is Obstacle.LOCKED
    assert "GitHub refused to post the comment on #7: conversation locked" in str(refused.value)


def test_a_read_only_token_of_a_fork_is_named_with_what_is_needed(stage: Stage) -> None:
    with pytest.raises(GitHubError) as refused:
        post(stage, token=READER)
    assert refused.value.obstacle is Obstacle.MISSING_PERMISSION
    for words in ("issues=write; pull_requests=write", "read-only token", "docs/github.md"):
        assert words in str(refused.value)
    assert READER not in str(refused.value)
    with pytest.raises(GitHubError, match="statuses=write"):
        set_status(stage.api(READER), BOARD, stage.board.pulls[7].head_sha, StatusState.SUCCESS, "x")


def test_a_run_on_a_fork_still_leaves_its_summary_and_says_loudly_what_it_could_not_write(
    stage: Stage, tmp_path: Path
) -> None:
    api, head = stage.api(READER), stage.board.pulls[7].head_sha
    summary, output = tmp_path / "summary", tmp_path / "output"
    done = deliver(
        [
            (Surface.COMMENT, lambda: post_comment(api, BOARD, 7, "audit", ["A report."])),
            (Surface.STATUS, lambda: set_status(api, BOARD, head, StatusState.SUCCESS, "done")),
            (Surface.SUMMARY, lambda: write_summary(summary, ["A report."])),
            (Surface.OUTPUTS, lambda: write_outputs(output, {"comment-url": ""})),
        ]
    )
    assert summary.read_text() == "A report.\n"
    assert output.exists()
    assert bodies(stage) == []
    assert [annotation.title for annotation in refusals(done)] == [
        "UTBoost: comment not written: missing permission",
        "UTBoost: commit status not written: missing permission",
    ]


def test_a_wrong_token_is_named(stage: Stage) -> None:
    with pytest.raises(GitHubError, match="github-token") as refused:
        post(stage, token="nobody")
    assert refused.value.obstacle is Obstacle.BAD_CREDENTIALS


def test_a_lost_reply_does_not_post_twice(stage: Stage) -> None:
    stage.double.faults.append(Fault("POST", r"/issues/7/comments", 502, carried_out=True))
    assert post(stage).state is CommentState.CREATED
    assert len(bodies(stage)) == 1


def test_a_post_that_failed_is_posted_again(stage: Stage) -> None:
    stage.double.faults.append(Fault("POST", r"/issues/7/comments", 503, times=2))
    assert post(stage).state is CommentState.CREATED
    assert len(bodies(stage)) == 1
    assert stage.clock.waits == [1.0, 2.0]


def test_an_update_is_repeated_after_server_faults(stage: Stage) -> None:
    post(stage, "One.")
    stage.double.faults.append(Fault("PATCH", r"/comments/", 502, times=2))
    assert post(stage, "Two.").state is CommentState.UPDATED
    assert bodies(stage) == [f"{MARK}\nTwo."]


def test_a_comment_that_was_deleted_meanwhile_is_posted_anew(stage: Stage) -> None:
    post(stage, "One.")
    stage.double.faults.append(Fault("PATCH", r"/comments/", 404, "Not Found"))
    assert post(stage, "Two.").state is CommentState.CREATED


def test_issues_that_are_switched_off_are_named(stage: Stage) -> None:
    stage.double.faults.append(Fault("POST", r"/comments", 410, "Issues are disabled"))
    with pytest.raises(GitHubError) as refused:
        post(stage)
    assert refused.value.obstacle is Obstacle.SWITCHED_OFF


@pytest.mark.parametrize("key", ["", "A", "a b", "a-->", "x" * 65])
def test_a_key_that_could_break_the_marker_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="comment key"):
        marker(key)


def test_the_status_is_short_and_ascii(stage: Stage) -> None:
    head = stage.board.pulls[7].head_sha
    line = "claimed 41.2\u2009%, adjusted 39.0\u201340.1 %: " + "caf\u00e9 " * 60
    set_status(stage.api(), BOARD, head, StatusState.FAILURE, line, "https://example.org/run/1")
    (status,) = stage.board.statuses[head]
    assert (status["context"], status["state"]) == ("utboost/audit", "failure")
    assert status["description"].startswith("claimed 41.2 %, adjusted 39.0-40.1 %: cafe")
    assert len(status["description"]) <= 140


def test_a_status_is_repeated_after_a_server_fault_and_bound_to_a_commit(stage: Stage) -> None:
    head = stage.board.pulls[7].head_sha
    stage.double.faults.append(Fault("POST", r"/statuses/", 500))
    set_status(stage.api(), BOARD, head, StatusState.PENDING, "audit runs")
    assert len(stage.board.statuses[head]) == 1
    with pytest.raises(InputError, match="full commit id"):
        set_status(stage.api(), BOARD, "main", StatusState.PENDING, "x")
