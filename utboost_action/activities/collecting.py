"""Reading a pull request or the board into a plan: everything later jobs need, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from utboost_action import session
from utboost_action.activities.data import stored, stored_bank, stored_durations
from utboost_action.activities.step import Step
from utboost_action.activities.targets import BoardTarget, PullTarget
from utboost_action.benchmark.bank import Bank
from utboost_action.benchmark.rows import Benchmark
from utboost_action.errors import InputError
from utboost_action.github.client import Api
from utboost_action.github.reading import ReadOptions, read_board, read_pull_request
from utboost_action.github.submissions import ExportedSubmission
from utboost_action.leaderboard import read_submission
from utboost_action.settings import SandboxKind, Settings
from utboost_action.sharding import plan_of, submitted_of
from utboost_action.shards import Plan, Submitted


@dataclass(frozen=True, slots=True)
class Collected:
    """A plan with the rows it was made against."""

    plan: Plan
    benchmark: Benchmark


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read: exported folders, and what else is to be said."""

    submissions: tuple[ExportedSubmission, ...]
    commit: str
    others: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def collect(step: Step, api: Api, target: PullTarget | BoardTarget) -> Collected:
    """Read the submissions of a target, take them in, and plan their audit.

    Raises SupersededError when the head has moved on, GitHubError, InputError.
    """
    settings = step.settings
    if not settings.benchmark:
        raise InputError("input benchmark: give the rows of the board, for example lite or benchmark.jsonl")
    if settings.sandbox is SandboxKind.LOCAL and isinstance(target, PullTarget) and target.from_fork:
        raise InputError(
            "input sandbox: local isolates nothing, so it never runs a fork's patches; use docker"
        )
    read = _read(step, api, target)
    files = stored(step, api, target.repository)
    benchmark, bank = session.read_rows_and_bank(settings)
    bank = {**bank, **stored_bank(files)}
    wanted = target.instances or settings.instances
    _require_known(wanted, benchmark)
    submitted: list[Submitted] = []
    refused: list[str] = []
    notes = list(read.notes)
    for one in read.submissions:
        try:
            taken, lacking = _take_in(replace(settings, instances=wanted), benchmark, bank, one)
        except InputError as problem:
            refused.append(f"{one.folder}: not audited: {problem}")
            continue
        submitted.append(taken)
        if lacking:
            notes.append(f"{one.folder}: no prediction for {', '.join(lacking)}")
    plan = plan_of(settings, benchmark, bank, submitted, stored_durations(files), read.commit)
    plan = replace(
        plan, others=read.others, removed=read.removed, not_audited=tuple(refused), notes=tuple(notes)
    )
    return Collected(plan, benchmark)


def _require_known(wanted: Sequence[str], benchmark: Benchmark) -> None:
    """Raises InputError for an instance that no submission of this board can hold."""
    unknown = [name for name in wanted if name not in benchmark.instances]
    if unknown:
        why = benchmark.unreadable.get(unknown[0], "")
        raise InputError(
            f"input instances: {unknown[0]} is not an instance of {benchmark.source}"
            + (f": {why}" if why else "")
        )


def _read(step: Step, api: Api, target: PullTarget | BoardTarget) -> _Read:
    workspace = step.scratch / "read"
    options = ReadOptions(patterns=step.settings.action.submissions)
    if isinstance(target, BoardTarget):
        found = read_board(
            api, target.repository, target.commit, workspace, step.environ, target.paths, options
        )
        return _Read(found, target.commit)
    read = read_pull_request(
        api, target.repository, target.number, target.head_sha, workspace, step.environ, options
    )
    notes = (f"read without git: {read.without_git}",) if read.without_git else ()
    located = read.located
    return _Read(read.submissions, target.head_sha, located.others, located.removed, notes)


def _take_in(
    settings: Settings, benchmark: Benchmark, bank: Bank, one: ExportedSubmission
) -> tuple[Submitted, tuple[str, ...]]:
    """A submission as it travels, and which of the instances asked for it holds no prediction for.

    Raises InputError for a submission of which nothing can be audited.
    """
    submission = read_submission(one.root, instances=benchmark.instances, split=benchmark.split or None)
    submission = replace(submission, findings=(*one.findings, *submission.findings))
    held = tuple(name for name in settings.instances if name in submission.predictions)
    if settings.instances and not held:
        raise InputError("it holds no prediction for an instance that was asked for")
    own = replace(settings, submission=one.root, shown_as=one.folder, instances=held)
    taken = submitted_of(session.session_of(own, benchmark, bank, submission), one.folder, one.tree)
    return taken, tuple(name for name in settings.instances if name not in held)
