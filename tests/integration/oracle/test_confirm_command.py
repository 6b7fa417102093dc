"""The experiments of `confirm` on the example benchmark and on made-up jurors, in the local sandbox."""

import json
from pathlib import Path

import pytest
import typer
from integration.oracle.synthetic import generate
from typer.testing import CliRunner

from utboost_action.benchmark.bank import read_bank, with_status, write_bank
from utboost_action.commands import confirm as commands
from utboost_action.errors import InputError
from utboost_action.model import BankStatus, DifferenceKind, Opinion, ProgramKind, Standing
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
    run("bank-dispute", f"{entry.id}::a_test", "--bank", bank, "--why", "not this one", "--who", "another")
    ((now,),) = read_bank(bank).values()
    assert now.status is BankStatus.CONFIRMED
    assert now.signals.issue == "it should count as nothing"
    assert [(d.opinion, d.who, d.test) for d in now.signals.decisions] == [
        (Opinion.CONFIRM, "someone", ""),
        (Opinion.DISPUTE, "another", "a_test"),
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
