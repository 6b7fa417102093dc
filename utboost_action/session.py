"""From checked settings to the files of a finished audit: effects are made here, once, and passed down."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import jinja2

from utboost_action.audit import Progress, audit, plan_tasks
from utboost_action.benchmark.bank import Bank, read_bank
from utboost_action.benchmark.rows import Benchmark, read_benchmark
from utboost_action.errors import InputError
from utboost_action.execution import docker_sandbox
from utboost_action.execution.docker_sandbox import DockerSandbox
from utboost_action.execution.floor import Floor
from utboost_action.execution.local_sandbox import LocalSandbox
from utboost_action.execution.protocol import Limits, Sandbox
from utboost_action.execution.store import RunStore
from utboost_action.leaderboard import read_submission
from utboost_action.leaderboard.kinds import FindingKind
from utboost_action.logs import parser_for_repo
from utboost_action.model import Audit, Submission, VerdictKind
from utboost_action.regrade import regrade_submission
from utboost_action.replay import Replay, Task
from utboost_action.report.document import badge_document, rates, report_document
from utboost_action.report.evidence import ReproduceCommand
from utboost_action.report.render import Detail, render, render_within
from utboost_action.report.waterfall import steps_of, waterfall_svg
from utboost_action.settings import FailOn, SandboxKind, Settings, default_cache
from utboost_action.shards import read_durations
from utboost_action.storage import canonical_json, write_atomically

SUMMARY_BYTES = 1_000_000  # a job summary larger than 1 MiB is dropped whole
_DURATIONS = ".durations.json"  # in the cache: instance id -> seconds of gold's scripts
_FAILS = {
    FailOn.NEVER: frozenset[VerdictKind](),
    FailOn.WRONG: frozenset((VerdictKind.WRONG,)),
    FailOn.MISGRADED: frozenset((VerdictKind.WRONG, VerdictKind.MISGRADED)),
    FailOn.SUSPECT: frozenset((VerdictKind.WRONG, VerdictKind.MISGRADED, VerdictKind.SUSPECT)),
}
_UNREADABLE = frozenset(
    (
        FindingKind.NO_PREDICTIONS,
        FindingKind.UNREADABLE_FILE,
        FindingKind.UNREADABLE_ROW,
        FindingKind.FILE_TOO_LARGE,
        FindingKind.LINE_TOO_LONG,
        FindingKind.NESTING_TOO_DEEP,
        FindingKind.MISSING_INSTANCE_ID,
        FindingKind.INVALID_ID,
    )
)


@dataclass(frozen=True, slots=True)
class Session:
    """What an audit needs, read and checked before anything is run."""

    settings: Settings
    benchmark: Benchmark
    submission: Submission
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished (or stopped) audit: its value, its document and the files written."""

    audit: Audit
    document: dict[str, object]
    report: Path
    exit_code: int


def prepare(settings: Settings) -> Session:
    """Read benchmark, bank and submission. Raises InputError (or AuditError, when a hub is not reached)."""
    settings.checked()
    if settings.template:
        _check_template(settings.template)
    benchmark, bank = read_rows_and_bank(settings)
    submission = read_submission(
        settings.submission, instances=benchmark.instances, split=benchmark.split or None
    )
    return session_of(settings, benchmark, bank, submission)


def _check_template(folder: Path) -> None:
    """Raise InputError for a template that cannot be read, before anything is run."""
    try:
        jinja2.Environment(autoescape=True).parse((folder / "report.md.j2").read_text(encoding="utf-8"))
    except jinja2.TemplateSyntaxError as problem:
        raise InputError(f"--template {folder}/report.md.j2 line {problem.lineno}: {problem}") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"--template {folder}/report.md.j2: cannot be read: {problem}") from None


def read_rows_and_bank(settings: Settings) -> tuple[Benchmark, Bank]:
    """What all submissions of one run are audited against. Raises as `prepare`."""
    benchmark = read_benchmark(settings.benchmark, parser_for_repo=parser_for_repo)
    return benchmark, read_bank(settings.bank) if settings.bank else {}


def session_of(settings: Settings, benchmark: Benchmark, bank: Bank, submission: Submission) -> Session:
    """The session of a submission that was read already. Raises InputError when nothing is to be audited."""
    if not submission.predictions:
        raise InputError(
            f"submission {settings.submission_shown!r}: it holds no readable prediction: "
            f"{_why_unreadable(submission)}; a prediction has instance_id, model_name_or_path and model_patch"
        )
    tasks = plan_tasks(submission, benchmark, bank, settings.instances)
    if not tasks:
        raise InputError(
            f"submission {settings.submission_shown!r}: none of its {len(submission.predictions)} "
            f"predictions is for an instance of {settings.benchmark!r}; give the benchmark that it was "
            "made for"
        )
    return Session(settings, benchmark, submission, tuple(tasks))


def _why_unreadable(submission: Submission) -> str:
    """What was found on the predictions of a submission that has none, the first of it, and where."""
    for one in submission.findings:
        if one.kind in _UNREADABLE:
            return f"{one.kind}: {one.detail}" + (f" ({one.where})" if one.where else "")
    return "nothing in it has an instance id"


def run(session: Session, progress: Progress = lambda _verdict: None) -> Outcome:
    """Replay, judge and write `report.json`, `report.md`, `summary.md` and `badge.json` below `out`.

    Raises EngineUnavailableError before anything starts.
    """
    return write_reports(session, judge(session, progress), regraded(session))


def judge(session: Session, progress: Progress = lambda _verdict: None) -> Audit:
    """Replay and judge the tasks; nothing but the run folder is written. Raises as `run`."""
    settings = session.settings
    stopping = threading.Event()
    own = settings.out / "runs"
    trusted = RunStore(settings.cache or default_cache())
    with sandbox_of(settings) as sandbox:
        sandbox.remove_leftovers()
        for store in (trusted, submitted := RunStore(own, trusted)):
            store.folder.mkdir(parents=True, exist_ok=True)
            store.remove_leftovers()
        if not settings.resume:
            submitted.clear()
        replay = Replay(
            sandbox=sandbox,
            trusted=trusted,
            submitted=submitted,
            repeats=settings.repeats,
            timeout=settings.timeout,
            floor=Floor(settings.jobs),
            image_template=settings.image_template,
            stopping=stopping.is_set,
            durations=_durations(trusted.folder),
        )
        result = audit(
            session.submission,
            session.benchmark,
            session.tasks,
            replay,
            jobs=settings.jobs,
            stopping=stopping,
            progress=progress,
            sandbox_name=str(settings.sandbox),
        )
    with contextlib.suppress(OSError):  # the next audit does without
        write_atomically(trusted.folder / _DURATIONS, canonical_json(replay.durations))
    return result


def _durations(cache: Path) -> dict[str, float]:
    """What earlier audits with this cache took for gold, so that the longest instances come first."""
    try:
        return read_durations((cache / _DURATIONS).read_bytes())
    except OSError:
        return {}


def write_reports(session: Session, result: Audit, by_own_logs: Mapping[str, bool | None] | None) -> Outcome:
    """The files of an audit, and what it comes to. by_own_logs: as `regraded` says it."""
    settings = session.settings
    document = report_document(
        result, reproduce_command(settings), None if by_own_logs is None else dict(by_own_logs)
    )
    loader = jinja2.FileSystemLoader(settings.template) if settings.template else None
    texts = {
        "report.json": canonical_json(document),
        "badge.json": canonical_json(badge_document(rates(result), result.problem)),
        "waterfall.svg": waterfall_svg(steps_of(document), result.total, result.submission.name),
    }
    for name, text in texts.items():
        write_atomically(settings.out / name, text)
    try:
        texts = {
            "report.md": render(document, Detail.FULL, loader=loader),
            "summary.md": render_within(document, SUMMARY_BYTES, loader=loader),
        }
    except jinja2.TemplateError as problem:
        raise InputError(f"--template {settings.template}: {problem}; report.json is written") from None
    for name, text in texts.items():
        write_atomically(settings.out / name, text)
    flagged = {verdict.kind for verdict in result.verdicts} & _FAILS[settings.fail_on]
    exit_code = 1 if result.problem else 3 if flagged else 0
    return Outcome(result, document, settings.out / "report.md", exit_code)


def regraded(session: Session) -> dict[str, bool | None] | None:
    """Resolved by the submission's own logs, corrected reading, for each task; None when it has no logs."""
    if not session.submission.logs:
        return None
    wanted = {task.instance.instance_id: task.instance for task in session.tasks}
    return {
        grade.instance_id: grade.corrected.resolved
        for grade in regrade_submission(session.submission, wanted)
    }


def reproduce_command(settings: Settings) -> ReproduceCommand:
    """The command line that made these settings, for the reader of a flag."""
    extra: list[str] = []
    if settings.trees:
        extra += ["--trees", str(settings.trees)]
    if settings.image_template:
        extra += ["--image-template", settings.image_template]
    if settings.repeats != Settings.repeats:
        extra += ["--repeats", str(settings.repeats)]
    bank = str(settings.bank) if settings.bank else ""
    return ReproduceCommand(
        settings.submission_shown, settings.benchmark, bank, str(settings.sandbox), tuple(extra)
    )


@contextlib.contextmanager
def sandbox_of(settings: Settings) -> Iterator[Sandbox]:
    """The sandbox that the settings ask for. Raises EngineUnavailableError."""
    limits = Limits(timeout=settings.timeout)
    if settings.sandbox is SandboxKind.LOCAL:
        assert settings.trees is not None
        yield LocalSandbox(settings.trees, limits)
        return
    client = docker_sandbox.connect()
    try:
        yield DockerSandbox(client, limits, pull=settings.pull, remove_images=settings.remove_images)
    finally:
        client.close()
