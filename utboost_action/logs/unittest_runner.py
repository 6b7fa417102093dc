"""The reader for unittest -v, Django's runtests.py and nose."""

from __future__ import annotations

from utboost_action.logs.reading import Reading, worse
from utboost_action.logs.text import LINE_LIMIT, decode, line_at
from utboost_action.logs.unittest_lines import (
    CLOSING,
    DOTS,
    HEADER,
    OUTCOME,
    SEPARATOR,
    FoundId,
    counts,
    glued_verdict,
    id_alone,
    id_at,
    nose_id,
    plain,
    started_ids,
    verdict,
    verdict_split,
)
from utboost_action.logs.unittest_section import is_rule, read_section
from utboost_action.logs.unittest_transcript import Started, Transcript
from utboost_action.logs.unittest_verdicts import settle
from utboost_action.model import TestStatus


def read_unittest(text: bytes, known: frozenset[str]) -> Reading:
    """Read the cleaned output of a unittest, Django or nose run."""
    return settle(_Reader(text, known).read(), known)


class _Reader:
    """One pass over the lines; the closing sections are found by searching, not line by line."""

    def __init__(self, text: bytes, known: frozenset[str]) -> None:
        self.text, self.known, self.out = text, known, Transcript()
        self.open: Started | None = None
        self.pending: list[Started] = []
        self.named: tuple[FoundId, int] | None = None
        self.subtest: Started | None = None
        self.last: Started | None = None
        self.previous = -1
        self.order = 0

    def read(self) -> Transcript:
        text, find, size = self.text, self.text.find, len(self.text)
        position = 0
        while position < size:
            end = find(b"\n", position)
            if end < 0:
                end = size
            line = text[position:end]
            if end - position > LINE_LIMIT or line.endswith(b"\x00"):
                line = line_at(text, position, end)
            after = end + 1
            if line:
                head = line[:1]
                if head == b"=" and is_rule(line) and HEADER.match(text, after):
                    self.stop()
                    after = read_section(text, after, self.out.section)
                elif head in b"FEU" and HEADER.match(line) and self.loose_header(line, position):
                    pass
                elif head == b"R" and (closing := CLOSING.match(line)):
                    self.stop()
                    after = self.closing(int(closing[1]), after)
                else:
                    self.line(line, position)
                self.previous = position
            position = after
        self.stop(at_end=True)
        return self.out

    # ---- one line

    def line(self, line: bytes, offset: int) -> None:
        usual = plain(line) if line.startswith(b"test") else None
        if usual is not None:
            self.named = self.subtest = None
            self.say(self.begin(usual[0], offset), usual[1], offset)
            return
        named, self.named = self.named, None
        subtest, self.subtest = self.subtest, None
        has_dots = b" ..." in line
        if has_dots and named is not None and self.doc_line(named, line, offset):
            return
        if has_dots and subtest is not None and (split := verdict_split(line)):
            subtest.subtests.append(split[1])
            subtest.last = offset
            return
        if line.startswith(b"  ") and self.subtest_line(line, offset):
            return
        if has_dots and self.started(line, offset):
            return
        if (status := verdict(line)) is not None:
            self.standalone(status, offset)
            return
        if line.endswith(b")") and (found := id_alone(line)) is not None:
            self.named = (found, offset)
            if found.start == 0 or self.open is None:
                return
        self.output(line, offset)

    def doc_line(self, named: tuple[FoundId, int], line: bytes, offset: int) -> bool:
        """The line after an id: its docstring, the separator and what follows."""
        found, first = named
        if found.loose and not line.startswith(b"Doctest: "):
            return False
        ids = list(started_ids(line))
        if ids and ids[0].start == 0:
            return False
        padded = line + b" " if line.endswith(b" ...") else line
        if ids and padded[: ids[0].start].endswith(SEPARATOR):
            self.docstring(self.begin(found, first), line[: ids[0].start - 5])
            return self.started(line[ids[0].start :], offset)
        split = verdict_split(line)
        if split is not None:
            test = self.begin(found, first)
            self.docstring(test, line[: split[0]])
            self.say(test, split[1], offset)
            return True
        place = padded.find(SEPARATOR)
        if place < 0:
            return False
        following = padded.rfind(SEPARATOR)
        if following > place and id_alone(padded[following + 5 :]) is not None:
            place = following
        self.docstring(self.begin(found, first), line[:place])
        self.rest(padded[place + 5 :], offset)
        return True

    def docstring(self, test: Started | None, raw: bytes) -> None:
        if test is not None:
            self.out.docstrings.setdefault(test.id, decode(raw))

    def subtest_line(self, line: bytes, offset: int) -> bool:
        """`  id [msg] (i=1) ... FAIL` (Python >= 3.11), of a test that has begun."""
        found = id_at(line, 2)
        if found is None:
            return False
        test = self.out.tests.get(decode(found.text))
        if test is None or (test is not self.open and test is not self.last):
            return False
        split = verdict_split(line[found.end :])
        if split is not None:
            test.subtests.append(split[1])
            test.last = offset
        else:
            self.subtest = test
        return True

    def started(self, line: bytes, offset: int) -> bool:
        """A line with one or more ids that a separator follows."""
        ids = list(started_ids(line)) if b") ..." in line else None
        if not ids:
            return self.nose_line(line, offset)
        for index, found in enumerate(ids):
            after = ids[index + 1].start if index + 1 < len(ids) else len(line)
            if index == 0:
                found = self.repaired(line, found)
                if found.start > 0 and self.open is not None:
                    self.output(line[: found.start], offset)
            test = self.begin(found, offset, doubtful=index == 0 and self.doubtful(line, found))
            rest = line[found.end : after]
            rest = rest[5:] if rest.startswith(SEPARATOR) else rest[4:]
            if found.is_event:
                status = verdict(rest)
                if status is not None:
                    self.event(found.text, status, offset)
            elif test is not None and index + 1 == len(ids):
                self.rest(rest, offset)
        return True

    def doubtful(self, line: bytes, found: FoundId) -> bool:
        """Whether a blank stands before the id, as in text that names a test; the runner writes none."""
        before = line[found.start - 1 : found.start]
        return found.start > 0 and before.isspace() and decode(found.text) not in self.known

    def repaired(self, line: bytes, found: FoundId) -> FoundId:
        """The longest known id that ends where `found` ends: text may be glued before it."""
        if self.known and decode(found.text) not in self.known:
            owner = b" (" + found.owner + b")"
            low = max(line.rfind(b" ", 0, found.end - len(owner)) + 1, found.end - len(owner) - 200)
            for start in range(low, found.end - len(owner)):
                if line[start : found.end].decode("utf-8", "replace") in self.known:
                    return FoundId(start, found.end, line[start : found.end - len(owner)], found.owner)
        return found

    def nose_line(self, line: bytes, offset: int) -> bool:
        split = verdict_split(line)
        place = split[0] if split is not None else line.find(SEPARATOR)
        if place < 0:
            return False
        name = nose_id(line, place)
        if name is None:
            if split is not None and self.open is None:
                self.out.unparsed += 1
            return False
        test = self.begin_text(decode(name), offset)
        if split is not None:
            self.say(test, split[1], offset)
        else:
            self.rest(line[place + 5 :], offset)
        return True

    # ---- what a line means

    def begin(self, found: FoundId, offset: int, *, doubtful: bool = False) -> Started | None:
        if found.is_event:
            self.open_aside()
            return None
        return self.begin_text(decode(found.text), offset, doubtful=doubtful)

    def begin_text(self, name: str, offset: int, *, doubtful: bool = False) -> Started:
        self.open_aside()
        test = self.out.tests.get(name)
        self.order += 1
        if test is None:
            test = self.out.tests[name] = Started(name, offset, offset, self.order, doubtful=doubtful)
        else:
            test.runs += 1
            test.doubtful = test.doubtful and doubtful
        self.open = self.last = test
        return test

    def open_aside(self) -> None:
        """The open test got no verdict in its place: a failing subtest, or its output holds an id."""
        if self.open is not None:
            if self.open.guess is None:
                self.pending.append(self.open)
                del self.pending[:-64]
            self.open = None

    def rest(self, rest: bytes, offset: int) -> None:
        """What follows the separator of the open test on the same line."""
        test = self.open
        if test is None:
            return
        status = verdict(rest)
        if status is not None:
            self.say(test, status, offset)
        elif (following := id_alone(rest)) is not None:
            self.named = (following, offset)
        elif rest.strip():
            test.guess = glued_verdict(rest) or test.guess
            test.last = offset

    def say(self, test: Started | None, status: TestStatus, offset: int) -> None:
        if test is None:
            return
        test.said.append(status)
        test.last = offset
        test.alone = False
        if test is self.open:
            self.open = None

    def standalone(self, status: TestStatus, offset: int) -> None:
        """A line that is a verdict: of the open test, of one that other output interrupted, or of a class."""
        test = self.open
        if test is not None:
            self.say(test, status, offset)
            test.alone = True
            return
        last = self.last
        beside = last is not None and last.last == self.previous
        if status is TestStatus.SKIPPED:
            if last is not None and beside and last.said[-1:] == [status]:
                last.subtests.append(status)  # a further subtest of it (Python < 3.11)
            else:
                self.out.nameless_skips += 1
                if last is not None and beside:
                    last.skip_below = True
        elif status is TestStatus.ERROR:
            self.out.nameless_errors += 1
        elif self.pending:
            self.interrupted(self.pending.pop(), status, offset, beside=beside)
        elif last is not None and (last.alone or status is TestStatus.FAILED or last.said[-1:] != [status]):
            last.said.append(status)
            last.last = offset

    def interrupted(self, test: Started, status: TestStatus, offset: int, *, beside: bool) -> None:
        """A verdict alone on its line while an earlier test has none yet.

        Either that test printed the result lines in between, or the test before printed a verdict itself
        and this is its own.
        """
        last = self.last
        if status is TestStatus.FAILED and beside and last is not None:
            self.out.either.append((test.id, last.id, status))
            return
        for other in reversed(self.out.tests.values()):
            if other.order <= test.order:
                break
            self.out.inside.setdefault(other.id, test.id)
        self.say(test, status, offset)
        test.alone = True

    def output(self, line: bytes, offset: int) -> None:
        test = self.open
        if test is not None:
            guess = glued_verdict(line)
            if guess is not None:
                test.guess, test.last = guess, offset
        elif DOTS.fullmatch(line):
            self.out.dots += len(line)

    def event(self, raw: bytes, status: TestStatus, offset: int) -> None:
        name = decode(raw)
        before = self.out.events.get(name)
        self.out.events[name] = (status if before is None else worse(before[0], status), offset)

    def loose_header(self, line: bytes, offset: int) -> bool:
        """A FAIL or ERROR header outside a section: it counts where it names a test."""
        match = HEADER.match(line)
        if match is None or id_at(line, match.end()) is None:
            return False
        self.out.section.header(line, offset, strong=False)
        return True

    def closing(self, ran: int, after: int) -> int:
        """`Ran N tests`, then within a few lines OK or FAILED (..)."""
        text, position = self.text, after
        for _ in range(12):
            end = text.find(b"\n", position)
            stop = end if end >= 0 else len(text)
            line = text[position : min(stop, position + 400)].strip()
            outcome = OUTCOME.fullmatch(line)
            if outcome is not None or line == b"NO TESTS RAN":
                figures = counts(outcome[2]) if outcome is not None else {}
                self.out.runs.append((ran, figures, outcome is not None and outcome[1] == b"OK"))
                return stop + 1
            if end < 0:
                break
            position = end + 1
        self.out.runs.append((ran, {}, True))
        return after

    def stop(self, *, at_end: bool = False) -> None:
        """Nothing is open any more: a section or a closing line follows, or the text ends."""
        if at_end and self.open is not None:
            self.open.guess = None
        self.named = self.subtest = None
        self.open_aside()
        self.pending = []
