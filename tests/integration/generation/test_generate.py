"""Generation from end to end: the openai client, a loopback server, the local sandbox, a tiny package."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import tiny
from model_server import Answer, by_stage, completion, model_server, refusal, stage_of

from utboost_action.benchmark.bank import read_bank
from utboost_action.errors import InputError
from utboost_action.execution.local_sandbox import LocalSandbox
from utboost_action.execution.protocol import Limits
from utboost_action.generate import run_generation
from utboost_action.generation.asking import ReplayMissError
from utboost_action.generation.connection import require_model
from utboost_action.generation.options import GenerationOptions, Strategy
from utboost_action.generation.results import InstanceState, report_document, report_lines
from utboost_action.generation.schedule import Profile

SCRIPT = by_stage({**tiny.GOOD, "write": tiny.TESTS_WRITTEN})


class Place:
    """Where one test's generation happens."""

    def __init__(self, folder):
        self.folder = folder
        self.instance = tiny.instance(folder / "trees")
        self.sandbox = LocalSandbox(folder / "trees", Limits(timeout=60))

    def generate(self, name="run", bank="bank", url="", candidates=None, **options):
        values = {
            "model": "test-model",
            "profile": Profile.CUSTOM,
            "schedule": "0x1",
            "gold_repeats": 2,
            "retries": 1,
            "base_url": url,
        }
        return run_generation(
            GenerationOptions(**(values | options)),
            [self.instance],
            self.folder / bank,
            sandbox=self.sandbox,
            folder=self.folder / name,
            environ={"OPENAI_API_KEY": "secret-key"},
            candidates=candidates,
        )

    def tests(self, bank="bank"):
        return read_bank(self.folder / bank).get(self.instance.instance_id, ())


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    """One full generation: (its place, its report, the requests it made)."""
    place = Place(tmp_path_factory.mktemp("whole"))
    with model_server(SCRIPT) as server:
        return place, place.generate(url=server.url, schedule="0x8", gold_repeats=3), server.requests


@pytest.fixture
def done(whole_run, tmp_path):
    """A copy of that run's folder, so that each test may go on from it."""
    shutil.copytree(whole_run[0].folder, tmp_path / "copy")
    place = Place.__new__(Place)
    place.folder, place.instance = tmp_path / "copy", whole_run[0].instance
    place.sandbox = LocalSandbox(place.folder / "trees", Limits(timeout=60))
    return place


def test_what_survives_every_gate_is_in_the_bank(whole_run):
    place, report, _requests = whole_run
    (result,) = report.results
    assert result.state is InstanceState.WRITTEN, result
    by_name = {test.targets[0].rpartition("::")[2]: test for test in place.tests()}
    assert {name: test.validation.base for name, test in by_name.items()} == {
        "test_far_above": "FAILED",
        "test_inside": "PASSED",
        "test_empty_range": "FAILED",
        "test_hash": "PASSED",
    }
    assert result.counters == {"no edit": 1, "redefines a name": 1, "duplicate": 1, "fails on gold": 1}
    assert result.samples == 8
    test = by_name["test_far_above"]
    assert test.source == "utgenerator:issue"
    assert str(test.status) == "candidate"
    assert test.validation.gold_runs == 3
    quote = "It returns at most high, says its docstring."
    assert test.rationale.startswith(f'rests on the issue: "{quote}"; written by ')
    assert (test.signals.issue, test.signals.issue_from) == (quote, "model:test-model")
    assert test.signals.issue_proposed
    unquoted = by_name["test_empty_range"]
    assert unquoted.rationale.startswith("rests on a quote of fewer than three words: none; written by ")
    assert not unquoted.signals.issue
    assert result.grounds == {"a quote of fewer than three words": 1, "the issue": 1, "unsaid": 2}
    assert "import pytest" in by_name["test_empty_range"].patch
    assert "import pytest" not in test.patch
    assert len(result.coverage.executable) == 4
    assert (len(result.coverage.original), len(result.coverage.with_new)) == (3, 4)
    assert set(result.usage) == {"files", "places", "lines", "write"}
    assert report.spent.total == sum(usage.total for usage in result.usage.values())
    assert json.loads((place.folder / "run" / "generation.json").read_text()) == json.loads(
        json.dumps(report_document(report))
    )
    assert "2 of them fail on base" in "\n".join(report_lines(report))
    written = b"".join(path.read_bytes() for path in place.folder.rglob("*") if path.is_file())
    assert b"secret-key" not in written


def test_generated_tests_flag_a_special_cased_patch(done):
    """The bank's entry, on top of the official test patch, tells the candidate from gold."""
    place = done
    tree = place.folder / "candidate"
    subprocess.run(["cp", "-r", place.folder / "trees" / "tiny", tree], check=True)
    flagged = {}
    for patch in (tiny.SPECIAL_CASE, tiny.TEST_PATCH):
        subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tree, check=True)
    for test in place.tests():
        subprocess.run(["git", "apply", "-"], input=test.patch.encode(), cwd=tree, check=True)
        command = [sys.executable, "-m", "pytest", "-q", *test.targets]
        flagged[test.targets[0]] = subprocess.run(command, cwd=tree, capture_output=True).returncode
        subprocess.run(["git", "apply", "-R", "-"], input=test.patch.encode(), cwd=tree, check=True)
    assert {name.rpartition("::")[2] for name, code in flagged.items() if code} == {
        "test_far_above",
        "test_empty_range",
    }


def test_two_runs_from_one_transcript_give_the_same_bank_byte_for_byte(done):
    for number in (1, 2):
        replay = done.folder / "run" / "transcript.jsonl"
        done.generate(f"replay{number}", f"bank{number}", replay=replay, schedule="0x8", gold_repeats=3)
    banks = [(done.folder / bank / "demo__tiny-1.json").read_bytes() for bank in ("bank", "bank1", "bank2")]
    assert banks[0] == banks[1] == banks[2]


def test_a_replay_with_another_setting_is_a_miss_that_names_the_prompt(done):
    with pytest.raises(ReplayMissError, match=r"no reply to the prompt [0-9a-f]{32} \(demo__tiny-1, files"):
        done.generate("other", replay=done.folder / "run" / "transcript.jsonl", model="another")


def test_started_again_it_neither_asks_nor_pays_twice(done, whole_run):
    """And entries of the bank keep what people made of them meanwhile."""
    file = done.folder / "bank" / "demo__tiny-1.json"
    file.write_text(file.read_text().replace('"candidate"', '"confirmed"'))
    with model_server(SCRIPT) as server:
        again = done.generate(url=server.url, schedule="0x8", gold_repeats=3)
        assert server.requests == []
    assert again.spent == whole_run[1].spent
    assert [str(test.status) for test in done.tests()] == ["confirmed"] * 4


RUN_AND_HANG = """
import sys, pathlib
sys.path[:0] = sys.argv[4:]
import tiny
from test_generate import Place
place = Place.__new__(Place)
from utboost_action.execution.local_sandbox import LocalSandbox
from utboost_action.execution.protocol import Limits
place.folder = pathlib.Path(sys.argv[1])
place.instance = tiny.instance(pathlib.Path(sys.argv[2]))
place.sandbox = LocalSandbox(place.folder / "trees", Limits(timeout=60))
place.generate(url=sys.argv[3], schedule="0x8")
"""


def test_killed_and_started_again_it_asks_only_for_what_is_missing(place, tmp_path_factory):
    hanging = True

    def script(body, number):
        if stage_of(body) == "write" and body["seed"] >= 4 and hanging:
            time.sleep(30)
        return refusal(400, "no", param="n") if "n" in body else SCRIPT(body, number)

    with model_server(script) as server:
        here = os.path.dirname(__file__)  # noqa: PTH120
        tests = os.path.dirname(os.path.dirname(here))  # noqa: PTH120
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                RUN_AND_HANG,
                place.folder,
                tmp_path_factory.mktemp("trees"),
                server.url,
                here,
                tests,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        transcript = place.folder / "run" / "transcript.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (
            not transcript.exists() or transcript.read_bytes().count(b"\n") < 3 + 4
        ):
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        had = transcript.read_bytes().count(b"\n")
        hanging = False
        before = len(server.requests)
        report = place.generate(url=server.url, schedule="0x8")
        asked = [body for body in server.requests[before:] if "n" not in body]
    assert had == 7
    assert sorted(body["seed"] for body in asked) == [4, 5, 6, 7]
    assert {stage_of(body) for body in asked} == {"write"}
    assert report.results[0].state is InstanceState.WRITTEN


def test_a_budget_that_ends_keeps_what_was_earned(place):
    steps = "0x2,0.8x8,0.9x8"
    with model_server(SCRIPT) as server:
        report = place.generate(url=server.url, schedule=steps, budget_tokens=430)
        assert len(server.requests) == 4
    (result,) = report.results
    assert (result.state, result.ending, result.missing) == (
        InstanceState.WRITTEN,
        "the budget is used up",
        16,
    )
    assert len(place.tests()) == 2
    place.generate("again", "bank2", replay=place.folder / "run" / "transcript.jsonl", schedule=steps)
    assert place.tests("bank2") == place.tests()


def test_a_budget_that_ends_before_the_first_test_is_a_state(place):
    with model_server(SCRIPT) as server:
        report = place.generate(url=server.url, budget_tokens=150)
    assert report.results[0].state is InstanceState.BUDGET
    assert not (place.folder / "bank").exists()


def test_an_endpoint_that_fails_fails_the_instance_and_says_why(place):
    with model_server(lambda body, n: refusal(500, "oops", retry_after="0")) as server:
        report = place.generate(url=server.url)
    assert report.results[0].state is InstanceState.FAILED
    assert "the endpoint answers 500: oops" in report.results[0].detail


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "Sorry, no.",
        "x" * 2_000_000,
        "FILE: ../../etc/test_x.py\n<<<<<<< SEARCH\n=======\ndef test_x(): pass\n>>>>>>> REPLACE",
        "FILE: __import__('os').system('touch hacked')\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE",
        "FILE: tests/test_$(touch hacked).py\n<<<<<<< SEARCH\n=======\ndef test_x(): pass\n>>>>>>> REPLACE",
        "{\"files\": [\"__import__('os').system('touch hacked')\"]}",
        '{"files": ["../../etc/passwd"], "places": 1}',
        '{"files": [' * 1000,
    ],
    ids=lambda text: text[:30],
)
def test_replies_of_any_kind_end_in_a_state(place, bad):
    with model_server(
        by_stage(dict.fromkeys(("files", "places", "lines", "repair", "write"), bad))
    ) as server:
        report = place.generate(url=server.url, schedule="0x1")
    (result,) = report.results
    assert result.state is InstanceState.NO_TEST
    assert result.fallbacks == ("files", "places", "lines")
    assert result.counters
    assert not list(place.folder.rglob("*hacked*"))
    assert not (place.folder / "bank").exists()


def test_an_endpoint_without_any_extras_does_as_well(place):
    def script(body, number):
        for name in ("n", "seed", "response_format"):
            if name in body:
                return refusal(400, f"unknown parameter {name!r}", param=name)
        if any(message["role"] == "system" for message in body["messages"]):
            return refusal(400, "system role not supported")
        served = by_stage({**tiny.GOOD, "write": tiny.TESTS_WRITTEN[number % 2]})(body, number)
        value = json.loads(served.body)
        del value["usage"]
        return Answer(body=json.dumps(value).encode())

    with model_server(script) as server:
        report = place.generate(url=server.url, concurrency=2, schedule="0x3")
        assert server.peak <= 2
    assert report.results[0].state is InstanceState.WRITTEN
    assert not report.spent.measured
    told = "\n".join(report.notes)
    for word in ("structured outputs", "JSON mode", "seed", "lacks n", "system messages", "no usage figures"):
        assert word in told


def test_prompts_wait_for_people_stage_by_stage(place):
    folder = place.folder / "prompts"
    answers = {"files": tiny.GOOD["files"], "places": tiny.GOOD["places"], "lines": tiny.GOOD["lines"]}
    for stage in ("files", "places", "lines", "write"):
        report = place.generate(prompts_out=folder, schedule="0x1", model="somebody")
        assert report.pending == ("demo__tiny-1",)
        (prompt,) = [
            path
            for path in folder.glob("*.prompt.md")
            if not path.with_name(f"{path.name[:32]}.reply.txt").exists()
        ]
        assert f"stage: {stage}" in prompt.read_text()
        prompt.with_name(f"{prompt.name[:32]}.reply.txt").write_text(
            answers.get(stage, tiny.TESTS_WRITTEN[0])
        )
    report = place.generate(prompts_out=folder, schedule="0x1", model="somebody")
    assert report.results[0].state is InstanceState.WRITTEN
    assert len(place.tests()) == 1
    place.generate(
        "replay", "bank2", replay=place.folder / "run" / "transcript.jsonl", schedule="0x1", model="somebody"
    )
    assert place.tests("bank2") == place.tests()


def test_the_differential_strategy_shows_both_patches_and_marks_its_tests(place):
    with model_server(SCRIPT) as server:
        report = place.generate(
            url=server.url, strategy=Strategy.DIFFERENTIAL, candidates={"demo__tiny-1": tiny.SPECIAL_CASE}
        )
        shown = server.requests[-1]["messages"][-1]["content"]
    assert report.results[0].state is InstanceState.WRITTEN
    assert "if value == 10:" in shown
    assert "raise ValueError(low)" in shown
    assert {test.source for test in place.tests()} == {"utgenerator:differential"}


def test_the_issue_strategy_shows_neither_gold_nor_candidate(whole_run):
    assert len(whole_run[2]) == 4
    for body in whole_run[2]:
        assert "value > high" not in json.dumps(body)


def test_a_candidate_is_needed_for_the_differential_strategy(place):
    report = place.generate(strategy=Strategy.DIFFERENTIAL, url="http://127.0.0.1:9/v1")
    assert "needs a candidate patch" in report.results[0].detail


def test_no_key_and_no_endpoint_is_an_input_error(place):
    with pytest.raises(InputError, match="set OPENAI_API_KEY"):
        run_generation(
            GenerationOptions(model="m"),
            [place.instance],
            place.folder / "bank",
            sandbox=place.sandbox,
            folder=place.folder / "run",
            environ={},
        )


def test_a_test_patch_that_does_not_apply_is_a_state(place):
    (place.folder / "trees" / "tiny" / "tests" / "test_tiny.py").write_text("other = 1\n")
    with model_server(lambda body, n: completion("")) as server:
        report = place.generate(url=server.url)
        assert server.requests == []
    assert report.results[0].state is InstanceState.FAILED
    assert "does not apply on the base" in report.results[0].detail


def test_what_depends_on_order_or_hash_seed_is_found_by_the_real_runner(place):
    code = (
        "import os\n\n\ndef test_before():\n    assert not hasattr(os, 'seen_by_test')\n\n\n"
        "def test_after():\n    os.seen_by_test = 1\n\n\n"
        "def test_seed():\n    assert os.environ.get('PYTHONHASHSEED') != '4242'"
    )
    with model_server(by_stage({**tiny.GOOD, "write": tiny.block(code)})) as server:
        report = place.generate(url=server.url)
    assert report.results[0].counters == {"depends on the order": 1, "depends on the hash seed": 1}
    assert [test.targets for test in place.tests()] == [("tests/test_tiny.py::test_after",)]


@pytest.mark.parametrize(("failures", "state"), [(1, InstanceState.WRITTEN), (2, InstanceState.FAILED)])
def test_a_set_up_that_fails_once_is_tried_again_in_a_fresh_box(place, failures, state):
    flags = place.folder / "flags"
    flags.mkdir()
    fails = f'n=$(ls {flags} | wc -l); [ "$n" -ge {failures} ] || {{ touch {flags}/$n; exit 7; }}'
    script = place.instance.eval_script.replace("git checkout", f"{fails}\ngit checkout", 1)
    place.instance = replace(place.instance, eval_script=script)
    with model_server(by_stage({**tiny.GOOD, "write": tiny.TESTS_WRITTEN[0]})) as server:
        (result,) = place.generate(url=server.url).results
    assert result.state is state, result.detail
    assert len(list(flags.iterdir())) == failures
    if state is InstanceState.FAILED:
        assert result.detail == "demo__tiny-1: the row's set-up of base fails twice: exit code 7"


@pytest.mark.parametrize(
    "odd",
    [
        {"files": '{"files": ["\ud83d', "repair": tiny.GOOD["files"]},  # quoted in the repair
        {"write": tiny.block("def test_\ufb01t():\n    assert clamp(1, 0, 9) == 1")},
    ],
    ids=lambda odd: next(iter(odd)),
)
def test_one_odd_character_ends_neither_the_run_nor_the_next_one(place, odd):
    for _ in range(2):
        with model_server(by_stage({**tiny.GOOD, "write": tiny.TESTS_WRITTEN[0], **odd})) as server:
            report = place.generate(url=server.url, schedule="0x1")
        assert report.results[0].state in (InstanceState.WRITTEN, InstanceState.NO_TEST)


def test_no_instance_that_came_to_its_end_is_an_exit_code(place):
    with model_server(lambda body, n: refusal(401, "wrong key")) as server:
        report = place.generate(url=server.url, schedule="0x1")
    assert report.undone
    assert "isolates nothing" not in "\n".join(report_lines(report))
    assert not replace(report, results=()).undone
    assert "nothing to do" in "\n".join(report_lines(replace(report, results=())))


@pytest.mark.parametrize("key", ["\u00e9", "sk-1\n", "a\x00b"])
def test_a_key_that_is_none_is_said(place, key):
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        require_model(GenerationOptions(model="m"), {"OPENAI_API_KEY": key})


def test_what_is_added_to_the_bank_is_counted(done):
    replay = done.folder / "run" / "transcript.jsonl"
    report = done.generate("again", replay=replay, schedule="0x8", gold_repeats=3)
    assert (len(report.results[0].tests), report.results[0].added) == (4, 0)
    assert "0 new in the bank" in "\n".join(report_lines(report))
