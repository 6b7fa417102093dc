"""`utboost-action audit` on the demo's data, in the local sandbox, as users start it."""

import difflib
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SUBMISSION = EXAMPLES / "leaderboard/evaluation/demo/20260101_example_agent"
ROWS = EXAMPLES / "benchmark/rows.jsonl"
COMMON = ["--benchmark", ROWS, "--sandbox", "local", "--trees", EXAMPLES / "benchmark/trees"]
BANK = ["--bank", EXAMPLES / "benchmark/bank"]
EXPECTED = {
    "example__pocketknife-1": ("HOLDS", None),
    "example__pocketknife-2": ("WRONG", "incomplete fix"),
    "example__pocketknife-3": ("WRONG", "regression"),
    "example__pocketknife-4": ("SUSPECT", "divergence"),
    "example__pocketknife-5": ("HOLDS", None),
    "example__pocketknife-6": ("INCONCLUSIVE", None),
    "example__pocketknife-7": ("NOT_PLAUSIBLE", "divergence"),
}


def instances(out: Path) -> dict[str, dict]:
    report = json.loads((out / "report.json").read_text())
    return {entry["instance_id"]: entry for entry in report["instances"]}


@pytest.fixture(scope="module")
def demo(tmp_path_factory, cli) -> tuple[Path, subprocess.CompletedProcess[str]]:
    out = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [cli, "demo", "--out", out], capture_output=True, text=True, timeout=600, check=False
    )
    return out, done


def test_the_demo_shows_one_of_each_kind(demo):
    out, done = demo
    assert done.returncode == 0, done.stderr
    found = {}
    for instance_id, entry in instances(out).items():
        kinds = {difference["kind"] for difference in entry["differences"]}
        found[instance_id] = (entry["verdict"], kinds.pop() if kinds else None)
        assert not kinds
    assert found == EXPECTED
    assert "Tests written by a model" in done.stdout
    assert "isolates nothing" in done.stdout


def test_the_demo_names_the_flaky_test_and_does_not_count_it(demo):
    entry = instances(demo[0])["example__pocketknife-5"]
    assert entry["flaky_tests"] == ["tests/test_memo.py::test_first_run_of_the_day"]


def test_the_demo_says_where_the_patch_that_does_not_apply_stands(demo):
    (reason,) = instances(demo[0])["example__pocketknife-6"]["reasons"]
    assert reason.startswith("all_preds.jsonl:6: ")


def test_the_demo_writes_report_summary_and_badge(demo):
    out, _ = demo
    names = {path.name for path in out.iterdir()}
    assert {"report.json", "report.md", "summary.md", "badge.json", "runs"} <= names
    badge = json.loads((out / "badge.json").read_text())
    assert badge["message"] == "claimed 85.7%, adjusted 28.6-57.1%"


def test_every_log_that_a_flag_names_is_in_the_run_folder(demo):
    out, _ = demo
    named = [
        difference[side]
        for entry in instances(out).values()
        for difference in entry["differences"]
        for side in ("gold_log", "candidate_log")
    ]
    assert named
    assert all((out / "runs" / name).is_file() for name in named)


def test_the_reproduce_command_of_a_flag_shows_it_again(demo, run_cli, tmp_path):
    entry = instances(demo[0])["example__pocketknife-2"]
    words = entry["reproduce"].split()
    assert words[0] == "utboost-action"
    done = run_cli(*words[1:], "--out", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert instances(tmp_path / "again")["example__pocketknife-2"]["verdict"] == "WRONG"


@pytest.mark.parametrize(("fail_on", "code"), [("never", 0), ("wrong", 3), ("misgraded", 3), ("suspect", 3)])
def test_fail_on_decides_the_exit_code(run_cli, fail_on, code, tmp_path):
    done = run_cli(
        "audit", SUBMISSION, *COMMON, *BANK, "--instances", "example__pocketknife-2", "--repeats", 1,
        "--fail-on", fail_on, "--json",
    )  # fmt: skip
    assert done.returncode == code
    assert json.loads(done.stdout)["verdicts"]["WRONG"] == 1


def test_a_suspect_fails_only_when_asked(run_cli):
    for fail_on, code in (("misgraded", 0), ("suspect", 3)):
        done = run_cli(
            "audit", SUBMISSION, *COMMON, *BANK, "--instances", "example__pocketknife-4", "--fail-on", fail_on
        )
        assert done.returncode == code, done.stderr


def test_without_a_bank_nothing_is_wrong_and_nothing_holds(run_cli, tmp_path):
    done = run_cli(
        "audit", SUBMISSION, *COMMON, "--repeats", 1, "--jobs", 2,
        "--instances", "example__pocketknife-2,example__pocketknife-7",
    )  # fmt: skip
    assert done.returncode == 0
    found = instances(tmp_path / "utboost-out")
    assert found["example__pocketknife-2"]["cause"] == "no augmented test"
    assert found["example__pocketknife-7"]["verdict"] == "NOT_PLAUSIBLE"


def test_a_claim_that_the_original_tests_refute_is_misgraded(run_cli, tmp_path):
    lying = tmp_path / "20260101_lying"
    shutil.copytree(SUBMISSION, lying)
    results = lying / "results/results.json"
    claims = json.loads(results.read_text())
    claims["resolved"].append("example__pocketknife-7")
    results.write_text(json.dumps(claims))
    done = run_cli("audit", lying, *COMMON, *BANK, "--instances", "example__pocketknife-7")
    assert done.returncode == 0
    entry = instances(tmp_path / "utboost-out")["example__pocketknife-7"]
    assert entry["verdict"] == "MISGRADED"
    assert entry["reasons"] == ["claimed resolved, but 1 original test that gold passes did not pass"]


def predictions(tmp_path: Path, **patches: str) -> Path:
    file = tmp_path / "preds.jsonl"
    lines = [
        {"instance_id": f"example__pocketknife-{key[1:]}", "model_name_or_path": "m", "model_patch": patch}
        for key, patch in patches.items()
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def gold(number: int) -> str:
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    return next(row["patch"] for row in rows if row["instance_id"].endswith(f"-{number}"))


def test_gold_as_a_candidate_holds_and_runs_nothing_again(run_cli, tmp_path):
    file = predictions(tmp_path, n1=gold(1).replace("index ", "index 0"))
    done = run_cli("audit", file, *COMMON, *BANK, "--repeats", 2)
    assert done.returncode == 0, done.stderr
    assert instances(tmp_path / "utboost-out")["example__pocketknife-1"]["verdict"] == "HOLDS"
    assert len(list((tmp_path / "utboost-out/runs").iterdir())) == 2  # base and gold


def test_an_empty_patch_is_base(run_cli, tmp_path):
    done = run_cli("audit", predictions(tmp_path, n1="", n2="  \n"), *COMMON, *BANK, "--repeats", 1)
    assert done.returncode == 0, done.stderr
    assert {e["verdict"] for e in instances(tmp_path / "utboost-out").values()} == {"NOT_PLAUSIBLE"}


def test_a_malformed_patch_is_one_clear_line(run_cli, tmp_path):
    patch = "\n".join(gold(1).split("\n")[:8]).replace("@@ -", "@@ -9")
    done = run_cli("audit", predictions(tmp_path, n1=patch), *COMMON, *BANK, "--repeats", 1)
    assert done.returncode == 0, done.stderr
    entry = instances(tmp_path / "utboost-out")["example__pocketknife-1"]
    assert entry["cause"] == "patch does not apply"
    assert "preds.jsonl:1" in entry["reasons"][0]
    assert len(entry["reasons"]) == 1


def test_a_patch_that_is_no_text_is_unknown_and_never_run(run_cli, tmp_path):
    file = predictions(tmp_path, n1=["diff"], n2=5)
    done = run_cli("audit", file, *COMMON, *BANK, "--repeats", 1)
    assert done.returncode == 0, done.stderr
    assert {e["cause"] for e in instances(tmp_path / "utboost-out").values()} == {"no patch"}


CONFTEST = (
    "diff --git a/conftest.py b/conftest.py\nnew file mode 100644\n--- /dev/null\n+++ b/conftest.py\n"
    "@@ -0,0 +1,7 @@\n+import pytest\n+@pytest.hookimpl(hookwrapper=True)\n"
    "+def pytest_runtest_makereport(item, call):\n+    outcome = yield\n+    report = outcome.get_result()\n"
    "+    report.outcome = 'passed'\n+    report.longrepr = None\n"
)
HARMLESS = (
    "diff --git a/conftest.py b/conftest.py\nnew file mode 100644\n--- /dev/null\n+++ b/conftest.py\n"
    "@@ -0,0 +1 @@\n+import sys\n"
)


def test_a_patch_that_passes_only_by_its_own_conftest_is_wrong(run_cli, tmp_path):
    file = predictions(tmp_path, n1=CONFTEST, n2=gold(2) + HARMLESS)
    done = run_cli("audit", file, *COMMON, *BANK, "--repeats", 1)
    assert done.returncode == 0, done.stderr
    found = instances(tmp_path / "utboost-out")
    assert found["example__pocketknife-1"]["verdict"] == "WRONG"
    assert "conftest.py" in found["example__pocketknife-1"]["reasons"][0]
    assert found["example__pocketknife-2"]["verdict"] == "SUSPECT"
    assert "conftest.py" in found["example__pocketknife-2"]["reasons"][0]


FORGER = (
    "diff --git a/pocketknife/slugs.py b/pocketknife/slugs.py\n--- a/pocketknife/slugs.py\n"
    "+++ b/pocketknife/slugs.py\n@@ -1,3 +1,12 @@\n"
    ' """Titles into parts of a URL."""\n'
    "+import os\n"
    "+names = ('test_words_are_joined', 'test_punctuation_is_dropped', 'test_edges_have_no_hyphen')\n"
    "+print('\\n=========== short test summary info ===========')\n"
    "+for name in names:\n"
    "+    print('PASSED tests/test_slugs.py::' + name)\n"
    "+print('=========== 3 passed in 0.01s ===========', flush=True)\n"
    "+os.write(1, b'x') and None\n"
    "+{ending}\n"
    "+\n"
    " \n \n"
)


@pytest.mark.parametrize(
    "ending", ["os._exit(0)", "os._exit(1)", "os.kill(os.getpid(), 9)", "raise SystemExit(0)"]
)
def test_forged_results_never_hold(run_cli, tmp_path, ending):
    file = predictions(tmp_path, n1=FORGER.replace("{ending}", ending))
    done = run_cli("audit", file, *COMMON, *BANK, "--repeats", 1)
    assert done.returncode == 0, done.stderr
    entry = instances(tmp_path / "utboost-out")["example__pocketknife-1"]
    assert entry["verdict"] in ("NOT_PLAUSIBLE", "INCONCLUSIVE"), entry


def edit(module: str, old: str, new: str) -> str:
    """A patch of one file of the example tree."""
    name = f"pocketknife/{module}.py"
    before = (EXAMPLES / "benchmark/trees/pocketknife" / name).read_text()
    assert before.count(old) == 1
    lines = [text.splitlines(keepends=True) for text in (before, before.replace(old, new))]
    return "".join(difflib.unified_diff(*lines, f"a/{name}", f"b/{name}"))


def test_an_expected_failure_is_no_pass(run_cli, tmp_path):
    """Product code that turns what gold passes into an xfail differs from gold."""
    xfail = "import sys\n        sys.modules['pytest'].xfail('later')\n"
    patch = edit(
        "percents", "    return round(part / whole, 1) * 100",
        f"    if part == 2:\n        {xfail}    return round(100 * part / whole, 1)",
    )  # fmt: skip
    done = run_cli("audit", predictions(tmp_path, n7=patch), *COMMON, *BANK, "--repeats", 1)
    assert done.returncode == 0, done.stderr
    entry = instances(tmp_path / "utboost-out")["example__pocketknife-7"]
    assert entry["verdict"] == "WRONG"
    assert entry["differences"][0]["candidate"] == "XFAIL"


def test_a_patch_that_can_make_tests_look_passed_does_not_hold(run_cli, tmp_path):
    patch = gold(1) + edit(
        "memo", '"""A cache in memory."""', '"""A cache in memory."""\nimport os\n\nEND = lambda: os._exit(0)'
    )
    plain = gold(7)
    done = run_cli("audit", predictions(tmp_path, n1=patch, n7=plain), *COMMON, *BANK, "--repeats", 1)
    assert done.returncode == 0, done.stderr
    found = instances(tmp_path / "utboost-out")
    assert found["example__pocketknife-1"]["verdict"] == "SUSPECT"
    assert "exits_process" in found["example__pocketknife-1"]["reasons"][0]
    assert found["example__pocketknife-7"]["verdict"] == "HOLDS"


def test_a_patch_that_sleeps_is_stopped_and_unknown(run_cli, tmp_path):
    patch = gold(7).replace("return round(100", "__import__('time').sleep(60); return round(100")
    done = run_cli("audit", predictions(tmp_path, n7=patch), *COMMON, *BANK, "--repeats", 1, "--timeout", 3)
    assert done.returncode == 0, done.stderr
    entry = instances(tmp_path / "utboost-out")["example__pocketknife-7"]
    assert (entry["verdict"], entry["cause"]) == ("INCONCLUSIVE", "run ended without a result")
    assert "timeout" in entry["reasons"][0]


@pytest.mark.parametrize(
    ("dies", "verdict"), [("__import__('time').sleep(60)", "SUSPECT"), ("__import__('os').abort()", "WRONG")]
)
def test_a_patch_that_dies_on_an_augmented_test_alone_does_not_hold(run_cli, tmp_path, dies, verdict):
    patch = edit(
        "percents", "    return round(part / whole, 1) * 100",
        f"    if part == 2:\n        {dies}\n    return round(100 * part / whole, 1)",
    )  # fmt: skip
    done = run_cli("audit", predictions(tmp_path, n7=patch), *COMMON, *BANK, "--repeats", 1, "--timeout", 4)
    assert done.returncode == 0, done.stderr
    entry = instances(tmp_path / "utboost-out")["example__pocketknife-7"]
    assert entry["verdict"] == verdict
    assert ("no result, alone as well" in entry["reasons"][0]) == (verdict == "SUSPECT")


def test_a_set_up_at_fault_stops_the_audit_and_keeps_the_report(run_cli, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(ROWS.read_text().replace("local:pocketknife", "local:absent"))
    done = run_cli("audit", SUBMISSION, "--benchmark", rows, *COMMON[2:], *BANK)
    assert done.returncode == 1
    assert "the set-up is at fault" in done.stderr
    assert "local:absent" in done.stderr
    report = json.loads((tmp_path / "utboost-out/report.json").read_text())
    assert report["problem"].startswith("the set-up is at fault")
    assert report["rates"]["adjusted"]["low"]["count"] == 0
    assert json.loads((tmp_path / "utboost-out/badge.json").read_text())["isError"] is True


def test_one_missing_image_of_two_is_inconclusive_and_the_run_ends_well(run_cli, tmp_path):
    lines = ROWS.read_text().splitlines()
    lines[0] = lines[0].replace("local:pocketknife", "local:absent")
    rows = tmp_path / "rows.jsonl"
    rows.write_text("\n".join(lines[:2]))
    done = run_cli("audit", SUBMISSION, "--benchmark", rows, *COMMON[2:], *BANK, "--repeats", 1)
    assert done.returncode == 0
    found = instances(tmp_path / "utboost-out")
    assert found["example__pocketknife-1"]["cause"] == "image missing"
    assert found["example__pocketknife-2"]["verdict"] == "WRONG"


def test_an_old_row_names_the_field_that_a_replay_lacks(run_cli, tmp_path):
    value = json.loads(ROWS.read_text().splitlines()[0])
    del value["eval_script"], value["image"]
    (tmp_path / "rows.json").write_text(json.dumps([value]))
    done = run_cli("audit", SUBMISSION, "--benchmark", tmp_path / "rows.json", *COMMON[2:])
    assert done.returncode == 0
    entry = instances(tmp_path / "utboost-out")["example__pocketknife-1"]
    assert entry["cause"] == "row incomplete"
    assert "eval_script" in entry["reasons"][0]
    assert "image is not in 1 rows" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["audit", "/nowhere", *COMMON], 2, "/nowhere"),
        (["audit", SUBMISSION, "--benchmark", "/nowhere.json"], 2, "/nowhere.json"),
        (["audit", SUBMISSION, *COMMON, "--bank", "/nowhere"], 2, "bank import"),
        (
            ["audit", SUBMISSION, *COMMON, "--instances", "example__pocketknife-99"],
            2,
            "example__pocketknife-99",
        ),
        (["audit", SUBMISSION, "--benchmark", ROWS, "--sandbox", "local"], 2, "--trees"),
        (["audit", SUBMISSION, *COMMON, "--repeats", "0"], 2, "--repeats"),
        (["audit", SUBMISSION, *COMMON, "--jobs", "0"], 2, "--jobs"),
        (["audit", SUBMISSION, *COMMON, "--timeout", "-1"], 2, "--timeout"),
        (["audit", SUBMISSION, *COMMON, "--timeout", "inf"], 2, "--timeout"),
        (["audit", SUBMISSION, *COMMON, "--timeout", "nan"], 2, "--timeout"),
        (["audit", SUBMISSION, *COMMON, "--template", "/nowhere"], 2, "report.md.j2"),
        (["audit", SUBMISSION, "--benchmark", ROWS, "--sandbox", "local", "--trees", "/nope"], 2, "--trees"),
        (["audit", SUBMISSION, *COMMON, "--out", "/proc/x"], 1, "/proc/x"),
        (["audit", SUBMISSION, *COMMON, "--cache", ROWS], 2, "--cache"),
        (["audit", SUBMISSION, *COMMON, "--instances", ","], 2, "names no instance"),
        (["audit", SUBMISSION, *COMMON, "--image-template", "x"], 2, "{instance_id}"),
        (["audit", SUBMISSION, *COMMON, "--out", ROWS], 2, "--out"),
        (["audit", SUBMISSION], 2, "--benchmark"),
        (["audit", SUBMISSION, *COMMON, "--sandbox", "chroot"], 2, "docker"),
        (["audit", SUBMISSION, "--benchmark", ROWS], 1, "no Docker engine answers"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_do(run_cli, tmp_path, arguments, code, says):
    done = run_cli(*arguments, DOCKER_HOST="unix:///nowhere.sock")
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "utboost-out/report.json").exists()
    if "Usage:" not in done.stderr:
        assert len(done.stderr.strip().split("\n")) == 1


@pytest.mark.parametrize("bank", [(), ("--bank", "bank")])
def test_without_a_model_to_ask_nothing_is_left_behind(run_cli, tmp_path, bank):
    words = ("--generate", "missing", "--model", "x")
    done = run_cli("audit", SUBMISSION, *COMMON, *words, *bank, OPENAI_API_KEY="")
    assert (done.returncode, len(done.stderr.strip().split("\n"))) == (2, 1)
    assert "OPENAI_API_KEY" in done.stderr
    assert "--prompts-out" not in done.stderr
    assert list(tmp_path.iterdir()) == []
    done = run_cli("generate", *COMMON, "--bank", "bank", "--model", "x", OPENAI_API_KEY="")
    assert "--prompts-out" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_hub_name_is_read_from_the_hubs_cache(run_cli, tmp_path):
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()]
    repository = tmp_path / "hub/datasets--SWE-bench--SWE-bench_Verified"
    data = repository / "snapshots/0123456789012345678901234567890123456789/data"
    data.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text("0123456789012345678901234567890123456789")
    table = pyarrow.Table.from_pylist(rows)
    pyarrow.parquet.write_table(table, data / "test-00000-of-00001.parquet")
    for name, code in (("verified", 0), ("SWE-bench/SWE-bench_Verified", 0), ("lite", 1)):
        done = run_cli(
            "audit", SUBMISSION, "--benchmark", name, *COMMON[2:], "--repeats", 1,
            "--instances", "example__pocketknife-7",
            HF_HUB_CACHE=str(tmp_path / "hub"), HF_HUB_OFFLINE="1",
        )  # fmt: skip
        assert done.returncode == code, done.stderr
    assert "SWE-bench/SWE-bench_Lite" in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_debug_shows_the_traceback(run_cli):
    done = run_cli("--debug", "audit", "/nowhere", *COMMON)
    assert "Traceback" in done.stderr


def audit_arguments(cli: Path, out: Path) -> list[str]:
    words = [cli, "audit", SUBMISSION, *COMMON, *BANK, "--jobs", 2, "--repeats", 2, "--out", out]
    return [str(word) for word in [*words, "--cache", out / "cache"]]


def leftovers(folder: Path) -> list[str]:
    """Copies of trees and work folders of units that somebody left."""
    copies = [path.name for path in Path(tempfile.gettempdir()).glob("utboost-local-*") if not _alive(path)]
    return copies + [path.name for path in folder.rglob(".*.*.*") if path.is_dir()]


def _alive(path: Path) -> bool:
    return Path(f"/proc/{path.name.split('-')[3]}").exists()


def test_killed_ten_times_it_ends_with_the_same_report(cli, tmp_path):
    calm = tmp_path / "calm"
    subprocess.run(audit_arguments(cli, calm), check=True, capture_output=True, timeout=600)
    torn = tmp_path / "torn"
    dice = random.Random(20260101)
    for _ in range(10):
        process = subprocess.Popen(
            audit_arguments(cli, torn), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        time.sleep(dice.uniform(0.3, 4))
        process.kill()
        process.wait()
        if (torn / "report.json").exists():  # it was faster than the kill: tear it down again
            (torn / "report.json").unlink()
    subprocess.run(audit_arguments(cli, torn), check=True, capture_output=True, timeout=600)
    assert _report(torn) == _report(calm)
    assert sorted(p.name for p in (torn / "runs").iterdir()) == sorted(
        p.name for p in (calm / "runs").iterdir()
    )
    assert not leftovers(torn)


def _report(out: Path) -> object:
    return json.loads((out / "report.json").read_text())


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_the_user_it_keeps_a_usable_report(cli, tmp_path, kind):
    process = subprocess.Popen(
        audit_arguments(cli, tmp_path), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stderr is not None
    first = process.stderr.readline()  # one instance is done
    assert first.startswith("[1/7]")
    process.send_signal(kind)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1, errors
    assert "stopped by the user" in errors
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["problem"] == "stopped by the user"
    done = [entry for entry in report["instances"] if entry["cause"] != "not audited"]
    assert 1 <= len(done) < 7
    assert report["rates"]["coverage"]["audited"] == len(done)
    assert not leftovers(tmp_path)


def test_a_cache_remembers_how_long_gold_took(run_cli, tmp_path):
    """For the order of the next audit; what cannot be read of it is as if it were not there."""
    remembered = tmp_path / "cache/.durations.json"
    words = ("audit", predictions(tmp_path, n7=gold(7)), *COMMON, *BANK, "--repeats", 1)
    for before in (None, "spoilt", '{"example__pocketknife-1": 9}'):
        if before is not None:
            remembered.write_text(before)
        done = run_cli(*words, "--cache", tmp_path / "cache")
        assert done.returncode == 0, done.stderr
        seconds = json.loads(remembered.read_text())
        assert seconds.pop("example__pocketknife-7") > 0
        assert seconds == ({} if before in (None, "spoilt") else json.loads(before))


def test_a_second_run_takes_everything_from_the_first(demo, run_cli, tmp_path):
    out = tmp_path / "copy"
    shutil.copytree(demo[0], out)
    done = run_cli(
        "audit",
        SUBMISSION,
        *COMMON,
        "--bank",
        demo[0] / "bank",
        "--out",
        out,
        "--cache",
        tmp_path / "empty",
        "--jobs",
        2,
    )
    assert done.returncode == 0, done.stderr
    assert instances(out) == instances(demo[0])
    assert list((tmp_path / "empty").glob("[!.]*")) == []  # nothing was run
