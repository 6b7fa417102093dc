"""What a reader of one runner family hands back, and the order of outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field

from utboost_action.model import LogFlag, RunnerSummary, TestStatus

MESSAGE_LIMIT = 2_000
"""Characters kept of a failure's message."""

# From log-parsing policy 3: of two outcomes of one id the worse is kept.
_BADNESS = {
    TestStatus.PASSED: 0,
    TestStatus.XFAIL: 1,
    TestStatus.SKIPPED: 2,
    TestStatus.XPASS: 3,
    TestStatus.FAILED: 4,
    TestStatus.ERROR: 5,
}


def worse(one: TestStatus, other: TestStatus) -> TestStatus:
    """Return the worse of two outcomes: ERROR > FAILED > XPASS > SKIPPED > XFAIL > PASSED."""
    return one if _BADNESS[one] >= _BADNESS[other] else other


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an outcome stands: offsets into the cleaned text of its first and last line."""

    first: int
    last: int
    kind: str
    message: str = ""


@dataclass(slots=True)
class Reading:
    """The outcome of reading one cleaned text; the readers fill it.

    closed: the runner's closing line was seen. cut: a sign that the log stops early.
    begun: a sign that the runner had started (its header, a test).
    refusal: why the text may not be used for a grade, "" when it may.
    """

    statuses: dict[str, TestStatus] = field(default_factory=dict)
    events: dict[str, TestStatus] = field(default_factory=dict)
    spots: dict[str, Spot] = field(default_factory=dict)
    docstrings: dict[str, str] = field(default_factory=dict)
    summary: RunnerSummary | None = None
    closed: bool = False
    cut: bool = False
    begun: bool = False
    flags: set[LogFlag] = field(default_factory=set)
    refusal: str = ""
    warnings: list[str] = field(default_factory=list)

    def warn(self, message: str) -> None:
        """Add a warning once."""
        if message not in self.warnings:
            self.warnings.append(message)


def listed(ids: list[str], most: int = 3) -> str:
    """Name a few of `ids` for a warning."""
    shown = ", ".join(name if len(name) <= 120 else name[:117] + "..." for name in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most} more"
