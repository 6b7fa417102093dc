"""The reader for pytest: only the last, outermost summary counts, checked against the closing line."""

from __future__ import annotations

from collections import defaultdict, deque

from utboost_action.logs.pytest_collect import STATUS, Collector, Said
from utboost_action.logs.pytest_ids import KnownIds, is_file, title_of
from utboost_action.logs.pytest_lines import FailureText, Kind, Tokens, tokenize
from utboost_action.logs.pytest_sessions import FIGURE_OF, Session, figures_of, split_sessions
from utboost_action.logs.reading import MESSAGE_LIMIT, Reading, Spot, listed, worse
from utboost_action.logs.text import decode
from utboost_action.model import LogFlag, RunnerSummary, TestStatus


def read_pytest(text: bytes, known_ids: frozenset[str]) -> Reading:
    """Read the cleaned output of a pytest run (any version from 3 on; tox and conda around it)."""
    tokens = tokenize(text)
    known = KnownIds(known_ids)
    titles = frozenset(plain_title(failure.title) for failure in tokens.failures)
    out = Reading()
    sessions = split_sessions(tokens, out)
    missing = 0
    for number, session in enumerate(sessions, 1):
        seen = Collector(known, titles, session, out).collect()
        merge(out, _statuses(seen, out), last=number == len(sessions))
        out.spots.update({name: _spot(found) for name, found in seen.items() if name in out.statuses})
        missing += _unnamed(seen, session)
    if missing:
        out.flags.add(LogFlag.PARTIAL)
        out.warn(f"the closing line counts {missing} more outcomes than are named")
    _messages(tokens.failures, out)
    _collection(tokens, out, known_ids)
    _check(tokens, sessions, out)
    return out


def merge(out: Reading, statuses: dict[str, TestStatus], *, last: bool) -> None:
    """Add one run's outcomes to those of earlier runs in the same text: the worse is kept."""
    earlier = set(out.statuses)
    for name, status in statuses.items():
        before = out.statuses.get(name)
        if before is not None and before is not status:
            out.flags.add(LogFlag.CONFLICT)
            out.warn(f"{name} has more than one outcome: the worst is kept")
        out.statuses[name] = status if before is None else worse(status, before)
    if last and earlier - statuses.keys():
        out.flags.add(LogFlag.INJECTION)
        out.warn("results stand before those of the last run, which may be text that a test printed")


def plain_title(title: bytes) -> bytes:
    """A failure section's title without the phase it names."""
    for prefix in (b"ERROR at setup of ", b"ERROR at teardown of ", b"ERROR collecting "):
        title = title.removeprefix(prefix)
    return title


def _statuses(seen: dict[str, Said], out: Reading) -> dict[str, TestStatus]:
    statuses: dict[str, TestStatus] = {}
    conflicts: list[str] = []
    for name, entry in seen.items():
        said = entry.summary or entry.inline
        if entry.subtests:
            said = [*said, TestStatus.FAILED]
        if not said:
            continue
        status = _worst(said)
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
        out.flags.add(LogFlag.CONFLICT)
        out.warn(f"more than one outcome, the worst is kept: {listed(conflicts)}")
    return statuses


def _worst(said: list[TestStatus]) -> TestStatus:
    status = said[0]
    for other in said[1:]:
        status = worse(status, other)
    return status


def _spot(entry: Said) -> Spot:
    return Spot(entry.first, entry.last, "summary" if entry.summary else "inline", entry.reason)


def _messages(failures: list[FailureText], out: Reading) -> None:
    """Give failing ids the message of their traceback: sections come in the order of the ids."""
    by_title: dict[bytes, deque[FailureText]] = defaultdict(deque)
    for failure in failures:
        if failure.message:
            by_title[plain_title(failure.title)].append(failure)
    for name, status in [*out.statuses.items(), *out.events.items()]:
        if not status.fails:
            continue
        queue = by_title.get(title_of(name.encode()))
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
                raw = token.word.removeprefix(b"ERROR collecting ")
                if is_file(raw):
                    out.events.setdefault(decode(raw), TestStatus.ERROR)
                    out.spots.setdefault(decode(raw), Spot(token.offset, token.offset, "inline"))
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
        for figure, number in figures_of(session.figures or {}).items():
            totals[figure] += number
    ran = sum(totals[figure] for figure in ("passed", "failed", "skipped", "xfailed", "xpassed"))
    out.summary = RunnerSummary(
        ran,
        totals["passed"],
        totals["failed"],
        totals["errors"],
        totals["skipped"],
        totals["xfailed"],
        totals["xpassed"],
    )
    if ran == 0 and not totals["errors"]:
        said = f" ({decode(usage.word)})" if usage is not None else ""
        out.refusal = f"no test ran{said}"


def _unnamed(seen: dict[str, Said], session: Session) -> int:
    """How many outcomes the closing line counts beyond those that lines name."""
    if session.figures is None:
        return 0
    told = figures_of(session.figures)
    missing = 0
    for word in (b"PASSED", b"FAILED", b"XFAIL", b"XPASS"):
        status = STATUS[word]
        named = sum(status in entry.summary or status in entry.inline for entry in seen.values())
        if word == b"FAILED":
            named += sum(entry.subtests for entry in seen.values())
        missing += max(0, told[FIGURE_OF[word]] - named)
    return missing
