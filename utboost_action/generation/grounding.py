"""Where the sentence that a test's author quotes for it really stands.

The quote is evidence for whoever confirms the test; it decides nothing (utgenerator gate 7: a model may
propose, it does not decide).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

LEAST_WORDS = 3  # of a quote that counts; fewer stand in any text
_QUOTED = re.compile(r'"(.+)"|“(.+)”|`(.+)`|\'(.+)\'')


class Source(StrEnum):
    """Where a quote was found."""

    ISSUE = "the issue"
    SHOWN = "the code or tests that the prompt shows"
    NOWHERE = "nothing that the prompt shows"
    SHORT = "a quote of fewer than three words"
    UNSAID = "unsaid"


@dataclass(frozen=True, slots=True)
class Ground:
    """What a test rests on by its author's word. text: the quote alone, "" where there is none."""

    source: Source
    text: str = ""


def ground_of(reason: str, issue: str, shown: str) -> Ground:
    """Look a reason's quote up: word for word, whatever the white space, in the issue first.

    reason: what the author wrote behind the test's name. shown: all that the author was shown.
    """
    found = _QUOTED.search(reason)
    quote = _flat(next(part for part in found.groups() if part) if found else reason)
    if not quote:
        return Ground(Source.UNSAID)
    if len(quote.split()) < LEAST_WORDS:
        return Ground(Source.SHORT, quote)
    if quote in _flat(issue):
        return Ground(Source.ISSUE, quote)
    if quote in _flat(shown):
        return Ground(Source.SHOWN, quote)
    return Ground(Source.NOWHERE, quote)


def _flat(text: str) -> str:
    return " ".join(text.split())
