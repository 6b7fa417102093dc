"""Workflow commands: annotations on files, masks, and foreign text that can issue none.

The runner takes a line as a command when `::` opens it (after white space) or when `##[` stands
anywhere in it. Lines from outside get a prefix and lose both.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TextIO

from utboost_action.github.levels import sendable
from utboost_action.model import Finding

SHOWN_OF_EACH_LEVEL = 10  # the runner shows about so many of each level and step
_SHORTEST_MASK = 8  # a shorter secret would mask innocent words
_MAX_MESSAGE = 4_000
_PLACE = re.compile(r"(?P<path>[^:]+)(?::(?P<line>[1-9][0-9]{0,8}))?")
_PREFIX = "| "


class Level(StrEnum):
    """How an annotation is shown; the value is the command's name."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on the run, or on a file of the repository (path from its root; line 0: the whole file)."""

    level: Level
    message: str
    title: str = ""
    path: str = ""
    line: int = 0


def annotation_of(finding: Finding, level: Level, folder: str) -> Annotation:
    """A finding of the intake as an annotation; `where` (`path:line`) counts from the submission's folder."""
    place = _PLACE.fullmatch(finding.where)
    ids = f" ({', '.join(finding.ids[:5])}{', ...' if len(finding.ids) > 5 else ''})" if finding.ids else ""
    return Annotation(
        level,
        f"{finding.detail}{ids}",
        f"UTBoost: {finding.kind}",
        f"{folder}/{place['path']}" if place else folder,
        int(place["line"] or 0) if place else 0,
    )


def write_annotations(annotations: Sequence[Annotation], stream: TextIO) -> None:
    """Write the first ten of each level as commands, and say how many more there were."""
    seen: Counter[Level] = Counter()
    for annotation in annotations:
        seen[annotation.level] += 1
        if seen[annotation.level] <= SHOWN_OF_EACH_LEVEL:
            stream.write(command_line(annotation) + "\n")
    for level, count in seen.items():
        if count > SHOWN_OF_EACH_LEVEL:
            more = f"{count - SHOWN_OF_EACH_LEVEL} more of level {level} are in the report"
            stream.write(foreign_lines(more) + "\n")
    stream.flush()


def command_line(annotation: Annotation) -> str:
    """The annotation as a workflow command of one line; every text in it is data."""
    properties = {
        "title": annotation.title,
        "file": annotation.path,
        "line": str(annotation.line) if annotation.line else "",
    }
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    opening = f"{annotation.level} {written}".rstrip()
    return f"::{opening}::{_data(annotation.message[:_MAX_MESSAGE])}"


def foreign_lines(text: str) -> str:
    """Text from outside as log lines that the runner cannot take for commands.

    Every line gets the prefix `| `; control characters, terminal sequences and direction marks are shown
    by their codes; `##[` is broken up.
    """
    lines = re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", sendable(text))
    return "\n".join(_PREFIX + "".join(map(_visible, line)).replace("##[", "## [") for line in lines)


@contextmanager
def commands_stopped(
    stream: TextIO, token: Callable[[], str] = lambda: secrets.token_hex(16)
) -> Iterator[None]:
    """The runner takes nothing as a command meanwhile, even what a subprocess prints by itself."""
    word = token()
    stream.write(f"::stop-commands::{word}\n")
    stream.flush()
    try:
        yield
    finally:
        stream.write(f"\n::{word}::\n")
        stream.flush()


def mask_lines(secret: str) -> tuple[str, ...]:
    """The commands that make the runner hide a secret and its base64 forms; none for a short one."""
    if len(secret) < _SHORTEST_MASK:
        return ()
    encoded = base64.b64encode(secret.encode()).decode("ascii")
    basic = base64.b64encode(f"x-access-token:{secret}".encode()).decode("ascii")
    return tuple(f"::add-mask::{_data(form)}" for form in (secret, encoded, basic))


def _data(text: str) -> str:
    clean = "".join(
        character if character in "\t\r\n" else _visible(character) for character in sendable(text)
    )
    return clean.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _visible(character: str) -> str:
    if character.isprintable() or character == "\t":
        return character
    return f"\\u{ord(character):04x}"
