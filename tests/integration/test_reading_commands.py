"""`parse`, `inspect`, `regrade` and `bank` as users start them, on small data of our own."""

import gzip
import json
from pathlib import Path

import pytest
from builders import augmented, diff, row

from utboost_action.benchmark.bank import write_bank
from utboost_action.model import TestMode

DJANGO = """Found 3 test(s).
test_a (m.tests.T) ... ok
test_b (m.tests.T)
What it is about. ... FAIL
test_c (m.tests.T) ... skipped 'no reason'

======================================================================
FAIL: test_b (m.tests.T)
What it is about.
----------------------------------------------------------------------
Traceback (most recent call last):
  File "t.py", line 1, in test_b
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
"""
STATUSES = {
    "test_a (m.tests.T)": "PASSED",
    "test_b (m.tests.T)": "FAILED",
    "test_c (m.tests.T)": "SKIPPED",
}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "test_output.txt"
    file.write_text(DJANGO)
    return file


@pytest.mark.parametrize("parser", ["django", "parse_log_django"])
def test_parse_prints_the_documented_keys(run_cli, log, parser):
    done = run_cli("parse", log, "--parser", parser, "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["statuses"] == STATUSES
    assert value["summary"] == {
        "ran": 3, "passed": 1, "failed": 1, "errors": 0, "skipped": 1, "xfailed": 0, "xpassed": 0,
    }  # fmt: skip
    assert (value["complete"], value["gradable"], value["flags"], value["events"]) == (True, True, [], {})
    assert set(value) == {
        "statuses", "events", "complete", "summary", "flags", "gradable", "generation", "warnings",
    }  # fmt: skip


def test_parse_reads_gzip_and_standard_input(run_cli, log, tmp_path, cli):
    import subprocess

    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(DJANGO.encode()))
    done = run_cli("parse", packed, "--parser", "django", "--json")
    assert json.loads(done.stdout)["statuses"] == STATUSES
    piped = subprocess.run(
        [cli, "parse", "-", "--parser", "django", "--json"],
        input=DJANGO.encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(piped.stdout)["statuses"] == STATUSES


def test_parse_exits_0_on_a_cut_log_and_says_so(run_cli, tmp_path):
    (tmp_path / "cut").write_text(DJANGO[: DJANGO.index("skipped")])
    done = run_cli("parse", tmp_path / "cut", "--parser", "django", "--json")
    assert done.returncode == 0
    value = json.loads(done.stdout)
    assert value["complete"] is False
    assert "incomplete" in value["flags"]


def test_parse_shows_text_without_control_characters(run_cli, tmp_path):
    (tmp_path / "log").write_text(DJANGO.replace("test_a", "test_\x1b[31ma"))
    done = run_cli("parse", tmp_path / "log", "--parser", "django")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "FAILED   test_b (m.tests.T)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["parse", "LOG", "--parser", "cobol"], "cobol"),
        (["parse", "/nowhere", "--parser", "django"], "/nowhere"),
        (["parse", "LOG", "--parser", "django", "--known-ids", "/nowhere"], "--known-ids"),
        (["inspect", "/nowhere", "--benchmark", "ROWS"], "/nowhere"),
        (["inspect", "SUBMISSION", "--benchmark", "ROWS", "--other-split", "lite"], "--other-split"),
        (["regrade", "/nowhere", "--benchmark", "ROWS"], "/nowhere"),
        (["bank", "list", "--bank", "/nowhere"], "/nowhere"),
        (["bank", "export", "--bank", "BANK", "--as", "rows", "--out", "x"], "--benchmark"),
        (["bank", "export", "--bank", "BANK", "--benchmark", "ROWS", "--out", "x"], "--as rows"),
        (["bank", "export", "--bank", "BANK", "--out", "SUBMISSION"], "name a file"),
        (["bank", "import", "EMPTY", "--bank", "x"], "holds no test"),
        (["bank", "import", "FOLDER", "--bank", "x"], "holds no test"),
        (["bank", "import", "BANK", "--bank", "BANK"], "a file; tests are written to a folder"),
        (["board", "SUBMISSION", "--benchmark", "ROWS", "--out", "ROWS"], "name a folder"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(run_cli, log, submission, arguments, says):
    folder, rows, bank = submission
    (log.parent / "empty.json").write_text("{}")
    (log.parent / "empty").mkdir()
    names = {"LOG": log, "ROWS": rows, "SUBMISSION": folder, "BANK": bank}
    names |= {"EMPTY": log.parent / "empty.json", "FOLDER": log.parent / "empty"}
    done = run_cli(*(names.get(argument, argument) for argument in arguments))
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


@pytest.fixture
def submission(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A submission of two instances with logs (one resolved, one claimed but failing), its rows, a bank."""
    rows = [
        row(
            instance_id=f"django__django-{n}", repo="django/django", log_parser="parse_log_django",
            FAIL_TO_PASS=json.dumps([f"test_{name} (m.tests.T)"]), PASS_TO_PASS="[]",
        )
        for n, name in ((1, "a"), (2, "b"))
    ]  # fmt: skip
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    folder = tmp_path / "evaluation/verified/20260101_agent"
    predictions = []
    for value in rows:
        instance_id = value["instance_id"]
        predictions.append({"instance_id": instance_id, "model_name_or_path": "m", "model_patch": diff()})
        log = folder / "logs" / instance_id / "test_output.txt"
        log.parent.mkdir(parents=True)
        log.write_text(
            "+ git apply -v -\nApplied patch t.py cleanly.\n"
            f"+ : '>>>>> Start Test Output'\n{DJANGO}+ : '>>>>> End Test Output'\n+ git checkout abc t.py\n"
        )
        (log.parent / "patch.diff").write_text(diff())
    predictions.append({"instance_id": "django__django-9", "model_name_or_path": "m", "model_patch": ""})
    (folder / "all_preds.jsonl").write_text("".join(json.dumps(line) + "\n" for line in predictions))
    (folder / "metadata.yaml").write_text(
        "name: agent\noss: true\nsite: https://example.org\nverified: false\n"
    )
    (folder / "results").mkdir()
    resolved = ["django__django-1", "django__django-2"]
    (folder / "results/results.json").write_text(
        json.dumps({"no_generation": [], "no_logs": [], "resolved": resolved})
    )
    bank = tmp_path / "aug.json"
    bank.write_text(
        json.dumps({"django__django-1": {"aug_test": diff("tests/m/tests.py"), "augFail2Pass": ["t"]}})
    )
    return folder, tmp_path / "rows.json", bank


def test_inspect_names_what_does_not_fit(run_cli, submission):
    folder, rows, _ = submission
    done = run_cli("inspect", folder, "--benchmark", rows, "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert (value["generation"], value["split"]) == ("G4", "verified")
    assert value["predictions"]["classes"] == {"empty": 1, "ok": 2}
    assert value["predictions"]["unknown_ids"] == ["django__django-9"]
    kinds = {finding["kind"]: finding["ids"] for finding in value["findings"]}
    assert kinds["unknown_id"] == ["django__django-9"]
    assert kinds["report_vs_log"] == ["django__django-2"]
    assert run_cli("inspect", folder, "--benchmark", rows).returncode == 0


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("preds.jsonl", b"", "it is empty"),
        ("mine.json", b" \n", "it is empty"),
        ("mine.jsonl", bytes(range(256)) * 9, "binary data"),
        ("mine.parquet", b"PAR1\0\0PAR1", "binary data"),
        ("mine.csv", b"instance_id,model_patch\nx,y\n", "line 1"),
        ("mine.jsonl", b'{"id": 1, "diff": 2}\n{"id": 2, "diff": 2}\n', "diff, id"),
        ("mine.json", b'[{"id": 1, "diff": 2}]', "diff, id"),
        ("mine.json", b'{"a__b-1": "a patch"}', "must be a JSON object"),
    ],
)
def test_a_file_that_holds_no_predictions_is_named_with_its_fault(run_cli, tmp_path, name, content, says):
    (tmp_path / "rows.json").write_text(json.dumps([row()]))
    (tmp_path / name).write_bytes(content)
    done = run_cli("inspect", tmp_path / name, "--benchmark", tmp_path / "rows.json")
    assert says in done.stdout
    assert "no predictions file" not in done.stdout
    for more in ((), ("--instances", "pallets__flask-1")):
        done = run_cli("audit", tmp_path / name, "--benchmark", tmp_path / "rows.json", *more)
        assert done.returncode == 2
        assert "holds no readable prediction" in done.stderr
        assert says in done.stderr
        assert name in done.stderr
        assert len(done.stderr.strip().split("\n")) == 1


def test_regrade_tells_claimed_official_and_corrected(run_cli, submission):
    folder, rows, _ = submission
    done = run_cli("regrade", folder, "--benchmark", rows, "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert (value["claimed"], value["official"], value["corrected"], value["total"]) == (2, 1, 1, 2)
    wrong = value["instances"][1]
    assert (wrong["claimed"], wrong["official"], wrong["corrected"]) == (True, False, False)
    assert any("test_b (m.tests.T)" in reason for reason in wrong["reasons"])
    assert "claimed yes" in run_cli("regrade", folder, "--benchmark", rows).stdout


def test_bank_import_list_and_export(run_cli, submission, tmp_path):
    _, rows, published = submission
    done = run_cli("bank", "import", published, "--bank", tmp_path / "bank", "--benchmark", rows)
    assert done.returncode == 0, done.stderr
    value = json.loads((tmp_path / "bank/django__django-1.json").read_text())
    assert value["base_commit"] == "abc123"
    listed = json.loads(run_cli("bank", "list", "--bank", tmp_path / "bank", "--json").stdout)
    assert [(test["id"], test["status"]) for test in listed] == [("django__django-1:published", "confirmed")]
    assert (
        run_cli("bank", "export", "--bank", tmp_path / "bank", "--out", tmp_path / "out.json").returncode == 0
    )
    assert json.loads((tmp_path / "out.json").read_text()) == json.loads(published.read_text())


def test_bank_import_as_candidate(run_cli, submission, tmp_path):
    run_cli("bank", "import", submission[2], "--bank", tmp_path / "bank", "--as", "candidate")
    assert "1 candidate" in run_cli("bank", "list", "--bank", tmp_path / "bank").stdout


def test_an_import_again_keeps_what_people_said(run_cli, submission, tmp_path):
    _, _, published = submission
    bank = tmp_path / "bank"
    run_cli("bank", "import", published, "--bank", bank)
    entry = "django__django-1:published"
    assert run_cli("bank", "retire", entry, "--bank", bank, "--why", "wrong").returncode == 0
    before = (bank / "django__django-1.json").read_bytes()
    done = run_cli("bank", "import", published, "--bank", bank)
    assert (done.returncode, "1 of them were there already" in done.stdout) == (0, True)
    assert (bank / "django__django-1.json").read_bytes() == before
    run_cli("bank", "import", published, "--bank", bank, "--as", "candidate")
    assert (bank / "django__django-1.json").read_bytes() == before
    published.write_text(published.read_text().replace("two", "three"))
    done = run_cli("bank", "import", published, "--bank", bank)
    assert entry in done.stderr
    assert "1 confirmed" in run_cli("bank", "list", "--bank", bank).stdout


def test_an_export_says_what_it_leaves_out(run_cli, tmp_path):
    tests = [
        augmented("a"),
        augmented("b"),
        augmented("c", mode=TestMode.EXTENDS),
        augmented("d", mode=TestMode.EXTENDS, instance_id="x__y-2"),
    ]
    write_bank(tmp_path / "bank", tests, {})
    done = run_cli("bank", "export", "--bank", tmp_path / "bank", "--out", tmp_path / "out.json")
    assert done.returncode == 0
    assert "3 of the bank's 4 tests, 2 that extend" in done.stderr
    write_bank(tmp_path / "other", [tests[3]], {})
    done = run_cli("bank", "export", "--bank", tmp_path / "other", "--out", tmp_path / "none.json")
    assert (done.returncode, (tmp_path / "none.json").exists()) == (2, False)
    assert "nothing to export" in done.stderr
    (tmp_path / "rows.json").write_text(json.dumps([row()]))
    for bank, code, says in (("bank", 0, "3 of the bank's 4"), ("other", 2, "nothing to export")):
        done = run_cli(
            *("bank", "export", "--bank", tmp_path / bank, "--as", "rows"),
            *("--benchmark", tmp_path / "rows.json", "--out", tmp_path / "rows.jsonl"),
        )
        assert (done.returncode, says in done.stderr) == (code, True), done.stderr


def test_bank_export_as_rows(run_cli, submission, tmp_path):
    _, rows, published = submission
    done = run_cli(
        "bank",
        "export",
        "--bank",
        published,
        "--as",
        "rows",
        "--benchmark",
        rows,
        "--out",
        tmp_path / "new.jsonl",
    )
    assert done.returncode == 0, done.stderr
    (value,) = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert json.loads(value["FAIL_TO_PASS"]) == ["test_a (m.tests.T)", "t"]
    assert value["test_patch"] == diff("tests/m/tests.py")
    assert "pytest -rA tests/test_a.py m.tests\n" in value["eval_script"]
    assert diff("tests/m/tests.py") in value["eval_script"]
    assert value["patch"] == row()["patch"]
