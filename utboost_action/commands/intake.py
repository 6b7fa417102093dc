"""`inspect`."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Annotated

import typer

from utboost_action.benchmark.rows import read_benchmark
from utboost_action.commands.options import BenchmarkName, SubmissionPath
from utboost_action.errors import InputError
from utboost_action.inspection import describe
from utboost_action.leaderboard import take_in
from utboost_action.logs import parser_for_repo
from utboost_action.regrade import regrade_submission
from utboost_action.report.render import plain


def inspect_command(
    submission: SubmissionPath,
    benchmark: BenchmarkName,
    other_split: Annotated[
        list[str] | None,
        typer.Option(help="NAME=ROWS of another split, to say where a foreign id belongs; may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a submission holds, what it claims, and what in it does not fit together. Runs nothing."""
    rows = read_benchmark(benchmark, parser_for_repo=parser_for_repo)
    others = dict(_other_split(text) for text in other_split or [])
    intake = take_in(submission, instances=rows.instances, split=rows.split, other_splits=others)
    regraded = {
        grade.instance_id: grade.corrected.resolved
        for grade in regrade_submission(intake.submission, rows.instances)
        if grade.instance_id in intake.submission.logs
    }
    value = describe(intake, regraded=regraded)
    if as_json:
        typer.echo(json.dumps(value, indent=1, ensure_ascii=True))
        return
    typer.echo(plain(value, "inspect.txt.j2"))


def _other_split(text: str) -> tuple[str, Collection[str]]:
    name, separator, source = text.partition("=")
    if not separator or not name or not source:
        raise InputError(f"--other-split {text!r}: expected NAME=ROWS, for example lite=lite.parquet")
    return name, read_benchmark(source).instances.keys()
