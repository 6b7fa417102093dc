"""A reply with tests as text, read strictly into edits: nothing of it is evaluated or opened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from utboost_action.generation.gates import Gate, RejectedError

REPLY_LIMIT = 200_000
"""Characters of a reply that are read; a longer one is refused whole."""

_SEARCH = re.compile(r"<{5,9} ?SEARCH\s*")
_MIDDLE = re.compile(r"={7}\s*")
_REPLACE = re.compile(r">{5,9} ?REPLACE\s*")
_FILE = re.compile(r"(?:FILE:\s*`?(?P<path>[^`]+?)`?|###\s*`?(?P<heading>[^\s`]+\.py)`?)\s*")
_IMPORT = re.compile(r"IMPORT:\s*`?(?P<statement>[^`]+?)`?\s*")
_WHY = re.compile(r"WHY:\s*`?(?:\w+(?:\.|::))*(?P<name>\w+)`?\s*:?\s*(?P<reason>.*)")
_FENCE = re.compile(r"```\w*\s*")
_REASON_LIMIT = 400


@dataclass(frozen=True, slots=True)
class Edit:
    """One search and replace in a file; an empty `search` makes a new file of `replace`.

    Both texts are whole lines, each with its end; an empty `replace` is no text.
    """

    path: str
    search: str
    replace: str


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """The edits of a reply in order, import lines by path, and the reasons given by test name."""

    edits: tuple[Edit, ...]
    imports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


def read_reply(text: str) -> WrittenReply:
    """Read a reply in the format of `write.j2`; text around the blocks is passed over.

    Raises RejectedError: EMPTY_REPLY, OVERSIZED_REPLY, NO_EDIT, or MALFORMED_EDIT with the line where
    a block has no path, no end, or more than one line that could be its middle.
    """
    if not text.strip():
        raise RejectedError(Gate.EMPTY_REPLY, "the reply is empty")
    if len(text) > REPLY_LIMIT:
        raise RejectedError(Gate.OVERSIZED_REPLY, f"{len(text)} characters, {REPLY_LIMIT} are read")
    lines = text.replace("\r\n", "\n").split("\n")
    edits: list[Edit] = []
    imports: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    path = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if _SEARCH.fullmatch(line):
            if not path:
                raise RejectedError(Gate.MALFORMED_EDIT, f"line {number}: a SEARCH block without a FILE line")
            search, replace, number = _block(lines, number)
            edits.append(Edit(path, search, replace))
        elif _REPLACE.fullmatch(line):
            raise RejectedError(Gate.MALFORMED_EDIT, f"line {number}: a REPLACE mark without its SEARCH")
        elif match := _FILE.fullmatch(line):
            path = (match["path"] or match["heading"]).strip()
        elif match := _IMPORT.fullmatch(line):
            imports.setdefault(path, []).append(match["statement"].strip())
        elif match := _WHY.fullmatch(line):
            reasons.setdefault(match["name"], match["reason"].strip()[:_REASON_LIMIT])
    if not edits:
        raise RejectedError(Gate.NO_EDIT, "the reply holds no SEARCH block")
    early = imports.pop("", [])  # before any FILE line
    if early:
        imports[edits[0].path] = early + imports.get(edits[0].path, [])
    return WrittenReply(tuple(edits), {key: tuple(value) for key, value in imports.items()}, reasons)


def _block(lines: list[str], start: int) -> tuple[str, str, int]:
    """(search, replace, number of the line behind the block); `start` is the first line inside."""
    end = next((n for n in range(start, len(lines)) if _REPLACE.fullmatch(lines[n])), None)
    if end is None:
        raise RejectedError(Gate.MALFORMED_EDIT, f"line {start}: a SEARCH block without its REPLACE mark")
    body = lines[start:end]
    if any(_SEARCH.fullmatch(line) for line in body):
        raise RejectedError(Gate.MALFORMED_EDIT, f"line {start}: a SEARCH block inside another")
    middles = [n for n, line in enumerate(body) if _MIDDLE.fullmatch(line)]
    if len(middles) != 1:
        raise RejectedError(
            Gate.MALFORMED_EDIT, f"line {start}: {len(middles)} lines of seven `=` in a block, expected one"
        )
    return _text(body[: middles[0]]), _text(body[middles[0] + 1 :]), end + 1


def _text(lines: list[str]) -> str:
    """Lines as a text, without a code fence that was put around them inside the block."""
    if len(lines) >= 2 and _FENCE.fullmatch(lines[0]) and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return "".join(f"{line}\n" for line in lines)
