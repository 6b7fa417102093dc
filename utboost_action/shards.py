"""Shards of an audit: planned to take equally long, executed apart, merged into the same report.

Pure functions over the values that travel between the jobs of a workflow (`exchange.py` reads and writes
them). What a shard does not bring back is not audited: it neither passes nor fails.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from utboost_action import __version__
from utboost_action.model import AugmentedTest, Claim, Finding, Instance, Prediction, Submission, Verdict
from utboost_action.storage import content_key
from utboost_action.typed_json import to_json

SCHEMA = 1
MATRIX_JOBS = 256  # GitHub starts at most so many jobs of one matrix
MOST_SHARDS = 20  # unless more are asked for
SHORTEST_SHARD = 300.0  # seconds; below, starting another job costs more than it saves
_START = 30.0  # seconds that a candidate takes beside its tests (docs/sandbox.md)
_TEST = 0.05  # seconds of one listed test, all repeats together


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission as it travels: what was read of it, without its files.

    path: its folder as a reader knows it. regraded: instance id -> resolved by its own log (None: unknown),
    None without logs. instances: the ids to audit, in the benchmark's order. tree: git's id of the folder,
    "" when not known.
    """

    path: str
    name: str
    generation: str
    split: str | None
    claim: Claim
    predictions: tuple[Prediction, ...]
    findings: tuple[Finding, ...]
    regraded: Mapping[str, bool | None] | None
    instances: tuple[str, ...]
    tree: str = ""

    def as_submission(self) -> Submission:
        """The value that an audit takes; it has no files any more."""
        predictions = {prediction.instance_id: prediction for prediction in self.predictions}
        return Submission(
            self.name, Path(), self.generation, self.split, predictions, self.claim, {}, self.findings
        )


@dataclass(frozen=True, slots=True)
class Unit:
    """One instance of one submission (its place in the plan)."""

    submission: int
    instance_id: str


@dataclass(frozen=True, slots=True)
class Shard:
    """What one job audits, and how many seconds that should take."""

    index: int
    seconds: float
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class How:
    """What all shards and the merge must agree on; texts as the command line takes them."""

    benchmark: str
    bank: str = ""
    sandbox: str = "docker"
    trees: str = ""
    image_template: str = ""
    repeats: int = 3
    timeout: float = 1800.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What was collected of a pull request or a folder, and how it is shared out.

    head_sha: the commit that was read, "" for a folder. tests: the bank, as far as it is needed;
    generated: the ids of those that were written for this audit. others, removed: changed paths that
    belong to no submission, and submissions that the pull request deletes. not_audited: submissions that
    could not be taken in, each with its folder and the reason. notes: what else to know.
    """

    schema: int
    tool: str
    head_sha: str
    how: How
    submissions: tuple[Submitted, ...]
    shards: tuple[Shard, ...]
    tests: tuple[AugmentedTest, ...] = ()
    generated: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    not_audited: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def bank(self) -> dict[str, tuple[AugmentedTest, ...]]:
        """The tests by instance."""
        found: dict[str, tuple[AugmentedTest, ...]] = {}
        for test in self.tests:
            found[test.instance_id] = (*found.get(test.instance_id, ()), test)
        return found

    @property
    def key(self) -> str:
        """A digest of the plan; results of another plan are not merged into it."""
        return content_key(to_json(self))


@dataclass(frozen=True, slots=True)
class UnitVerdict:
    """The verdict on one unit."""

    submission: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ShardResult:
    """What one shard brings back.

    problems: place of a submission -> why its part stopped before its end. seconds: instance id -> how
    long it took.
    """

    schema: int
    tool: str
    plan: str
    index: int
    verdicts: tuple[UnitVerdict, ...]
    problems: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Merged:
    """All that came back. missing: shards without a usable result, each with the reason."""

    verdicts: Mapping[Unit, Verdict]
    missing: Mapping[int, str]
    problems: Mapping[int, tuple[str, ...]]

    def problem_of(self, plan: Plan, submission: int) -> str:
        """Why the audit of one submission is not whole, "" when it is."""
        lost = [
            (shard, sum(unit.submission == submission for unit in shard.units))
            for shard in plan.shards
            if shard.index in self.missing
        ]
        texts = [
            f"shard {shard.index} of {len(plan.shards)} is missing ({self.missing[shard.index]}), "
            f"{count} of its instances not audited"
            for shard, count in lost
            if count
        ]
        return "; ".join([*texts, *self.problems.get(submission, ())])


def read_durations(content: bytes) -> dict[str, float]:
    """Instance id -> seconds, from a JSON object; what is no number is left out."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    return {
        str(name): float(seconds)
        for name, seconds in value.items()
        if isinstance(seconds, int | float) and not isinstance(seconds, bool)
    }


def cost_of(instance: Instance, augmented: int, durations: Mapping[str, float], repeats: int = 3) -> float:
    """Seconds that auditing one candidate should take.

    durations: instance id -> seconds of an earlier audit. Without one: from the number of listed tests,
    for the original suite and each augmented one.
    """
    known = durations.get(instance.instance_id)
    if known is not None and known > 0:
        return known
    tests = len(instance.fail_to_pass) + len(instance.pass_to_pass)
    return _START + _TEST * tests * (1 + augmented) * repeats


def share_out(
    units: Sequence[Unit], cost: Callable[[Unit], float], most: int = MOST_SHARDS
) -> tuple[Shard, ...]:
    """Units into at most `most` shards of even length; units of one instance stay together.

    Together they use each other's gold and base runs, and one image. The longest come first, each into
    the shard that is shortest by then. Raises ValueError for a number of shards that no matrix takes.
    """
    if not 1 <= most <= MATRIX_JOBS:
        raise ValueError(f"{most} shards: a matrix takes 1 to {MATRIX_JOBS} jobs")
    groups: dict[str, list[Unit]] = {}
    for unit in units:
        groups.setdefault(unit.instance_id, []).append(unit)
    costs = {name: sum(map(cost, group)) for name, group in groups.items()}
    total = sum(costs.values())
    number = max(1, min(most, len(groups), round(total / SHORTEST_SHARD)))
    heap: list[tuple[float, int]] = [(0.0, index) for index in range(number)]
    taken: list[list[Unit]] = [[] for _ in range(number)]
    for name in sorted(groups, key=lambda name: (-costs[name], name)):
        seconds, index = heapq.heappop(heap)
        taken[index] += groups[name]
        heapq.heappush(heap, (seconds + costs[name], index))
    lengths = {index: seconds for seconds, index in heap}
    place = {unit: number for number, unit in enumerate(units)}
    return tuple(
        Shard(index + 1, round(lengths[index], 1), tuple(sorted(mine, key=place.__getitem__)))
        for index, mine in enumerate(taken)
        if mine
    )


def merge(plan: Plan, results: Sequence[ShardResult], unusable: Mapping[int, str] | None = None) -> Merged:
    """Put together what came back; results of another plan or version, or given twice, are not used.

    unusable: shard -> why its file could not be read. A verdict that no shard was asked for is dropped
    with its shard: what claims too much is not believed at all.
    """
    key = plan.key
    verdicts: dict[Unit, Verdict] = {}
    missing = {shard.index: "it brought no result" for shard in plan.shards}
    missing |= {index: why for index, why in (unusable or {}).items() if index in missing}
    by_index = {shard.index: shard for shard in plan.shards}
    problems: dict[int, tuple[str, ...]] = {}
    for result in results:
        shard = by_index.get(result.index)
        if shard is None:
            continue
        found = {Unit(each.submission, each.verdict.instance_id): each.verdict for each in result.verdicts}
        if result.schema != SCHEMA or result.tool != __version__:
            missing[result.index] = "its result is of another version"
        elif result.plan != key:
            missing[result.index] = "its result belongs to another plan"
        elif set(found) - set(shard.units) or len(found) != len(result.verdicts):
            missing[result.index] = "its result names instances that it was not given"
        else:
            missing.pop(result.index, None)
            verdicts |= found
            for place, text in result.problems.items():
                if place.isdecimal():
                    said = f"shard {result.index}: {text}"
                    problems[int(place)] = (*problems.get(int(place), ()), said)
    return Merged(verdicts, dict(sorted(missing.items())), problems)
