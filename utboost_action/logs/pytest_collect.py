"""From the lines of one pytest run to what they say of each id."""

from __future__ import annotations

from dataclasses import dataclass, field

from utboost_action.logs.pytest_ids import (
    KnownIds,
    folded,
    is_id,
    is_loose_id,
    normal,
    title_of,
    unglued,
    with_reason,
)
from utboost_action.logs.pytest_lines import Token
from utboost_action.logs.pytest_sessions import FIGURE_OF, Session, figures_of
from utboost_action.logs.reading import MESSAGE_LIMIT, Reading, Spot, listed, worse
from utboost_action.logs.text import decode
from utboost_action.model import LogFlag, TestStatus

STATUS = {
    b"PASSED": TestStatus.PASSED,
    b"FAILED": TestStatus.FAILED,
    b"SUBFAILED": TestStatus.FAILED,
    b"ERROR": TestStatus.ERROR,
    b"SKIPPED": TestStatus.SKIPPED,
    b"XFAIL": TestStatus.XFAIL,
    b"XPASS": TestStatus.XPASS,
}
"""Status word of a line -> outcome."""


@dataclass(slots=True)
class Said:
    """What one session says of one id: the summary's word and the progress lines' words."""

    summary: list[TestStatus] = field(default_factory=list)
    inline: list[TestStatus] = field(default_factory=list)
    subtests: int = 0
    rerun: bool = False
    first: int = 0
    last: int = 0
    reason: str = ""


class Collector:
    """Gathers what one session's lines say of each id."""

    def __init__(self, known: KnownIds, titles: frozenset[bytes], session: Session, out: Reading) -> None:
        self.known, self.titles, self.session, self.out = known, titles, session, out
        self.shown = frozenset(token.rest for token in session.progress)
        self.seen: dict[str, Said] = {}

    def collect(self) -> dict[str, Said]:
        """Return what the run says, by id; events go to the reading at once."""
        session = self.session
        verdicts = self.named(session.verdicts, session.figures)
        if session.figures is not None:
            verdicts = self.covered(verdicts, figures_of(session.figures))
        for token, name, reason in verdicts:
            self.note(token, name, reason, inline=False)
        for token in session.progress:
            self.note(token, token.rest, b"", inline=True)
        return self.seen

    def witness(self, raw: bytes) -> bool:
        """Whether something besides this line knows the id."""
        name = normal(raw)
        return (
            name in self.shown or title_of(name) in self.titles or (bool(self.known) and name in self.known)
        )

    def named(
        self, tokens: list[Token], closing: dict[bytes, int] | None
    ) -> list[tuple[Token, bytes, bytes]]:
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
            loose = [token for token in loose if token.word != b"PASSED" or not is_loose_id(token.rest)]
        unread = [token for token in loose if b"::" in token.rest]
        if unread:
            self.out.warn(f"{len(unread)} lines look like verdicts and name no test")
        return found

    def name_of(self, token: Token) -> tuple[bytes, bytes]:
        """Return the id of a verdict line and its reason; an empty id where none can be told."""
        rest = token.rest
        if token.word in (b"PASSED", b"RERUN", b"SUBOTHER"):
            if is_id(rest) or (self.known and normal(rest) in self.known):
                return rest, b""
            name = unglued(normal(rest), self.known)
            if name:
                self.out.warn("text of another writer was glued to ids and cut off")
                return name, b""
            return b"", rest
        name, reason = with_reason(rest, self.witness)
        if not name and (name := unglued(normal(rest), self.known)):
            return name, rest[len(name) :]
        return name, reason

    def covered(
        self, lines: list[tuple[Token, bytes, bytes]], closing: dict[str, int]
    ) -> list[tuple[Token, bytes, bytes]]:
        """Leave out lines that the closing line does not count: text of several lines in a reason."""
        dropped: set[int] = set()
        for word, figure in FIGURE_OF.items():
            words = (word, b"SUBFAILED") if word == b"FAILED" else (word,)
            places = [index for index, (token, _, _) in enumerate(lines) if token.word in words]
            if len(places) > closing[figure]:
                dropped |= self.surplus(lines, places, closing[figure])
                self.out.flags.add(LogFlag.INJECTION)
                self.out.warn(
                    f"{len(places)} lines say {word.decode()}, the closing line counts {closing[figure]}"
                )
        if dropped:
            names = [decode(lines[place][1]) for place in sorted(dropped)]
            self.out.warn(f"result lines that the closing line does not count were left out: {listed(names)}")
            lines = [line for index, line in enumerate(lines) if index not in dropped]
        return lines

    def surplus(self, lines: list[tuple[Token, bytes, bytes]], places: list[int], told: int) -> set[int]:
        """Which of the lines at `places` are not the runner's, `told` of them being its own."""
        if told == 0:
            return set(places)
        failing = lines[places[0]][0].word in (b"FAILED", b"SUBFAILED", b"ERROR")
        if self.shown:
            strange = {place for place in places if lines[place][1] not in self.shown}
        elif failing:
            strange = {place for place in places if title_of(lines[place][1]) not in self.titles}
        else:
            strange = set()
        if len(places) - len(strange) == told:
            return strange
        return set() if failing else set(places) - _run_of(places, told)

    def skip_event(self, token: Token, fold: tuple[bytes, int, bytes]) -> None:
        """A folded skip names a place, no test; its message says how many tests it covers."""
        place, count, reason = fold
        name = decode(place)
        self.out.events.setdefault(name, TestStatus.SKIPPED)
        message = f"{count} skipped: {decode(reason)}"[:MESSAGE_LIMIT]
        self.out.spots.setdefault(name, Spot(token.offset, token.offset, "summary", message))

    def event(self, token: Token, raw: bytes, reason: bytes) -> None:
        """A file or folder that could not be collected."""
        name, status = decode(raw), STATUS[token.word]
        self.out.events[name] = worse(status, self.out.events.get(name, status))
        self.out.spots.setdefault(
            name, Spot(token.offset, token.offset, "summary", decode(reason)[:MESSAGE_LIMIT])
        )

    def note(self, token: Token, raw: bytes, reason: bytes, *, inline: bool) -> None:
        """Add one line's word to what is known of its id."""
        name = decode(raw)
        entry = self.seen.get(name)
        if entry is None:
            entry = self.seen[name] = Said(first=token.offset)
        entry.last = max(entry.last, token.offset)
        if token.word == b"RERUN":
            entry.rerun = True
            return
        status = STATUS.get(token.word)
        if status is None:
            return
        if token.word == b"SUBFAILED":
            entry.subtests += 1
        else:
            (entry.inline if inline else entry.summary).append(status)
        if reason and (not entry.reason or status.fails):
            entry.reason = decode(reason)[:MESSAGE_LIMIT]


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
