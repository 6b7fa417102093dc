"""The gates of generation and their counters: every reason why a reply or a test was turned away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Gate(StrEnum):
    """Why something was turned away, in the order of the gates (docs/generation.md has the table)."""

    # replies of the localisation
    MALFORMED_JSON = "malformed json"
    INVENTED_PATH = "invented path"
    ESCAPING_PATH = "escaping path"
    UNKNOWN_PLACE = "unknown place"
    BAD_RANGE = "bad range"
    # a reply with tests, as text
    EMPTY_REPLY = "empty reply"
    CUT_REPLY = "cut reply"
    OVERSIZED_REPLY = "oversized reply"
    NO_EDIT = "no edit"
    MALFORMED_EDIT = "malformed edit"
    FORBIDDEN_FILE = "forbidden file"
    SEARCH_NOT_FOUND = "search not found"
    SEARCH_AMBIGUOUS = "search ambiguous"
    # its edited files, as syntax
    UNPARSABLE = "unparsable"
    EXISTING_CHANGED = "existing code changed"
    STRAY_STATEMENT = "stray statement"
    REDEFINES = "redefines a name"
    NO_NEW_TEST = "no new test"
    # one new test
    NETWORK = "network"
    SLEEP = "sleep"
    CLOCK = "reads the clock"
    RANDOMNESS = "unseeded randomness"
    ABSOLUTE_PATH = "absolute path"
    WRITES = "writes outside temporary folders"
    RUNNER_CONFIGURATION = "runner configuration"
    SKIPPED = "skips itself"
    DUPLICATE = "duplicate"
    OVER_LIMIT = "over the limit of tests"
    # in the sandbox
    TARGET_SYNTAX = "unparsable by the target python"
    NOT_APPLICABLE = "does not apply"
    NOT_COLLECTED = "not collected"
    FAILS_ON_GOLD = "fails on gold"
    UNSTABLE = "unstable on gold"
    HASH_SEED = "depends on the hash seed"
    ORDER = "depends on the order"
    FAILS_ALONE = "fails alone"
    DISTURBS_EXISTING = "disturbs existing tests"
    TOO_SLOW = "too slow"
    STOPPED = "run stopped"
    UNSTABLE_BASE = "unstable on base"


@dataclass(frozen=True, slots=True)
class Rejection:
    """One thing turned away. where: sample, file or test; detail: what was wrong with it."""

    gate: Gate
    where: str
    detail: str = ""


class RejectedError(ValueError):
    """A reply, edit or test that does not pass a gate."""

    def __init__(self, gate: Gate, detail: str) -> None:
        super().__init__(f"{gate}: {detail}")
        self.gate = gate
        self.detail = detail


@dataclass(slots=True)
class Tally:
    """The rejections of one instance, in order; the counters of the report come from it."""

    rejections: list[Rejection] = field(default_factory=list)

    def reject(self, gate: Gate, where: str, detail: str = "") -> None:
        """Count one more."""
        self.rejections.append(Rejection(gate, where, detail))

    def counters(self) -> Mapping[str, int]:
        """Gate -> how often, in the order of the gates, zeros left out."""
        counted = Counter(rejection.gate for rejection in self.rejections)
        return {str(gate): counted[gate] for gate in Gate if counted[gate]}
