"""A step of a workflow: environment and event into one activity, carried out with effects made here, once.

`main` is the only impure function; it takes what it needs from the environment and then drops every
input and every token from it, so that nothing started later inherits one.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, TextIO

from utboost_action import __version__
from utboost_action.activities.step import Ending, Result, Step
from utboost_action.errors import AuditError, InputError
from utboost_action.github.annotations import Annotation, Level, mask_lines, write_annotations
from utboost_action.github.outputs import write_outputs
from utboost_action.settings import Settings

if TYPE_CHECKING:
    from utboost_action.github.client import Api

_DROPPED = ("INPUT_", "ACTIONS_")
_MAX_EVENT = 32 << 20  # bytes; GitHub's own limit for a webhook is 25 MB


def main() -> int:
    """Carry out the step that the environment describes; the exit code of docs/action.md."""
    environ = dict(os.environ)
    drop_secrets(os.environ)
    signal.signal(signal.SIGTERM, _interrupt)
    with tempfile.TemporaryDirectory(prefix="utboost-", ignore_cleanup_errors=True) as scratch:
        code = run(environ, sys.stdout, Path(scratch))
    give_back(environ)
    return code


def run(environ: Mapping[str, str], stream: TextIO, scratch: Path) -> int:
    """One step from its variables, with its log and a folder of its own."""
    token = ""
    try:
        settings = Settings.from_environ(environ)
        token = settings.action.github_token
        for secret in (token, settings.action.model_key):
            stream.writelines(f"{line}\n" for line in mask_lines(secret))
        step = _step(settings, environ, stream, scratch)
        event = environ.get("GITHUB_EVENT_NAME", "")
        step.say(f"UTBoost Action {__version__}: mode {settings.action.mode}, event {event or 'none'}")
        from utboost_action.activities.zones import perform  # the libraries, once the log has begun

        result = perform(step, event, lambda: _payload(environ))
    except InputError as problem:
        result = Result(Ending.WRONG_INPUT, str(problem))
    except AuditError as problem:
        result = Result(Ending.FAILED, str(problem))
    except KeyboardInterrupt:
        result = Result(Ending.FAILED, "stopped: the step was cancelled")
    return _finish(environ, stream, result, token)


def drop_secrets(environ: MutableMapping[str, str]) -> None:
    """Remove the step's inputs and the runner's own tokens."""
    for name in [name for name in environ if name.startswith(_DROPPED)]:
        del environ[name]


def give_back(environ: Mapping[str, str]) -> None:
    """Hand the files that root wrote below the workspace to the workspace's owner.

    A container action runs as root; what it leaves would be in the way of the next checkout on a
    self-hosted runner.
    """
    workspace = Path(environ.get("GITHUB_WORKSPACE", ""))
    if not environ.get("GITHUB_WORKSPACE") or os.geteuid() != 0 or not workspace.is_dir():
        return
    owner = workspace.stat()
    if owner.st_uid == 0:
        return
    for folder, _folders, names in os.walk(workspace, followlinks=False):
        for path in (Path(folder), *(Path(folder) / name for name in names)):
            if path.lstat().st_uid == 0:
                os.lchown(path, owner.st_uid, owner.st_gid)


def _step(settings: Settings, environ: Mapping[str, str], stream: TextIO, scratch: Path) -> Step:
    kept = dict(environ)
    drop_secrets(kept)

    @functools.cache
    def api() -> Api:
        from utboost_action.github.client import Api, connection_from
        from utboost_action.github.retry import Patience

        connection = connection_from(environ, settings.action.github_token)
        return Api(connection, Patience(note=step.say))

    step = Step(
        settings=settings,
        environ=kept,
        stream=stream,
        scratch=scratch,
        api=api,
        now=lambda: datetime.now(UTC),
        clock=time.monotonic,
    )
    return step


def _payload(environ: Mapping[str, str]) -> Mapping[str, object]:
    """The event's payload. Raises InputError that names the variable."""
    name = environ.get("GITHUB_EVENT_PATH", "")
    path = Path(name)
    try:
        if not name or path.stat().st_size > _MAX_EVENT:
            raise InputError("environment GITHUB_EVENT_PATH: names no event; is this a step of a workflow?")
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise InputError(f"environment GITHUB_EVENT_PATH: {name!a} cannot be read: {problem}") from None
    if not isinstance(value, dict):
        raise InputError(f"environment GITHUB_EVENT_PATH: {name!a} holds no event")
    return value


def _finish(environ: Mapping[str, str], stream: TextIO, result: Result, token: str) -> int:
    """The last words: an annotation, the outputs, the exit code."""
    level = Level.NOTICE if result.ending.exit_code == 0 else Level.ERROR
    write_annotations([Annotation(level, result.message, f"UTBoost: {result.ending}")], stream)
    code = result.ending.exit_code
    if name := environ.get("GITHUB_OUTPUT", ""):
        values = {"outcome": str(result.ending), **result.outputs}
        try:
            left_out = write_outputs(Path(name), values, masked=[token] if token else [])
        except InputError as problem:
            write_annotations([Annotation(Level.ERROR, str(problem), "UTBoost: step outputs")], stream)
            return code or 1
        if left_out:
            message = f"left out, too long or with a secret in it: {', '.join(left_out)}"
            write_annotations([Annotation(Level.WARNING, message, "UTBoost: step outputs")], stream)
    return code


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
