"""`plan`, `execute`, `merge`: one audit shared out over machines, and put together again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from utboost_action import session
from utboost_action.commands.options import (
    BankPath,
    BenchmarkName,
    Cache,
    ImageTemplate,
    InstanceIds,
    Jobs,
    Pull,
    RemoveImages,
    Repeats,
    SandboxName,
    SubmissionPath,
    Template,
    Timeout,
    Trees,
    as_folder,
    ids,
)
from utboost_action.errors import InputError
from utboost_action.exchange import PLAN, read_plan, read_results, write_plan, write_result
from utboost_action.leaderboard import read_submission
from utboost_action.report.escaping import printable
from utboost_action.report.render import plain
from utboost_action.settings import ActionOptions, FailOn, SandboxKind, Settings
from utboost_action.sharding import execute, plan_of, report, settings_as, shard_of, submitted_of
from utboost_action.shards import MATRIX_JOBS, MOST_SHARDS, read_durations

_FOLDER = Annotated[Path, typer.Argument(help="The folder that `plan` wrote.")]


def plan_command(
    submission: SubmissionPath,
    benchmark: BenchmarkName,
    out: Annotated[Path, typer.Option(help="The folder that plan.json goes into.")],
    bank: BankPath = None,
    instances: InstanceIds = None,
    shards: Annotated[int, typer.Option(help=f"At most so many shards (1 to {MATRIX_JOBS}).")] = MOST_SHARDS,
    durations: Annotated[
        Path | None, typer.Option(help="Seconds of earlier audits: a JSON object by instance id.")
    ] = None,
    sandbox: SandboxName = SandboxKind.DOCKER,
    trees: Trees = None,
    image_template: ImageTemplate = None,
    repeats: Repeats = Settings.repeats,
    timeout: Timeout = Settings.timeout,
    as_json: Annotated[bool, typer.Option("--json", help="Print the shards as JSON.")] = False,
) -> None:
    """Share an audit out into shards of even length. Nothing is run."""
    if not 1 <= shards <= MATRIX_JOBS:
        raise InputError(f"--shards {shards}: a matrix takes 1 to {MATRIX_JOBS} jobs")
    as_folder("--out", out)
    settings = Settings(
        submission=submission,
        benchmark=benchmark,
        bank=bank,
        instances=ids(instances),
        sandbox=sandbox,
        trees=trees,
        image_template=image_template,
        repeats=repeats,
        timeout=timeout,
        action=ActionOptions(shards=shards),
    ).checked()
    rows, known = session.read_rows_and_bank(settings)
    read = read_submission(submission, instances=rows.instances, split=rows.split or None)
    prepared = session.session_of(settings, rows, known, read)
    submitted = [submitted_of(prepared, str(submission))]
    earlier = read_durations(_bytes(durations)) if durations else {}
    plan = plan_of(settings, rows, known, submitted, earlier)
    path = write_plan(out, plan)
    if as_json:
        value = [
            {"shard": shard.index, "seconds": shard.seconds, "instances": len(shard.units)}
            for shard in plan.shards
        ]
        typer.echo(json.dumps(value, indent=1))
        return
    for shard in plan.shards:
        typer.echo(f"shard {shard.index}: {len(shard.units)} instances, about {shard.seconds:.0f} s")
    typer.echo(f"plan: {path}")


def execute_command(
    folder: _FOLDER,
    shard: Annotated[int, typer.Option(help="Which shard, from 1.")],
    out: Annotated[Path, typer.Option(help="Where runs and logs go.")] = Settings.out,
    cache: Cache = None,
    jobs: Jobs = Settings.jobs,
    pull: Pull = True,
    remove_images: RemoveImages = False,
) -> None:
    """Audit one shard of a plan, and write its result beside the plan."""
    plan = read_plan(folder)
    settings = settings_as(
        Settings(Path(), "", out=out, cache=cache, jobs=jobs, pull=pull, remove_images=remove_images),
        plan.how,
    ).checked()
    rows, _ = session.read_rows_and_bank(settings)
    result = execute(
        settings,
        plan,
        rows,
        shard_of(plan, shard),
        time.monotonic,
        lambda line: typer.echo(printable(line), err=True),
    )
    typer.echo(f"result: {write_result(folder, result)}")
    if result.problems:
        typer.echo(f"utboost-action: {printable('; '.join(result.problems.values()))}", err=True)
        raise typer.Exit(1)


def merge_command(
    folder: _FOLDER,
    out: Annotated[Path, typer.Option(help="Where the reports go.")] = Settings.out,
    fail_on: Annotated[FailOn, typer.Option(help="Verdicts that end with exit code 3.")] = FailOn.NEVER,
    template: Template = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json.")] = False,
) -> None:
    """Put the shards' results together; what did not come back is not audited, and the report says so.

    Exit codes as `audit`; 1 also when a shard is missing.
    """
    plan = read_plan(folder)
    settings = settings_as(
        Settings(Path(), "", out=out, fail_on=fail_on, template=template), plan.how
    ).checked()
    rows, _ = session.read_rows_and_bank(settings)
    results, unusable = read_results(folder)
    reports = report(settings, plan, rows, results, unusable)
    if len(reports.outcomes) != 1:
        raise InputError(
            f"{folder / PLAN}: {len(reports.outcomes)} submissions; `merge` takes a plan of `plan`"
        )
    (outcome,) = reports.outcomes
    if as_json:
        typer.echo(json.dumps(outcome.document, indent=1, sort_keys=True, ensure_ascii=True))
    else:
        typer.echo(plain(outcome.document, "summary.txt.j2"))
        typer.echo(f"report: {outcome.report}")
    if outcome.audit.problem:
        typer.echo(f"utboost-action: {printable(outcome.audit.problem)}", err=True)
    raise typer.Exit(outcome.exit_code)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(f"--durations {str(path)!r}: cannot be read: {problem.strerror}") from None
