import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utboost_action.errors import InputError
from utboost_action.generation.asking import (
    BudgetExhaustedError,
    Exchange,
    Message,
    ModelError,
    PendingReplyError,
    ReplayMissError,
    Reply,
    Request,
    Usage,
)
from utboost_action.generation.budget import Budget, Prices
from utboost_action.generation.options import GenerationOptions, option_help
from utboost_action.generation.reply_folder import ReplyFolder
from utboost_action.generation.sampling import Ending, sample_tests
from utboost_action.generation.schedule import Profile, Step, parse_schedule, schedule_of
from utboost_action.generation.tokens import token_bound, tokens_at_most
from utboost_action.generation.transcripts import RecordedFirst, Replay, Transcript


class Unit:
    def __init__(self, key):
        self.key = key


def request(text="hello", **changes):
    values = {"model": "m", "messages": (Message("user", text),), "temperature": 0.8, "max_tokens": 9}
    return Request(**(values | {"instance_id": "a__b-1", "stage": "write"} | changes))


TEN_FIVE = Usage(10, 5)


def exchange(asked, samples, texts, usage=TEN_FIVE):
    return Exchange(
        asked, tuple(samples), tuple(Reply(text) for text in texts), usage, 0.5, "2026-01-02T03:04:05+00:00"
    )


class Client:
    def __init__(self, reply=lambda request, sample: Reply(f"{request.temperature}:{sample}")):
        self.reply = reply
        self.asked = []

    def ask(self, asked, samples):
        self.asked.append((asked, list(samples)))
        return {sample: self.reply(asked, sample) for sample in samples}


def sampled(client, steps, read=lambda sample: [Unit(sample.reply.text)]):
    return sample_tests(
        client, (Message("user", "x"),), steps, model="m", max_tokens=9, instance_id="i", read=read
    )


def test_the_paper_s_schedule():
    steps = schedule_of(Profile.PAPER)
    assert [(step.temperature, step.samples) for step in steps] == [
        (0.0, 1),
        (0.8, 20),
        (0.9, 20),
        (0.99, 20),
    ]
    assert sum(step.samples for step in schedule_of(Profile.QUICK)) == 5
    result = sampled(Client(), steps)
    assert (len(result.samples), result.ending) == (61, Ending.SCHEDULE)
    assert len({sample.label for sample in result.samples}) == 61


@pytest.mark.parametrize("text", ["", "1", "0x0", "axb", "0x1,,", "3x1", "-1x2", "0x999"])
def test_schedules_that_are_none(text):
    with pytest.raises(InputError, match=r"0x1,0\.8x10"):
        parse_schedule(text)


def test_custom_schedules():
    assert parse_schedule("0x1, 0.8x10") == (Step(0.0, 1), Step(0.8, 10))
    with pytest.raises(InputError, match="--schedule"):
        schedule_of(Profile.CUSTOM)
    with pytest.raises(InputError, match="--schedule"):
        schedule_of(Profile.PAPER, (Step(0.0, 1),))


def test_sampling_ends_when_a_step_adds_nothing_new():
    client = Client()
    result = sampled(client, schedule_of(Profile.PAPER), read=lambda sample: [Unit("same")])
    assert (len(result.samples), result.ending) == (21, Ending.EXHAUSTED)
    assert len(client.asked) == 2


def test_a_budget_that_ends_keeps_what_came_before():
    def reply(asked, sample):
        if asked.temperature > 0.8:
            raise BudgetExhaustedError("used up")
        return Reply("x")

    result = sampled(Client(reply), schedule_of(Profile.PAPER), read=lambda sample: [Unit(sample.label)])
    assert (len(result.samples), result.ending, result.missing) == (21, Ending.BUDGET, 40)


def test_an_endpoint_that_fails_on_the_way_keeps_what_came_before():
    def fail(asked, sample):
        if asked.temperature == 0.9:
            raise ModelError("403: no more")
        return Reply(f"{asked.temperature}:{sample}")

    result = sampled(Client(fail), [Step(0.0, 1), Step(0.8, 2), Step(0.9, 4), Step(0.99, 4)])
    assert (len(result.samples), result.missing) == (3, 8)
    assert (result.ending, result.problem) == (Ending.FAILED, "403: no more")
    with pytest.raises(ModelError):
        sampled(Client(fail), [Step(0.9, 4)])


def test_samples_that_were_not_had_are_no_done_schedule():
    class Short(Client):
        def ask(self, asked, samples):
            return {0: super().ask(asked, samples)[0]}

    result = sampled(Short(), [Step(0.8, 3)])
    assert (result.ending, result.missing) == (Ending.SHORT, 2)


def test_steps_of_one_temperature_are_different_samples():
    client = Client()
    result = sampled(client, [Step(0.8, 2), Step(0.0, 1), Step(0.8, 3)])
    assert [samples for _asked, samples in client.asked] == [[0, 1], [0], [2, 3, 4]]
    assert len({sample.label for sample in result.samples}) == 6


def test_odd_characters_travel_as_escapes():
    assert Message("user", "caf\u00e9 \ud83d").content == "caf\u00e9 \\ud83d"


@pytest.mark.parametrize(
    "text", ["01" * 400, "0.123456,-1.5e-3;" * 40, "SGVsbG8gd29ybGQ=" * 40, "x**2+3*y_1-(a/b)" * 40]
)
def test_a_budget_s_bound_is_a_token_for_each_byte_that_is_no_letter(text):
    letters = sum(map(str.isalpha, text))
    assert tokens_at_most(text) >= len(text) - letters + letters / 2.5
    assert tokens_at_most(text) > token_bound(text)


def test_the_hash_is_exact():
    same = request(instance_id="other", stage="label")
    assert same.hash == request().hash
    others = [
        request("hello "),
        request(model="n"),
        request(temperature=0.9),
        request(max_tokens=10),
        request(schema_name="files", schema={}),
        request(messages=(Message("system", "hello"),)),
    ]
    assert len({one.hash for one in [request(), *others]}) == 7


def test_what_is_recorded_is_not_asked_again(tmp_path):
    path = tmp_path / "t.jsonl"
    client = Client()
    first = RecordedFirst(Transcript(path), client)
    Transcript(path).append(exchange(request(), [0, 1], ["a", "b"]))
    transcript = Transcript(path)
    again = RecordedFirst(transcript, client)
    assert {n: reply.text for n, reply in again.ask(request(), [0, 1, 2]).items()} == {
        0: "a",
        1: "b",
        2: "0.8:2",
    }
    assert client.asked == [(request(), [2])]
    assert transcript.usage == Usage(10, 5)
    assert transcript.usage_of("a__b-1") == {"write": Usage(10, 5)}
    assert first.ask(request(), [0])[0].text == "0.8:0"  # opened before, it knows nothing of it


def test_a_replay_answers_by_exact_hash_or_names_the_prompt(tmp_path):
    path = tmp_path / "t.jsonl"
    Transcript(path).append(exchange(request(), [0, 1], ["a", "b"]))
    replay = Replay(Transcript(path, read_only=True))
    assert [reply.text for reply in replay.ask(request(), range(5)).values()] == ["a", "b"]
    assert replay.ask(request(), [1])[1].at == "2026-01-02T03:04:05+00:00"
    with pytest.raises(
        ReplayMissError, match=rf"{request('other').hash} \(a__b-1, write, temperature 0\.8\)"
    ):
        replay.ask(request("other"), [0])


def test_a_failure_is_replayed_as_it_was(tmp_path):
    path = tmp_path / "t.jsonl"

    def reply(asked, sample):
        raise BudgetExhaustedError("the budget") if asked.temperature > 0.8 else ModelError("no answer")

    live = RecordedFirst(Transcript(path), Client(reply))
    for asked in (request(), request(temperature=0.9)):
        with pytest.raises(ModelError):
            live.ask(asked, [0])
    replay = Replay(Transcript(path, read_only=True))
    with pytest.raises(ModelError, match="no answer"):
        replay.ask(request(), [0])
    with pytest.raises(BudgetExhaustedError, match="the budget"):
        replay.ask(request(temperature=0.9), [0])
    asked_again = RecordedFirst(Transcript(path), Client())
    assert asked_again.ask(request(), [0])[0].text == "0.8:0"


@given(cut=st.integers(2, 400))  # from 2: without its line end alone it is whole
def test_a_line_that_a_kill_left_unfinished_is_dropped(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    Transcript(path).append(exchange(request(), [0], ["a"]))
    whole = path.read_bytes()
    Transcript(path).append(exchange(request("second"), [0], ["b"]))
    path.write_bytes(path.read_bytes()[: -min(cut, len(path.read_bytes()) - len(whole))])
    transcript = Transcript(path)
    assert list(transcript.replies) == [(request().hash, 0)]
    transcript.append(exchange(request("third"), [0], ["c"]))
    assert len(Transcript(path, read_only=True).replies) == 2


def test_a_last_line_without_its_end_is_whole(tmp_path):
    path = tmp_path / "t.jsonl"
    Transcript(path).append(exchange(request(), [0], ["a"]))
    path.write_bytes(path.read_bytes()[:-1])
    assert len(Transcript(path, read_only=True).replies) == 1
    Transcript(path).append(exchange(request("second"), [0], ["b"]))
    assert len(Transcript(path).replies) == 2


USAGE = (
    '{"hash": "h", "instance": "i", "stage": "s", "at": "", "samples": [], "replies": [], '
    '"usage": {"prompt_tokens": "x", "completion_tokens": 1}}'
)


WHOLE = (
    '{"hash": "h", "instance": "i", "stage": "s", "at": "", "samples": [0], '
    '"replies": [{"text": "a", "finish": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}'
)
WRONG = [
    WHOLE.replace(*change)
    for change in (('"a"', "null"), ('"a"', "5"), ("[0]", '"ab"'), ("[0]", "[0.5]"), (": 1,", ": Infinity,"))
]


@pytest.mark.parametrize("line", ["{}", "[]", "text", '{"hash": 1}', "null", USAGE, *WRONG])
def test_a_line_that_is_no_exchange_is_named(tmp_path, line):
    path = tmp_path / "t.jsonl"
    Transcript(path).append(exchange(request(), [0], ["a"]))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match="line 2: not an exchange"):
        Transcript(path)


def test_a_replay_of_nothing_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Transcript(tmp_path / "none.jsonl", read_only=True)


def test_the_request_is_kept_as_it_was(tmp_path):
    path = tmp_path / "t.jsonl"
    Transcript(path).append(exchange(request("naïve \ud800"), [0], ["\u2028"], Usage(1, 1, measured=False)))
    (line,) = [json.loads(text) for text in path.read_text().split("\n") if text]
    assert line["request"]["model"] == "m"
    assert line["usage"] is None
    assert line["bound"] == {"prompt_tokens": 1, "completion_tokens": 1}
    assert not Transcript(path).usage.measured


def test_prompts_wait_in_a_folder_for_people(tmp_path):
    transcript = Transcript(tmp_path / "t.jsonl")
    folder = ReplyFolder(tmp_path, prompts=tmp_path, transcript=transcript)
    with pytest.raises(PendingReplyError, match=f"{request().hash}.prompt.md"):
        folder.ask(request(), [0, 1, 2])
    prompt = (tmp_path / f"{request().hash}.prompt.md").read_text()
    assert "===== user =====\nhello" in prompt
    assert "(3 are asked for" in prompt
    (tmp_path / f"{request().hash}.reply.txt").write_text("first")
    (tmp_path / f"{request().hash}.reply.2.txt").write_text("third")
    replies = folder.ask(request(), [0, 1, 2])
    assert {n: reply.text for n, reply in replies.items()} == {0: "first", 2: "third"}
    assert set(Transcript(transcript.path).replies) == {(request().hash, 0), (request().hash, 2)}


def test_a_folder_s_later_samples_are_not_waited_for(tmp_path):
    transcript = Transcript(tmp_path / "t.jsonl")
    (tmp_path / f"{request().hash}.reply.txt").write_text("first")
    folder = ReplyFolder(tmp_path, prompts=None, transcript=transcript)
    for _ in range(2):
        assert set(folder.ask(request(), [0, 1])) == {0}
    assert transcript.path.read_text().count("\n") == 1


def test_an_answer_may_be_changed_or_taken_away_after_it_was_read(tmp_path):
    answer, path = tmp_path / f"{request().hash}.reply.txt", tmp_path / "t.jsonl"
    for text in ("first", "second"):
        answer.write_text(text)
        folder = ReplyFolder(tmp_path, prompts=None, transcript=Transcript(path))
        assert folder.ask(request(), [0])[0].text == text
    answer.unlink()
    folder = ReplyFolder(tmp_path, prompts=None, transcript=Transcript(path))
    assert folder.ask(request(), [0])[0].text == "second"
    assert Replay(Transcript(path, read_only=True)).ask(request(), [0])[0].text == "second"


def test_options_are_checked_and_carry_their_texts():
    assert all(option_help().values())
    for wrong, named in (
        ({}, "--model"),
        ({"model": "m", "budget_usd": 1.0}, "--price-prompt"),
        ({"model": "m", "gold_repeats": 1}, "--gold-repeats"),
        ({"model": "m", "base_url": "localhost:8000/v1"}, "--base-url"),
        ({"model": "m", "base_url": "not a url"}, "--base-url"),
        ({"model": "m", "base_url": "ftp://host/v1"}, "--base-url"),
        ({"model": "m", "budget_tokens": -1}, "--budget-tokens"),
        ({"model": "m", "price_prompt": float("nan")}, "--price-prompt"),
        ({"model": "m", "replay": Path("a"), "transcript": Path("b")}, "--transcript"),
        ({"model": "m", "profile": Profile.CUSTOM}, "--schedule"),
        ({"model": "m", "budget_tokens": -1}, "--budget-tokens"),
    ):
        with pytest.raises(InputError, match=named):
            GenerationOptions(**wrong).checked()
    assert GenerationOptions(model="m").checked().steps()[0] == Step(0.0, 1)


def test_money_needs_prices():
    with pytest.raises(InputError, match="--price-prompt"):
        Budget(usd=1.0)
    assert Prices(2.5, 10.0).cost(Usage(1_000_000, 100_000)) == 3.5


@given(
    st.lists(st.tuples(st.integers(1, 300), st.integers(0, 300)), max_size=30),
    st.integers(0, 3000),
)
def test_a_budget_is_exceeded_by_less_than_one_call(calls, limit):
    budget = Budget(tokens=limit)
    spent = 0
    for prompt, completion in calls:
        try:
            with budget.call(Usage(prompt, completion)) as call:
                assert spent < limit
                call.settle(Usage(prompt, completion))
        except BudgetExhaustedError:
            assert spent >= limit
            continue
        spent += prompt + completion
    assert budget.spent.total == spent
