"""The command line. Each command reads its options into values and calls one function of the project."""

from __future__ import annotations

import errno
import sys
import tempfile
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from utboost_action import __version__
from utboost_action.commands import audit, bank, board, confirm, generate, intake, logs, shards
from utboost_action.errors import AuditError, StoppedError
from utboost_action.report.escaping import printable


class _Commands(TyperGroup):
    """The commands; a stop is an error like others, before typer makes a silent exit code of it."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command. Raises StoppedError for a KeyboardInterrupt and what went wrong by one."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, OSError, AuditError) as problem:
            if _was_stopped(problem):
                raise StoppedError("stopped by the user") from None
            raise


def _was_stopped(problem: BaseException) -> bool:
    """Whether it is a stop, or was met while one was being handled (a file that is closed twice)."""
    found: BaseException | None = problem
    while found is not None and not isinstance(found, KeyboardInterrupt):
        found = found.__context__
    return found is not None


app = typer.Typer(
    cls=_Commands,
    name="utboost-action",
    help="Audit coding-agent submissions: re-read their logs, replay their patches under stronger tests.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("audit")(audit.audit_command)
app.command("inspect")(intake.inspect_command)
app.command("parse")(logs.parse_command)
app.command("regrade")(logs.regrade_command)
app.command("generate")(generate.generate_command)
app.command("confirm")(confirm.confirm_command)
app.command("board")(board.board_command)
app.command("plan")(shards.plan_command)
app.command("execute")(shards.execute_command)
app.command("merge")(shards.merge_command)
app.command("demo")(audit.demo_command)
bank.app.command("confirm")(confirm.bank_confirm_command)
bank.app.command("dispute")(confirm.bank_dispute_command)
bank.app.command("retire")(confirm.bank_retire_command)
bank.app.command("relate")(confirm.bank_relate_command)
app.add_typer(bank.app, name="bank")

_debug = False


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"utboost-action {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    global _debug
    _debug = debug


def main() -> None:
    """Run the command line: errors become one line on stderr and the exit code of their class."""
    try:
        app(standalone_mode=True)
    except AuditError as problem:
        if _debug:
            raise
        print(f"utboost-action: {' '.join(printable(str(problem)).split())}", file=sys.stderr)  # noqa: T201
        sys.exit(problem.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as problem:  # a disk that is full, a folder that may not be written
        if _debug:
            raise
        print(f"utboost-action: {printable(_told(problem))}", file=sys.stderr)  # noqa: T201
        sys.exit(1)


def _told(problem: OSError) -> str:
    """What went wrong, where, and, for a full disk, which folders to look at."""
    if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
        return str(problem)
    folders = [f"{option} {value}" for option, value in _folders(sys.argv[1:])]
    where = ", ".join([*folders, f"temporary files {tempfile.gettempdir()}"])
    at = "" if problem.filename else " (where, the system does not say)"
    return f"{problem}{at}: free some space there, or give other folders; this run writes to: {where}"


def _folders(words: list[str]) -> list[tuple[str, str]]:
    """The folders that the command line names to write to, with their options."""
    found: list[tuple[str, str]] = []
    for option in ("--out", "--bank", "--cache", "--transcript", "--prompts-out"):
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if word == option and following:
                found.append((option, following))
            elif word.startswith(f"{option}="):
                found.append((option, word.removeprefix(f"{option}=")))
    return found
