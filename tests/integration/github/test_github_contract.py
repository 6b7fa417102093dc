from __future__ import annotations

import dataclasses
import json
import urllib.request

import pytest

from tests.github_double import Contract, missing_openapi
from tests.integration.github.conftest import BOARD, TOKEN, Stage
from utboost_action.github.comment import post_comment
from utboost_action.github.pull_request import pull_request

needs_openapi = pytest.mark.skipif(missing_openapi() is not None, reason=str(missing_openapi()))


@needs_openapi
def test_a_deviation_from_github_s_description_is_seen(stage: Stage) -> None:
    stage.board.open_pull(7, {"x": b"x"})
    post_comment(stage.api(), BOARD, 7, "audit", ["a"])
    pull_request(stage.api(), BOARD, 7)
    contract = Contract.load()
    listed, posted, read = stage.double.exchanges
    assert not any(contract.problems(exchange) for exchange in (listed, posted, read))
    broken = [
        dataclasses.replace(listed, query={"pages": "2"}),
        dataclasses.replace(listed, query={"per_page": "many"}),
        dataclasses.replace(posted, request={"text": "a"}),
        dataclasses.replace(posted, request={"body": 1}),
        dataclasses.replace(posted, status=202),
        dataclasses.replace(posted, response={**posted.response, "html_url": None}),
        dataclasses.replace(posted, path="/repos/a/b/issues/7/remarks"),
        dataclasses.replace(read, method="DELETE"),
        dataclasses.replace(read, response={k: v for k, v in read.response.items() if k != "head"}),
    ]
    assert all(contract.problems(exchange) for exchange in broken)


def test_pages_are_linked_as_github_links_them(stage: Stage) -> None:
    stage.board.open_pull(7, {"x": b"x"})
    for n in range(7):
        stage.double.comment(BOARD, 7, "someone", str(n))
    url = f"{stage.double.api_url}/repos/{BOARD}/issues/7/comments?per_page=3&page=2"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as reply:
        assert [comment["body"] for comment in json.load(reply)] == ["3", "4", "5"]
        links = reply.headers["Link"]
    assert [part.split("; ")[1] for part in links.split(", ")] == [
        f'rel="{n}"' for n in ("first", "prev", "next", "last")
    ]
    assert all(part.startswith(f"<{stage.double.url}") for part in links.split(", "))
