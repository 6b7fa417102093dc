"""Options that several commands take, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utboost_action.settings import SandboxKind

SubmissionPath = Annotated[Path, typer.Argument(help="A submission folder or a predictions file.")]
BenchmarkName = Annotated[
    str, typer.Option(help="Rows: a .json, .jsonl or .parquet file, lite, verified, ..., or a hub name.")
]
BankPath = Annotated[Path | None, typer.Option(help="Augmented tests: a bank folder or the published file.")]
InstanceIds = Annotated[str, typer.Option(help="Only these instance ids, separated by commas.")]
SandboxName = Annotated[
    SandboxKind, typer.Option(help="docker; local isolates nothing: for trusted patches only.")
]
Trees = Annotated[Path | None, typer.Option(help="Prepared trees of the local sandbox.")]
ImageTemplate = Annotated[
    str | None, typer.Option(help="Image name with {instance_id}, in place of the rows' images.")
]
Repeats = Annotated[int, typer.Option(help="Runs of every suite on gold and candidate.")]
Timeout = Annotated[float, typer.Option(help="Seconds for each script in a sandbox.")]
Jobs = Annotated[int, typer.Option(help="Containers at work at a time.")]
Cache = Annotated[
    Path | None, typer.Option(help="Gold and base runs, shared by audits (default: the user's cache).")
]
Pull = Annotated[bool, typer.Option(help="Pull images that are not here.")]
RemoveImages = Annotated[bool, typer.Option(help="Remove each image after its last use.")]
Template = Annotated[Path | None, typer.Option(help="A folder with your own report.md.j2.")]


def ids(text: str) -> tuple[str, ...]:
    """The ids of an `--instances` option."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
