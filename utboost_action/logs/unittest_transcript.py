"""What a unittest log shows, before it is settled into outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field

from utboost_action.logs.unittest_section import Section
from utboost_action.model import TestStatus


@dataclass(slots=True)
class Started:
    """One test whose line was seen, with what may be its verdicts.

    said: verdicts in the runner's own place. guess: a verdict at the end of a line that the test's
    output begins; it counts only when nothing else is known.
    """

    id: str
    first: int
    last: int
    order: int
    said: list[TestStatus] = field(default_factory=list)
    subtests: list[TestStatus] = field(default_factory=list)
    guess: TestStatus | None = None
    runs: int = 1
    alone: bool = False  # its verdict came on a line of its own
    skip_below: bool = False  # a skip stands alone below its verdict
    doubtful: bool = False  # a blank and other text stand before its id


@dataclass(slots=True)
class Transcript:
    """All that a log of this family shows, before it is settled into outcomes."""

    tests: dict[str, Started] = field(default_factory=dict)
    events: dict[str, tuple[TestStatus, int]] = field(default_factory=dict)
    docstrings: dict[str, str] = field(default_factory=dict)
    section: Section = field(default_factory=Section)
    runs: list[tuple[int, dict[str, int], bool]] = field(default_factory=list)  # ran, figures, OK
    inside: dict[str, str] = field(default_factory=dict)  # id printed while another test ran -> that test
    either: list[tuple[str, str, TestStatus]] = field(default_factory=list)  # a verdict of one of two
    nameless_skips: int = 0
    nameless_errors: int = 0
    dots: int = 0
    unparsed: int = 0
