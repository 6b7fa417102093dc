"""The official openai client against a loopback server that behaves, and that does not."""

import json
import threading
import time
from datetime import UTC, datetime

import openai
import pytest
from model_server import Answer, completion, model_server, refusal

from utboost_action.generation.asking import BudgetExhaustedError, Message, ModelError, Request, Usage
from utboost_action.generation.budget import Budget, Prices
from utboost_action.generation.endpoint import Endpoint, EndpointLimits

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def request(schema=None, **changes):
    values = {
        "model": "test-model",
        "messages": (Message("system", "Be brief."), Message("user", "Say something.")),
        "temperature": 0.8,
        "max_tokens": 50,
        "schema_name": "files" if schema else "",
        "schema": schema,
    }
    return Request(**(values | changes))


class Run:
    """A client of a scripted server; waits are noted, not waited for."""

    def __init__(self, script, *, budget=None, **limits):
        self._serving = model_server(script)
        self.budget = budget or Budget()
        self.waits = []
        self.recorded = []
        self.limits = EndpointLimits(**({"timeout": 5.0, "retries": 3} | limits))

    def __enter__(self):
        self.server = self._serving.__enter__()
        self._client = openai.OpenAI(api_key="secret-key", base_url=self.server.url, max_retries=0)
        self.endpoint = Endpoint(
            self._client,
            budget=self.budget,
            record=self.recorded.append,
            clock=time.monotonic,
            now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            sleep=self.waits.append,
            limits=self.limits,
        )
        return self

    def __exit__(self, *error):
        self._client.close()
        self._serving.__exit__(*error)

    def texts(self, count=1, **changes):
        replies = self.endpoint.ask(request(**changes), range(count))
        return [replies[sample].text for sample in sorted(replies)]


def test_many_samples_are_one_call_and_its_usage_is_counted_once():
    with Run(lambda body, _n: completion(*"abc")) as run:
        assert run.texts(3) == ["a", "b", "c"]
        assert [body["n"] for body in run.server.requests] == [3]
        assert run.budget.spent == Usage(100, 3)
        (exchange,) = run.recorded
        assert exchange.samples == (0, 1, 2)
        assert exchange.at == "2026-01-02T03:04:05+00:00"


def test_the_key_travels_in_the_header_alone():
    with Run(lambda body, _n: completion("a")) as run:
        run.texts()
        assert run.server.headers[0]["authorization"] == "Bearer secret-key"
        assert "secret-key" not in repr(run.recorded) + repr(run.server.requests)


def test_a_429_without_retry_after_waits_longer_each_time():
    with Run(lambda body, n: completion("a") if n == 3 else refusal(429, "slow down")) as run:
        assert run.texts() == ["a"]
        assert run.waits == [1.0, 2.0, 4.0]
        assert run.budget.spent == Usage(100, 1)


@pytest.mark.parametrize(
    ("value", "waited"),
    [("7", 7.0), ("0", 0.0), ("Fri, 02 Jan 2026 03:04:25 GMT", 20.0), ("soon", 1.0), ("nan", 1.0)],
)
def test_a_429_with_retry_after_waits_as_asked(value, waited):
    script = lambda body, n: completion("a") if n else refusal(429, "slow", retry_after=value)  # noqa: E731
    with Run(script) as run:
        assert run.texts() == ["a"]
        assert run.waits == [waited]


def test_a_wait_of_hours_is_refused():
    with Run(lambda body, n: refusal(429, "slow", retry_after="7200")) as run:
        with pytest.raises(ModelError, match="asks to wait 7200 s"):
            run.texts()
        assert run.waits == []
        assert (run.budget.spent.total, run.recorded) == (0, [])


def test_an_empty_account_is_not_asked_again():
    with Run(lambda body, n: refusal(429, "You exceeded your quota", code="insufficient_quota")) as run:
        with pytest.raises(ModelError, match="429: You exceeded"):
            run.texts()
        assert len(run.server.requests) == 1


@pytest.mark.parametrize(
    "bad",
    [
        refusal(500, "oops"),
        refusal(503, "busy"),
        Answer(body=b'{"choices": [{"index": 0, "mess'),
        Answer(body=b'{"choices": [{"index": 0, "mess', headers={"content-type": "application/json"}),
        Answer(body=b"<html>502</html>", headers={"content-type": "text/html"}),
        Answer(body=b'{"choices": []}'),
        Answer(body=b'{"choices": null}'),
        Answer(body=b'{"choices": [{"index": 0}]}'),
        Answer(body=b'{"choices": ["text"]}'),
        Answer(body=b"[1, 2]"),
        Answer(body=b""),
        Answer(body=b"x" * 1000, chunk=400, hang_up=True),
        Answer(body=b"[" * 200_000),
    ],
    ids=lambda answer: f"{answer.status} {answer.body[:20]!r}",
)
def test_what_may_pass_is_tried_again_but_not_for_ever(bad):
    with Run(lambda body, n: bad if n < 2 else completion("fine")) as run:
        assert run.texts() == ["fine"]
        assert len(run.server.requests) == 3
    with Run(lambda body, n: bad) as run:
        with pytest.raises(ModelError, match="no usable reply after 4 tries"):
            run.texts()
        assert len(run.server.requests) == 4


def test_a_response_that_was_made_and_lost_counts_for_the_budget_and_is_recorded():
    with Run(lambda body, n: completion("fine") if n else Answer(body=b"{" * 300)) as run:
        assert run.texts() == ["fine"]
        assert not run.budget.spent.measured
        assert run.budget.spent.total > 101
        assert [len(exchange.replies) for exchange in run.recorded] == [0, 1]


def test_a_slow_stream_ends_at_the_time_limit():
    script = lambda body, n: completion("fine") if n else Answer(body=b" " * 2000, chunk=1, pause=0.01)  # noqa: E731
    with Run(script, timeout=0.5) as run:
        begin = time.monotonic()
        assert run.texts() == ["fine"]
        assert time.monotonic() - begin < 3


def test_a_reply_of_two_megabytes_is_read_and_one_over_the_limit_is_not():
    with Run(lambda body, n: completion("x" * 2_000_000)) as run:
        assert len(run.texts()[0]) == 2_000_000
    with Run(lambda body, n: completion("x" * 2_000_000), body=1_000_000) as run:
        with pytest.raises(ModelError, match="more than 1000000 bytes"):
            run.texts()
        assert len(run.server.requests) == 1
        assert run.budget.spent.completion_tokens == 50  # it was made: its bound counts, and is recorded
        assert [exchange.usage for exchange in run.recorded] == [run.budget.spent]


def test_content_that_is_no_text_is_an_empty_reply():
    with Run(lambda body, n: completion(None)) as run:
        assert run.texts() == [""]


def test_a_cut_reply_says_so():
    with Run(lambda body, n: completion("half", finish="length")) as run:
        assert run.endpoint.ask(request(), [0])[0].cut


def test_a_wrong_key_is_not_tried_again_and_not_told():
    with Run(lambda body, n: refusal(401, "Incorrect API key")) as run:
        with pytest.raises(ModelError, match="401: Incorrect API key") as caught:
            run.texts()
        assert len(run.server.requests) == 1
        assert "secret-key" not in str(caught.value)


def lacking(*features):
    """A server that refuses these parameters by name, as endpoints word it."""

    def script(body, _number):
        for feature in features:
            if feature == "system" and any(message["role"] == "system" for message in body["messages"]):
                return refusal(400, "role 'system' is not supported by this template")
            if feature == "json_schema" and body.get("response_format", {}).get("type") == "json_schema":
                return refusal(
                    400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported"
                )
            if feature == "n" and body.get("n", 1) > 1:
                return refusal(400, "'n' must be 1", param="n")
            if feature in body and feature != "n":
                return refusal(400, f"Unsupported parameter: '{feature}'", param=feature)
        return completion(*["{}"] * body.get("n", 1))

    return script


@pytest.mark.parametrize(
    ("feature", "note"),
    [
        ("n", "single calls"),
        ("seed", "not seeded"),
        ("json_schema", "JSON mode"),
        ("response_format", "the prompt and the parser"),
        ("system", "before the user's"),
        ("max_tokens", "max_completion_tokens"),
        ("temperature", "own temperature"),
    ],
)
def test_a_missing_feature_is_given_up_once_and_said(feature, note):
    with Run(lacking(feature)) as run:
        assert run.texts(3, schema=SCHEMA) == ["{}"] * 3
        asked = len(run.server.requests)
        assert run.texts(1, schema=SCHEMA) == ["{}"]
        assert len(run.server.requests) == asked + 1
        assert any(note in text for text in run.endpoint.features.notes)
        assert run.waits == []


def test_everything_may_be_missing_at_once():
    with Run(lacking("n", "seed", "response_format", "system", "max_tokens", "temperature")) as run:
        assert run.texts(4, schema=SCHEMA) == ["{}"] * 4
        last = run.server.requests[-1]
        assert set(last) == {"model", "messages", "max_completion_tokens"}
        assert last["messages"] == [{"role": "user", "content": "Be brief.\n\nSay something."}]


def test_n_that_is_ignored_without_a_word_is_noticed():
    with Run(lambda body, n: completion(f"r{n}")) as run:
        assert sorted(run.texts(4)) == ["r0", "r1", "r2", "r3"]
        assert "n" not in run.server.requests[-1]
        assert any("lacks n" in note for note in run.endpoint.features.notes)


def test_an_unnamed_refusal_gives_up_one_feature_after_another():
    def script(body, _number):
        return refusal(422, "Unprocessable Entity") if "seed" in body else completion("{}")

    with Run(script) as run:
        assert run.texts(schema=SCHEMA) == ["{}"]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, "Not Found"),
        (400, "The response was filtered by the content management policy"),
        (400, "Your request was rejected as a result of our safety system"),
        (400, "model 'gpt-x' is unknown to this system"),
        (404, "The model `gpt-x` does not exist"),
    ],
)
def test_a_refusal_of_another_kind_takes_no_feature_away(status, message):
    def script(body, n):
        return refusal(status, message) if n == 0 else completion("a")

    with Run(script) as run:
        with pytest.raises(ModelError, match=rf"{status}: .*\(http://127"):
            run.texts()
        assert run.texts() == ["a"]
        assert "seed" in run.server.requests[-1]
        assert run.endpoint.features.notes == []


def test_guesses_that_do_not_help_are_taken_back():
    with Run(lambda body, n: refusal(400, "no") if n < 10 else completion("{}")) as run:
        with pytest.raises(ModelError, match="400: no"):
            run.texts(schema=SCHEMA)
        assert run.endpoint.features.notes == []
        tried = len(run.server.requests)
        assert 1 < tried < 10
        assert {"seed", "response_format"} <= set(run.server.requests[0])
        with pytest.raises(ModelError, match="400: no"):
            run.texts(schema=SCHEMA)
        assert run.server.requests[tried] == run.server.requests[0]


def test_a_call_that_ran_out_of_time_counts_with_its_bound():
    """The endpoint may have written all of it; a restart knows of it from the transcript."""
    with Run(lambda body, n: (time.sleep(0.4), completion("a"))[1], timeout=0.1, retries=1) as run:
        with pytest.raises(ModelError, match="no usable reply after 2 tries"):
            run.texts()
        assert run.budget.spent.completion_tokens == 2 * 50
        assert not run.budget.spent.measured
        assert len(run.recorded) == 2


def test_a_prompt_that_is_too_long_is_no_missing_feature():
    with Run(lambda body, n: refusal(400, "maximum context length is 4096 tokens")) as run:
        with pytest.raises(ModelError, match="maximum context length"):
            run.texts()
        assert len(run.server.requests) == 1


def test_usage_that_is_missing_is_bounded_and_said():
    with Run(lambda body, n: completion("abc", usage=None)) as run:
        run.texts()
        assert not run.budget.spent.measured
        assert run.budget.spent.total > 0
        assert any("no usage figures" in note for note in run.endpoint.features.notes)


def test_concurrency_is_limited():
    def script(body, n):
        time.sleep(0.05)
        return completion("a")

    with Run(
        lambda body, n: refusal(400, "no", param="n") if "n" in body else script(body, n), concurrency=3
    ) as run:
        assert len(run.texts(12)) == 12
        assert run.server.peak <= 3


def test_a_budget_holds_under_concurrency():
    """Calls that began before it was used up may end; none begins afterwards, and their replies are kept."""
    usage = {"prompt_tokens": 100, "completion_tokens": 0}
    script = lambda body, n: (  # noqa: E731
        refusal(400, "no", param="n") if "n" in body else (time.sleep(0.02), completion("a", usage=usage))[1]
    )
    with Run(script, budget=Budget(tokens=550), concurrency=4) as run:
        replies = run.texts(20)
        assert 550 <= run.budget.spent.total <= 550 + 4 * 100
        assert len(replies) * 100 == run.budget.spent.total
        with pytest.raises(BudgetExhaustedError, match="550 tokens is used up"):
            run.texts()


def test_a_budget_in_money_holds():
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    budget = Budget(usd=0.01, prices=Prices(prompt=2.0, completion=10.0))  # 0.003 a call
    with Run(lambda body, n: completion("a", usage=usage), budget=budget) as run:
        for _ in range(4):
            run.texts()
        with pytest.raises(BudgetExhaustedError, match=r"0\.0120 USD"):
            run.texts()
        assert len(run.server.requests) == 4


def test_a_call_waits_for_those_under_way_before_the_budget_refuses_it():
    budget = Budget(tokens=1000)
    order = []

    def second():
        with budget.call(Usage(10, 10)) as call:
            order.append("second began")
            call.settle(Usage(1, 1))

    with budget.call(Usage(900, 900)) as first:
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.05)
        order.append("first ended")
        first.settle(Usage(10, 10))
    thread.join()
    assert order == ["first ended", "second began"]
    assert budget.spent == Usage(11, 11)


def test_structured_outputs_are_asked_for():
    with Run(lambda body, n: completion("{}")) as run:
        run.texts(schema=SCHEMA)
        asked = run.server.requests[0]["response_format"]
        assert asked["json_schema"]["strict"] is True
        assert json.loads(json.dumps(asked))["json_schema"]["schema"] == SCHEMA
