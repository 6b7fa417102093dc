"""`confirm`, and people's word on a bank's tests: `bank confirm | retire | dispute | relate`."""

from __future__ import annotations

import getpass
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from utboost_action import session
from utboost_action.benchmark.bank import Bank, read_bank, update_bank
from utboost_action.benchmark.bank_merge import known_tests, may_hold, measured
from utboost_action.benchmark.rows import Benchmark, read_benchmark
from utboost_action.commands.options import (
    BenchmarkName,
    Cache,
    ImageTemplate,
    InstanceIds,
    Jobs,
    SandboxName,
    Timeout,
    Trees,
    ids,
)
from utboost_action.confirm import Effort, Juror, confirm
from utboost_action.errors import AuditError, InputError
from utboost_action.execution.floor import Floor
from utboost_action.execution.store import RunStore
from utboost_action.generation.grounding import LEAST_WORDS
from utboost_action.leaderboard import read_submission
from utboost_action.leaderboard.checkout import submission_folders
from utboost_action.logs import parser_for_repo
from utboost_action.model import AugmentedTest, BankStatus, Decision, Opinion, PredictionClass, ProgramKind
from utboost_action.oracle.confirmation import tally_of
from utboost_action.replay import Replay
from utboost_action.report.escaping import printable
from utboost_action.settings import SandboxKind, Settings, default_cache

_BANK = Annotated[Path, typer.Option(help="The bank folder.")]
_NAMED = 3  # tests of an entry, in a message
_WHO = Annotated[str, typer.Option(help="Who says so (default: the user's name).")]


def confirm_command(
    bank: _BANK,
    benchmark: BenchmarkName,
    leaderboard: Annotated[
        Path | None, typer.Option(help="Other submissions, whose patches are the jury (a checkout).")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Only jurors of this split of the checkout.")] = None,
    instances: InstanceIds = None,
    sandbox: SandboxName = SandboxKind.DOCKER,
    trees: Trees = None,
    image_template: ImageTemplate = None,
    cache: Cache = None,
    jobs: Jobs = Settings.jobs,
    repeats: Annotated[int, typer.Option(help="Runs on gold.")] = Settings.repeats,
    timeout: Timeout = Settings.timeout,
    variants: Annotated[int, typer.Option(help="Rewritings of gold to try.")] = Effort.variants,
    mutants: Annotated[int, typer.Option(help="Faults in gold's lines to try.")] = Effort.mutants,
    jurors: Annotated[int, typer.Option(help="Other submissions' patches to try.")] = Effort.jurors,
) -> None:
    """Try a bank's tests on rewritings of gold, on faults in it and on other submissions; record what shows.

    A test passes into no verdict by this command: an audit weighs what is recorded (docs/method.md).
    """
    settings = Settings(
        submission=Path(),
        benchmark=benchmark,
        bank=bank,
        sandbox=sandbox,
        trees=trees,
        image_template=image_template,
        jobs=jobs,
        repeats=repeats,
        timeout=timeout,
        cache=cache,
    ).checked()
    effort = _effort(variants, mutants, jurors)
    rows = read_benchmark(benchmark, parser_for_repo=parser_for_repo)
    known = read_bank(bank)
    wanted = _wanted(known, rows, bank, ids(instances))
    jury = _jury(leaderboard, split) if leaderboard else {}
    stopping = threading.Event()
    store = RunStore(settings.cache or default_cache())
    store.folder.mkdir(parents=True, exist_ok=True)
    with session.sandbox_of(settings) as box:
        box.remove_leftovers()
        replay = Replay(box, store, store, repeats, timeout, Floor(jobs), image_template, stopping.is_set)

        def confirmed(name: str) -> tuple[AugmentedTest, ...]:
            return confirm(replay, rows.instances[name], known[name], jury.get(name, ()), effort, at=_now())

        def keep(name: str, entries: tuple[AugmentedTest, ...]) -> None:
            tried = _tried(effort, jury.get(name, ()))
            live = [entry for entry in entries if entry.status is not BankStatus.RETIRED]
            written: list[AugmentedTest] = []

            def change(now: tuple[AugmentedTest, ...]) -> list[AugmentedTest]:
                written[:] = measured(now, live, tried)
                return written

            update_bank(bank, name, change, rows.instances[name].base_commit)
            for entry in written:
                typer.echo(printable(_line(entry)))
            lost = {entry.id for entry in live} - {entry.id for entry in written}
            for entry_id in sorted(lost):
                said = f"{entry_id}: nothing recorded: the bank has it no more, or with another patch"
                typer.echo(printable(said), err=True)

        try:
            failed = _each(wanted, confirmed, keep, jobs)
        except BaseException:
            stopping.set()
            box.stop_all()
            raise
    raise typer.Exit(1 if failed == len(wanted) else 0)


def _effort(variants: int, mutants: int, jurors: int) -> Effort:
    for name, value in (("variants", variants), ("mutants", mutants), ("jurors", jurors)):
        if value < 0:
            raise InputError(f"--{name} {value}: give a whole number from 0, for example 4; 0 tries none")
    return Effort(variants, mutants, jurors)


def _wanted(known: Bank, rows: Benchmark, bank: Path, named: Sequence[str]) -> Sequence[str]:
    """The instances to work on. Raises InputError where there is none, or one that is not in both."""
    for name in named:
        if name not in known or name not in rows.instances:
            raise InputError(f"--instances: {name} is not in both the bank and the benchmark")
    if not any(known.values()):
        raise InputError(f"bank {str(bank)!r}: it holds no test; `bank import` or `generate` puts some in")
    wanted = named or [name for name in known if name in rows.instances]
    if not wanted:
        raise InputError(
            f"bank {str(bank)!r}: none of its {len(known)} instances is in {rows.source!r}; "
            "give the benchmark that its tests are for"
        )
    return wanted


def _tried(effort: Effort, jury: Sequence[Juror]) -> set[ProgramKind]:
    """The kinds of programs that a run tries; what the bank knows of the others stays."""
    counts = {
        ProgramKind.VARIANT: effort.variants,
        ProgramKind.MUTANT: effort.mutants,
        ProgramKind.JUROR: min(effort.jurors, len(jury)),
    }
    return {kind for kind, count in counts.items() if count}


def _each(
    names: Sequence[str],
    work: Callable[[str], tuple[AugmentedTest, ...]],
    keep: Callable[[str, tuple[AugmentedTest, ...]], None],
    jobs: int,
) -> int:
    """Work on `jobs` instances at a time and keep each result as it comes; how many failed."""
    failed = 0
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        going = {pool.submit(work, name): name for name in names}
        for done in as_completed(going):
            try:
                keep(going[done], done.result())
            except AuditError as problem:
                failed += 1
                typer.echo(printable(f"{going[done]}: {problem}"), err=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return failed


def bank_confirm_command(
    test: Annotated[str, typer.Argument(help="An entry's id, or ENTRY::TEST for one of its tests.")],
    bank: _BANK,
    why: Annotated[str, typer.Option(help="Why it may be held against a patch.")],
    who: _WHO = "",
) -> None:
    """A person confirms a test: it can make a verdict WRONG from now on."""
    _decide(bank, test, Opinion.CONFIRM, why, who)


def bank_dispute_command(
    test: Annotated[str, typer.Argument(help="An entry's id, or ENTRY::TEST for one of its tests.")],
    bank: _BANK,
    why: Annotated[str, typer.Option(help="What is wrong with it.")],
    who: _WHO = "",
) -> None:
    """A person doubts a test: what it shows is SUSPECT at most, until somebody confirms it."""
    _decide(bank, test, Opinion.DISPUTE, why, who)


def bank_retire_command(
    test: Annotated[str, typer.Argument(help="An entry's id.")],
    bank: _BANK,
    why: Annotated[str, typer.Option(help="Why it is given up.")],
    who: _WHO = "",
) -> None:
    """A person takes an entry out of use; it stays in the bank with the reason."""
    _decide(bank, test, Opinion.RETIRE, why, who)


def bank_relate_command(
    test: Annotated[str, typer.Argument(help="An entry's id.")],
    bank: _BANK,
    sentence: Annotated[
        str,
        typer.Option(
            help="The sentence of the issue that the test rests on (default: what its author proposed)."
        ),
    ] = "",
    who: _WHO = "",
    benchmark: Annotated[str | None, typer.Option(help="Rows, to check that the issue says so.")] = None,
) -> None:
    """Record the sentence of the issue that a test rests on."""
    entry = _entry(bank, test)
    if not sentence and not entry.signals.issue:
        raise InputError(f"{entry.id}: nobody proposed a sentence of the issue; give one with --sentence")
    sentence = sentence or entry.signals.issue
    if len(sentence.split()) < LEAST_WORDS:
        raise InputError(
            f"--sentence {sentence!r}: quote a sentence of the issue, {LEAST_WORDS} words at least"
        )
    if benchmark is not None:
        row = read_benchmark(benchmark, parser_for_repo=parser_for_repo).instances.get(entry.instance_id)
        if row is None or " ".join(sentence.split()) not in " ".join(row.problem_statement.split()):
            raise InputError(
                f"--sentence: the issue of {entry.instance_id} does not say so; quote it as it is"
            )
    by = who or _user()
    _change(
        bank, entry, lambda now: replace(now, signals=replace(now.signals, issue=sentence, issue_from=by))
    )


def decided(
    entry: AugmentedTest, opinion: Opinion, why: str, who: str, at: str, test: str = ""
) -> AugmentedTest:
    """An entry with one more decision; one about the whole entry changes its status as well.

    Raises InputError for a test that the entry does not have, as far as its tests are known.
    """
    if test and not may_hold(entry, test):
        known = known_tests(entry)
        more = ", ..." if len(known) > _NAMED else ""
        raise InputError(
            f"{entry.id} has no test {test!r}; it has {', '.join(known[:_NAMED])}{more} "
            "(`confirm` records all that it runs)"
        )
    decision = Decision(opinion, who, why, at, test)
    signals = replace(entry.signals, decisions=(*entry.signals.decisions, decision))
    status = {
        Opinion.CONFIRM: BankStatus.CONFIRMED,
        Opinion.DISPUTE: BankStatus.CANDIDATE,
        Opinion.RETIRE: BankStatus.RETIRED,
    }[opinion]
    return replace(entry, signals=signals, status=entry.status if test else status)


def _decide(bank: Path, name: str, opinion: Opinion, why: str, who: str) -> None:
    if not why.strip():
        raise InputError("--why: say why, in a sentence; it is kept in the bank")
    entry = _entry(bank, name)
    test = name.removeprefix(entry.id).removeprefix("::")
    if test and opinion is Opinion.RETIRE:
        raise InputError(f"{name}: an entry is retired whole; dispute one of its tests instead")
    by = who or _user()
    _change(bank, entry, lambda now: decided(now, opinion, why.strip(), by, _now(), test))
    if test and not known_tests(entry):
        typer.echo(
            printable(f"{entry.id}: which tests it has is not known; {test!r} is taken as it is"), err=True
        )


def _change(bank: Path, entry: AugmentedTest, change: Callable[[AugmentedTest], AugmentedTest]) -> None:
    """Change one entry as it is in the bank at the time of writing, and print it."""
    written: list[AugmentedTest] = []

    def changed(now: tuple[AugmentedTest, ...]) -> list[AugmentedTest]:
        written[:] = [change(each) for each in now if each.id == entry.id]
        return written

    update_bank(bank, entry.instance_id, changed)
    if not written:
        raise InputError(f"{entry.id}: somebody took it out of bank {str(bank)!r} meanwhile")
    typer.echo(printable(_line(written[0])))


def _entry(bank: Path, name: str) -> AugmentedTest:
    entries = [entry for tests in read_bank(bank).values() for entry in tests]
    matching = [entry for entry in entries if name == entry.id or name.startswith(f"{entry.id}::")]
    if not entries:
        raise InputError(f"{name}: bank {str(bank)!r} is empty; `bank import` or `generate` puts tests in")
    if not matching:
        near = ", ".join(entry.id for entry in entries[:3])
        raise InputError(f"{name}: no entry of bank {str(bank)!r}; its entries are named like {near}")
    return max(matching, key=lambda entry: len(entry.id))


def _jury(leaderboard: Path, split: str | None) -> dict[str, list[Juror]]:
    """Instance id -> the patches submitted for it, those that claim to resolve it first."""
    found: dict[str, list[tuple[bool, Juror]]] = {}
    for own, folder in submission_folders(leaderboard, split):
        submission = read_submission(folder, split=own)
        claimed = submission.claim.resolved or frozenset()
        for instance_id, prediction in submission.predictions.items():
            if prediction.kind is PredictionClass.OK:
                juror = Juror(submission.name, prediction.patch)
                found.setdefault(instance_id, []).append((instance_id not in claimed, juror))
    by_claim: Callable[[tuple[bool, Juror]], bool] = lambda item: item[0]  # noqa: E731
    return {name: [juror for _, juror in sorted(some, key=by_claim)] for name, some in found.items()}


def _line(entry: AugmentedTest) -> str:
    """One line on what is known of an entry."""
    kinds = Counter((showing.kind, showing.plausible is True) for showing in entry.signals.showings)
    programs = ", ".join(f"{count} {kind}s" for (kind, kept), count in sorted(kinds.items()) if kept)
    tests = entry.targets or tuple(sorted({t for s in entry.signals.showings for t in s.fails}))
    narrow = sum(bool(tally_of(entry, test).narrow) for test in tests)
    killers = sum(bool(tally_of(entry, test).killed) for test in tests)
    return (
        f"{entry.id}  {entry.status}  tried on {programs or 'nothing'}; {narrow} tests over-narrow, "
        f"{killers} kill a mutant, {len(entry.signals.decisions)} decisions"
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise InputError("--who: say who decides; the system knows no name") from None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
