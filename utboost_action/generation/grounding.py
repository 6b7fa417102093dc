"""Where the sentence that a test's author quotes for it really stands.

The quote is evidence for whoever confirms the test; it decides nothing (utgenerator gate 7: a model may
propose, it does not decide).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

LEAST_WORDS = 3  # of a quote that counts; fewer stand in any text
_QUOTED = re.compile(r"(?<!\w)([\"'`])(.+?)\1(?!\w)|“(?P<curled>.+?)”")


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
    """Look a reason's quotes up: word for word, whatever the white space, in the issue first.

    reason: what the author wrote behind the test's name; what stands in quotation marks in it, the longest
    first, or all of it. shown: all that the author was shown.
    """
    quoted = [match["curled"] or match[2] for match in _QUOTED.finditer(reason)]
    quotes = [
        text for text in (_flat(one) for one in [reason, *sorted(quoted, key=len, reverse=True)]) if text
    ]
    if not quotes:
        return Ground(Source.UNSAID)
    counted = [text for text in quotes if len(text.split()) >= LEAST_WORDS]
    for source, text in ((Source.ISSUE, _flat(issue)), (Source.SHOWN, _flat(shown))):
        for quote in counted:
            if quote in text:
                return Ground(source, quote)
    first = quotes[1] if len(quotes) > 1 else quotes[0]
    return Ground(Source.SHORT if len(first.split()) < LEAST_WORDS else Source.NOWHERE, first)


def _flat(text: str) -> str:
    return " ".join(text.split())
