"""`board`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from utboost_action.benchmark.rows import read_benchmark
from utboost_action.board import build_board
from utboost_action.commands.options import BenchmarkName, as_folder
from utboost_action.errors import InputError
from utboost_action.logs import parser_for_repo
from utboost_action.report.board import board_document
from utboost_action.report.board_pages import board_html, board_markdown
from utboost_action.report.escaping import printable
from utboost_action.storage import canonical_json, write_atomically


def board_command(
    leaderboard: Annotated[Path, typer.Argument(help="A checkout: evaluation/SPLIT/NAME/, or a split.")],
    benchmark: BenchmarkName,
    out: Annotated[Path, typer.Option(help="Where board.md, board.html and board.json go.")],
    audits: Annotated[
        Path | None, typer.Option(help="Stored report.json files (default: LEADERBOARD/audits).")
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split (default: as the benchmark is named).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print board.json.")] = False,
) -> None:
    """Rank a board's submissions before and after their audits: who moves, ties, and how sure that is."""
    as_folder("--out", out)
    rows = read_benchmark(benchmark, parser_for_repo=parser_for_repo)
    ids = frozenset(rows.instances) | frozenset(rows.unreadable)
    chosen = split or rows.split or _only_split(leaderboard)
    board = build_board(leaderboard, audits or leaderboard / "audits", ids, benchmark, chosen)
    document = board_document(board)
    write_atomically(out / "board.json", canonical_json(document))
    write_atomically(out / "board.md", board_markdown(document))
    write_atomically(out / "board.html", board_html(document))
    if as_json:
        typer.echo(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True))
        return
    for place in board.places:
        name = place.entry.title or place.entry.name
        typer.echo(printable(f"{place.after:>4} (was {place.before}, {place.certainty})  {name}"))
    typer.echo(
        f"{len(board.places)} submissions, {board.affected} affected, {board.changed} change their rank, "
        f"{board.sure} surely; pages: {out / 'board.html'}"
    )


def _only_split(leaderboard: Path) -> str:
    """The checkout's one split. Raises InputError where it has several."""
    folder = leaderboard / "evaluation"
    splits = (
        sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else ["all"]
    )
    if len(splits) != 1:
        raise InputError(f"--split: the leaderboard has {', '.join(splits)}; say which")
    return splits[0]
