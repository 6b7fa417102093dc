"""The zones of trust: which part of an activity each mode does, and with what.

mode      reads           knows a secret      runs code        writes
collect   the submission  a read-only token   no               plan.json
generate  plan.json       the model's key     in sandboxes     plan.json
execute   plan.json       none                in sandboxes     shard-N.json
report    plan, shards    a token that writes no               comment, status, data branch
auto      all of it, in one job
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from utboost_action import session
from utboost_action.activities import texts
from utboost_action.activities.collecting import collect
from utboost_action.activities.deciding import decide, decline
from utboost_action.activities.delivering import announce, announce_nothing, publish
from utboost_action.activities.generating import generate
from utboost_action.activities.refreshing import refresh
from utboost_action.activities.step import Ending, Result, Step
from utboost_action.activities.targets import (
    BoardTarget,
    DeclinedTarget,
    OpinionTarget,
    PullTarget,
    Target,
    target_of,
)
from utboost_action.exchange import read_plan, read_results, write_plan, write_result
from utboost_action.github.client import Api
from utboost_action.github.commands import Reaction, react
from utboost_action.github.events import Neutral, RefreshBoard, activity_of
from utboost_action.github.payload import Payload
from utboost_action.github.problems import SupersededError
from utboost_action.github.pull_request import require_head
from utboost_action.github.summary import write_summary
from utboost_action.settings import Mode
from utboost_action.sharding import (
    Reports,
    execute,
    report,
    report_whole,
    require_same,
    shard_of,
    whole,
)
from utboost_action.shards import Plan


def perform(step: Step, event: str, payload: Callable[[], Payload]) -> Result:
    """Do what the mode and the event ask for; a head that has moved on ends it. Raises AuditError."""
    try:
        return _perform(step, event, payload)
    except SupersededError as problem:
        return Result(Ending.SUPERSEDED, str(problem), _no_shards())


def _perform(step: Step, event: str, payload: Callable[[], Payload]) -> Result:
    match step.settings.action.mode:
        case Mode.EXECUTE:
            return _execute(step)
        case Mode.GENERATE:
            return _generate(step)
        case mode:
            activity = activity_of(event, payload())
            if isinstance(activity, Neutral):
                return _neutral(step, activity.reason)
            api = step.api()
            return _with_target(step, api, target_of(api, activity, step.commit), mode)


def _with_target(step: Step, api: Api, target: Target, mode: Mode) -> Result:
    if isinstance(target, PullTarget | BoardTarget):
        if mode is Mode.COLLECT:
            return _collect(step, api, target)
        return _audit(step, api, target) if mode is Mode.AUTO else _report(step, api, target)
    if mode is Mode.COLLECT:
        return Result(Ending.NEUTRAL, "nothing to audit; the job that reports does the rest", _no_shards())
    match target:
        case OpinionTarget():
            return decide(step, api, target)
        case DeclinedTarget():
            return decline(step, api, target)
        case RefreshBoard():
            return refresh(step, api, target)
        case Neutral():
            return _neutral(step, target.reason)


def _audit(step: Step, api: Api, target: PullTarget | BoardTarget) -> Result:
    """Everything in one job."""
    if isinstance(target, PullTarget) and target.command is not None:
        react(api, target.repository, target.command, Reaction.SEEN)
    collected = collect(step, api, target)
    plan, benchmark = collected.plan, collected.benchmark
    if plan.submissions and step.settings.action.model:
        plan = generate(step, plan, benchmark)
    settings = step.settings
    if target.force:  # nothing of an earlier run counts
        settings = replace(settings, resume=False, cache=step.scratch / "cache")
    if not plan.submissions:
        return _announce(step, api, target, Reports(plan, (), {}, {}))
    result = execute(settings, plan, benchmark, whole(plan), step.clock, step.say)
    return _announce(step, api, target, report_whole(settings, plan, benchmark, result))


def _collect(step: Step, api: Api, target: PullTarget | BoardTarget) -> Result:
    plan = collect(step, api, target).plan
    path = write_plan(step.settings.action.exchange, plan)
    numbers = [shard.index for shard in plan.shards]
    message = f"{len(plan.submissions)} submissions, {len(numbers)} shards, head {plan.head_sha[:12]}"
    _summary(step, "UTBoost: collected", (message, *plan.not_audited, *plan.notes))
    outputs = _no_shards() | {
        "plan": str(path),
        "shards": json.dumps(numbers),
        "head-sha": plan.head_sha,
        "submissions": str(len(plan.submissions)),
    }
    return Result(Ending.DONE, message, outputs)


def _generate(step: Step) -> Result:
    folder = step.settings.action.exchange
    plan = read_plan(folder)
    require_same(step.settings, plan.how)
    benchmark, _ = session.read_rows_and_bank(step.settings)
    made = generate(step, plan, benchmark)
    path = write_plan(folder, made)
    message = f"{len(made.generated)} tests generated"
    _summary(step, "UTBoost: generated", (message, *made.notes))
    return Result(Ending.DONE, message, {"plan": str(path)})


def _execute(step: Step) -> Result:
    folder, index = step.settings.action.exchange, step.settings.action.shard
    plan = read_plan(folder)
    require_same(step.settings, plan.how)
    benchmark, _ = session.read_rows_and_bank(step.settings)
    shard = shard_of(plan, index or 0)
    result = execute(step.settings, plan, benchmark, shard, step.clock, step.say)
    path = write_result(folder, result)
    message = f"shard {shard.index}: {len(result.verdicts)} of {len(shard.units)} instances audited"
    if result.problems:
        said = "; ".join(result.problems.values())
        return Result(Ending.INCOMPLETE, f"{message}: {said}", {"result": str(path)})
    return Result(Ending.DONE, message, {"result": str(path)})


def _report(step: Step, api: Api, target: PullTarget | BoardTarget) -> Result:
    """What the other jobs brought back, for the pull request of the event and nothing else."""
    if isinstance(target, PullTarget):
        require_head(api, target.repository, target.number, target.head_sha)
    plan = read_plan(step.settings.action.exchange)
    _require_commit(target, plan)
    if not plan.submissions:
        return _announce(step, api, target, Reports(plan, (), {}, {}))
    require_same(step.settings, plan.how)
    benchmark, _ = session.read_rows_and_bank(step.settings)
    results, unusable = read_results(step.settings.action.exchange)
    return _announce(step, api, target, report(step.settings, plan, benchmark, results, unusable))


def _announce(step: Step, api: Api, target: PullTarget | BoardTarget, reports: Reports) -> Result:
    if isinstance(target, BoardTarget):
        return publish(step, api, target, reports)
    if not reports.plan.submissions and not reports.plan.not_audited:
        lines = [f"{len(reports.plan.others)} changed files belong to no submission"]
        lines += [f"deleted: {path}" for path in reports.plan.removed]
        return announce_nothing(step, api, target, (*lines, *reports.plan.notes))
    return announce(step, api, target, reports)


def _require_commit(target: PullTarget | BoardTarget, plan: Plan) -> None:
    """The plan must be of the commit that the event names, not of one that a file names."""
    expected = target.head_sha if isinstance(target, PullTarget) else target.commit
    if plan.head_sha != expected:
        number = target.number if isinstance(target, PullTarget) else 0
        raise SupersededError(number, plan.head_sha, expected)


def _neutral(step: Step, reason: str) -> Result:
    _summary(step, "UTBoost: nothing to do", (reason,))
    return Result(Ending.NEUTRAL, reason, _no_shards())


def _no_shards() -> dict[str, str]:
    return {"shards": "[]"}


def _summary(step: Step, title: str, lines: tuple[str, ...]) -> None:
    if path := step.file("GITHUB_STEP_SUMMARY"):
        write_summary(path, texts.plain_levels(title, lines))
