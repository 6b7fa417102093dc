"""Options that several commands take, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from utboost_action.errors import InputError
from utboost_action.settings import SandboxKind

SubmissionPath = Annotated[Path, typer.Argument(help="A submission folder or a predictions file.")]
BenchmarkName = Annotated[
    str, typer.Option(help="Rows: a .json, .jsonl or .parquet file, lite, verified, ..., or a hub name.")
]
BankPath = Annotated[Path | None, typer.Option(help="Augmented tests: a bank folder or the published file.")]
InstanceIds = Annotated[str | None, typer.Option(help="Only these instance ids, separated by commas.")]
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


def ids(text: str | None) -> tuple[str, ...]:
    """The ids of an `--instances` option; none: not given. Raises InputError for an empty list."""
    if text is None:
        return ()
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not found:
        raise InputError(f"--instances {text!r}: it names no instance; leave it out to take all")
    return found


def as_file(option: str, path: Path) -> Path:
    """The path of a file to write. Raises InputError where a folder is."""
    if path.is_dir():
        raise InputError(f"{option} {path}: there is a folder of that name; name a file")
    return path


def as_folder(option: str, path: Path) -> Path:
    """The path of a folder to write into. Raises InputError where a file is."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{option} {path}: there is a file of that name; name a folder")
    return path
