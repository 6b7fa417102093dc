from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.github_double import webhook_examples
from tests.github_double.contract import missing_webhooks
from utboost_action.errors import InputError
from utboost_action.github.commands import BadCommand, Command, CommandKind
from utboost_action.github.events import (
    Activity,
    AuditAgain,
    AuditPullRequest,
    Neutral,
    RefreshBoard,
    ReportRun,
    RunCommand,
    activity_of,
)

HEAD, BASE = "a" * 40, "b" * 40
REPOSITORY = {"full_name": "board/experiments", "default_branch": "main"}
EVENTS = {
    *("pull_request", "pull_request_target", "issue_comment", "workflow_dispatch"),
    *("workflow_run", "push", "schedule"),
}
keys = st.sampled_from(
    [
        *("action", "pull_request", "number", "state", "head", "base", "sha", "repo", "full_name", "ref"),
        *("issue", "comment", "user", "login", "body", "inputs", "pr-number", "submission-path", "after"),
        "repository",
    ]
)
needs_examples = pytest.mark.skipif(missing_webhooks() is not None, reason=str(missing_webhooks()))


def pull_event(
    action: str = "opened", *, fork: str | None = "someone/experiments", **pull: Any
) -> dict[str, Any]:
    head = {"sha": HEAD, "repo": {"full_name": fork} if fork else None}
    value = {"number": 7, "state": "open", "head": head, "base": {"sha": BASE}, **pull}
    return {"action": action, "pull_request": value, "repository": REPOSITORY}


def comment_event(body: str, action: str = "created", **changes: Any) -> dict[str, Any]:
    return {
        "action": action,
        "issue": {"number": 7, "state": "open", "pull_request": {"url": "https://example.org"}},
        "comment": {
            "id": 5,
            "body": body,
            "created_at": "2026-01-02T03:04:05Z",
            "user": {"login": "maintainer", "type": "User"},
        },
        "repository": REPOSITORY,
        **changes,
    }


def dispatch(**inputs: Any) -> Activity:
    named = {name.replace("_", "-"): value for name, value in inputs.items()}
    return activity_of("workflow_dispatch", {"inputs": named, "repository": REPOSITORY})


@pytest.mark.parametrize("action", ["opened", "reopened", "synchronize", "ready_for_review"])
@pytest.mark.parametrize("event", ["pull_request", "pull_request_target"])
def test_a_pull_request_is_audited_at_its_head(event: str, action: str) -> None:
    found = activity_of(event, pull_event(action))
    assert found == AuditPullRequest(
        "board/experiments", 7, HEAD, BASE, "someone/experiments", read_only=event == "pull_request"
    )


def test_a_branch_of_the_board_itself_can_be_written_to() -> None:
    found = activity_of("pull_request", pull_event(fork="board/experiments"))
    assert isinstance(found, AuditPullRequest)
    assert not found.read_only


def test_a_deleted_fork_is_read_like_any_other() -> None:
    found = activity_of("pull_request", pull_event(fork=None))
    assert isinstance(found, AuditPullRequest)
    assert found.head_repository is None
    assert found.read_only


def test_another_base_branch_is_a_reason_to_audit_and_another_title_is_none() -> None:
    rebased = {**pull_event("edited"), "changes": {"base": {"ref": {"from": "old"}}}}
    retitled = {**pull_event("edited"), "changes": {"title": {"from": "old"}}}
    assert isinstance(activity_of("pull_request", rebased), AuditPullRequest)
    assert isinstance(activity_of("pull_request", retitled), Neutral)


@pytest.mark.parametrize(
    ("event", "payload", "reason"),
    [
        ("pull_request", pull_event("labeled"), "neither its head nor its base"),
        ("pull_request", pull_event("opened", state="closed"), "closed"),
        ("issue_comment", comment_event("/utboost audit", "edited"), "only a new comment"),
        (
            "issue_comment",
            comment_event("/utboost audit", issue={"number": 7, "state": "open"}),
            "not on a pull",
        ),
        ("issue_comment", comment_event("thanks"), "does not begin with /utboost"),
        ("workflow_run", {"action": "requested", "repository": REPOSITORY}, "nothing to report yet"),
        (
            "workflow_run",
            {"action": "completed", "workflow_run": {"event": "push"}, "repository": REPOSITORY},
            "not by a pull request",
        ),
        (
            "push",
            {"ref": "refs/heads/data", "after": HEAD, "repository": REPOSITORY},
            "not the default branch",
        ),
        ("push", {"ref": "refs/heads/main", "deleted": True, "repository": REPOSITORY}, "deleted"),
        ("release", {}, "none that this action handles"),
        ("x\n::error::", {}, "none that this action handles"),
    ],
)
def test_anything_else_ends_neutral_and_says_why(event: str, payload: dict[str, Any], reason: str) -> None:
    found = activity_of(event, payload)
    assert isinstance(found, Neutral)
    assert reason in found.reason
    assert found.reason.isprintable()


def test_a_closed_pull_request_takes_no_command() -> None:
    issue = {"number": 7, "state": "closed", "pull_request": {}}
    assert isinstance(activity_of("issue_comment", comment_event("/utboost audit", issue=issue)), Neutral)


def test_a_bot_gives_no_commands() -> None:
    event = comment_event("/utboost audit")
    event["comment"]["user"]["type"] = "Bot"
    assert isinstance(activity_of("issue_comment", event), Neutral)


def test_a_command_carries_who_when_and_what() -> None:
    found = activity_of("issue_comment", comment_event("/utboost recheck django__django-11099"))
    assert isinstance(found, RunCommand)
    assert found.request.command == Command(CommandKind.RECHECK, "django__django-11099")
    assert found.request.author == "maintainer"
    assert found.request.written_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (found.request.number, found.request.comment_id) == (7, 5)


def test_a_command_that_is_none_is_answered_too() -> None:
    found = activity_of("issue_comment", comment_event("/utboost dance"))
    assert isinstance(found, RunCommand)
    assert isinstance(found.request.command, BadCommand)


def test_dispatch_by_number_path_and_for_the_whole_board() -> None:
    assert dispatch(pr_number="12", force="true") == AuditAgain("board/experiments", 12, force=True)
    assert dispatch(submission_path="evaluation/lite/a, evaluation/lite/b", dry_run=True) == AuditAgain(
        "board/experiments", paths=("evaluation/lite/a", "evaluation/lite/b"), dry_run=True
    )
    assert dispatch(submission_path="all", instances="a__b-1,\nc__d-2") == AuditAgain(
        "board/experiments", whole_board=True, instances=("a__b-1", "c__d-2")
    )


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({}, "pr-number and submission-path"),
        ({"pr_number": "1", "submission_path": "x"}, "pr-number and submission-path"),
        ({"pr_number": "$(id)"}, "pr-number"),
        ({"pr_number": "0"}, "pr-number"),
        ({"pr_number": 3}, "pr-number"),
        ({"submission_path": "../x"}, "submission-path"),
        ({"submission_path": "/etc"}, "submission-path"),
        ({"submission_path": "a/.git/hooks"}, "submission-path"),
        ({"pr_number": "1", "instances": "django; rm"}, "instances"),
        ({"pr_number": "1", "force": "yes"}, "force"),
        ({"pr_number": "1", "dry_run": "1"}, "dry-run"),
    ],
)
def test_an_input_that_is_not_understood_is_named(inputs: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        dispatch(**inputs)


def test_the_report_of_another_run_is_found_by_its_head_alone() -> None:
    run = {
        "id": 99,
        "event": "pull_request",
        "head_sha": HEAD,
        "head_branch": "submission",
        "head_repository": {"full_name": "someone/experiments"},
        "pull_requests": [],
    }
    found = activity_of(
        "workflow_run", {"action": "completed", "workflow_run": run, "repository": REPOSITORY}
    )
    assert found == ReportRun("board/experiments", 99, HEAD, "someone/experiments", "submission")


def test_the_board_is_refreshed_by_schedule_and_when_its_branch_moves() -> None:
    assert activity_of("schedule", {"repository": REPOSITORY}) == RefreshBoard(
        "board/experiments", nightly=True
    )
    push = {"ref": "refs/heads/main", "after": HEAD, "repository": REPOSITORY}
    assert activity_of("push", push) == RefreshBoard("board/experiments", nightly=False, sha=HEAD)


@pytest.mark.parametrize(
    "broken",
    [
        {"pull_request": None},
        {"pull_request": {**pull_event()["pull_request"], "head": {"sha": "main"}}},
        {"pull_request": {**pull_event()["pull_request"], "number": "7"}},
        {"repository": {}},
    ],
)
def test_a_payload_of_another_event_is_an_error_that_names_the_place(broken: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="event payload: "):
        activity_of("pull_request", {**pull_event(), **broken})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just(HEAD),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=30,
)


@given(st.sampled_from(sorted(EVENTS)), st.dictionaries(keys, json_values, max_size=6))
def test_no_payload_breaks_it(event: str, payload: dict[str, Any]) -> None:
    try:
        found = activity_of(event, payload)
    except InputError as problem:
        assert str(problem).isprintable()  # noqa: PT017
    else:
        assert not isinstance(found, Neutral) or found.reason.isprintable()


@needs_examples
def test_github_own_example_events_are_all_understood() -> None:
    seen: dict[str, set[str]] = {}
    for name, payloads in webhook_examples().items():
        for payload in payloads:
            if name == "workflow_dispatch":  # the examples have inputs of other workflows
                continue
            seen.setdefault(name, set()).add(type(activity_of(name, payload)).__name__)
    assert seen["pull_request"] == {"AuditPullRequest", "Neutral"}
    assert seen["workflow_run"] <= {"ReportRun", "Neutral"}
    assert seen["push"] <= {"RefreshBoard", "Neutral"}
    assert seen["issue_comment"] == {"Neutral"}
    assert all(kinds == {"Neutral"} for name, kinds in seen.items() if name not in HANDLED)


HANDLED = {"pull_request", "workflow_run", "push", "issue_comment"}
