"""The board's arithmetic: ranks before and after the audits, who moves, and how sure a move is.

Ranks are competition ranks (1, 2, 2, 4): equal counts share the better rank.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission, as counts over the split.

    claimed: None where it claims nothing. low, high: the adjusted interval; without an audit from nothing to
    the claim. audited: instances with a verdict. wrong, misgraded, suspect: how many of the claimed ones.
    """

    name: str
    title: str
    claimed: int | None
    low: int
    high: int
    audited: int = 0
    wrong: int = 0
    misgraded: int = 0
    suspect: int = 0

    @property
    def is_affected(self) -> bool:
        """Whether at least one claimed instance was shown not to be resolved."""
        return self.wrong + self.misgraded > 0


def unaudited(name: str, title: str, claimed: int | None) -> Entry:
    """An entry that no audit speaks of: everything between nothing and its claim is possible."""
    return Entry(name, title, claimed, 0, claimed or 0)


class Certainty(StrEnum):
    """How sure a change of rank is."""

    NONE = "rank unchanged"
    SURE = "sure"  # however the open verdicts turn out, the old rank is not reached
    OPEN = "open"  # open verdicts may bring the old rank back


@dataclass(frozen=True, slots=True)
class Place:
    """An entry's ranks. before: by claim. after: by the adjusted count's high end, what is not disproved.

    best, worst: the ranks it may still get. tied_before, tied_after: how many share the rank.
    """

    entry: Entry
    before: int
    tied_before: int
    after: int
    tied_after: int
    best: int
    worst: int
    certainty: Certainty

    @property
    def moved(self) -> int:
        """Ranks won (positive) or lost (negative)."""
        return self.before - self.after


@dataclass(frozen=True, slots=True)
class Board:
    """One split. total: its size. places: in the order after the audits, then before them, then by name."""

    benchmark: str
    split: str
    total: int
    places: tuple[Place, ...]
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> int:
        """How many entries change their rank."""
        return sum(place.certainty is not Certainty.NONE for place in self.places)

    @property
    def sure(self) -> int:
        """How many of them surely."""
        return sum(place.certainty is Certainty.SURE for place in self.places)

    @property
    def affected(self) -> int:
        """How many entries lose at least one claimed instance."""
        return sum(place.entry.is_affected for place in self.places)


def places_of(entries: Iterable[Entry]) -> tuple[Place, ...]:
    """Rank entries before and after, O(n log n). An entry without a claim ranks as with none resolved."""
    entries = list(entries)
    before = _Ranking([entry.claimed or 0 for entry in entries])
    after = _Ranking([entry.high for entry in entries])
    lows = sorted(entry.low for entry in entries)
    highs = sorted(entry.high for entry in entries)
    places = []
    for entry in entries:
        best = 1 + len(entries) - bisect_right(lows, entry.high)  # others surely above what it may reach
        above = len(entries) - bisect_right(highs, entry.low)  # others that may come to stand above it
        worst = above if entry.high > entry.low else above + 1  # itself, where it may, is no other
        rank, new = before.rank(entry.claimed or 0), after.rank(entry.high)
        places.append(
            Place(
                entry=entry,
                before=rank,
                tied_before=before.tied(entry.claimed or 0),
                after=new,
                tied_after=after.tied(entry.high),
                best=best,
                worst=max(worst, best),
                certainty=_certainty(rank, new, best, max(worst, best)),
            )
        )
    return tuple(sorted(places, key=lambda place: (place.after, place.before, place.entry.name)))


def _certainty(before: int, after: int, best: int, worst: int) -> Certainty:
    if before == after:
        return Certainty.NONE
    return Certainty.OPEN if best <= before <= worst else Certainty.SURE


class _Ranking:
    def __init__(self, counts: Sequence[int]) -> None:
        self._sorted = sorted(counts)
        self._counter = Counter(counts)

    def rank(self, count: int) -> int:
        """One more than there are with a larger count."""
        return 1 + len(self._sorted) - bisect_right(self._sorted, count)

    def tied(self, count: int) -> int:
        """How many have this count."""
        assert bisect_left(self._sorted, count) < len(self._sorted)
        return self._counter[count]


def board_document(board: Board) -> dict[str, object]:
    """The value of board.json; equal boards give equal bytes."""
    return {
        "schema": 1,
        "benchmark": board.benchmark,
        "split": board.split,
        "instances": board.total,
        "entries": len(board.places),
        "affected": board.affected,
        "rank_changes": board.changed,
        "sure_rank_changes": board.sure,
        "places": [_place(place, board.total) for place in board.places],
        "notes": list(board.notes),
    }


def _place(place: Place, total: int) -> dict[str, object]:
    entry = place.entry

    def rate(count: int | None) -> dict[str, object] | None:
        return None if count is None else {"count": count, "percent": round(100 * count / total, 4)}

    return {
        "name": entry.name,
        "title": entry.title or entry.name,
        "claimed": rate(entry.claimed),
        "adjusted": {"low": rate(entry.low), "high": rate(entry.high)},
        "audited": entry.audited,
        "wrong": entry.wrong,
        "misgraded": entry.misgraded,
        "suspect": entry.suspect,
        "rank_before": place.before,
        "tied_before": place.tied_before,
        "rank_after": place.after,
        "tied_after": place.tied_after,
        "moved": place.moved,
        "best_rank": place.best,
        "worst_rank": place.worst,
        "certainty": str(place.certainty),
    }
