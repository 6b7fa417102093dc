"""The experiments of `confirm` on the example benchmark and on made-up jurors, in the local sandbox."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from builders import augmented, diff
from integration.oracle.synthetic import generate
from typer.testing import CliRunner

from utboost_action.benchmark.bank import read_bank, with_status, write_bank
from utboost_action.commands import confirm as commands
from utboost_action.errors import InputError
from utboost_action.model import (
    BankStatus,
    DifferenceKind,
    Opinion,
    ProgramKind,
    Showing,
    Signals,
    Standing,
    TestMode,
    Validation,
)
from utboost_action.model import Difference as Shown
from utboost_action.oracle.confirmation import grounds_of, tally_of

app = typer.Typer()
app.command("confirm")(commands.confirm_command)
app.command("bank-confirm")(commands.bank_confirm_command)
app.command("bank-dispute")(commands.bank_dispute_command)
app.command("bank-retire")(commands.bank_retire_command)
app.command("bank-relate")(commands.bank_relate_command)


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """One instance whose entry is a mere candidate, after the experiments with nine jurors."""
    root = tmp_path_factory.mktemp("confirm")
    generate(root, 1)
    tests = [test for entries in read_bank(root / "bank").values() for test in entries]
    write_bank(root / "bank", with_status(tests, BankStatus.CANDIDATE), {})
    run(
        *("confirm", "--bank", root / "bank", "--benchmark", root / "rows.jsonl"),
        *("--leaderboard", root / "submissions", "--sandbox", "local", "--trees", root / "trees"),
        *("--cache", root / "cache", "--mutants", 6),
    )
    ((entry,),) = read_bank(root / "bank").values()
    return root, entry


def difference(entry, test: str, kind: DifferenceKind) -> Shown:
    return Shown(test, entry.id, kind, "PASSED", "FAILED", "FAILED", 3)


def test_the_experiments_earn_the_test_its_standing(tried):
    _, entry = tried
    test = next(t for s in entry.signals.showings for t in s.fails if "below_zero" in t)
    tally = tally_of(entry, test)
    assert tally.variants_passed >= 2
    assert tally.narrow == ()
    assert tally.jury >= 6
    assert tally.killed
    assert (
        grounds_of(entry, difference(entry, test, DifferenceKind.DIVERGENCE)).standing is Standing.CONFIRMED
    )


def test_the_record_says_what_was_tried(tried):
    _, entry = tried
    kinds = {showing.kind for showing in entry.signals.showings}
    assert kinds == set(ProgramKind)
    variants = [s for s in entry.signals.showings if s.kind is ProgramKind.VARIANT]
    assert all(s.plausible for s in variants), variants
    assert not any("below_zero" in test or "large" in test for s in variants for test in s.fails)
    assert any("test_none_is_skipped" in name for name in entry.signals.fail_to_pass)
    assert any("test_large_values" in name for name in entry.signals.fail_to_pass)
    assert not any("clock" in name for name in entry.signals.fail_to_pass + entry.signals.pass_to_pass)
    assert any("test_plain" in name for name in entry.signals.pass_to_pass)
    assert (entry.validation.gold_runs, entry.validation.flaky) == (3, True)
    assert entry.status is BankStatus.CANDIDATE


def test_exported_rows_hold_the_measured_lists(tried, run_cli, tmp_path: Path):
    root, entry = tried
    out = tmp_path / "rows.jsonl"
    done = run_cli(
        "bank",
        "export",
        "--bank",
        root / "bank",
        "--as",
        "rows",
        "--benchmark",
        root / "rows.jsonl",
        "--out",
        out,
    )
    assert done.returncode == 0, done.stderr
    row = json.loads(out.read_text())
    assert json.loads(row["FAIL_TO_PASS"]) == list(entry.signals.fail_to_pass)
    assert json.loads(row["PASS_TO_PASS"]) == list(entry.signals.pass_to_pass)


def test_people_confirm_dispute_relate_and_retire(tried, tmp_path: Path):
    _, entry = tried
    bank = tmp_path / "bank"
    write_bank(bank, [entry], {})
    run(
        "bank-relate",
        entry.id,
        "--bank",
        bank,
        "--sentence",
        "it should count as nothing",
        "--who",
        "someone",
    )
    run("bank-confirm", entry.id, "--bank", bank, "--why", "the issue says so", "--who", "someone")
    known = entry.signals.pass_to_pass[0]
    run("bank-dispute", f"{entry.id}::{known}", "--bank", bank, "--why", "not this one", "--who", "another")
    ((now,),) = read_bank(bank).values()
    assert now.status is BankStatus.CONFIRMED
    assert now.signals.issue == "it should count as nothing"
    assert [(d.opinion, d.who, d.test) for d in now.signals.decisions] == [
        (Opinion.CONFIRM, "someone", ""),
        (Opinion.DISPUTE, "another", known),
    ]
    assert all(d.at.endswith("Z") for d in now.signals.decisions)
    assert now.signals.showings == entry.signals.showings
    run("bank-retire", entry.id, "--bank", bank, "--why", "superseded", "--who", "someone")
    ((now,),) = read_bank(bank).values()
    assert now.status is BankStatus.RETIRED


def test_what_is_wrong_is_said(tried, tmp_path: Path):
    root, entry = tried
    with pytest.raises(InputError, match="no entry of bank"):
        run("bank-confirm", "other:one", "--bank", root / "bank", "--why", "x")
    with pytest.raises(InputError, match="say why"):
        run("bank-confirm", entry.id, "--bank", root / "bank", "--why", " ")
    with pytest.raises(InputError, match="does not say so"):
        run(
            *("bank-relate", entry.id, "--bank", root / "bank", "--sentence", "no such words"),
            *("--benchmark", root / "rows.jsonl"),
        )


BENCHMARK = Path(__file__).resolve().parents[3] / "examples/benchmark"
NAME = "example__pocketknife-2"
WHERE = ("--benchmark", BENCHMARK / "rows.jsonl", "--sandbox", "local", "--trees", BENCHMARK / "trees")


def showing(kind: ProgramKind, name: str) -> Showing:
    return Showing(kind, name, f"key of {name}", plausible=True)


def experiments(monkeypatch, meanwhile=lambda: None, *kinds: ProgramKind) -> None:
    """Experiments that show one program of each kind, while something else happens."""

    def confirm(_replay, _instance, entries, _jury, _effort, *, at):
        meanwhile()
        new = Signals(showings=tuple(showing(kind, "new") for kind in kinds), fail_to_pass=("new",))
        found = [entry.status is not BankStatus.RETIRED for entry in entries]
        return tuple(
            replace(
                entry,
                signals=replace(entry.signals, showings=new.showings, fail_to_pass=new.fail_to_pass),
                validation=Validation(3, at=at),
            )
            if live
            else entry
            for entry, live in zip(entries, found, strict=True)
        )

    monkeypatch.setattr(commands, "confirm", confirm)


def entry_of(bank: Path):
    ((entry,),) = read_bank(bank).values()
    return entry


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    write_bank(tmp_path / "bank", [augmented("e", BankStatus.CANDIDATE, instance_id=NAME)], {})
    return tmp_path / "bank"


def test_what_people_say_during_the_experiments_stays(bank, monkeypatch, tmp_path):
    def people_speak():
        run("bank-relate", "e", "--bank", bank, "--sentence", "It counts as nothing.", "--who", "one")
        run("bank-retire", "e", "--bank", bank, "--why", "wrong", "--who", "another")

    experiments(monkeypatch, people_speak, ProgramKind.VARIANT)
    run("confirm", "--bank", bank, *WHERE, "--cache", tmp_path / "cache")
    now = entry_of(bank)
    assert now.status is BankStatus.RETIRED
    assert [decision.opinion for decision in now.signals.decisions] == [Opinion.RETIRE]
    assert now.signals.issue == "It counts as nothing."
    assert now.signals.fail_to_pass == ("new",)
    assert now.validation.gold_runs == 3


def test_an_entry_changed_or_taken_out_meanwhile_is_left_alone(bank, monkeypatch, tmp_path):
    other = augmented("e", BankStatus.CANDIDATE, instance_id=NAME, patch=diff("tests/other.py"))
    experiments(monkeypatch, lambda: write_bank(bank, [other], {}), ProgramKind.VARIANT)
    said = run("confirm", "--bank", bank, *WHERE, "--cache", tmp_path / "cache")
    assert entry_of(bank) == other
    assert "nothing recorded" in said


def test_programs_that_were_not_tried_stay_recorded(bank, monkeypatch, tmp_path):
    old = Signals(showings=tuple(showing(kind, "old") for kind in ProgramKind))
    write_bank(bank, [replace(entry_of(bank), signals=old)], {})
    experiments(monkeypatch, lambda: None, ProgramKind.MUTANT)
    run("confirm", "--bank", bank, *WHERE, "--cache", tmp_path / "cache", "--variants", 0)
    assert {(s.kind, s.name) for s in entry_of(bank).signals.showings} == {
        (ProgramKind.VARIANT, "old"),
        (ProgramKind.MUTANT, "new"),
        (ProgramKind.JUROR, "old"),
    }


def test_decisions_made_at_the_same_time_are_all_kept(bank):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: commands._decide(bank, "e", Opinion.DISPUTE, f"{n}", "me"), range(24)))
    assert sorted(int(d.why) for d in entry_of(bank).signals.decisions) == list(range(24))


@pytest.mark.parametrize("option", ["--variants", "--mutants", "--jurors"])
def test_efforts_below_zero_are_refused(bank, option):
    with pytest.raises(InputError, match=f"{option} -1"):
        run("confirm", "--bank", bank, *WHERE, option, -1)


def test_nothing_to_work_on_is_said(bank, tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="holds no test"):
        run("confirm", "--bank", tmp_path / "none", *WHERE)
    write_bank(tmp_path / "foreign", [augmented("e")], {})
    with pytest.raises(InputError, match="none of its 1 instances"):
        run("confirm", "--bank", tmp_path / "foreign", *WHERE)
    with pytest.raises(InputError, match="names no instance"):
        run("confirm", "--bank", bank, *WHERE, "--instances", ",")


def test_a_test_that_the_entry_does_not_have_is_refused(bank):
    said = run("bank-dispute", "e::anything", "--bank", bank, "--why", "so")
    assert "is not known" in said
    added = "diff --git a/t.py b/t.py\n--- a/t.py\n+++ b/t.py\n@@ -0,0 +1 @@\n+def test_c(): pass\n"
    knowing = augmented(
        "e", BankStatus.CANDIDATE, TestMode.EXTENDS, added, ("t.py::test_a",), instance_id=NAME
    )
    write_bank(bank, [replace(knowing, signals=Signals(pass_to_pass=("t.py::test_b",)))], {})
    for test in ("t.py::test_a", "t.py::test_b", "t.py::test_c"):
        run("bank-confirm", f"e::{test}", "--bank", bank, "--why", "so")
    with pytest.raises(InputError, match="'nosuchtest'; it has"):
        run("bank-dispute", "e::nosuchtest", "--bank", bank, "--why", "so")
    assert len(entry_of(bank).signals.decisions) == 3


@pytest.mark.parametrize("sentence", ["", "e", "two words"])
def test_what_is_no_sentence_is_refused(bank, sentence):
    with pytest.raises(InputError, match="--sentence"):
        run("bank-relate", "e", "--bank", bank, "--sentence", sentence)


def test_a_person_takes_up_what_the_author_of_a_test_quotes(bank):
    with pytest.raises(InputError, match="nobody proposed a sentence"):
        run("bank-relate", "e", "--bank", bank)
    proposed = Signals(issue="It counts as nothing.", issue_from="model:some-model")
    write_bank(bank, [replace(entry_of(bank), signals=proposed)], {})
    run("bank-relate", "e", "--bank", bank, "--who", "one")
    assert entry_of(bank).signals == replace(proposed, issue_from="one")


def test_an_empty_bank_is_called_so(tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="is empty"):
        run("bank-confirm", "e", "--bank", tmp_path / "none", "--why", "so")
