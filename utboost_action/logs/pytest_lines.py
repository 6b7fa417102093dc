"""One pass over a pytest log: the lines that carry meaning, as tokens in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from utboost_action.logs.pytest_ids import is_id, normal
from utboost_action.logs.reading import MESSAGE_LIMIT
from utboost_action.logs.text import lines


class Kind(Enum):
    """What a line is."""

    SESSION = auto()  # === test session starts ===
    SUMMARY = auto()  # === short test summary info ===
    SECTION = auto()  # === FAILURES === and the like
    COUNT = auto()  # === 1 failed, 2 passed in 0.10s ===
    FAILURE = auto()  # ____ test_name ____
    CAPTURED = auto()  # --- Captured stdout call ---
    VERDICT = auto()  # PASSED id
    PROGRESS = auto()  # id PASSED [ 50%]
    USAGE = auto()  # ERROR: file or directory not found: ..
    STOPPED = auto()  # !!! KeyboardInterrupt !!!, INTERNALERROR>
    LOOKALIKE = auto()  # has a verdict word and an id, but not in a runner's place


class Token(NamedTuple):
    """One meaningful line: `word` the status word, title or figures; `rest` what it is about."""

    kind: Kind
    offset: int
    word: bytes
    rest: bytes = b""


@dataclass(slots=True)
class FailureText:
    """The last line of one failure's traceback, by the title of its section."""

    title: bytes
    offset: int
    message: bytes = b""
    at: int = 0


@dataclass(slots=True)
class Tokens:
    """The tokens of a log and the failure messages between them."""

    tokens: list[Token] = field(default_factory=list)
    failures: list[FailureText] = field(default_factory=list)
    collected: bool = False


WORDS = (b"PASSED", b"FAILED", b"ERROR", b"SKIPPED", b"SKIP", b"XFAIL", b"XPASS", b"RERUN")
_INITIALS = b"PFESXR"
_PREFIX = re.compile(rb"(PASSED|FAILED|ERROR|SKIPPED|SKIP|XFAIL|XPASS|RERUN) (?! )")
_SUBTEST = re.compile(rb"SUB(FAILED|FAIL|ERROR|PASSED|PASS|SKIPPED|SKIP|XFAIL|XPASS)\b ?")
_WORKER = re.compile(rb"\[gw\d{1,5}\] ?(?:\[ {0,3}\d{1,3}%\] ?)?")
_PROGRESS = rb"(?: \(.*\))?(?: *\[ {0,5}\d{1,6}(?:%|/\d{1,6})\])?\Z"
_AFTER = re.compile(_PROGRESS, re.DOTALL)
_BARE = re.compile(rb"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)" + _PROGRESS, re.DOTALL)
_FIGURE = re.compile(rb"(\d{1,9}) ([a-z][a-z -]{0,40})")
_TIME = re.compile(rb"[\d.]{1,20} ?s(?:econds)?(?: \([\d:, days]{1,40}\))?")
_CORE = frozenset(
    (
        b"passed",
        b"failed",
        b"error",
        b"errors",
        b"skipped",
        b"xfailed",
        b"xpassed",
        b"deselected",
        b"rerun",
        b"no tests ran",
    )
)
_SECTIONS = frozenset(
    (
        b"FAILURES",
        b"ERRORS",
        b"PASSES",
        b"XPASSES",
        b"XFAILURES",
        b"warnings summary",
        b"rerun test summary info",
    )
)
_USAGE = re.compile(
    rb"ERROR: (?:file or directory not found|not found|usage|Wrong expression|unrecognized arguments)"
    rb"|(?:usage: .{0,200})?(?:__main__\.py|pytest|py\.test): error: "
)


def figures(line: bytes) -> dict[bytes, int] | None:
    """Read pytest's closing line (`== 1 failed, 2 passed in 0.1s ==`), None if it is no such line."""
    if (
        len(line) > 600
        or b" in " not in line
        or not (line[:1] == b"=" or line[:1].isdigit() or line[:2] == b"no")
    ):
        return None
    body, _, time = line.strip(b"= ").rpartition(b" in ")
    if _TIME.fullmatch(time) is None:
        return None
    if body == b"no tests ran":
        return {b"no tests ran": 0}
    found: dict[bytes, int] = {}
    for part in body.split(b", "):
        match = _FIGURE.fullmatch(part)
        if match is None:
            return None
        found[match[2]] = int(match[1])
    return found if _CORE & found.keys() else None


def _title(line: bytes, mark: bytes) -> bytes:
    """The title of a rule (`==== title ====`), b"" if the line is none."""
    line = line.rstrip()
    first, last = line.find(b" "), line.rfind(b" ")
    if first <= 0 or line[:first].strip(mark) or line[last + 1 :].strip(mark):
        return b""
    return line[first + 1 : last]


def tokenize(text: bytes) -> Tokens:
    """Split a cleaned log into tokens."""
    out = Tokens()
    scanner = _Scanner(out)
    for offset, line in lines(text):
        scanner.line(offset, line)
    return out


class _Scanner:
    def __init__(self, out: Tokens) -> None:
        self.out, self.add = out, out.tokens.append
        self.failure: FailureText | None = None
        self.in_error_lines = False
        self.open: tuple[bytes, int] | None = None

    def line(self, offset: int, line: bytes) -> None:
        """Take in one line; its first byte says what it can be."""
        if not line:
            return
        first = line[:1]
        if first == b"E" and line[1:4] == b"   " and self.error_line(offset, line):
            return
        self.in_error_lines = False
        if first == b"=":
            self.rule(offset, line)
        elif first in b"_-":
            self.heading(offset, line)
        elif first in _INITIALS and self.verdict(offset, line):
            return
        elif first == b"[" and (worker := _WORKER.match(line)) and worker.end() > 5:
            self.worker(offset, line[worker.end() :])
        elif first in b"!I":
            self.stopped(offset, line)
        else:
            self.other(offset, line)

    def heading(self, offset: int, line: bytes) -> None:
        """`____ test_name ____` above a failure, `--- Captured stdout call ---` above output."""
        if line.startswith(b"---") and b" Captured " in line[:200]:
            self.add(Token(Kind.CAPTURED, offset, b""))
            self.failure = None
        elif line.startswith(b"_") and (title := _title(line, b"_")).strip(b"_ "):
            self.failure = FailureText(title[:2_000], offset)
            self.out.failures.append(self.failure)
            self.add(Token(Kind.FAILURE, offset, title[:2_000]))

    def other(self, offset: int, line: bytes) -> None:
        if b"::" in line and line[:1] != b" ":
            self.progress(offset, line)
        elif line[:1].isdigit() or line[:2] == b"no":
            if figures(line) is not None:
                self.add(Token(Kind.COUNT, offset, b"", line))
        elif line.startswith(b"collected "):
            self.out.collected = True
        elif b": error: " in line[:300] and _USAGE.match(line):
            self.add(Token(Kind.USAGE, offset, line[:300]))

    def stopped(self, offset: int, line: bytes) -> None:
        """The run was interrupted, or pytest itself broke (that takes many lines: one token)."""
        if line.startswith(b"!!!") and (b"KeyboardInterrupt" in line or b"outcomes.Exit" in line):
            self.add(Token(Kind.STOPPED, offset, line.strip(b"! ")[:200]))
        elif line.startswith(b"INTERNALERROR>"):
            tokens = self.out.tokens
            if not tokens or tokens[-1].kind is not Kind.STOPPED:
                self.add(Token(Kind.STOPPED, offset, b"INTERNALERROR"))

    def error_line(self, offset: int, line: bytes) -> bool:
        """`E   AssertionError: ..`: the first line of the last group of these is the message."""
        if self.failure is None:
            return False
        if not self.in_error_lines:
            message = line[1:].strip()
            if message:
                self.failure.message, self.failure.at = message[: MESSAGE_LIMIT * 4], offset
                self.in_error_lines = True
        return True

    def rule(self, offset: int, line: bytes) -> None:
        title = _title(line, b"=")
        if not title:
            return
        self.open = None
        if title == b"test session starts":
            self.add(Token(Kind.SESSION, offset, b""))
        elif title == b"short test summary info":
            self.add(Token(Kind.SUMMARY, offset, b""))
        elif figures(line) is not None:
            self.add(Token(Kind.COUNT, offset, b"=", line))
        elif title in _SECTIONS:
            self.add(Token(Kind.SECTION, offset, title))
        else:
            return  # text, or a plug-in's section
        self.failure = None

    def verdict(self, offset: int, line: bytes) -> bool:
        match = _PREFIX.match(line)
        if match is not None:
            rest = line[match.end() :].rstrip()
            if self.open is not None and _BARE.match(line):
                self.bare(offset, match[1])
            elif rest:
                word = b"SKIPPED" if match[1] == b"SKIP" else match[1]
                self.add(Token(Kind.VERDICT, offset, word, rest))
            return True
        if line.startswith(b"SUB") and (match := _SUBTEST.match(line)):
            word = b"SUBFAILED" if match[1] in (b"FAILED", b"FAIL", b"ERROR") else b"SUBOTHER"
            self.add(Token(Kind.VERDICT, offset, word, without_description(line[match.end() :]).rstrip()))
            return True
        if self.open is not None and (match := _BARE.match(line)):
            self.bare(offset, match[1])
            return True
        if line.startswith(b"ERROR:") and _USAGE.match(line):
            self.add(Token(Kind.USAGE, offset, line[:300]))
            return True
        if b"::" in line:
            self.progress(offset, line)
            return True
        return False

    def worker(self, offset: int, line: bytes) -> None:
        """`[gw0] [ 50%] PASSED id`, as pytest-xdist reports with -v."""
        match = _PREFIX.match(line)
        name = normal(line[match.end() :].rstrip()) if match is not None else b""
        if match is not None and is_id(name):
            self.add(Token(Kind.PROGRESS, offset, match[1], name))
        self.open = None

    def bare(self, offset: int, word: bytes) -> None:
        """With -s the verdict may stand below what the test printed."""
        if self.open is not None:
            self.add(Token(Kind.PROGRESS, offset, word, self.open[0]))

    def progress(self, offset: int, line: bytes) -> None:
        """`id PASSED [ 50%]`: the id is the text before the first verdict word that leaves a whole id."""
        for place, word in _word_places(line):
            head = line[:place].rstrip()
            if is_id(head):
                if _AFTER.match(line, place + 1 + len(word)):
                    self.add(Token(Kind.PROGRESS, offset, word.upper(), normal(head)))
                    self.open = None
                    return
                break
        blank = line.find(b" ")
        if blank > 0 and is_id(line[:blank]):
            self.open = (normal(line[:blank]), offset)
            if line.rstrip().endswith(WORDS):
                self.add(Token(Kind.LOOKALIKE, offset, b""))


def _word_places(line: bytes) -> Iterator[tuple[int, bytes]]:
    """The places of ` PASSED` and its like in a line, from the left, at most forty."""
    places: list[tuple[int, bytes]] = []
    for word in (
        b"PASSED",
        b"FAILED",
        b"ERROR",
        b"SKIPPED",
        b"XFAIL",
        b"XPASS",
        b"RERUN",
        b"xfail",
        b"xpass",
    ):
        place = line.find(b" " + word)
        while place >= 0 and len(places) < 40:
            places.append((place, word))
            place = line.find(b" " + word, place + 1)
    return iter(sorted(places))


def without_description(rest: bytes) -> bytes:
    """Leave out a subtest's `[message] (i=1) ` before its id."""
    for opening, closing in ((b"[", b"]"), (b"(", b")")):
        if not rest.startswith(opening):
            continue
        end, limit = rest.find(closing + b" "), 0
        while (
            end >= 0
            and limit < 50
            and b"::" not in rest[end + 2 :].split(b" ", 1)[0]
            and not rest.startswith(b"(", end + 2)
        ):
            end, limit = rest.find(closing + b" ", end + 1), limit + 1
        if end >= 0:
            rest = rest[end + 2 :]
    return rest
