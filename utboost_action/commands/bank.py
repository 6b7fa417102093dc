"""`bank import | list | export`."""

from __future__ import annotations

import json
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from utboost_action.benchmark.bank import published_shape, read_bank, with_status, write_bank
from utboost_action.benchmark.export import augmented_rows
from utboost_action.benchmark.rows import read_benchmark, read_raw_rows
from utboost_action.errors import InputError
from utboost_action.logs import parser_for_repo
from utboost_action.model import BankStatus
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
    """Take tests into a bank folder, one file an instance. The published file's tests count as confirmed."""
    tests = [test for entries in read_bank(file).values() for test in entries]
    base_commits = {}
    if benchmark is not None:
        rows = read_benchmark(benchmark, parser_for_repo=parser_for_repo)
        base_commits = {name: row.base_commit for name, row in rows.instances.items()}
        known = [test for test in tests if test.instance_id in base_commits]
        typer.echo(f"{len(tests) - len(known)} tests of other benchmarks left out", err=True)
        tests = known
    if status is not None:
        tests = with_status(tests, status)
    written = write_bank(bank, tests, base_commits)
    typer.echo(f"{len(tests)} tests of {len(written)} instances are in {bank}")


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
    tests = read_bank(bank)
    if shape is Shape.PUBLISHED:
        value = published_shape(tests)
        write_atomically(out, canonical_json(value))
        typer.echo(f"{len(value)} instances are in {out}")
        return
    if benchmark is None:
        raise InputError("bank export --as rows needs --benchmark, the rows to strengthen")
    rows = augmented_rows(read_raw_rows(benchmark), tests)
    write_atomically(out, "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows))
    typer.echo(f"{len(rows)} rows are in {out}")
