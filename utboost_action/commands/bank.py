"""`bank import | list | export`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from utboost_action.benchmark.bank import Bank, published_shape, read_bank, update_bank, with_status
from utboost_action.benchmark.bank_merge import Imported, imported
from utboost_action.benchmark.export import augmented_rows, best_of
from utboost_action.benchmark.rows import read_benchmark, read_raw_rows
from utboost_action.commands.options import as_file
from utboost_action.errors import InputError
from utboost_action.logs import parser_for_repo
from utboost_action.model import AugmentedTest, BankStatus, TestMode
from utboost_action.report.escaping import printable
from utboost_action.storage import canonical_json, write_atomically

app = typer.Typer(help="Augmented tests: import, list, export.", no_args_is_help=True)

_BANK = Annotated[Path, typer.Option(help="The bank folder (or, to read, the published file).")]


class Shape(StrEnum):
    """What `bank export` writes."""

    PUBLISHED = "published"
    ROWS = "rows"


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(help="The published file, or another bank folder.")],
    bank: _BANK,
    status: Annotated[
        BankStatus | None, typer.Option("--as", help="Give the tests this standing instead of their own.")
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="Rows, to record the base commit and to refuse unknown instances.")
    ] = None,
) -> None:
    """Take tests into a bank folder, one file an instance. The published file's tests count as confirmed.

    Tests that the bank has already keep what people said of them there, and their standing.
    """
    tests = [test for entries in read_bank(file).values() for test in entries]
    if not tests:
        raise InputError(f"{str(file)!r}: it holds no test; give the published file or another bank folder")
    base_commits = {}
    if benchmark is not None:
        rows = read_benchmark(benchmark, parser_for_repo=parser_for_repo)
        base_commits = {name: row.base_commit for name, row in rows.instances.items()}
        known = [test for test in tests if test.instance_id in base_commits]
        typer.echo(f"{len(tests) - len(known)} tests of other benchmarks left out", err=True)
        if not known:
            raise InputError(f"{str(file)!r}: none of its tests is for an instance of {benchmark!r}")
        tests = known
    if status is not None:
        tests = with_status(tests, status)
    by_instance: dict[str, list[AugmentedTest]] = {}
    for test in tests:
        by_instance.setdefault(test.instance_id, []).append(test)
    outcomes = [_take_in(bank, name, new, base_commits.get(name, "")) for name, new in by_instance.items()]
    typer.echo(f"{len(tests)} tests of {len(by_instance)} instances are in {bank}")
    if kept := sum(outcome.kept for outcome in outcomes):
        typer.echo(
            f"{kept} of them were there already: their standing and what people said stay as they were"
        )
    for test_id in (test_id for outcome in outcomes for test_id in outcome.replaced):
        typer.echo(
            printable(f"{test_id}: the file has another patch; what people said of the earlier one is gone"),
            err=True,
        )


def _take_in(bank: Path, instance_id: str, new: list[AugmentedTest], base_commit: str) -> Imported:
    outcomes: list[Imported] = []

    def change(now: tuple[AugmentedTest, ...]) -> tuple[AugmentedTest, ...]:
        outcomes.append(imported(now, new))
        return outcomes[-1].entries

    update_bank(bank, instance_id, change, base_commit)
    return outcomes[-1]


@app.command("list")
def list_command(
    bank: _BANK, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """List the tests of a bank: id, mode, standing, source, number of targets."""
    tests = [test for entries in read_bank(bank).values() for test in entries]
    if as_json:
        rows = [
            {
                "id": test.id,
                "instance_id": test.instance_id,
                "mode": str(test.mode),
                "status": str(test.status),
                "source": test.source,
                "targets": list(test.targets),
            }
            for test in tests
        ]
        typer.echo(json.dumps(rows, indent=1))
        return
    for test in tests:
        line = f"{test.id}  {test.mode}  {test.status}  {test.source}  {len(test.targets)} targets"
        typer.echo(printable(line))
    counts = Counter(test.status for test in tests)
    typer.echo(", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no tests")


@app.command("export")
def export_command(
    bank: _BANK,
    out: Annotated[Path, typer.Option(help="The file to write.")],
    shape: Annotated[Shape, typer.Option("--as", help="The published file, or benchmark rows (jsonl).")] = (
        Shape.PUBLISHED
    ),
    benchmark: Annotated[str | None, typer.Option(help="The rows to strengthen (for --as rows).")] = None,
) -> None:
    """Write a bank in the published shape, or as rows with the stronger tests for the official harness."""
    if shape is Shape.PUBLISHED and benchmark is not None:
        raise InputError("--benchmark is for `--as rows`; the published shape has no rows: leave it out")
    if shape is Shape.ROWS and benchmark is None:
        raise InputError("bank export --as rows needs --benchmark, the rows to strengthen")
    as_file("--out", out)
    tests = read_bank(bank)
    if benchmark is None:
        value = published_shape(tests)
        _say_left_out(tests, value, "the published shape holds one test an instance, that replaces", bank)
        write_atomically(out, canonical_json(value))
        typer.echo(f"{len(value)} instances are in {out}")
        return
    rows = augmented_rows(read_raw_rows(benchmark), tests)
    held = [str(row["instance_id"]) for row in rows]
    _say_left_out(
        tests, held, "a row takes one test, not retired or disputed, of an instance of the benchmark", bank
    )
    best = [best_of(tests[instance_id]) for instance_id in held]
    if unconfirmed := sum(test is not None and test.status is not BankStatus.CONFIRMED for test in best):
        typer.echo(
            f"{unconfirmed} of the rows hold a test that no person has confirmed: what fails it there is no "
            "more than suspect",
            err=True,
        )
    write_atomically(out, "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows))
    typer.echo(f"{len(rows)} rows are in {out}")


def _say_left_out(bank: Bank, held: Collection[str], why: str, source: Path) -> None:
    """Say on stderr how many tests an export leaves out. Raises InputError when it leaves out all."""
    tests = [test for entries in bank.values() for test in entries]
    left = len(tests) - len(held)
    if not left and held:
        return
    retired = sum(test.status is BankStatus.RETIRED for test in tests)
    extending = sum(test.mode is TestMode.EXTENDS for test in tests)
    counts = f"{len(tests)} tests, {extending} that extend, {retired} retired"
    if not held:
        raise InputError(f"bank {str(source)!r}: nothing to export of its {counts}: {why}")
    typer.echo(printable(f"{left} of the bank's {counts}, are left out: {why}"), err=True)
