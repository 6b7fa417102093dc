"""From the bytes of a log to text that readers can trust: no colours, no NUL, no carriage returns."""

from __future__ import annotations

import re
from collections.abc import Iterator

LINE_LIMIT = 65_536
"""Bytes of one line that are read; of a longer one the head and the tail are kept."""

_HEAD, _TAIL = 57_344, 4_096
_CUT_LINE = b" [...] "
_LONE_CR_LIMIT = 200_000

# A complete escape sequence: CSI, OSC (closed by BEL or ST) or a two-byte one. Every class excludes ESC
# and newline, so that an unfinished sequence costs no more than its own length.
_ESCAPE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/][0-~]|[0-9=>@-Z\\^_a-z|}~])"
)
_LONE_CR = re.compile(rb"\r(?!\n)")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")

SPLIT = b"\x00\n"
"""What a carriage return inside a line becomes: a line end that does not count as a line."""


def clean(raw: bytes) -> bytes:
    """Strip escape sequences and NULs and turn carriage returns into line ends.

    The number of lines of `raw` stays readable: count the newlines less the occurrences of SPLIT.
    """
    text = raw.removeprefix(b"\xef\xbb\xbf")
    if b"\x1b" in text:
        text = _ESCAPE.sub(b"", text)
    if b"\x00" in text:
        text = text.replace(b"\x00", b"")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
        text = _LONE_CR.sub(SPLIT, text, count=_LONE_CR_LIMIT)
        text = text.replace(b"\r", b" ")
    return text


def lines(text: bytes, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line) from `start` on, without line ends, each line at most LINE_LIMIT bytes."""
    find, size, position = text.find, len(text), start
    while position < size:
        end = find(b"\n", position)
        if end < 0:
            end = size
        line = text[position:end]
        if end - position > LINE_LIMIT or line.endswith(b"\x00"):
            line = line_at(text, position, end)
        yield position, line
        position = end + 1


def line_at(text: bytes, start: int, end: int) -> bytes:
    """Return the line text[start:end] without its carriage returns, capped."""
    if end - start > LINE_LIMIT:
        return text[start : start + _HEAD] + _CUT_LINE + text[end - _TAIL : end].rstrip(b"\x00")
    line = text[start:end]
    return line[:-1] if line.endswith(b"\x00") else line


def decode(raw: bytes) -> str:
    """Decode an id or a message: bytes that are not UTF-8 replaced, control characters left out."""
    text = raw.decode("utf-8", "replace")
    return text if text.isprintable() else _CONTROL.sub("", text)


class LineNumbers:
    """Line numbers of ascending or scattered offsets in a cleaned text, counted from `first`.

    Counting is incremental: ask for sorted offsets and the whole text is counted once.
    """

    def __init__(self, text: bytes, first: int) -> None:
        self._text, self._offset, self._line = text, 0, first

    def at(self, offset: int) -> int:
        """Return the line of `offset`, which must not be smaller than the last one asked for."""
        text, start = self._text, self._offset
        if offset > start:
            self._line += text.count(b"\n", start, offset) - text.count(SPLIT, start, offset)
            self._offset = offset
        return self._line
