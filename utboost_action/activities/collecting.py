"""Reading a pull request or the board into a plan: everything later jobs need, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from utboost_action import __version__, session
from utboost_action.activities.data import stored, stored_bank, stored_durations
from utboost_action.activities.step import Step
from utboost_action.activities.targets import BoardTarget, PullTarget
from utboost_action.benchmark.bank import Bank
from utboost_action.benchmark.rows import Benchmark
from utboost_action.errors import InputError
from utboost_action.github.client import Api
from utboost_action.github.git import Git, Remote
from utboost_action.github.problems import GitHubError
from utboost_action.github.reading import ReadOptions, read_board, read_pull_request
from utboost_action.github.submissions import ExportedSubmission
from utboost_action.leaderboard import read_submission
from utboost_action.settings import SandboxKind, Settings
from utboost_action.shards import SCHEMA, How, Plan, Submitted, Unit, cost_of, share_out
from utboost_action.storage import content_key


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
    submitted, notes = [], list(read.notes)
    for one in read.submissions:
        tree = _tree_id(step, api, target.repository, read.commit, one)
        try:
            submitted.append(_take_in(replace(settings, instances=wanted), benchmark, bank, one, tree))
        except InputError as problem:
            notes.append(f"{one.folder}: not audited: {problem}")
    return Collected(
        _plan(settings, benchmark, bank, submitted, read, tuple(notes), stored_durations(files)), benchmark
    )


def plan_of(
    settings: Settings,
    benchmark: Benchmark,
    bank: Bank,
    submitted: list[Submitted],
    durations: Mapping[str, float],
    most: int,
) -> Plan:
    """The plan of submissions that were read from folders (`utboost-action plan`)."""
    read = _Read((), "")
    chosen = replace(settings, action=replace(settings.action, shards=most))
    return _plan(chosen, benchmark, bank, submitted, read, (), durations)


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
    settings: Settings, benchmark: Benchmark, bank: Bank, one: ExportedSubmission, tree: str
) -> Submitted:
    submission = read_submission(one.root, instances=benchmark.instances, split=benchmark.split or None)
    submission = replace(submission, findings=(*one.findings, *submission.findings))
    own = replace(settings, submission=one.root, shown_as=one.folder)
    return submitted_of(session.session_of(own, benchmark, bank, submission), one.folder, tree)


def _plan(
    settings: Settings,
    benchmark: Benchmark,
    bank: Bank,
    submitted: list[Submitted],
    read: _Read,
    notes: tuple[str, ...],
    durations: Mapping[str, float],
) -> Plan:
    units = [Unit(place, name) for place, one in enumerate(submitted) for name in one.instances]
    names = dict.fromkeys(unit.instance_id for unit in units)

    def cost(unit: Unit) -> float:
        augmented = len(bank.get(unit.instance_id, ()))
        row = benchmark.instances[unit.instance_id]
        return cost_of(row, augmented, durations, settings.repeats)

    return Plan(
        schema=SCHEMA,
        tool=__version__,
        head_sha=read.commit,
        how=how_of(settings, bank),
        submissions=tuple(submitted),
        shards=share_out(units, cost, settings.action.shards) if units else (),
        tests=tuple(test for name in names for test in bank.get(name, ())),
        others=read.others,
        removed=read.removed,
        notes=notes,
    )


def _tree_id(step: Step, api: Api, repository: str, commit: str, one: ExportedSubmission) -> str:
    """git's id of the submission's folder; "" when it was read without git."""
    folder = step.scratch / "read" / "objects"
    if not (folder / "HEAD").exists():
        return ""
    git = Git(folder, Remote(api.connection.clone_url(repository)), step.environ)
    try:
        return git.run("rev-parse", "--verify", f"{commit}:{one.folder}", offline=True).decode().strip()
    except GitHubError:
        return ""


def folder_of(out: Path, path: str) -> Path:
    """Where the report of a submission goes: below `out` by its path, or by a digest of an odd one."""
    parts = [part for part in Path(path).parts if part not in ("/", "..", ".")]
    return out.joinpath(*parts) if parts else out / content_key(path)
