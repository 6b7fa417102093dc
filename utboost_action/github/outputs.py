"""Step outputs: `name<<delimiter` blocks in the file that the runner names in GITHUB_OUTPUT.

A delimiter is drawn anew for each value, so no value can end its own block and begin another output.
GITHUB_ENV is never written.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.github.levels import sendable

MAX_VALUE_BYTES = 1_000_000  # the runner takes 1 MB for one output
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")


def write_outputs(
    path: Path,
    values: Mapping[str, str],
    *,
    masked: Collection[str] = (),
    delimiter: Callable[[], str] = lambda: f"utboost_{secrets.token_hex(16)}",
) -> tuple[str, ...]:
    """Append outputs; returns the names that were left out.

    Left out are values that hold a masked text (the runner would drop them without a word) and values
    beyond 1 MB. Raises InputError for a name that is none, and when the file cannot be written.
    """
    left_out: list[str] = []
    blocks: list[str] = []
    for name, value in values.items():
        if not _NAME.fullmatch(name):
            raise InputError(f"output {name!r}: expected lower-case letters, digits and -")
        if (
            any(secret and secret in value for secret in masked)
            or len(sendable(value).encode()) > MAX_VALUE_BYTES
        ):
            left_out.append(name)
            continue
        blocks.append(output_block(name, value, delimiter))
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write("".join(blocks))
    except OSError as problem:
        raise InputError(
            f"environment GITHUB_OUTPUT: {str(path)!r} cannot be written ({problem.strerror})"
        ) from None
    return tuple(left_out)


def output_block(name: str, value: str, delimiter: Callable[[], str]) -> str:
    """One output as the runner reads it; the delimiter is drawn until the value does not hold it."""
    text = sendable(value).replace("\r\n", "\n").replace("\r", "\n")
    mark = delimiter()
    while mark in text:
        mark = delimiter()
    return f"{name}<<{mark}\n{text}\n{mark}\n"
