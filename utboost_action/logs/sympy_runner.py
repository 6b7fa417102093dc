"""The reader for sympy's own runner, `bin/test --verbose`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from utboost_action.logs.reading import MESSAGE_LIMIT, Reading, Spot, listed, worse
from utboost_action.logs.text import decode, lines
from utboost_action.model import LogFlag, RunnerSummary, TestStatus

_LETTERS = {
    b"ok": TestStatus.PASSED,
    b"F": TestStatus.FAILED,
    b"E": TestStatus.ERROR,
    b"s": TestStatus.SKIPPED,
    b"w": TestStatus.SKIPPED,  # slow, left out
    b"f": TestStatus.XFAIL,
    b"X": TestStatus.XPASS,
    b"T": TestStatus.ERROR,  # timed out
    b"K": TestStatus.ERROR,  # interrupted
}
_FILE = re.compile(rb"([^\s\[\]]{1,1000}\.py)\[(\d{1,9}|\?)\](?: +(.*))?", re.DOTALL)
_NAME = re.compile(rb"(test\w{0,500})(?: (.*))?", re.DOTALL)
_HEADER = re.compile(rb"_+ ([^\s:]{1,1000}\.py)::?(\w{1,500}) _+")
_FIGURE = re.compile(rb"(\d{1,9}) ([a-z][a-z ]{0,60})")
_CLOSING = b"tests finished: "


@dataclass(slots=True)
class _Test:
    first: int
    last: int
    said: list[TestStatus] = field(default_factory=list)
    guess: TestStatus | None = None
    alone: bool = False


@dataclass(slots=True)
class _File:
    announced: int | None
    tests: dict[bytes, _Test] = field(default_factory=dict)


@dataclass(slots=True)
class _Failure:
    first: int
    last: int
    message: bytes = b""


class _Reader:
    def __init__(self) -> None:
        self.files: dict[bytes, _File] = {}
        self.failures: dict[tuple[bytes, bytes], _Failure] = {}
        self.broken: dict[bytes, int] = {}
        self.file: _File | None = None
        self.open: _Test | None = None
        self.last: _Test | None = None
        self.failure: _Failure | None = None
        self.figures: dict[bytes, int] | None = None
        self.closing: bytes | None = None
        self.again: list[bytes] = []
        self.begun = False
        self.ruled = False  # the line before was a whole rule of underscores
        self.nameless = 0

    def read(self, text: bytes) -> None:
        for offset, line in lines(text):
            if self.closing is not None:
                self.closing_line(line)
            elif line:
                self.line(line, offset)

    def line(self, line: bytes, offset: int) -> None:
        first = line[:1]
        ruled, self.ruled = self.ruled, len(line) >= 40 and not line.strip(b"_\r\n")
        if b".py[" in line and (match := _FILE.match(line)):
            self.start_file(match, offset)
        elif (first == b"_" or (ruled and first == b" ")) and (header := self.header(line)) is not None:
            # a title too long for its padding stands bare, behind a full rule
            self.end_file()
            self.failure = self.failures.setdefault(header, _Failure(offset, offset))
        elif _CLOSING in line[:200]:
            self.end_file()
            self.failure = None
            self.closing = line[line.find(_CLOSING) + len(_CLOSING) :]
            self.closing_line(b"")
        elif self.failure is not None:
            if first not in (b" ", b"_"):
                self.failure.message, self.failure.last = line[: MESSAGE_LIMIT * 4], offset
            elif first == b"_" and not line.strip(b"_ "):
                self.failure = None
        elif self.file is not None:
            self.in_file(self.file, line, offset)
        elif b"test process starts" in line:
            self.begun = True
        elif self.begun and line.strip() in _LETTERS:
            self.nameless += 1

    @staticmethod
    def header(line: bytes) -> tuple[bytes, bytes] | None:
        title = line.strip(b"_")
        if len(title) > 2_000:
            return None
        match = _HEADER.fullmatch(b"_" + title + b"_")
        return (match[1], match[2]) if match is not None else None

    def start_file(self, match: re.Match[bytes], offset: int) -> None:
        self.end_file()
        self.failure = None
        path, count, rest = match[1], match[2], (match[3] or b"").strip()
        if count == b"?":
            if rest.startswith(b"Failed to import") or rest.endswith(b"[FAIL]") or not rest:
                self.broken[path] = offset
            return
        self.file = self.files.get(path)
        if self.file is None:
            self.file = self.files[path] = _File(int(count))
        if rest in (b"[OK]", b"[FAIL]"):
            self.end_file()

    def end_file(self) -> None:
        self.file = self.open = self.last = None

    def in_file(self, file: _File, line: bytes, offset: int) -> None:
        body = line.rstrip()
        ends = body.endswith((b"[OK]", b"[FAIL]"))
        if ends:
            body = body[: body.rfind(b"[")].rstrip()
        match = _NAME.fullmatch(body)
        if match is not None and match[2] is None and not ends and line == body:
            match = None  # the runner writes a blank after the name
        if match is not None:
            self.start_test(file, match[1], match[2] or b"", offset)
        else:
            self.output(body, offset)
        if ends:
            self.end_file()

    def start_test(self, file: _File, name: bytes, rest: bytes, offset: int) -> None:
        test = file.tests.get(name)
        if test is None:
            test = file.tests[name] = _Test(offset, offset)
        else:
            self.again.append(name)
        self.open = self.last = test
        status = _LETTERS.get(rest.strip())
        if status is not None:
            test.said.append(status)
            test.last = offset
            self.open = None
        else:
            self.output(rest, offset)

    def output(self, body: bytes, offset: int) -> None:
        """Text between a name and its verdict; the last word of it may be the verdict."""
        body = body.strip()
        word = body.rpartition(b" ")[2]
        status = _LETTERS.get(word)
        test = self.open
        if test is not None:
            if status is not None:
                test.guess, test.last, test.alone = status, offset, word == body
            elif body.endswith(b"ok") and test.guess is None:
                test.guess, test.last = TestStatus.PASSED, offset
        elif self.last is not None and status is not None and word == body:
            self.last.said.append(status)
            self.last.last = offset

    def closing_line(self, line: bytes) -> None:
        """`42 passed, 1 failed, in 5.94 seconds`, which may go on in the next line."""
        if self.closing is None or self.figures is not None:
            return
        self.closing = self.closing[:2_000] + line[:2_000]
        body, found, _ = self.closing.partition(b"in ")
        if not found and len(self.closing) < 2_000 and line == b"":
            return
        self.figures = {}
        for part in body.split(b","):
            match = _FIGURE.fullmatch(part.strip())
            if match is not None:
                self.figures[match[2]] = int(match[1])
        self.closing = None if not found else self.closing


def read_sympy(text: bytes, _known: frozenset[str]) -> Reading:
    """Read the cleaned output of sympy's runner."""
    reader = _Reader()
    reader.read(text)
    out = Reading(
        closed=reader.figures is not None, begun=reader.begun or bool(reader.files or reader.broken)
    )
    out.cut = reader.begun and not out.closed
    ran = [path for path, file in reader.files.items() if file.tests]
    qualified = len(ran) > 1
    for path in ran:
        file = reader.files[path]
        for raw, test in file.tests.items():
            name = decode(path + b":" + raw if qualified else raw)
            if not test.said and test.alone and test.guess is TestStatus.SKIPPED:
                # The shared truth counts a skip below its reason as one without a name: an event.
                out.events[name] = TestStatus.SKIPPED
                out.spots[name] = Spot(test.first, test.last, "inline")
                continue
            _settle(name, test, reader.failures.pop((path, raw), None), out)
        if file.announced is not None and len(file.tests) > file.announced:
            out.flags.add(LogFlag.INJECTION)
            out.warn(f"{decode(path)} announces {file.announced} tests and shows {len(file.tests)}")
    for path, offset in reader.broken.items():
        name = decode(path)
        out.events[name] = TestStatus.ERROR
        out.spots[name] = Spot(offset, offset, "inline")
    if reader.again:
        names = [decode(name) for name in dict.fromkeys(reader.again)]
        out.flags.add(LogFlag.CONFLICT)
        out.warn(f"listed more than once, the worst outcome is kept: {listed(names)}")
    if reader.figures is not None:
        _figures(reader.figures, out)
    return out


def _settle(name: str, test: _Test, failure: _Failure | None, out: Reading) -> None:
    said = list(test.said)
    if not said and test.guess is not None:
        said = [test.guess]
    first, last, message = test.first, test.last, ""
    status: TestStatus | None = None
    for other in said:
        status = other if status is None else worse(status, other)
    if said and out.closed and said[-1].fails == (failure is not None):
        status = said[-1]  # the runner's own word is the last one
    if len(set(said)) > 1:
        out.flags.add(LogFlag.CONFLICT)
        out.warn(f"{name} has more than one outcome: the worst is kept")
    if failure is not None:
        last, message = max(last, failure.last), decode(failure.message.rstrip())[:MESSAGE_LIMIT]
        if status is None or not status.fails:
            if status is not None:
                out.flags.add(LogFlag.CONFLICT)
                out.warn(f"{name} is {status} beside its name and has a failure section")
            status = TestStatus.FAILED if message.startswith("AssertionError") else TestStatus.ERROR
    if status is None:
        status, message = TestStatus.ERROR, message or "no verdict: the test did not finish"
        out.cut = True
    out.statuses[name] = status
    out.spots[name] = Spot(first, last, "summary" if failure is not None else "inline", message)


def _figures(figures: dict[bytes, int], out: Reading) -> None:
    def figure(word: bytes) -> int:
        return figures.get(word, 0)

    summary = RunnerSummary(
        0,
        figure(b"passed"),
        figure(b"failed"),
        figure(b"exceptions"),
        figure(b"skipped"),
        figure(b"expected to fail"),
        figure(b"expected to fail but passed"),
    )
    ran = (
        summary.passed + summary.failed + summary.errors + summary.skipped + summary.xfailed + summary.xpassed
    )
    out.summary = RunnerSummary(
        ran, summary.passed, summary.failed, summary.errors, summary.skipped, summary.xfailed, summary.xpassed
    )
    if ran == 0:
        out.refusal = "no test ran"
    named = len(out.statuses)
    named += sum(status is TestStatus.SKIPPED for status in out.events.values())
    if named != ran:
        out.warn(f"the runner counts {ran} tests, {named} are named")
    if named > ran:
        out.flags.add(LogFlag.INJECTION)
