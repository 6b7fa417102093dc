"""Choosing among ready texts of falling detail, so that nothing is ever cut inside its Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

COMMENT_BYTES = 65_000  # GitHub's limit is 65,536 of a disputed unit; UTF-8 bytes bound all of them
SUMMARY_BYTES = 1_000_000  # a summary beyond 1 MiB is dropped whole
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")
_TOO_LONG = "The report is too long to be shown here; it is among the files of the workflow run.\n"


@dataclass(frozen=True, slots=True)
class Fitted:
    """The text to write. level: its place among the levels, None when not even the last one fitted."""

    text: str
    level: int | None


def largest_that_fits(levels: Sequence[str], limit: int) -> Fitted:
    """The first text, from most to least detail, that takes at most `limit` bytes of UTF-8.

    Lone surrogates and NUL, which GitHub refuses, become U+FFFD first. When none fits: one fixed line.
    """
    for place, level in enumerate(levels):
        text = sendable(level)
        if len(text.encode()) <= limit:
            return Fitted(text, place)
    return Fitted(_TOO_LONG if len(_TOO_LONG) <= limit else "", None)


def sendable(text: str) -> str:
    """The text without what cannot be sent: each lone surrogate and NUL becomes U+FFFD."""
    return _UNSENDABLE.sub("\N{REPLACEMENT CHARACTER}", text)
