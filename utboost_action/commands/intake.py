"""`inspect`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from utboost_action.benchmark.rows import read_benchmark
from utboost_action.inspection import inspect
from utboost_action.logs import parser_for_repo
from utboost_action.report.render import plain


def inspect_command(
    submission: Annotated[Path, typer.Argument(help="A submission folder or a predictions file.")],
    benchmark: Annotated[str, typer.Option(help="Rows: a file, lite, verified, ..., or a hub name.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a submission holds, what it claims, and what in it does not fit together. Runs nothing."""
    rows = read_benchmark(benchmark, parser_for_repo=parser_for_repo)
    value = inspect(submission, instances=rows.instances, split=rows.split)
    if as_json:
        typer.echo(json.dumps(value, indent=1, ensure_ascii=True))
        return
    typer.echo(plain(value, "inspect.txt.j2"))
