"""Where a pytest id ends in a line: brackets, spaces, reasons and text glued to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

_REASON = b" - "
_CANDIDATES = 60
# What interpreters write to standard error without a line end before it.
_GLUED = (b"Exception ignored in", b"Traceback (most recent call last)", b"Fatal Python error", b"sys:1: ")
_FOLDED = re.compile(rb"\[(\d{1,9})\] (.*)", re.DOTALL)
_PLACE = re.compile(rb":\d{1,9}: |: ")
_FILE = re.compile(rb"[^\s:]{1,1000}\.\w{1,8}|[^\s:]{1,1000}/[^\s:]{0,1000}")


def normal(raw: bytes) -> bytes:
    """Bring an id of pytest < 4 into today's form: `C::()::test` is `C::test`."""
    return raw.replace(b"::()::", b"::").removesuffix(b"::()")


def is_id(raw: bytes) -> bool:
    """Whether `raw` is a test's id: a path, `::`, names without blanks, and perhaps [parameters]."""
    path, colons, rest = raw.partition(b"::")
    if not colons or not path or not rest or rest.startswith(b":"):
        return False
    name, bracket, _ = rest.partition(b"[")
    if bracket and not raw.endswith(b"]"):
        return False
    return not _blank(path) and not _blank(name) and bool(name)


def is_loose_id(raw: bytes) -> bool:
    """Whether `raw` may be an id whose path or name holds blanks (text files, custom items)."""
    path, colons, rest = raw.partition(b"::")
    return bool(colons and path.strip() == path and path and rest.strip() == rest and rest)


def is_file(raw: bytes) -> bool:
    """Whether `raw` names a file or folder (what a collection error names)."""
    return _FILE.fullmatch(raw) is not None


def _blank(raw: bytes) -> bool:
    return len(raw.split(None, 1)) > 1 or raw[:1].isspace() or raw[-1:].isspace()


def with_reason(rest: bytes, witness: Callable[[bytes], bool]) -> tuple[bytes, bytes]:
    """Split `id - reason` into both.

    The longest head that `witness` knows (an id of the caller, a progress line, a failure's title) is
    the id; otherwise it ends where its brackets balance. Returns (b"", rest) where no id and no file
    stands at the start.
    """
    depth, start, tries = 0, 0, 0
    balanced: int | None = None
    unbalanced: int | None = None
    known: int | None = None
    place = rest.find(_REASON)
    while place >= 0 and tries < _CANDIDATES:
        depth += rest.count(b"[", start, place) - rest.count(b"]", start, place)
        if rest[place - 1 : place] == b"]" or rest.find(b"[", 0, place) < 0:
            head = rest[:place]
            if is_id(head) or is_file(head):
                if witness(head):
                    known = place
                if depth == 0 and balanced is None:
                    balanced = place
                elif unbalanced is None:
                    unbalanced = place
        start = place
        place, tries = rest.find(_REASON, place + 3), tries + 1
    if is_id(rest) and (witness(rest) or (known is None and balanced is None)):
        return rest, b""
    for found in (known, balanced, unbalanced):
        if found is not None:
            return rest[:found], rest[found + 3 :]
    return (rest, b"") if is_file(rest) else (b"", rest)


def title_of(raw: bytes) -> bytes:
    """The title of an id's failure section: `C.test[a::b]` for `path::C::test[a::b]`."""
    inner, bracket, parameters = raw.partition(b"::")[2].partition(b"[")
    return inner.replace(b"::", b".") + bracket + parameters if inner else raw


def unglued(rest: bytes, known: KnownIds) -> bytes:
    """Return the id at the start of a line to which other text is glued, b"" where that is unknown."""
    prefix = known.longest_prefix(rest) if known else b""
    if prefix:
        return prefix
    for opener in _GLUED:
        place = rest.find(opener)
        if place > 0 and is_id(rest[:place]):
            return rest[:place]
    return b""


def folded(rest: bytes) -> tuple[bytes, int, bytes] | None:
    """Read `[n] path:line: reason`: the place, n and the reason."""
    match = _FOLDED.fullmatch(rest)
    if match is None:
        return None
    place = _PLACE.search(match[2])
    if place is None:
        return match[2], int(match[1]), b""
    line = place[0].rstrip(b" ").rstrip(b":")
    return match[2][: place.start()] + line, int(match[1]), match[2][place.end() :]


class KnownIds:
    """The ids that a caller knows, for membership and for the longest one that begins a text."""

    def __init__(self, ids: Iterable[str]) -> None:
        raw = (normal(name.encode("utf-8", "surrogatepass")) for name in ids)
        # The official lists hold ids that were cut at a blank; those settle nothing.
        self._set = frozenset(name for name in raw if is_id(name) or (is_loose_id(name) and b"[" not in name))
        self._sorted = sorted(self._set)

    def __bool__(self) -> bool:
        return bool(self._set)

    def __contains__(self, raw: bytes) -> bool:
        return raw in self._set

    def longest_prefix(self, text: bytes) -> bytes:
        """Return the longest known id that `text` starts with, b"" if there is none."""
        while text:
            index = bisect_right(self._sorted, text)
            if index == 0:
                return b""
            before = self._sorted[index - 1]
            if text.startswith(before):
                return before
            text = _common(text, before)
        return b""


def _common(one: bytes, other: bytes) -> bytes:
    length = 0
    for length, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return one[:length]
    return one[: min(len(one), len(other))]
