"""Which lines of a pytest log are the runner's own: top-level runs, their summary, their closing line."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from utboost_action.logs.pytest_ids import is_id
from utboost_action.logs.pytest_lines import Kind, Token, Tokens, figures
from utboost_action.logs.reading import Reading
from utboost_action.model import LogFlag

FIGURE_OF = {
    b"PASSED": "passed",
    b"FAILED": "failed",
    b"ERROR": "errors",
    b"XFAIL": "xfailed",
    b"XPASS": "xpassed",
}
"""Status word -> the closing figure that counts it."""


@dataclass(slots=True)
class Session:
    """One top-level run: its verdict lines and closing figures."""

    verdicts: list[Token] = field(default_factory=list)
    progress: list[Token] = field(default_factory=list)
    figures: dict[bytes, int] | None = None


def split_sessions(seen: Tokens, out: Reading) -> list[Session]:
    """Split the tokens into top-level runs.

    A closing line ends a top-level run if no captured section stood before it; behind a captured
    section everything up to the last closing line may be the output of an inner run.
    """
    tokens = seen.tokens
    closings = [index for index, token in enumerate(tokens) if token.kind is Kind.COUNT]
    final = _final(tokens, closings, out)
    sessions: list[Session] = []
    start, captured = 0, False
    first_header = next(
        (index for index, token in enumerate(tokens) if token.kind is Kind.SESSION), len(tokens)
    )
    for index in range(final + 1):
        token = tokens[index]
        if token.kind is Kind.CAPTURED:
            captured = True
        elif token.kind is Kind.COUNT and (
            index == final or (not captured and _ends_run(tokens, index, first_header))
        ):
            sessions.append(_session(tokens[start : index + 1], figures(token.rest)))
            start, captured = index + 1, False
    rest = tokens[start:]
    if final < 0:
        sessions = [_session(rest, None)]
    elif any(token.kind is Kind.SESSION for token in rest):
        out.cut = True
        out.warn("a further run begins after the last closing line and does not end")
    elif late := [
        token for token in rest if token.kind is Kind.VERDICT and is_id(token.rest.partition(b" - ")[0])
    ]:
        out.flags.add(LogFlag.INJECTION)
        out.warn(f"{len(late)} result lines stand after the closing line")
    out.closed = final >= 0
    out.begun = seen.collected or any(token.kind is Kind.SESSION for token in tokens)
    out.cut = (
        out.cut
        or (out.begun and not out.closed)
        or any(token.kind is Kind.STOPPED for token in rest)
        or _interrupted(tokens, final)
    )
    return sessions


def _ends_run(tokens: list[Token], index: int, first_header: int) -> bool:
    """Whether a closing line before the last one ends a run: where runs have headers, one must follow."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is None or following.kind is Kind.SESSION or index < first_header


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
    elif summary < 0:
        session.verdicts = _above_closing(tokens)
    for token in tokens:
        if token.kind in (Kind.SECTION, Kind.FAILURE, Kind.CAPTURED, Kind.SUMMARY):
            break
        if token.kind is Kind.PROGRESS:
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
    below = [token.kind for token in tokens[last:]]
    closed = below.count(Kind.COUNT) < 2 and not any(
        kind in (Kind.SECTION, Kind.FAILURE, Kind.CAPTURED, Kind.SESSION) for kind in below
    )
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
        named = figures_of(closing)
        if all(block.get(word, 0) == named[figure] for word, figure in FIGURE_OF.items()):
            return start
    return last


def _above_closing(tokens: list[Token]) -> list[Token]:
    """The verdict lines right above the closing line of a run whose summary has no header."""
    found: list[Token] = []
    for token in reversed(tokens[:-1]):
        if token.kind is Kind.CAPTURED:
            return []
        if token.kind is not Kind.VERDICT:
            break
        found.append(token)
    return found[::-1]


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


def figures_of(closing: dict[bytes, int]) -> dict[str, int]:
    """Return the six figures of a closing line, 0 where it does not name one."""
    return {
        "passed": closing.get(b"passed", 0),
        "failed": closing.get(b"failed", 0),
        "errors": closing.get(b"error", 0) + closing.get(b"errors", 0),
        "skipped": closing.get(b"skipped", 0),
        "xfailed": closing.get(b"xfailed", 0),
        "xpassed": closing.get(b"xpassed", 0),
    }
