"""The reader for pytest: only the last, outermost summary counts, checked against the closing line."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from utboost_action.logs.pytest_ids import KnownIds, folded, is_file, is_id, is_loose_id, normal, unglued, with_reason
from utboost_action.logs.pytest_lines import FailureText, Kind, Token, Tokens, figures, tokenize
from utboost_action.logs.reading import MESSAGE_LIMIT, Reading, Spot, listed, worse
from utboost_action.logs.text import decode
from utboost_action.model import LogFlag, RunnerSummary, TestStatus

_STATUS = {
    b"PASSED": TestStatus.PASSED,
    b"FAILED": TestStatus.FAILED,
    b"SUBFAILED": TestStatus.FAILED,
    b"ERROR": TestStatus.ERROR,
    b"SKIPPED": TestStatus.SKIPPED,
    b"XFAIL": TestStatus.XFAIL,
    b"XPASS": TestStatus.XPASS,
}
_FIGURE_OF = {b"PASSED": "passed", b"FAILED": "failed", b"ERROR": "errors", b"XFAIL": "xfailed", b"XPASS": "xpassed"}


@dataclass(slots=True)
class Session:
    """One top-level run: its verdict lines and closing figures."""

    verdicts: list[Token] = field(default_factory=list)
    progress: list[Token] = field(default_factory=list)
    figures: dict[bytes, int] | None = None


@dataclass(slots=True)
class _Seen:
    """What one session says of one id: the summary's word and the progress lines' words."""

    summary: list[TestStatus] = field(default_factory=list)
    inline: list[TestStatus] = field(default_factory=list)
    rerun: bool = False
    first: int = 0
    last: int = 0
    reason: str = ""


def read_pytest(text: bytes, known_ids: frozenset[str]) -> Reading:
    """Read the cleaned output of a pytest run (any version from 3 on; tox and conda around it)."""
    tokens = tokenize(text)
    known = KnownIds(known_ids)
    out = Reading()
    sessions = _sessions(tokens, out)
    merged: dict[str, TestStatus] = {}
    for session in sessions:
        seen = _Collector(known, out).collect(session)
        for name, status in _statuses(seen, out).items():
            before = merged.get(name)
            if before is not None and before is not status:
                out.flags.add(LogFlag.CONFLICT)
                out.warn(f"{name} has more than one outcome: the worst is kept")
            merged[name] = status if before is None else worse(status, before)
        out.spots.update({name: _spot(found) for name, found in seen.items() if name in merged})
    out.statuses = merged
    _messages(tokens.failures, out)
    _collection(tokens, out, known_ids)
    _check(tokens, sessions, out)
    return out


# ---- which lines are the runner's own


def _sessions(seen: Tokens, out: Reading) -> list[Session]:
    """Split the tokens into top-level runs.

    A closing line ends a top-level run if no captured section stood before it; behind a captured
    section everything up to the last closing line may be the output of an inner run.
    """
    tokens = seen.tokens
    closings = [index for index, token in enumerate(tokens) if token.kind is Kind.COUNT]
    final = _final(tokens, closings, out)
    sessions: list[Session] = []
    start, captured = 0, False
    for index in range(final + 1):
        token = tokens[index]
        if token.kind is Kind.CAPTURED:
            captured = True
        elif token.kind is Kind.COUNT and (index == final or not captured):
            sessions.append(_session(tokens[start : index + 1], figures(token.rest)))
            start, captured = index + 1, False
    rest = tokens[start:]
    if final < 0:
        sessions = [_session(rest, None)]
    elif any(token.kind is Kind.SESSION for token in rest):
        out.cut = True
        out.warn("a further run begins after the last closing line and does not end")
    elif late := [token for token in rest if token.kind is Kind.VERDICT and is_id(token.rest.partition(b" - ")[0])]:
        out.flags.add(LogFlag.INJECTION)
        out.warn(f"{len(late)} result lines stand after the closing line")
    out.closed = final >= 0
    out.begun = seen.collected or any(token.kind is Kind.SESSION for token in tokens)
    out.cut = out.cut or any(token.kind is Kind.STOPPED for token in rest) or _interrupted(tokens, final)
    return sessions


def _final(tokens: list[Token], closings: list[int], out: Reading) -> int:
    """The last closing line; one without rules that stands alone behind another is printed text."""
    while len(closings) > 1:
        last, before = closings[-1], closings[-2]
        between = tokens[before + 1 : last]
        alone = all(token.kind in (Kind.USAGE, Kind.LOOKALIKE) for token in between)
        if tokens[last].word or not tokens[before].word or not alone:
            break
        out.warn("text like a closing line stands behind the closing line")
        closings.pop()
    return closings[-1] if closings else -1


def _interrupted(tokens: list[Token], final: int) -> bool:
    return any(token.kind is Kind.STOPPED for token in tokens[max(0, final - 3) : max(0, final)])


def _session(tokens: list[Token], closing: dict[bytes, int] | None) -> Session:
    session = Session(figures=closing)
    summary = _summary_start(tokens, closing)
    for index, token in enumerate(tokens):
        if summary >= 0 and index > summary and token.kind in (Kind.SECTION, Kind.FAILURE, Kind.CAPTURED):
            break
        if summary >= 0 and index > summary and token.kind is Kind.VERDICT:
            session.verdicts.append(token)
    if summary < 0 and closing is None:
        session.verdicts = [token for token in _uncaptured(tokens) if token.kind is Kind.VERDICT]
    for token in tokens:
        if token.kind in (Kind.SECTION, Kind.FAILURE, Kind.CAPTURED, Kind.SUMMARY):
            break
        if token.kind is Kind.PROGRESS or (
            token.kind is Kind.VERDICT and closing is not None and summary < 0 and is_id(normal(token.rest))
        ):
            session.progress.append(token)
    return session


def _summary_start(tokens: list[Token], closing: dict[bytes, int] | None) -> int:
    """The index of the summary header that counts.

    That is the last one. pytest < 4.4 prints sections with captured output below its summary: then it is
    the last header whose lines agree with the closing line.
    """
    headers = [index for index, token in enumerate(tokens) if token.kind is Kind.SUMMARY]
    if not headers:
        return -1
    last = headers[-1]
    closed = not any(token.kind in (Kind.SECTION, Kind.FAILURE, Kind.CAPTURED, Kind.SESSION) for token in tokens[last:])
    if closed or closing is None or len(headers) == 1:
        return last
    ends = [*headers[1:], len(tokens)]
    for start, end in zip(reversed(headers), reversed(ends), strict=True):
        block: dict[bytes, int] = defaultdict(int)
        for token in tokens[start + 1 : end]:
            if token.kind in (Kind.SECTION, Kind.FAILURE, Kind.CAPTURED, Kind.COUNT):
                break
            if token.kind is Kind.VERDICT:
                block[token.word] += 1
        named = _figures_of(closing)
        if all(block.get(word, 0) == named[figure] for word, figure in _FIGURE_OF.items()):
            return start
    return last


def _uncaptured(tokens: list[Token]) -> list[Token]:
    captured, kept = False, []
    for token in tokens:
        if token.kind is Kind.CAPTURED:
            captured = True
        elif token.kind in (Kind.SECTION, Kind.FAILURE, Kind.SESSION, Kind.SUMMARY):
            captured = False
        elif not captured:
            kept.append(token)
    return kept


def _figures_of(closing: dict[bytes, int]) -> dict[str, int]:
    return {
        "passed": closing.get(b"passed", 0),
        "failed": closing.get(b"failed", 0),
        "errors": closing.get(b"error", 0) + closing.get(b"errors", 0),
        "skipped": closing.get(b"skipped", 0),
        "xfailed": closing.get(b"xfailed", 0),
        "xpassed": closing.get(b"xpassed", 0),
    }


# ---- from lines to ids


class _Collector:
    """Gathers what one session's lines say of each id."""

    def __init__(self, known: KnownIds, out: Reading) -> None:
        self.known, self.out = known, out
        self.seen: dict[str, _Seen] = {}

    def collect(self, session: Session) -> dict[str, _Seen]:
        verdicts = self.named(session.verdicts, session.figures)
        if session.figures is not None:
            verdicts = _covered(verdicts, _figures_of(session.figures), self.out)
        for token, name, reason in verdicts:
            self.note(token, name, reason, inline=False)
        for token in session.progress:
            name, reason = token.rest, b""
            if token.kind is Kind.VERDICT:
                name, reason = normal(name), b""
            self.note(token, name, reason, inline=True)
        return self.seen

    def named(self, tokens: list[Token], closing: dict[bytes, int] | None) -> list[tuple[Token, bytes, bytes]]:
        """Give each verdict line its id; folded skips and files become events."""
        found: list[tuple[Token, bytes, bytes]] = []
        loose: list[Token] = []
        for token in tokens:
            if token.word == b"SKIPPED" and (fold := folded(token.rest)):
                self.skip_event(token, fold)
                continue
            name, reason = self.name_of(token)
            if not name:
                loose.append(token)
            elif is_id(name) or (self.known and name in self.known):
                found.append((token, normal(name), reason))
            elif token.word in (b"ERROR", b"FAILED", b"SKIPPED"):
                self.event(token, name, reason)
        passed = sum(token.word == b"PASSED" for token, _, _ in found)
        spaced = [token for token in loose if token.word == b"PASSED" and is_loose_id(token.rest)]
        if closing is not None and spaced and passed + len(spaced) == closing.get(b"passed", 0):
            found += [(token, normal(token.rest), b"") for token in spaced]
            loose = [token for token in loose if token not in spaced]
        unread = [token for token in loose if b"::" in token.rest]
        if unread:
            self.out.warn(f"{len(unread)} lines look like verdicts and name no test")
        return found

    def name_of(self, token: Token) -> tuple[bytes, bytes]:
        rest = token.rest
        if token.word in (b"PASSED", b"RERUN", b"SUBOTHER"):
            if is_id(rest) or (self.known and normal(rest) in self.known):
                return rest, b""
            name = unglued(normal(rest), self.known)
            if name:
                self.out.warn("text of another writer was glued to ids and cut off")
                return name, b""
            return b"", rest
        name, reason = with_reason(rest, self.known)
        if not name and (name := unglued(normal(rest), self.known)):
            return name, rest[len(name) :]
        return name, reason

    def skip_event(self, token: Token, fold: tuple[bytes, int, bytes]) -> None:
        place, count, reason = fold
        name = decode(place)
        self.out.events.setdefault(name, TestStatus.SKIPPED)
        message = f"{count} skipped: {decode(reason)}"[:MESSAGE_LIMIT]
        self.out.spots.setdefault(name, Spot(token.offset, token.offset, "summary", message))

    def event(self, token: Token, raw: bytes, reason: bytes) -> None:
        name, status = decode(raw), _STATUS[token.word]
        self.out.events[name] = worse(status, self.out.events.get(name, status))
        self.out.spots.setdefault(name, Spot(token.offset, token.offset, "summary", decode(reason)[:MESSAGE_LIMIT]))

    def note(self, token: Token, raw: bytes, reason: bytes, *, inline: bool) -> None:
        name = decode(raw)
        entry = self.seen.get(name)
        if entry is None:
            entry = self.seen[name] = _Seen(first=token.offset)
        entry.last = max(entry.last, token.offset)
        if token.word == b"RERUN":
            entry.rerun = True
            return
        status = _STATUS.get(token.word)
        if status is None:
            return
        (entry.inline if inline else entry.summary).append(status)
        if reason and (not entry.reason or status.fails):
            entry.reason = decode(reason)[:MESSAGE_LIMIT]


def _covered(
    lines: list[tuple[Token, bytes, bytes]], closing: dict[str, int], out: Reading
) -> list[tuple[Token, bytes, bytes]]:
    """Leave out lines that the closing line does not count: text of several lines in a reason."""
    dropped: list[int] = []
    for word, figure in _FIGURE_OF.items():
        places = [index for index, (token, _, _) in enumerate(lines) if token.word == word]
        told = closing[figure]
        if len(places) <= told or (word in (b"FAILED", b"ERROR") and told):
            continue
        kept = _run_of(places, told)
        dropped += [place for place in places if place not in kept]
    if dropped:
        out.flags.add(LogFlag.INJECTION)
        names = [decode(lines[place][1]) for place in dropped]
        out.warn(f"result lines that the closing line does not count were left out: {listed(names)}")
        gone = set(dropped)
        lines = [line for index, line in enumerate(lines) if index not in gone]
    return lines


def _run_of(places: list[int], told: int) -> frozenset[int]:
    """The one unbroken run of `told` lines among `places` (pytest lists each outcome in one run)."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] + 1 == place:
            runs[-1].append(place)
        else:
            runs.append([place])
    exact = [run for run in runs if len(run) == told]
    return frozenset(exact[0] if len(exact) == 1 else places[:told])


# ---- from ids to outcomes


def _statuses(seen: dict[str, _Seen], out: Reading) -> dict[str, TestStatus]:
    statuses: dict[str, TestStatus] = {}
    conflicts: list[str] = []
    for name, entry in seen.items():
        said = entry.summary or entry.inline
        if not said:
            continue
        status = said[0]
        for other in said[1:]:
            status = worse(status, other)
        if entry.summary and entry.inline and not entry.rerun:
            status = worse(status, _worst(entry.inline))
        if entry.rerun and status is TestStatus.PASSED:
            out.flags.add(LogFlag.FLAKY)
            out.warn(f"{name} passed only when it was run again")
        kinds = set(entry.summary) | (set() if entry.rerun else set(entry.inline))
        if len(kinds - {TestStatus.ERROR}) > 1:
            conflicts.append(name)
        statuses[name] = status
    if conflicts:
        subtests = LogFlag.CONFLICT
        out.flags.add(subtests)
        out.warn(f"more than one outcome, the worst is kept: {listed(conflicts)}")
    return statuses


def _worst(said: list[TestStatus]) -> TestStatus:
    status = said[0]
    for other in said[1:]:
        status = worse(status, other)
    return status


def _spot(entry: _Seen) -> Spot:
    return Spot(entry.first, entry.last, "summary" if entry.summary else "inline", entry.reason)


def _messages(failures: list[FailureText], out: Reading) -> None:
    """Give failing ids the message of their traceback: sections come in the order of the ids."""
    by_title: dict[bytes, deque[FailureText]] = defaultdict(deque)
    for failure in failures:
        if failure.message:
            title = failure.title
            for prefix in (b"ERROR at setup of ", b"ERROR at teardown of ", b"ERROR collecting "):
                title = title.removeprefix(prefix)
            by_title[title].append(failure)
    for name, status in [*out.statuses.items(), *out.events.items()]:
        if not status.fails:
            continue
        inner, bracket, parameters = name.partition("::")[2].partition("[")
        title = (inner.replace("::", ".") + bracket + parameters) if inner else name
        queue = by_title.get(title.encode())
        if not queue:
            continue
        failure = queue.popleft() if len(queue) > 1 else queue[0]
        spot = out.spots[name]
        first, last = min(spot.first, failure.offset), max(spot.last, failure.at)
        out.spots[name] = Spot(first, last, spot.kind, decode(failure.message)[:MESSAGE_LIMIT])


def _collection(seen: Tokens, out: Reading, known: frozenset[str]) -> None:
    """Files that do not import are events, and set the tests they cover."""
    if not out.closed:
        for token in seen.tokens:
            if token.kind is Kind.FAILURE and token.word.startswith(b"ERROR collecting "):
                path = token.word.removeprefix(b"ERROR collecting ")
                if is_file(path):
                    out.events.setdefault(decode(path), TestStatus.ERROR)
                    out.spots.setdefault(decode(path), Spot(token.offset, token.offset, "inline"))
    broken = {name for name, status in out.events.items() if status is TestStatus.ERROR}
    for test in sorted(known) if broken else ():
        path = test.partition("::")[0]
        if path in broken and test not in out.statuses:
            out.statuses[test] = TestStatus.ERROR
            out.spots[test] = out.spots[path]


def _check(seen: Tokens, sessions: list[Session], out: Reading) -> None:
    usage = next((token for token in seen.tokens if token.kind is Kind.USAGE), None)
    closing = sessions[-1].figures
    if closing is None:
        if usage is not None and not out.statuses:
            out.refusal = f"the runner refused its arguments: {decode(usage.word)}"
        return
    totals: dict[str, int] = defaultdict(int)
    for session in sessions:
        for figure, number in _figures_of(session.figures or {}).items():
            totals[figure] += number
    ran = sum(totals[figure] for figure in ("passed", "failed", "skipped", "xfailed", "xpassed"))
    out.summary = RunnerSummary(
        ran, totals["passed"], totals["failed"], totals["errors"], totals["skipped"], totals["xfailed"], totals["xpassed"]
    )
    if ran == 0 and not totals["errors"]:
        said = f" ({decode(usage.word)})" if usage is not None else ""
        out.refusal = f"no test ran{said}"
    _compare(totals, sessions, out)


def _compare(totals: dict[str, int], sessions: list[Session], out: Reading) -> None:
    """The closing figures against the named outcomes."""
    named: dict[TestStatus, int] = defaultdict(int)
    for status in out.statuses.values():
        named[status] += 1
    missing = totals["passed"] + totals["xfailed"] + totals["xpassed"] + totals["failed"] - sum(
        number for status, number in named.items() if status is not TestStatus.SKIPPED
    )  # fmt: skip
    if missing > 0:
        out.flags.add(LogFlag.PARTIAL)
        out.warn(f"the closing line counts {missing} more outcomes than are named")
    if named[TestStatus.FAILED] > totals["failed"] and len(sessions) == 1:
        out.warn(f"{named[TestStatus.FAILED]} failures are listed, the closing line counts {totals['failed']}")
