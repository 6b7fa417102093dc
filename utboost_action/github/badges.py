"""Badges as JSON for shields.io's endpoint: one for each submission, one for the board."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from utboost_action.github.payload import is_plain_path
from utboost_action.github.status import ascii_line

CACHE_SECONDS = 300  # shields.io caches no shorter
_MAX_TEXT = 80


class Color(StrEnum):
    """The colours that badges have here, with shields.io's names."""

    GOOD = "brightgreen"
    FAIR = "yellow"
    BAD = "orange"
    UNKNOWN = "lightgrey"
    FAULT = "red"


@dataclass(frozen=True, slots=True)
class Badge:
    """One badge. fault: the audit itself failed, which shields.io shows as an error."""

    label: str
    message: str
    color: Color
    fault: bool = False


def submission_badge(claimed: int | None, low: int, high: int, total: int) -> Badge:
    """The adjusted rate of a submission, counts out of the split's `total` instances.

    low counts what holds, high adds what is open; claimed None: nothing claimed. The colour tells how
    far below the claim even `high` lies: at most 1 point, at most 5 points, or more. Raises ValueError
    for counts out of order.
    """
    if total <= 0 or not 0 <= low <= high <= total:
        raise ValueError(f"counts out of order: 0 <= {low} <= {high} <= {total}, total > 0")
    ends = dict.fromkeys((_percent(low, total), _percent(high, total)))
    message = "-".join(f"{end}%" for end in ends)
    if claimed is None:
        return Badge("adjusted", message, Color.UNKNOWN)
    gap = 100.0 * (claimed - high) / total
    color = Color.GOOD if gap <= 1.0 else Color.FAIR if gap <= 5.0 else Color.BAD
    return Badge("adjusted", f"{message} of {_percent(claimed, total)}% claimed", color)


def board_badge(audited: int, submissions: int) -> Badge:
    """How much of the board is audited."""
    color = Color.GOOD if audited == submissions else Color.FAIR if audited else Color.UNKNOWN
    return Badge("utboost audit", f"{audited} of {submissions} submissions", color)


def fault_badge() -> Badge:
    """The badge of an audit that could not be done."""
    return Badge("adjusted", "audit failed", Color.FAULT, fault=True)


def badge_json(badge: Badge) -> str:
    """The endpoint's JSON (schema version 1), ASCII, with a final newline."""
    value: dict[str, object] = {
        "schemaVersion": 1,
        "label": ascii_line(badge.label, _MAX_TEXT),
        "message": ascii_line(badge.message, _MAX_TEXT),
        "color": badge.color.value,
        "cacheSeconds": CACHE_SECONDS,
    }
    if badge.fault:
        value["isError"] = True
    return json.dumps(value, ensure_ascii=True, sort_keys=True, indent=1) + "\n"


def badge_path(folder: str) -> str:
    """Where the badge of a submission (its path in the repository) lies on the data branch.

    Raises ValueError for what is no plain path.
    """
    if not is_plain_path(folder):
        raise ValueError(f"no plain path: {folder!a}")
    return f"badges/{folder}.json"


def _percent(count: int, total: int) -> str:
    """With one decimal, rounded half up by whole numbers."""
    tenths = (2_000 * count + total) // (2 * total)
    return f"{tenths // 10}.{tenths % 10}"
