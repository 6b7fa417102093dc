"""`generate`, and what `audit --generate missing` does before it audits."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from utboost_action.benchmark.bank import read_bank
from utboost_action.benchmark.rows import read_benchmark
from utboost_action.commands.options import (
    BenchmarkName,
    ImageTemplate,
    SandboxName,
    Trees,
    as_file,
    as_folder,
)
from utboost_action.errors import InputError
from utboost_action.generate import run_generation
from utboost_action.generation.connection import require_model
from utboost_action.generation.options import GenerationOptions, Strategy, option_help
from utboost_action.generation.results import GenerationReport, InstanceResult, report_document, report_lines
from utboost_action.generation.schedule import Profile
from utboost_action.leaderboard import read_submission
from utboost_action.logs import parser_for_repo
from utboost_action.model import Instance
from utboost_action.report.escaping import printable
from utboost_action.session import sandbox_of
from utboost_action.settings import SandboxKind, Settings

_HELP = option_help()


def generate_command(
    benchmark: BenchmarkName,
    bank: Annotated[Path, typer.Option(help="The bank folder that the tests go into.")],
    instances: Annotated[
        list[str] | None, typer.Argument(help="Instance ids; none: every row that the bank has no test for.")
    ] = None,
    model: Annotated[str, typer.Option(help=_HELP["model"])] = "",
    base_url: Annotated[str, typer.Option(help=_HELP["base_url"])] = "",
    strategy: Annotated[Strategy, typer.Option(help=_HELP["strategy"])] = Strategy.ISSUE,
    submission: Annotated[
        Path | None, typer.Option(help="For --strategy differential: whose patches are shown.")
    ] = None,
    profile: Annotated[Profile, typer.Option(help=_HELP["profile"])] = Profile.PAPER,
    schedule: Annotated[str, typer.Option(help=_HELP["schedule"])] = "",
    replay: Annotated[Path | None, typer.Option(help=_HELP["replay"])] = None,
    transcript: Annotated[Path | None, typer.Option(help=_HELP["transcript"])] = None,
    prompts_out: Annotated[Path | None, typer.Option(help=_HELP["prompts_out"])] = None,
    replies: Annotated[Path | None, typer.Option(help=_HELP["replies"])] = None,
    budget_tokens: Annotated[int | None, typer.Option(help=_HELP["budget_tokens"])] = None,
    budget_usd: Annotated[float | None, typer.Option(help=_HELP["budget_usd"])] = None,
    price_prompt: Annotated[float | None, typer.Option(help=_HELP["price_prompt"])] = None,
    price_completion: Annotated[float | None, typer.Option(help=_HELP["price_completion"])] = None,
    top_files: Annotated[int, typer.Option(help=_HELP["top_files"])] = 3,
    context_lines: Annotated[int, typer.Option(help=_HELP["context_lines"])] = 10,
    concurrency: Annotated[int, typer.Option(help=_HELP["concurrency"])] = 4,
    out: Annotated[Path, typer.Option(help="Where the run folder goes.")] = Path("utboost-out/generate"),
    sandbox: SandboxName = SandboxKind.DOCKER,
    trees: Trees = None,
    image_template: ImageTemplate = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print generation.json.")] = False,
) -> None:
    """Write stronger tests with a language model; what passes every gate goes into the bank.

    The API key is read from OPENAI_API_KEY only; --base-url may name a local endpoint, which needs none.
    Killed and started again, it asks only for what was under way. What a run takes is 61 samples an
    instance, 5 with --profile quick. Exit codes: 0 done; 1 no instance came to its end; 2 wrong usage or
    input.
    """
    for option, folder in (("--prompts-out", prompts_out), ("--replies", replies)):
        if folder is not None:
            as_folder(option, folder)
    if transcript is not None:
        as_file("--transcript", transcript)
    options = GenerationOptions(
        model=model or ("replay" if replay else ""),
        base_url=base_url,
        strategy=strategy,
        profile=profile,
        schedule=schedule,
        replay=replay,
        transcript=transcript,
        prompts_out=prompts_out,
        replies=replies,
        budget_tokens=budget_tokens,
        budget_usd=budget_usd,
        price_prompt=price_prompt,
        price_completion=price_completion,
        top_files=top_files,
        context_lines=context_lines,
        concurrency=concurrency,
    )
    settings = Settings(
        submission=submission or Path(),
        benchmark=benchmark,
        bank=bank,
        out=out,
        sandbox=sandbox,
        trees=trees,
        image_template=image_template,
    ).checked()
    chosen, patches = _chosen(settings, options, instances or [])
    report = generate_tests(settings, options, chosen, patches)
    if as_json:
        typer.echo(json.dumps(report_document(report), indent=1, sort_keys=True, ensure_ascii=True))
    else:
        for line in report_lines(report):
            typer.echo(printable(line))
    if report.undone:
        raise typer.Exit(1)


def generate_tests(
    settings: Settings,
    options: GenerationOptions,
    instances: Sequence[Instance],
    candidates: dict[str, str] | None = None,
) -> GenerationReport:
    """Generate for these instances into the settings' bank folder. Raises AuditError and its kinds."""
    if settings.bank is None or settings.bank.is_file():
        raise InputError("generated tests go into a bank folder: name one with --bank")
    require_model(options.checked(), os.environ)  # before a folder is made
    settings.bank.mkdir(parents=True, exist_ok=True)
    with sandbox_of(settings) as box:
        box.remove_leftovers()
        return run_generation(
            options,
            instances,
            settings.bank,
            sandbox=box,
            folder=settings.out,
            environ=os.environ,
            candidates=candidates,
            image_template=settings.image_template,
            progress=_progress,
        )


def _progress(result: InstanceResult) -> None:
    typer.echo(printable(f"{result.instance_id}: {result.state}"), err=True)


def _chosen(
    settings: Settings, options: GenerationOptions, wanted: Sequence[str]
) -> tuple[list[Instance], dict[str, str]]:
    """The instances to generate for, and, for the differential strategy, a patch of each."""
    rows = read_benchmark(settings.benchmark, parser_for_repo=parser_for_repo).instances
    for instance_id in wanted:
        if instance_id not in rows:
            raise InputError(f"{instance_id} is not an instance of {settings.benchmark!r}")
    have = read_bank(settings.bank) if settings.bank and settings.bank.exists() else {}
    ids = list(wanted) or [instance_id for instance_id in rows if not have.get(instance_id)]
    patches: dict[str, str] = {}
    if options.strategy is Strategy.DIFFERENTIAL:
        if settings.submission == Path():
            raise InputError("--strategy differential needs --submission, whose patches it shows")
        read = read_submission(settings.submission, instances=rows)
        patches = {instance_id: prediction.patch for instance_id, prediction in read.predictions.items()}
        ids = [instance_id for instance_id in ids if patches.get(instance_id)]
    return [rows[instance_id] for instance_id in ids], patches
