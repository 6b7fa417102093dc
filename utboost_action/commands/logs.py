"""`parse` and `regrade`."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from utboost_action.benchmark.rows import read_benchmark
from utboost_action.commands.options import BenchmarkName
from utboost_action.errors import InputError
from utboost_action.leaderboard import read_submission
from utboost_action.logs import parser_for_repo, read_log
from utboost_action.model import ParsedLog
from utboost_action.regrade import Regrade, regrade_submission
from utboost_action.report.render import plain

_MAX_LOG = 128 << 20  # bytes, unpacked


def parse_command(
    log: Annotated[str, typer.Argument(help="A log file, gzip or plain; - for standard input.")],
    parser: Annotated[str, typer.Option(help="The reader: parse_log_django, or django for short.")],
    known_ids: Annotated[
        Path | None, typer.Option(help="A file with test ids that exist: a JSON list, or one a line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read a test log: what every test did, the runner's own figures, and whether they agree."""
    ids = _ids(known_ids) if known_ids else ()
    value = parsed_document(read_log(_read(log), parser, known_ids=ids))
    if as_json:
        typer.echo(json.dumps(value, indent=1, ensure_ascii=True))
        return
    typer.echo(plain(value, "parse.txt.j2"))


def regrade_command(
    submission: Annotated[Path, typer.Argument(help="A submission folder with logs.")],
    benchmark: BenchmarkName,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Grade a submission again from its own logs: claimed, official and corrected, and why they differ."""
    rows = read_benchmark(benchmark, parser_for_repo=parser_for_repo)
    submitted = read_submission(submission, instances=rows.instances, split=rows.split)
    resolved = submitted.claim.resolved
    grades = [_regrade(grade) for grade in regrade_submission(submitted, rows.instances)]
    value: dict[str, object] = {
        "schema": 1,
        "submission": submitted.name,
        "claimed": None if resolved is None else len(resolved & set(rows.instances)),
        "official": sum(grade["official"] is True for grade in grades),
        "corrected": sum(grade["corrected"] is True for grade in grades),
        "inconclusive": sum(grade["corrected"] is None for grade in grades),
        "total": rows.total,
        "instances": grades,
    }
    if as_json:
        typer.echo(json.dumps(value, indent=1, ensure_ascii=True))
        return
    typer.echo(plain(value, "regrade.txt.j2"))


def parsed_document(parsed: ParsedLog) -> dict[str, object]:
    """A parsed log as the value of `parse --json`."""
    return {
        "statuses": {test: str(status) for test, status in parsed.statuses.items()},
        "events": {event: str(status) for event, status in parsed.events.items()},
        "complete": parsed.complete,
        "summary": asdict(parsed.summary) if parsed.summary else None,
        "flags": sorted(map(str, parsed.flags)),
        "gradable": parsed.gradable,
        "generation": parsed.generation,
        "warnings": list(parsed.warnings),
    }


def _regrade(grade: Regrade) -> dict[str, object]:
    return {
        "instance_id": grade.instance_id,
        "claimed": grade.claimed,
        "official": grade.official.resolved if grade.official else None,
        "official_latest": grade.official_latest.resolved if grade.official_latest else None,
        "corrected": grade.corrected.resolved,
        "differences": [asdict(difference) for difference in grade.disagreements],
        "reasons": list(grade.corrected.reasons[:20]),
        "findings": [asdict(finding) for finding in grade.findings],
    }


def _read(log: str) -> bytes:
    try:
        data = sys.stdin.buffer.read(_MAX_LOG + 1) if log == "-" else Path(log).read_bytes()
        if data[:2] == b"\x1f\x8b":
            unpacker = zlib.decompressobj(wbits=31)
            data = unpacker.decompress(data, _MAX_LOG + 1)
            if not unpacker.eof and len(data) <= _MAX_LOG:
                raise InputError(f"log {log!r}: the gzip file is cut")
    except (OSError, gzip.BadGzipFile, zlib.error) as problem:
        raise InputError(f"log {log!r}: cannot be read: {problem}") from None
    if len(data) > _MAX_LOG:
        raise InputError(f"log {log!r}: larger than {_MAX_LOG >> 20} MiB; no test log is")
    return data


def _ids(file: Path) -> tuple[str, ...]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"--known-ids {str(file)!r}: cannot be read: {problem}") from None
    if not text.lstrip().startswith("["):
        return tuple(line.rstrip("\r") for line in text.split("\n") if line.strip())
    try:
        value = json.loads(text)
    except json.JSONDecodeError as problem:
        raise InputError(f"--known-ids {str(file)!r} line {problem.lineno}: {problem.msg}") from None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"--known-ids {str(file)!r}: expected a list of test ids")
    return tuple(value)
