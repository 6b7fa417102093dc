"""The closing sections of unittest: ====, a FAIL or ERROR header, ----, a traceback."""

from __future__ import annotations

from dataclasses import dataclass, field

from utboost_action.logs.reading import MESSAGE_LIMIT, worse
from utboost_action.logs.text import decode, line_at
from utboost_action.logs.unittest_lines import CLOSING, HEADER, id_at, nose_id
from utboost_action.model import TestStatus

_RULE, _THIN = b"=" * 70, b"-" * 70
_STATUS = {
    b"FAIL": TestStatus.FAILED,
    b"ERROR": TestStatus.ERROR,
    b"UNEXPECTED SUCCESS": TestStatus.FAILED,
}


@dataclass(slots=True)
class Entry:
    """What the sections say of one id: its worst outcome, and the message that belongs to it."""

    status: TestStatus
    first: int
    last: int
    strong: bool
    message: str = ""
    unexpected: bool = False
    headers: int = 0


@dataclass(slots=True)
class Section:
    """All headers, by id; events (set-up of classes and modules) apart."""

    tests: dict[str, Entry] = field(default_factory=dict)
    events: dict[str, Entry] = field(default_factory=dict)
    docstrings: dict[str, str] = field(default_factory=dict)
    headers: int = 0
    seen: bool = False
    unparsed: int = 0

    def header(self, line: bytes, offset: int, *, strong: bool) -> tuple[str, Entry, bool] | None:
        """Take in one header line: its id, entry, and whether its outcome is the one that counts."""
        match = HEADER.match(line)
        if match is None:
            return None
        found = id_at(line, match.end(), loose=strong)
        raw = found.text if found is not None else nose_id(line[match.end() :].rstrip(), len(line))
        if raw is None:
            self.unparsed += strong
            return None
        counted = int(strong and match[1] != b"UNEXPECTED SUCCESS")
        self.headers += counted
        status, name = _STATUS[match[1]], decode(raw)
        entries = self.events if found is not None and found.is_event else self.tests
        entry = entries.get(name)
        if entry is None:
            entries[name] = entry = Entry(status, offset, offset, strong)
            entry.unexpected, entry.headers = match[1] == b"UNEXPECTED SUCCESS", counted
            return name, entry, True
        entry.strong, entry.headers = entry.strong or strong, entry.headers + counted
        if worse(status, entry.status) is not entry.status:
            entry.status, entry.first, entry.last = status, offset, offset
            return name, entry, True
        return name, entry, not entry.message


def is_rule(line: bytes) -> bool:
    """Whether a line is the double rule above a header."""
    return line.startswith(_RULE) and not line.strip(b"= ")


def read_section(text: bytes, start: int, section: Section) -> int:
    """Read the blocks from the header at `start` on; return where the closing line (or the rest) begins.

    Each search stays inside the block at hand, so that the whole costs one pass.
    """
    section.seen = True
    while True:
        following = text.find(b"\n" + _RULE, start)
        while following >= 0 and not _header_follows(text, following + 1):
            following = text.find(b"\n" + _RULE, following + 1)
        limit = following if following >= 0 else len(text)
        closing = _closing(text, start, limit)
        _read_block(text, start, closing if closing >= 0 else limit, section)
        if closing >= 0:
            return closing
        if following < 0:
            return len(text)
        start = text.find(b"\n", following + 1) + 1


def _header_follows(text: bytes, rule: int) -> bool:
    end = text.find(b"\n", rule)
    return end >= 0 and is_rule(text[rule : min(end, rule + 200)]) and HEADER.match(text, end + 1) is not None


def _closing(text: bytes, start: int, limit: int) -> int:
    """The first `Ran N tests` line in text[start:limit] that a thin rule stands above, or -1."""
    position = text.find(b"\nRan ", start, limit)
    while position >= 0:
        if CLOSING.match(text, position + 1) and text[max(0, position - 72) : position].rstrip(
            b" \x00"
        ).endswith(_THIN):
            return position + 1
        position = text.find(b"\nRan ", position + 1, limit)
    return -1


def _read_block(text: bytes, start: int, limit: int, section: Section) -> None:
    end = _line_end(text, start, limit)
    taken = section.header(line_at(text, start, end), start, strong=True)
    if taken is None:
        return
    name, entry, counts = taken
    rule = text.find(b"\n" + _THIN, end, min(limit, end + 20_000))
    if rule < 0:
        return
    if rule > end:
        first = line_at(text, end + 1, _line_end(text, end + 1, rule))
        section.docstrings.setdefault(name, decode(first))
    if counts:
        body = _line_end(text, rule + 1, limit)
        entry.message, entry.last = last_message(text, body, limit)
        entry.last = max(entry.last, start)


def _line_end(text: bytes, start: int, limit: int) -> int:
    end = text.find(b"\n", start, limit)
    return end if end >= 0 else limit


def last_message(text: bytes, start: int, limit: int) -> tuple[str, int]:
    """Return the exception line of the traceback in text[start:limit], and its offset.

    That is the first line at the left margin after the last frame; assertion messages may go on below
    it. Without a frame it is the last line that is not blank. Output that the runner shows below
    (`Stdout:`) is not looked at.
    """
    for word in (b"\nStdout:\n", b"\nStderr:\n"):
        place = text.find(word, start, limit)
        if place >= 0:
            limit = place
    frame = text.rfind(b'\n  File "', start, limit)
    position = _line_end(text, frame + 1, limit) if frame >= 0 else -1
    while 0 <= position < limit:
        line_start = position + 1
        position = _line_end(text, line_start, limit)
        line = text[line_start : min(position, line_start + MESSAGE_LIMIT * 4)]
        if line[:1] not in (b"", b" ", b"\x00"):
            return decode(line.rstrip())[:MESSAGE_LIMIT], line_start
        if position >= limit:
            break
    if frame >= 0:
        return "", frame + 1
    end = limit
    while end > start:
        line_start = text.rfind(b"\n", start, end) + 1
        line = text[max(line_start, start) : end].strip(b" \x00=-")
        if line:
            return decode(line[: MESSAGE_LIMIT * 4])[:MESSAGE_LIMIT], max(line_start, start)
        if line_start <= start:
            break
        end = line_start - 1
    return "", start
