"""Generation on real instances, with replies that somebody wrote who saw the prompts and nothing else.

`generation_replies/` holds the replies by request hash (the prompts hold others' text and are not kept).
`python tests/real/test_generation.py FOLDER [INSTANCE...]` writes the prompts that wait for a reply into
FOLDER; each stage's prompt appears once the one before it is answered.
"""

import ast
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from utboost_action.benchmark.bank import read_bank
from utboost_action.benchmark.rows import Benchmark, read_benchmark
from utboost_action.execution.docker_sandbox import DockerSandbox, connect
from utboost_action.execution.protocol import Limits
from utboost_action.generate import generate, run_generation
from utboost_action.generation.asking import Reply
from utboost_action.generation.options import GenerationOptions
from utboost_action.generation.results import GenerationReport, InstanceState, report_lines
from utboost_action.generation.schedule import Profile
from utboost_action.patches import touched_paths

pytestmark = [pytest.mark.docker, pytest.mark.shared, pytest.mark.xdist_group("docker")]

REPLIES = Path(__file__).with_name("generation_replies")
WANTED = 8  # instances with replies, of those in instances.json


def tell(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def options(prompts: Path | None = None) -> GenerationOptions:
    return GenerationOptions(
        model="person", profile=Profile.CUSTOM, schedule="0x1", replies=REPLIES, prompts_out=prompts
    )


def generate_real(
    benchmark: Benchmark, ids: tuple[str, ...], folder: Path, prompts: Path | None = None
) -> GenerationReport:
    """Generate for these instances from the replies; the bank is `folder/bank`."""
    client = connect()
    try:
        return run_generation(
            options(prompts),
            [benchmark.instances[one] for one in ids],
            folder / "bank",
            sandbox=DockerSandbox(client, Limits(timeout=600), pull=False),
            folder=folder / "run",
            environ={},
            progress=lambda result: tell(f"{result.instance_id} {result.state}"),
        )
    finally:
        client.close()


@pytest.fixture(scope="module")
def generated(shared, instance_ids, built, tmp_path_factory):
    """(report, folder) of the instances of this run that have replies."""
    if not REPLIES.is_dir():
        pytest.skip(f"no replies in {REPLIES.name}: nobody has answered the prompts")
    if os.environ.get("UTBOOST_REAL") != "all":
        pytest.skip("every generated test on every patch takes an hour: make real runs it")
    built(*instance_ids)
    folder = tmp_path_factory.mktemp("generated")
    benchmark = read_benchmark(str(shared / "real/benchmark/lite.parquet"))
    return generate_real(benchmark, instance_ids, folder), folder


class Probe:
    """Answers every localisation with nothing, and writes one test that passes and one that does not."""

    def __init__(self, instance):
        folder = next(path for path in touched_paths(instance.test_patch) if path.endswith(".py"))
        self.path = f"{folder.rpartition('/')[0]}/test_utboost_probe.py"
        self.django = instance.repo == "django/django"
        self.stages = []

    def ask(self, request, samples):
        self.stages.append(request.stage)
        code = "def test_probe_right():\n    assert True\n\n\ndef test_probe_wrong():\n    assert False"
        if self.django:
            body = code.replace("()", "(self)").replace("\n", "\n    ")
            code = (
                f"from django.test import SimpleTestCase\n\n\nclass ProbeTests(SimpleTestCase):\n    {body}"
            )
        reply = f"FILE: {self.path}\n<<<<<<< SEARCH\n=======\n{code}\n>>>>>>> REPLACE\n"
        return {sample: Reply(reply if request.stage == "write" else "{}") for sample in samples}


@pytest.mark.parametrize("number", range(3))
def test_the_gates_hold_in_a_real_image(number, shared, instance_ids, built, tmp_path, no_container_left):
    """One of each runner family: collected by its own runner, gold k of k, base, order, coverage."""
    (instance_id,) = instance_ids[number * len(instance_ids) // 3 :][:1]
    built(instance_id)
    instance = read_benchmark(str(shared / "real/benchmark/lite.parquet")).instances[instance_id]
    client = connect()
    try:
        report = generate(
            [instance],
            tmp_path / "bank",
            options(),
            sandbox=DockerSandbox(client, Limits(timeout=600), pull=False),
            client=Probe(instance),
            folder=tmp_path / "run",
        )
    finally:
        client.close()
    (result,) = report.results
    assert result.state is InstanceState.WRITTEN, result
    assert [(test.validation.base, test.validation.gold_runs) for test in result.tests] == [("PASSED", 3)]
    assert "test_probe_right" in result.tests[0].targets[0]
    assert result.counters["fails on gold"] == 1
    assert result.notes == ()
    assert result.coverage is not None
    assert result.coverage.original


def test_tests_pass_every_gate(generated, instance_ids, capsys):
    report, _folder = generated
    with capsys.disabled():
        tell("", *report_lines(report))
    written = [one for one in report.results if one.state is InstanceState.WRITTEN]
    assert all(one.state is not InstanceState.FAILED for one in report.results)
    assert len(written) >= (WANTED if os.environ.get("UTBOOST_REAL") == "all" else len(instance_ids) - 1)


def test_wrong_patches_are_flagged_and_right_ones_are_not(
    generated, instance_ids, shared, cli, tmp_path, capsys
):
    """Their tests are unconfirmed, so a flag is SUSPECT (or MISGRADED, where T_orig itself shows it)."""
    _report, folder = generated
    data = shared / "real/instances"
    expected = json.loads((data / "expect.json").read_text())
    bank = read_bank(folder / "bank")
    rows, wrongly = [], []
    for submission in sorted({name for one in expected.values() for name in one}):
        ids = [one for one in instance_ids if one in bank and submission in expected[one]]
        if not ids:
            continue
        out = tmp_path / submission
        command = [
            *(cli, "audit", data / f"leaderboard/evaluation/lite/20260101_{submission}"),
            *("--benchmark", shared / "real/benchmark/lite.parquet", "--bank", folder / "bank"),
            *("--instances", ",".join(ids), "--cache", tmp_path / "cache", "--out", out, "--jobs", "2"),
            *("--repeats", "1"),  # the gates have run each test many times
        ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=3000)
        assert done.returncode == 0, done.stderr
        for entry in json.loads((out / "report.json").read_text())["instances"]:
            wanted = expected[entry["instance_id"]][submission]
            flagged = entry["verdict"] in ("SUSPECT", "MISGRADED")
            assert entry["verdict"] != "WRONG", entry["instance_id"]  # nobody has confirmed these tests
            if wanted["plausible"] is False:
                continue
            rows.append((entry["instance_id"], submission, wanted["flag"], flagged))
            if flagged and not wanted["flag"]:
                wrongly.append(rows[-1])
    with capsys.disabled():
        tell("\ninstance submission listed-wrong flagged")
        for row in rows:
            tell(" ".join(map(str, row)))
        wrong = [row for row in rows if row[2]]
        tell(
            f"{sum(row[3] for row in wrong)} of {len(wrong)} wrong patches flagged, {len(wrongly)} right ones"
        )
    # right patches that only an unconfirmed test suspects are printed and counted (docs/method.md)
    assert any(row[2] and row[3] for row in rows) or not any(row[2] for row in rows)


def test_their_likeness_to_the_published_tests(generated, instance_ids, shared, capsys):
    """Printed, not judged: for each generated test the most alike function of the published patch."""
    _report, folder = generated
    published = json.loads((shared / "real/benchmark/augtests.json").read_text())
    rows = read_benchmark(str(shared / "real/benchmark/lite.parquet")).instances
    bank = read_bank(folder / "bank")
    assert set(bank) & set(instance_ids)
    with capsys.disabled():
        tell("\ninstance test likeness (0 to 1) to the nearest published test")
        for instance_id in instance_ids:
            official = _functions(rows[instance_id].test_patch)
            theirs = _functions(published.get(instance_id, {}).get("aug_test", ""))
            theirs = {name: body for name, body in theirs.items() if official.get(name) != body}
            for test in bank.get(instance_id, ()):
                for name, body in _functions(test.patch).items():
                    near = max((_alike(body, other) for other in theirs.values()), default=None)
                    tell(f"{instance_id} {name} {'none published' if near is None else format(near, '.2f')}")


def _functions(patch: str) -> dict[str, str]:
    """The test functions that the added lines of a patch make, by name, as far as they parse."""
    lines = [line for line in patch.splitlines() if not line.startswith(("-", "+++"))]
    added = "\n".join(line[1:] if line.startswith("+") else "" for line in lines)
    found = {}
    for match in re.finditer(r"^( *)def (test\w*)\(.*(?:\n(?:\1 +.*)?)*", added, re.MULTILINE):
        lines = [line[len(match[1]) :] for line in match[0].split("\n")]
        try:
            found[match[2]] = ast.unparse(ast.parse("\n".join(lines)))
        except SyntaxError:
            found[match[2]] = "\n".join(lines)
    return found


def _alike(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def main() -> None:
    shared = Path(__file__).resolve().parents[3] / "shared"
    prompts, *ids = sys.argv[1:]
    known = json.loads((shared / "real/instances/instances.json").read_text())
    benchmark = read_benchmark(str(shared / "real/benchmark/lite.parquet"))
    with tempfile.TemporaryDirectory() as folder:
        report = generate_real(benchmark, tuple(ids or known), Path(folder), Path(prompts))
    tell(*report_lines(report))


if __name__ == "__main__":
    main()
