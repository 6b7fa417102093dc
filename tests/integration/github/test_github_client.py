from __future__ import annotations

import logging
import socket
from pathlib import Path

import pytest

from tests.github_double import Fault, GitHubDouble, Identity
from tests.integration.github.conftest import BOARD, TOKEN, Clock, Stage
from utboost_action.errors import InputError
from utboost_action.github.client import Api, connection_from
from utboost_action.github.comment import CommentState, post_comment
from utboost_action.github.problems import GitHubError, Obstacle
from utboost_action.github.pull_request import pull_request

SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
PRIMARY = "API rate limit exceeded for installation ID 1."


@pytest.fixture(autouse=True)
def _pull(stage: Stage) -> None:
    stage.board.open_pull(7, {"x": b"x"})


def fault(stage: Stage, status: int, message: str = "no", times: int = 1, **headers: str) -> None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    stage.double.faults.append(Fault("GET", r"/pulls/7", status, message, named, times))


def test_what_retry_after_says_is_waited_for(stage: Stage) -> None:
    fault(stage, 429, Retry_After="7")
    fault(stage, 403, SECONDARY, Retry_After="9")
    assert pull_request(stage.api(), BOARD, 7).number == 7
    assert stage.clock.waits == [7.0, 9.0]
    assert "waiting 7 s" in stage.clock.notes[0]


def test_a_secondary_limit_without_a_time_is_waited_for_longer_each_time(stage: Stage) -> None:
    fault(stage, 403, SECONDARY)
    fault(stage, 429)
    assert pull_request(stage.api(), BOARD, 7).number == 7
    assert stage.clock.waits == [60.0, 120.0]


def test_an_exhausted_limit_is_waited_for_until_its_reset(stage: Stage) -> None:
    reset = str(int(stage.clock.at) + 40)
    fault(stage, 403, PRIMARY, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset)
    assert pull_request(stage.api(), BOARD, 7).number == 7
    assert stage.clock.waits == [41.0]


@pytest.mark.parametrize(
    ("status", "message", "headers"),
    [
        (429, "no", {"Retry_After": "3600"}),
        (403, SECONDARY, {"Retry_After": "3600"}),
        (403, PRIMARY, {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": "1893456000"}),
    ],
)
def test_a_wait_that_is_too_long_is_not_begun(
    stage: Stage, status: int, message: str, headers: dict[str, str]
) -> None:
    fault(stage, status, message, **headers)
    with pytest.raises(GitHubError, match="run the job again later") as refused:
        pull_request(stage.api(), BOARD, 7)
    assert refused.value.obstacle is Obstacle.RATE_LIMITED
    assert stage.clock.waits == []


def test_all_waits_of_a_run_have_one_sum(stage: Stage) -> None:
    api = stage.api(total=100.0)
    fault(stage, 429, Retry_After="60")
    pull_request(api, BOARD, 7)
    fault(stage, 429, Retry_After="60")
    with pytest.raises(GitHubError, match="40 s left"):
        pull_request(api, BOARD, 7)


def test_a_limit_that_does_not_end_is_named(stage: Stage) -> None:
    fault(stage, 429, times=50, Retry_After="1")
    with pytest.raises(GitHubError) as refused:
        pull_request(stage.api(), BOARD, 7)
    assert refused.value.obstacle is Obstacle.RATE_LIMITED
    assert len(stage.clock.waits) == 5


def test_server_faults_are_repeated_and_then_named(stage: Stage) -> None:
    fault(stage, 502, times=3)
    assert pull_request(stage.api(), BOARD, 7).number == 7
    assert stage.clock.waits == [1.0, 2.0, 4.0]
    fault(stage, 503, times=50)
    with pytest.raises(GitHubError) as refused:
        pull_request(stage.api(), BOARD, 7)
    assert refused.value.obstacle is Obstacle.SERVER_FAULT


def test_a_refusal_is_not_repeated(stage: Stage) -> None:
    fault(stage, 403, "Resource not accessible by integration", times=5)
    with pytest.raises(GitHubError) as refused:
        pull_request(stage.api(), BOARD, 7)
    assert refused.value.obstacle is Obstacle.MISSING_PERMISSION
    assert stage.clock.waits == []
    assert stage.double.faults[0].times == 4


def test_a_limit_on_a_write_is_waited_for_since_nothing_was_written(stage: Stage) -> None:
    for method, path in (("POST", r"/issues/7/comments"), ("POST", r"/graphql"), ("PATCH", r"/comments/")):
        stage.double.faults.append(Fault(method, path, 403, SECONDARY, {"Retry-After": "5"}))
    assert post_comment(stage.api(), BOARD, 7, "audit", ["a"]).state is CommentState.CREATED
    assert post_comment(stage.api(), BOARD, 7, "audit", ["b"]).state is CommentState.UPDATED
    assert stage.clock.waits == [5.0, 5.0, 5.0]


def test_a_graphql_fault_is_repeated(stage: Stage) -> None:
    post_comment(stage.api(), BOARD, 7, "audit", ["a"])
    stage.double.faults.append(Fault("POST", r"/graphql", 502, times=2))
    assert post_comment(stage.api(), BOARD, 7, "audit", ["b"]).state is CommentState.UPDATED


def test_a_graphql_limit_comes_with_status_200_and_is_waited_for(stage: Stage) -> None:
    post_comment(stage.api(), BOARD, 7, "audit", ["a"])
    stage.double.routes.graphql_limits = 2
    assert post_comment(stage.api(), BOARD, 7, "audit", ["b"]).state is CommentState.UPDATED
    assert stage.clock.waits == [60.0, 120.0]


def test_no_log_of_any_library_shows_the_token(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        post_comment(stage.api(), BOARD, 7, "audit", ["a"])
        post_comment(stage.api(), BOARD, 7, "audit", ["b"])
    assert caplog.records
    assert TOKEN not in caplog.text
    assert all(exchange.authorization == f"token {TOKEN}" for exchange in stage.double.exchanges)


def test_nobody_answers() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    connection = connection_from({"GITHUB_API_URL": url}, TOKEN)
    clock = Clock()
    with pytest.raises(GitHubError, match="connection refused") as refused:
        pull_request(Api(connection, clock.patience(), reads=0, writes=0), BOARD, 7)
    assert refused.value.obstacle is Obstacle.UNREACHABLE
    assert len(clock.waits) == 5


def test_an_enterprise_server(tmp_path: Path) -> None:
    with GitHubDouble(tmp_path, prefix="/api/v3") as double:
        board = double.add_repository(BOARD)
        board.open_pull(7, {"x": b"x"})
        double.tokens[TOKEN] = Identity("github-actions[bot]")
        for n in range(120):
            double.comment(BOARD, 7, "someone", str(n))
        api = Api(connection_from(double.environ, TOKEN), Clock().patience(), reads=0, writes=0)
        assert api.connection.graphql_url.endswith("/api/graphql")
        assert api.connection.clone_url(BOARD) == f"{double.url}/{BOARD}.git"
        post_comment(api, BOARD, 7, "audit", ["a"])
        assert post_comment(api, BOARD, 7, "audit", ["b"]).state is CommentState.UPDATED


def test_the_runner_s_addresses_are_used_and_checked(tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("")
    found = connection_from(
        {"GITHUB_API_URL": "https://ghe.example/api/v3/", "SSL_CERT_FILE": str(bundle)}, "t0ken"
    )
    assert (found.api_url, found.ca_bundle) == ("https://ghe.example/api/v3", bundle)
    assert "t0ken" not in repr(found)
    for environ in (
        {"GITHUB_API_URL": "file:///etc"},
        {"GITHUB_SERVER_URL": "https://me:pw@example.org"},
        {"REQUESTS_CA_BUNDLE": str(tmp_path / "none")},
    ):
        with pytest.raises(InputError, match=next(iter(environ))):
            connection_from(environ, "t0ken")
    for token in ("", " ", "a\nb", "a b"):
        with pytest.raises(InputError, match="github-token"):
            connection_from({}, token)


def test_the_ca_bundle_reaches_the_client(tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("")
    api = Api(connection_from({"REQUESTS_CA_BUNDLE": str(bundle)}, "t0ken"))
    assert api.github.requester.kwargs["verify"] == str(bundle)
