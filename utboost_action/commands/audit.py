"""`audit` and `demo`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import rich.console
import rich.progress
import typer

from utboost_action import session
from utboost_action.audit import Progress
from utboost_action.benchmark.rows import read_benchmark
from utboost_action.commands.generate import generate_tests
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
    ids,
)
from utboost_action.errors import InputError
from utboost_action.generation.asking import ReplayMissError
from utboost_action.generation.connection import require_model
from utboost_action.generation.options import GenerationOptions, option_help
from utboost_action.generation.results import report_lines
from utboost_action.generation.schedule import Profile
from utboost_action.model import Verdict
from utboost_action.report.escaping import printable
from utboost_action.report.render import plain
from utboost_action.settings import FailOn, SandboxKind, Settings

_HELP = option_help()
_GENERATED = "example__pocketknife-1"  # the demo's instance whose answers are recorded
_DEMO = Path(__file__).resolve().parents[2] / "examples"


class Generate(StrEnum):
    """For which instances an audit generates tests first."""

    NEVER = "never"
    MISSING = "missing"


def audit_command(
    submission: SubmissionPath,
    benchmark: BenchmarkName,
    bank: BankPath = None,
    instances: InstanceIds = None,
    out: Annotated[Path, typer.Option(help="Where reports and runs go.")] = Settings.out,
    sandbox: SandboxName = SandboxKind.DOCKER,
    trees: Trees = None,
    image_template: ImageTemplate = None,
    pull: Pull = True,
    remove_images: RemoveImages = False,
    repeats: Repeats = Settings.repeats,
    timeout: Timeout = Settings.timeout,
    jobs: Jobs = Settings.jobs,
    resume: Annotated[bool, typer.Option(help="Go on from what an earlier run in --out finished.")] = True,
    cache: Cache = None,
    fail_on: Annotated[FailOn, typer.Option(help="Verdicts that end the audit with exit code 3.")] = (
        FailOn.NEVER
    ),
    template: Template = None,
    generate: Annotated[
        Generate, typer.Option(help="missing: first write tests for instances that the bank has none for.")
    ] = Generate.NEVER,
    model: Annotated[str, typer.Option(help=f"For --generate: {_HELP['model']}.")] = "",
    base_url: Annotated[str, typer.Option(help=f"For --generate: {_HELP['base_url']}.")] = "",
    profile: Annotated[Profile, typer.Option(help=f"For --generate: {_HELP['profile']}.")] = Profile.PAPER,
    schedule: Annotated[str, typer.Option(help=f"For --generate: {_HELP['schedule']}.")] = "",
    replay: Annotated[Path | None, typer.Option(help=f"For --generate: {_HELP['replay']}.")] = None,
    budget_tokens: Annotated[
        int | None, typer.Option(help=f"For --generate: {_HELP['budget_tokens']}.")
    ] = None,
    budget_usd: Annotated[float | None, typer.Option(help=f"For --generate: {_HELP['budget_usd']}.")] = None,
    price_prompt: Annotated[
        float | None, typer.Option(help=f"For --generate: {_HELP['price_prompt']}.")
    ] = None,
    price_completion: Annotated[
        float | None, typer.Option(help=f"For --generate: {_HELP['price_completion']}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json.")] = False,
) -> None:
    """Say which resolved patches stop agreeing with the gold patch when the tests get stronger.

    Exit codes: 0 done; 1 the audit could not be done; 2 wrong usage or input; 3 --fail-on was met.
    """
    settings = Settings(
        submission=submission,
        benchmark=benchmark,
        bank=bank,
        instances=ids(instances),
        out=out,
        sandbox=sandbox,
        trees=trees,
        image_template=image_template,
        pull=pull,
        remove_images=remove_images,
        repeats=repeats,
        timeout=timeout,
        jobs=jobs,
        resume=resume,
        cache=cache,
        fail_on=fail_on,
        template=template,
    )
    if generate is Generate.MISSING:
        options = GenerationOptions(
            model=model or ("replay" if replay else ""),
            base_url=base_url,
            profile=profile,
            schedule=schedule,
            replay=replay,
            budget_tokens=budget_tokens,
            budget_usd=budget_usd,
            price_prompt=price_prompt,
            price_completion=price_completion,
        )
        settings = _with_generated(settings, options)
    raise typer.Exit(_audit(settings, as_json=as_json))


def demo_command(
    out: Annotated[Path, typer.Option(help="Where reports and runs go.")] = Path("utboost-out/demo"),
) -> None:
    """Audit the example submission with the local sandbox and show the report: no Docker, no key."""
    if not _DEMO.is_dir():
        raise InputError(f"the examples are not beside the package ({_DEMO}); run the demo from a checkout")
    benchmark = _DEMO / "benchmark"
    bank = out / "bank"
    shutil.rmtree(bank, ignore_errors=True)
    shutil.copytree(benchmark / "bank", bank)
    settings = Settings(
        submission=_DEMO / "leaderboard" / "evaluation" / "demo" / "20260101_example_agent",
        benchmark=str(benchmark / "rows.jsonl"),
        bank=bank,
        out=out,
        sandbox=SandboxKind.LOCAL,
        trees=benchmark / "trees",
        jobs=min(4, os.cpu_count() or 1),
        cache=out / "cache",
        resume=False,
    )
    _generate_for_the_demo(settings, benchmark / "transcript.jsonl")
    raise typer.Exit(_audit(settings, as_json=False))


def _generate_for_the_demo(settings: Settings, transcript: Path) -> None:
    """Show generation without a model: the answers come from a recorded transcript."""
    instance = read_benchmark(settings.benchmark).instances[_GENERATED]
    options = GenerationOptions(model="demo", profile=Profile.CUSTOM, schedule="0x1", replay=transcript)
    try:
        report = generate_tests(replace(settings, out=settings.out / "generate"), options, [instance])
    except ReplayMissError:
        version = ".".join(map(str, sys.version_info[:2]))
        typer.echo(f"generation left out: no answers were recorded for Python {version}\n")
        return
    typer.echo("Tests written by a model, its answers replayed from a transcript:")
    for line in report_lines(report):
        typer.echo(f"  {printable(line)}")
    typer.echo("")


def _with_generated(settings: Settings, options: GenerationOptions) -> Settings:
    """The settings with a bank that has tests for the instances that had none, where they could be made."""
    bank = settings.bank or settings.out / "bank"  # made only once there is somebody to ask
    tasks = session.prepare(replace(settings, bank=bank if bank.exists() else None)).tasks
    settings = replace(settings, bank=bank)
    missing = [task.instance for task in tasks if not task.tests]
    if missing:
        require_model(options.checked(), os.environ, "--replay FILE")
        report = generate_tests(replace(settings, out=settings.out / "generate"), options, missing)
        for line in report_lines(report):
            typer.echo(printable(line), err=True)
    return settings


def _audit(settings: Settings, *, as_json: bool) -> int:
    prepared = session.prepare(settings)
    with _progress(len(prepared.tasks)) as progress:
        outcome = session.run(prepared, progress)
    if as_json:
        typer.echo(json.dumps(outcome.document, indent=1, sort_keys=True, ensure_ascii=True))
    else:
        typer.echo(plain(outcome.document, "summary.txt.j2"))
        typer.echo(f"report: {outcome.report}")
    if outcome.audit.problem:
        typer.echo(f"utboost-action: {printable(outcome.audit.problem)}", err=True)
    return outcome.exit_code


@contextmanager
def _progress(total: int) -> Iterator[Progress]:
    """A bar on a terminal, a line for each instance elsewhere; both on stderr."""
    if not sys.stderr.isatty():
        done = 0

        def line(verdict: Verdict) -> None:
            nonlocal done
            done += 1
            typer.echo(f"[{done}/{total}] {printable(verdict.instance_id)} {verdict.kind}", err=True)

        yield line
        return
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(console=console, transient=True) as bar:
        task = bar.add_task("auditing", total=total)

        def advance(verdict: Verdict) -> None:
            bar.update(task, advance=1, description=f"{verdict.instance_id} {verdict.kind}"[:60])

        yield advance
