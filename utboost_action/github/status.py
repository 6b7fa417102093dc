"""The commit status `utboost/audit`: one short ASCII line beside the head."""

from __future__ import annotations

import unicodedata
from enum import StrEnum

from utboost_action.errors import InputError
from utboost_action.github.client import Api
from utboost_action.github.payload import is_sha

CONTEXT = "utboost/audit"
MAX_DESCRIPTION = 140


class StatusState(StrEnum):
    """The states of a commit status, with GitHub's names."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    ERROR = "error"


def set_status(
    api: Api,
    repository: str,
    head_sha: str,
    state: StatusState,
    description: str,
    target_url: str = "",
    context: str = CONTEXT,
) -> None:
    """Set the status of a commit; setting it again is harmless, the last one counts. Raises GitHubError."""
    if not is_sha(head_sha):
        raise InputError(f"commit {head_sha[:80]!r}: expected a full commit id")
    value = {
        "state": state.value,
        "description": ascii_line(description, MAX_DESCRIPTION),
        "context": context,
    }
    if target_url:
        value["target_url"] = target_url
    api.repeated(lambda: api.post(f"/repos/{repository}/statuses/{head_sha}", value))


def ascii_line(text: str, limit: int) -> str:
    """The text as one line of printable ASCII of at most `limit` characters, shortened at a word.

    Accents fall off their letters; dashes and ellipses become `-` and `...`; what is left becomes `?`.
    """
    plain = unicodedata.normalize("NFKD", text.translate({0x2013: "-", 0x2014: "-", 0x2212: "-"}))
    letters = "".join(c for c in plain if not unicodedata.combining(c))
    shown = "".join(c if c.isspace() or (c.isascii() and c.isprintable()) else "?" for c in letters)
    line = " ".join(shown.split())
    if len(line) <= limit:
        return line
    kept = line[: limit - 3]
    word = kept.rpartition(" ")[0]
    return f"{word if len(word) > limit // 2 else kept}..."
