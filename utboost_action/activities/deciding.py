"""A maintainer's word on augmented tests: kept in the bank of the data branch, with who, when and why."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from utboost_action import session
from utboost_action.activities import texts
from utboost_action.activities.data import data_branch, required_branch, stored_bank
from utboost_action.activities.step import Ending, Result, Step
from utboost_action.activities.targets import DeclinedTarget, OpinionTarget
from utboost_action.benchmark.bank import write_bank
from utboost_action.commands.confirm import decided
from utboost_action.errors import InputError
from utboost_action.github.annotations import Annotation, Level, write_annotations
from utboost_action.github.client import Api
from utboost_action.github.commands import CommandKind, Reaction, react
from utboost_action.github.data_branch import DataTree
from utboost_action.github.delivery import Surface, deliver, refusals
from utboost_action.github.summary import write_summary
from utboost_action.model import AugmentedTest, BankStatus, Opinion


def decide(step: Step, api: Api, target: OpinionTarget) -> Result:
    """Record the decision on the data branch, and answer the comment. Raises GitHubError, InputError."""
    request, command = target.request, target.accepted.command
    required_branch(step, f"/utboost {command.kind}")
    benchmark, own_bank = session.read_rows_and_bank(step.settings)
    name = command.instance_id
    if name not in benchmark.instances:
        raise InputError(f"/utboost {command.kind}: {name} is no instance of {step.settings.benchmark}")
    confirming = command.kind is CommandKind.CONFIRM
    opinion = Opinion.CONFIRM if confirming else Opinion.DISPUTE
    why = f"/utboost confirm on pull request #{request.number}" if confirming else command.reason
    at = step.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    row = benchmark.instances[name]

    def write(tree: DataTree) -> Mapping[str, bytes | None]:
        path = f"bank/{name}.json"
        known = stored_bank(tree.read([path])).get(name) or own_bank.get(name, ())
        chosen = _chosen(known, command.test, name)
        changed = [decided(entry, opinion, why, request.author, at, test) for entry, test in chosen]
        rest = [entry for entry in known if entry.id not in {each.id for each in changed}]
        with tempfile.TemporaryDirectory() as folder:
            (file,) = write_bank(Path(folder), [*rest, *changed], {name: row.base_commit})
            return {path: file.read_bytes()}

    verb = "confirmed" if confirming else "disputed"
    data_branch(step, api, request.repository, write, f"{name}: {verb} by a maintainer")
    message = f"{name}: {verb}; /utboost recheck {name} shows what that changes"
    done = deliver(
        [
            (Surface.REACTION, lambda: react(api, request.repository, request.comment_id, Reaction.DONE)),
            *_summary(step, f"UTBoost: {verb}", (message,)),
        ]
    )
    write_annotations(refusals(done), step.stream)
    return Result(Ending.NOT_DELIVERED if refusals(done) else Ending.DONE, message)


def decline(step: Step, api: Api, target: DeclinedTarget) -> Result:
    """Say why a command is not carried out."""
    request, declined = target.request, target.declined
    write_annotations([Annotation(Level.NOTICE, declined.reason, "UTBoost: command declined")], step.stream)
    done = deliver(
        [
            (Surface.REACTION, lambda: react(api, request.repository, request.comment_id, declined.reaction)),
            *_summary(step, "UTBoost: command declined", (declined.reason,)),
        ]
    )
    write_annotations(refusals(done), step.stream)
    return Result(Ending.NOT_DELIVERED if refusals(done) else Ending.DECLINED, declined.reason)


def _chosen(known: Sequence[AugmentedTest], test: str, instance_id: str) -> list[tuple[AugmentedTest, str]]:
    """(entry, one of its tests or "" for all) that a command is about. Raises InputError."""
    live = [entry for entry in known if entry.status is not BankStatus.RETIRED]
    if not test and live:
        return [(entry, "") for entry in live]
    named = [entry for entry in live if test == entry.id or test.startswith(f"{entry.id}::")]
    if named:
        entry = max(named, key=lambda each: len(each.id))
        return [(entry, test.removeprefix(entry.id).removeprefix("::"))]
    holding = [entry for entry in live if test in entry.targets]
    if not holding:
        names = ", ".join(entry.id for entry in live[:5]) or "none"
        raise InputError(f"/utboost: the bank has no such test for {instance_id}; its entries: {names}")
    return [(entry, test) for entry in holding]


def _summary(step: Step, title: str, lines: tuple[str, ...]) -> list[tuple[Surface, Callable[[], object]]]:
    path = step.file("GITHUB_STEP_SUMMARY")
    if path is None:
        return []
    return [(Surface.SUMMARY, lambda: write_summary(path, texts.plain_levels(title, lines)))]
