"""The shapes of unittest's, Django's and nose's lines: ids, verdicts, headers and closing lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from utboost_action.model import TestStatus

SEPARATOR = b" ... "

_WORDS: dict[bytes, TestStatus] = {
    b"ok": TestStatus.PASSED,
    b"FAIL": TestStatus.FAILED,
    b"ERROR": TestStatus.ERROR,
    b"expected failure": TestStatus.XFAIL,
    # unittest itself calls a run with an unexpected success FAILED.
    b"unexpected success": TestStatus.FAILED,
}
_LONGEST = max(map(len, _WORDS))
_ENDINGS = tuple(_WORDS)

# `test_x (pkg.mod.Class)`; an import failure has a dotted name. No part may hold blanks or parentheses.
_ID = re.compile(rb"([^\s()]{1,1000}) \(([^\s()=,]{1,1000})\)")
_CLASS_EVENTS = frozenset((b"setUpClass", b"tearDownClass", b"setUpModule", b"tearDownModule"))
# nose: a dotted name with a test-like part, arguments of a generated test in parentheses.
_NOSE = re.compile(rb"[\w.]{1,1000}(?:\([^\n]{0,2000}\))?")
_NOSE_PART = re.compile(rb"(?:^|[._])[Tt]est")
_WINDOW = 2_100
_PLAIN = re.compile(rb"(test\w{0,500}) \(([\w.]{1,1000})\) \.\.\. (ok|FAIL|ERROR)")

HEADER = re.compile(rb"(FAIL|ERROR|UNEXPECTED SUCCESS): ")
CLOSING = re.compile(rb"Ran (\d{1,9}) tests? in [\d.]{1,20}s")
OUTCOME = re.compile(rb"(OK|FAILED)(?: \(([^()\n]{0,300})\))?")
DOTS = re.compile(rb"[.FEsxuS]{1,5000}")


class FoundId(NamedTuple):
    """An id that stands at line[start:end]."""

    start: int
    end: int
    name: bytes
    owner: bytes
    loose: bool = False  # needs more evidence: the owner is one word, as a doctest's may be

    @property
    def is_event(self) -> bool:
        """Whether it names the set-up or tear-down of a class or module."""
        return self.name in _CLASS_EVENTS

    @property
    def text(self) -> bytes:
        """The id as the runner prints it."""
        return self.name + b" (" + self.owner + b")"


def verdict(tail: bytes) -> TestStatus | None:
    """Return the outcome that `tail` spells, None if it is not exactly one verdict of unittest or nose."""
    tail = tail.rstrip()
    if len(tail) <= _LONGEST:
        status = _WORDS.get(tail)
        if status is not None:
            return status
    if tail.startswith(b"skipped "):
        quote = tail[8:9]
        if quote in (b"'", b'"') and len(tail) > 9 and tail.endswith(quote):
            return TestStatus.SKIPPED
    if tail == b"SKIP" or tail.startswith(b"SKIP: "):
        return TestStatus.SKIPPED
    return None


def plain(line: bytes) -> tuple[FoundId, TestStatus] | None:
    """Read the commonest line, `test_x (pkg.mod.Class) ... ok`."""
    match = _PLAIN.fullmatch(line)
    if match is None or b"." not in match[2]:
        return None
    return FoundId(0, match.end(2) + 1, match[1], match[2]), _WORDS[match[3]]


def verdict_split(line: bytes) -> tuple[int, TestStatus] | None:
    """Return the first ` ... ` whose tail is a verdict: the position of the separator and the outcome.

    The first, since a skip reason may hold the separator; a docstring that holds it is skipped over,
    since what follows there is no verdict.
    """
    position, tries = line.find(SEPARATOR), 0
    while position >= 0 and tries < 200:
        status = verdict(line[position + 5 :])
        if status is not None:
            return position, status
        position, tries = line.find(SEPARATOR, position + 5), tries + 1
    return None


def glued_verdict(line: bytes) -> TestStatus | None:
    """Return the outcome at the end of a line that begins with text a test printed (`donetext ok`)."""
    line = line.rstrip()
    if line.endswith(_ENDINGS):
        for word, status in _WORDS.items():
            if line.endswith(word):
                return status
    if line.endswith((b"'", b'"')):
        position = line.rfind(b"skipped " + line[-1:])
        if position >= 0 and verdict(line[position:]) is not None:
            return TestStatus.SKIPPED
    return None


def id_at(line: bytes, start: int = 0, *, loose: bool = False) -> FoundId | None:
    """Return the id that begins at line[start]; `loose` takes any owner."""
    match = _ID.match(line, start)
    if match is None or not (loose or _is_id(match[1], match[2])):
        return None
    return FoundId(match.start(), match.end(), match[1], match[2])


def _is_id(name: bytes, owner: bytes) -> bool:
    if name[:1] in b".=-" or owner.startswith(b"."):
        return False
    return b"." in owner or name.startswith(b"test") or name in _CLASS_EVENTS


_WORD = re.compile(rb"[A-Za-z_]\w*")
_WORD_BYTES = b"_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + bytes(range(128, 256))


def started_ids(line: bytes) -> Iterator[FoundId]:
    """Yield the ids in a line that a separator follows, in order (`test_a (m.A) ... test_b (m.A) ... ok`).

    An id glued to text before it begins at the last non-word character, or at the last `test_` where
    the text ends in a letter; Python 3.11's ids tell their name themselves.
    """
    closing = line.find(b") ...")
    floor = 0
    while closing >= 0:
        low = max(floor, closing - _WINDOW)
        opening = line.rfind(b" (", low, closing)
        if opening > low or (opening == low and low == floor):
            found = _id_before(line, floor, opening, closing)
            if found is not None:
                yield found
                floor = closing + 1
        closing = line.find(b") ...", closing + 1)


def _id_before(line: bytes, floor: int, opening: int, closing: int) -> FoundId | None:
    owner = line[opening + 2 : closing]
    match = _ID.match(b"x (" + owner + b")")
    if match is None or match.end() != len(owner) + 4:
        return None
    low = max(floor, opening - 1_000)
    blank = line.rfind(b" ", low, opening)
    word = line[max(low, blank + 1) : opening]
    if not word:
        return None
    last = owner.rpartition(b".")[2]
    tells = last.startswith(b"test") and word.endswith(last) and not owner.endswith(b"." + word)
    if floor == 0 and opening == len(word) and _is_id(word, owner) and not tells and not _glued(word, owner):
        return FoundId(0, closing + 1, word, owner)
    name = word[len(word.rstrip(_WORD_BYTES)) :].lstrip(b"0123456789")
    if not name:
        return None
    if tells and name.endswith(last):
        name = last
    elif not name.startswith(b"test") and (inner := name.rfind(b"test_")) > 0:
        name = name[inner:]
    return FoundId(opening - len(name), closing + 1, name, owner) if _is_id(name, owner) else None


def _glued(word: bytes, owner: bytes) -> bool:
    """Whether text stands before the name: dots or other marks, without this being an import failure."""
    if b"_FailedTest" in owner or b"ModuleImportFailure" in owner or owner.endswith(b"." + word):
        return False
    return _WORD.fullmatch(word) is None


def id_alone(line: bytes) -> FoundId | None:
    """Return the id that is the whole of `line`, or its end where text is glued to it."""
    if not line.endswith(b")"):
        return None
    opening = line.rfind(b" (", max(0, len(line) - _WINDOW))
    if opening <= 0:
        return None
    found = _id_before(line, 0, opening, len(line) - 1)
    if found is None and (match := _ID.fullmatch(line)) is not None and _WORD.fullmatch(match[2]):
        return FoundId(0, len(line), match[1], match[2], loose=True)
    if found is None or found.start == 0:
        return found
    return found if line[found.start - 1 : found.start] != b" " or found.name.startswith(b"test") else None


def nose_id(line: bytes, end: int) -> bytes | None:
    """Return line[:end] where it is a dotted name as nose prints it."""
    head = line[:end]
    if b"." not in head or _NOSE.fullmatch(head) is None:
        return None
    name = head.partition(b"(")[0]
    return head if b"." in name and _NOSE_PART.search(name) and not name.startswith(b".") else None


def counts(text: bytes | None) -> dict[str, int]:
    """Read `failures=1, skipped=2` (unittest) or `SKIP=1` (nose)."""
    figures: dict[str, int] = {}
    for part in (text or b"").split(b", "):
        word, _, number = part.partition(b"=")
        if number.isdigit():
            figures[word.decode("ascii", "replace")] = int(number[:9])
    return figures
