"""Submissions into a plan, its units into verdicts, verdicts into reports: with and without shards.

The commands `plan`, `execute` and `merge` and the jobs of a workflow are these same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from utboost_action import __version__, session
from utboost_action.audit import audit_of
from utboost_action.benchmark.bank import Bank
from utboost_action.benchmark.rows import Benchmark
from utboost_action.errors import InputError
from utboost_action.model import Cause, Verdict
from utboost_action.settings import SandboxKind, Settings
from utboost_action.shards import (
    SCHEMA,
    How,
    Merged,
    Plan,
    Shard,
    ShardResult,
    Submitted,
    Unit,
    UnitVerdict,
    cost_of,
    merge,
    share_out,
)
from utboost_action.storage import content_key

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Reports:
    """The finished (or partial) audits of a plan, in its order, and what a run of them took."""

    plan: Plan
    outcomes: tuple[session.Outcome, ...]
    missing: Mapping[int, str]
    seconds: Mapping[str, float]


def plan_of(
    settings: Settings,
    benchmark: Benchmark,
    bank: Bank,
    submitted: Sequence[Submitted],
    durations: Mapping[str, float],
    head_sha: str = "",
) -> Plan:
    """Share the submissions' instances out. durations: instance id -> seconds of an earlier audit."""
    units = [Unit(place, name) for place, one in enumerate(submitted) for name in one.instances]
    names = dict.fromkeys(unit.instance_id for unit in units)

    def cost(unit: Unit) -> float:
        augmented = len(bank.get(unit.instance_id, ()))
        row = benchmark.instances[unit.instance_id]
        return cost_of(row, augmented, durations, settings.repeats)

    return Plan(
        schema=SCHEMA,
        tool=__version__,
        head_sha=head_sha,
        how=how_of(settings, bank),
        submissions=tuple(submitted),
        shards=share_out(units, cost, settings.action.shards) if units else (),
        tests=tuple(test for name in names for test in bank.get(name, ())),
    )


def how_of(settings: Settings, bank: Bank) -> How:
    """What the jobs of one audit must agree on; the data branch's bank is called by its folder."""
    return How(
        benchmark=settings.benchmark,
        bank=str(settings.bank) if settings.bank else "bank" if bank else "",
        sandbox=str(settings.sandbox),
        trees=str(settings.trees or ""),
        image_template=settings.image_template or "",
        repeats=settings.repeats,
        timeout=settings.timeout,
    )


def submitted_of(prepared: session.Session, path: str, tree: str = "") -> Submitted:
    """A prepared session as it travels."""
    submission = prepared.submission
    return Submitted(
        path=path,
        name=submission.name,
        generation=submission.generation,
        split=submission.split,
        claim=submission.claim,
        predictions=tuple(submission.predictions.values()),
        findings=submission.findings,
        regraded=session.regraded(prepared),
        instances=tuple(task.instance.instance_id for task in prepared.tasks),
        tree=tree,
    )


def settings_as(settings: Settings, how: How) -> Settings:
    """Settings that do what a plan says (`utboost-action execute` and `merge`)."""
    return replace(
        settings,
        benchmark=how.benchmark,
        bank=Path(how.bank) if how.bank else None,
        sandbox=SandboxKind(how.sandbox),
        trees=Path(how.trees) if how.trees else None,
        image_template=how.image_template or None,
        repeats=how.repeats,
        timeout=how.timeout,
    )


def require_same(settings: Settings, how: How) -> None:
    """Raises InputError when a job was told otherwise than the one that planned."""
    told = {
        "benchmark": settings.benchmark,
        "sandbox": str(settings.sandbox),
        "trees": str(settings.trees or ""),
        "image-template": settings.image_template or "",
        "repeats": settings.repeats,
        "timeout": settings.timeout,
    }
    for name, value in told.items():
        planned = getattr(how, name.replace("-", "_"))
        if value != planned:
            raise InputError(
                f"input {name}: {value!a} here, but the plan says {planned!a}; give all jobs the same"
            )


def whole(plan: Plan) -> Shard:
    """All shards of a plan as one."""
    return Shard(0, 0.0, tuple(unit for shard in plan.shards for unit in shard.units))


def shard_of(plan: Plan, index: int) -> Shard:
    """One shard of a plan. Raises InputError for a number that it does not have."""
    for shard in plan.shards:
        if shard.index == index:
            return shard
    raise InputError(f"shard {index}: the plan has shards 1 to {len(plan.shards)}")


def execute(
    settings: Settings,
    plan: Plan,
    benchmark: Benchmark,
    shard: Shard,
    clock: Callable[[], float],
    say: Say,
) -> ShardResult:
    """Audit the units of a shard, submission by submission; a stop keeps what is known.

    Raises EngineUnavailableError before anything starts.
    """
    verdicts: list[UnitVerdict] = []
    seconds: dict[str, float] = {}
    problems: dict[str, str] = {}
    total = len(shard.units)
    last = clock()

    def progress(verdict: Verdict) -> None:
        nonlocal last
        now = clock()
        spent = (now - last) * settings.jobs  # about; several run at a time
        seconds[verdict.instance_id] = round(max(seconds.get(verdict.instance_id, 0.0), spent), 1)
        last = now
        say(f"[{len(seconds)} of {total}] {verdict.instance_id} {verdict.kind}")

    for place in dict.fromkeys(unit.submission for unit in shard.units):
        mine = tuple(unit.instance_id for unit in shard.units if unit.submission == place)
        audit = session.judge(_session(settings, plan, benchmark, place, mine), progress)
        verdicts += [
            UnitVerdict(place, verdict)
            for verdict in audit.verdicts
            if verdict.cause is not Cause.NOT_AUDITED
        ]
        if audit.problem:
            problems[str(place)] = audit.problem
            if audit.problem == "stopped by the user":
                break
    return ShardResult(SCHEMA, __version__, plan.key, shard.index, tuple(verdicts), problems, seconds)


def report(
    settings: Settings,
    plan: Plan,
    benchmark: Benchmark,
    results: Sequence[ShardResult],
    unusable: Mapping[int, str] | None = None,
) -> Reports:
    """The reports of all submissions from what the shards brought back, written below `out`."""
    merged = merge(plan, results, unusable)
    seconds = {name: value for result in results for name, value in result.seconds.items()}
    return _reports(settings, plan, benchmark, merged, seconds)


def report_whole(settings: Settings, plan: Plan, benchmark: Benchmark, result: ShardResult) -> Reports:
    """The same from one job that audited everything (`whole`)."""
    verdicts = {Unit(each.submission, each.verdict.instance_id): each.verdict for each in result.verdicts}
    merged = Merged(verdicts, {}, {int(place): (text,) for place, text in result.problems.items()})
    return _reports(settings, plan, benchmark, merged, result.seconds)


def _reports(
    settings: Settings, plan: Plan, benchmark: Benchmark, merged: Merged, seconds: Mapping[str, float]
) -> Reports:
    outcomes = []
    for place, submitted in enumerate(plan.submissions):
        prepared = _session(settings, plan, benchmark, place, submitted.instances)
        audit = audit_of(
            prepared.submission,
            benchmark,
            prepared.tasks,
            {unit.instance_id: each for unit, each in merged.verdicts.items() if unit.submission == place},
            repeats=settings.repeats,
            sandbox_name=str(settings.sandbox),
            trusted_only=settings.sandbox is SandboxKind.LOCAL,
            problem=merged.problem_of(plan, place),
        )
        outcomes.append(session.write_reports(prepared, audit, submitted.regraded))
    return Reports(plan, tuple(outcomes), merged.missing, seconds)


def _session(
    settings: Settings, plan: Plan, benchmark: Benchmark, place: int, instances: tuple[str, ...]
) -> session.Session:
    submitted = plan.submissions[place]
    out = (
        folder_of(settings.out, submitted.path)
        if len(plan.submissions) > 1 or plan.head_sha
        else settings.out
    )
    own = replace(
        settings,
        bank=Path(plan.how.bank) if plan.how.bank else None,
        instances=instances,
        shown_as=submitted.path,
        out=out,
    )
    return session.session_of(own, benchmark, plan.bank(), submitted.as_submission())


def folder_of(out: Path, path: str) -> Path:
    """Where the report of a submission goes: below `out` by its path, or by a digest of an odd one."""
    parts = [part for part in Path(path).parts if part not in ("/", "..", ".")]
    return out.joinpath(*parts) if parts else out / content_key(path)
