"""The story of an audit: a submission, its instances one by one, their verdicts.

Intake (leaderboard/) and the bank (benchmark/) give tasks; `replay.py` runs and judges each; here they
are scheduled, counted and, when the set-up is at fault, stopped.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from utboost_action.benchmark.bank import Bank
from utboost_action.benchmark.rows import Benchmark
from utboost_action.errors import InputError
from utboost_action.model import Audit, Cause, Submission, Verdict
from utboost_action.oracle.verdicts import inconclusive
from utboost_action.replay import Replay, Task
from utboost_action.shards import cost_of

_TRICKS = ("patches_reporter", "exits_process", "exit_hook", "prints_result_lines", "below_git")
_AT_LEAST = 3  # below so many instances, a common cause proves nothing about the set-up

Progress = Callable[[Verdict], None]


def plan_tasks(
    submission: Submission, benchmark: Benchmark, bank: Bank, wanted: Collection[str] = ()
) -> list[Task]:
    """One task for each prediction of an instance of the split, or for the `wanted` ones only.

    Raises InputError for a wanted id that is no instance of the split or has no prediction.
    """
    for instance_id in wanted:
        if instance_id not in benchmark.instances:
            where = f"an instance of {benchmark.source}"
            problem = benchmark.unreadable.get(instance_id)
            raise InputError(
                f"--instances: {instance_id} is not {where}" + (f": {problem}" if problem else "")
            )
        if instance_id not in submission.predictions:
            raise InputError(f"--instances: {submission.name} holds no prediction for {instance_id}")
    resolved = submission.claim.resolved
    return [
        Task(
            instance=instance,
            prediction=submission.predictions[instance_id],
            claimed=None if resolved is None else instance_id in resolved,
            tests=bank.get(instance_id, ()),
            tricks=_tricks(submission, instance_id),
        )
        for instance_id, instance in benchmark.instances.items()
        if instance_id in submission.predictions and (not wanted or instance_id in wanted)
    ]


def _tricks(submission: Submission, instance_id: str) -> tuple[str, ...]:
    """The kinds of findings on a patch that speak of making tests look passed."""
    found = {finding.kind for finding in submission.findings if instance_id in finding.ids}
    return tuple(kind for kind in _TRICKS if kind in found)


def audit(
    submission: Submission,
    benchmark: Benchmark,
    tasks: Sequence[Task],
    replay: Replay,
    *,
    jobs: int,
    stopping: threading.Event,
    progress: Progress = lambda _verdict: None,
    sandbox_name: str = "",
) -> Audit:
    """Replay and judge every task, `jobs` boxes at work at a time, those that should take longest first.

    Stopped by the user (KeyboardInterrupt) or because the set-up fails for more than half of at least
    three instances by the same cause, it returns what is known, the rest as not audited, and `problem`.
    """
    verdicts: dict[str, Verdict] = {}
    problem = ""
    with ThreadPoolExecutor(max_workers=jobs + 1) as pool:  # one gets ready meanwhile: the floor counts boxes
        known = dict(replay.durations)
        longest_first = sorted(tasks, key=lambda task: -cost_of(task.instance, len(task.tests), known))
        open_tasks: dict[Future[Verdict], Task] = {pool.submit(replay.verdict, t): t for t in longest_first}
        images = Counter(replay.image(task.instance) for task in tasks)
        try:
            while open_tasks and not problem:
                done, _ = wait(open_tasks, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in done:
                    task = open_tasks.pop(future)
                    verdict = future.result()
                    verdicts[verdict.instance_id] = verdict
                    progress(verdict)
                    images[replay.image(task.instance)] -= 1
                    if not images[replay.image(task.instance)]:
                        replay.sandbox.discard(replay.image(task.instance))
                problem = _common_fault(verdicts.values(), len(tasks))
        except KeyboardInterrupt:
            problem = "stopped by the user"
        finally:
            if open_tasks:
                stopping.set()
                pool.shutdown(wait=False, cancel_futures=True)
                replay.sandbox.stop_all()
    for future in open_tasks:  # what ended while the audit was being stopped
        if not future.cancelled() and future.exception() is None:
            verdicts[future.result().instance_id] = future.result()
    return audit_of(
        submission,
        benchmark,
        tasks,
        verdicts,
        repeats=replay.repeats,
        sandbox_name=sandbox_name,
        trusted_only=replay.sandbox.trusted_only,
        problem=problem,
    )


def audit_of(
    submission: Submission,
    benchmark: Benchmark,
    tasks: Sequence[Task],
    verdicts: Mapping[str, Verdict],
    *,
    repeats: int,
    sandbox_name: str,
    trusted_only: bool,
    problem: str = "",
) -> Audit:
    """The value of an audit from the verdicts there are; tasks without one are not audited."""
    return Audit(
        submission=submission,
        benchmark=benchmark.source,
        total=benchmark.total,
        split_ids=frozenset(benchmark.instances) | frozenset(benchmark.unreadable),
        verdicts=tuple(verdicts.get(task.instance.instance_id) or _not_audited(task) for task in tasks),
        tests={task.instance.instance_id: task.tests for task in tasks if task.tests},
        sandbox=sandbox_name,
        repeats=repeats,
        notes=_notes(benchmark, tasks, trusted_only=trusted_only),
        problem=problem or _common_fault(verdicts.values(), len(tasks)),
        gold={task.instance.instance_id: task.instance.patch for task in tasks},
    )


def _common_fault(verdicts: Collection[Verdict], planned: int) -> str:
    """The circuit breaker: the same set-up failure on more than half of the instances."""
    if planned < _AT_LEAST:
        return ""
    causes = Counter(verdict.cause for verdict in verdicts if verdict.cause and verdict.cause.is_setup)
    for cause, count in causes.most_common(1):
        if 2 * count > planned:
            example = next(verdict for verdict in verdicts if verdict.cause == cause)
            return (
                f"the set-up is at fault, not the patches: {cause} on {count} of {planned} instances, "
                f"for example {example.instance_id}: {example.reasons[0]}"
            )
    return ""


def _not_audited(task: Task) -> Verdict:
    return inconclusive(task.instance.instance_id, task.claimed, Cause.NOT_AUDITED, "not audited yet")


def _notes(benchmark: Benchmark, tasks: Sequence[Task], *, trusted_only: bool) -> tuple[str, ...]:
    notes = [f"row {name}: {problem}" for name, problem in list(benchmark.unreadable.items())[:20]]
    notes += [f"row {name} occurs more than once; the first one counts" for name in benchmark.repeated[:20]]
    derived = Counter(field for task in tasks for field in task.instance.derived)
    notes += [f"{field} is not in {count} rows and was derived by rule" for field, count in derived.items()]
    if trusted_only:
        notes.append("the local sandbox isolates nothing: only patches that are trusted may run in it")
    return tuple(notes)
