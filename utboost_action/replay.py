"""One instance of an audit: gold, base and candidate from the store or the sandbox, then the verdict.

This joins the benchmark's row, the sandbox, the log readers and the oracle for a single instance;
`audit.py` does it for a submission.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from utboost_action import __version__
from utboost_action.benchmark.rows import require_for_replay
from utboost_action.errors import ImageMissingError, InputError, SandboxError
from utboost_action.eval_script import EvalScript, Order, parse_eval_script
from utboost_action.execution.floor import Floor
from utboost_action.execution.protocol import Sandbox
from utboost_action.execution.side import SidePlan, Suite, run_side
from utboost_action.execution.store import RunStore
from utboost_action.leaderboard.integrity import runner_configuration, steering_files
from utboost_action.model import (
    ORIGINAL,
    AugmentedTest,
    BankStatus,
    Cause,
    Instance,
    Prediction,
    PredictionClass,
    Run,
    SideRun,
    TestMode,
    Verdict,
    VerdictKind,
)
from utboost_action.oracle.narrowness import names_of_gold
from utboost_action.oracle.relation import outcomes_of
from utboost_action.oracle.setup_faults import setup_doubt
from utboost_action.oracle.stability import environments
from utboost_action.oracle.verdicts import Sides, inconclusive, is_plausible, judge, with_second_look
from utboost_action.own_logs import reader_of
from utboost_action.patches import normalised, touched_paths, with_final_newline
from utboost_action.storage import content_key

_BASE_REPEATS = 2  # base tells the kind of a difference, and must not waver itself


class Interrupted(Exception):  # noqa: N818 (no fault: the user stopped the audit)
    """The audit was stopped while this instance ran; nothing of it is recorded."""


@dataclass(frozen=True, slots=True)
class Task:
    """One instance to audit: what was submitted for it, what is claimed, and the bank's tests.

    tricks: what the intake found in the patch that can make tests look passed (kinds of its findings).
    """

    instance: Instance
    prediction: Prediction
    claimed: bool | None
    tests: tuple[AugmentedTest, ...]
    tricks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replay:
    """How instances are run. image_template: with `{instance_id}`, in place of the rows' images.

    trusted: the store of gold and base runs, shared by all audits; submitted: that of this audit, which
    takes over what it uses of the other.
    stopping: whether the audit is being stopped; what ends then proves nothing.
    floor: where boxes run beside each other, as many as it takes, and a side whose set-up failed once
    more, alone. durations: instance id -> seconds of gold's scripts, as far as they are known.
    """

    sandbox: Sandbox
    trusted: RunStore
    submitted: RunStore
    repeats: int
    timeout: float
    floor: Floor
    image_template: str | None = None
    stopping: Callable[[], bool] = lambda: False
    durations: dict[str, float] = field(default_factory=dict)

    def verdict(self, task: Task) -> Verdict:
        """Run what is missing of a task and judge it. Raises Interrupted when the audit is stopped."""
        instance = task.instance
        if problem := _not_runnable(task, template=self.image_template is not None):
            return inconclusive(instance.instance_id, task.claimed, *problem)
        try:
            return self._judged(task)
        except ImageMissingError as problem:
            return inconclusive(instance.instance_id, task.claimed, Cause.NO_IMAGE, str(problem))
        except InputError as problem:
            return inconclusive(instance.instance_id, task.claimed, Cause.NO_ROW_FIELD, str(problem))
        except SandboxError as problem:
            if self.stopping():
                raise Interrupted from None
            return inconclusive(instance.instance_id, task.claimed, Cause.SANDBOX, str(problem))

    def image(self, instance: Instance) -> str:
        """The image that an instance runs in."""
        if self.image_template is None:
            return instance.image or ""
        return self.image_template.replace("{instance_id}", instance.instance_id.lower())

    def side(
        self,
        instance: Instance,
        suites: Sequence[Suite],
        patch: str,
        *,
        repeats: int,
        trusted: bool,
        like: SideRun | None = None,
        retry: bool = True,
    ) -> SideRun:
        """One program (a patch, "" for base) under these suites, from the store or run now.

        like: gold's runs, for a candidate; then other suites than the original one run only where that comes
        out as with gold. retry: run once more, alone, where the set-up seems at fault. Raises SandboxError,
        ImageMissingError, InputError, and Interrupted as `verdict`.
        """
        script = parse_eval_script(instance.eval_script or "")
        plans = _Plans(replace(self, repeats=repeats), instance, script, tuple(suites))
        store = self.trusted if trusted else self.submitted
        if like is None:
            doubt = setup_doubt if retry else lambda _side: ""
            return self._side(plans.candidate(patch), instance, store, doubt=doubt)
        return self._side(
            plans.candidate(patch),
            instance,
            store,
            lambda runs: is_plausible(like, runs),
            lambda side: setup_doubt(side, like),
        )

    def _judged(self, task: Task) -> Verdict:
        instance = task.instance
        script = parse_eval_script(instance.eval_script or "")
        tests = tuple(test for test in task.tests if test.status is not BankStatus.RETIRED)
        plans = _Plans(self, instance, script, suites_of(instance, tests))
        with ThreadPoolExecutor(max_workers=1) as beside:  # the floor says whether there is room beside gold
            going = beside.submit(self._side, plans.base(), instance, self.trusted) if tests else None
            gold = self._side(plans.gold(), instance, self.trusted)
            base = going.result() if going and not outcomes_of(gold, ORIGINAL).obstacle else None
        self.durations[instance.instance_id] = gold.seconds

        def go_on(runs: Sequence[Run]) -> bool:
            return is_plausible(gold, runs)

        def doubt(side: SideRun) -> str:
            return setup_doubt(side, gold, base)

        candidate = self._side(plans.candidate(task.prediction.patch), instance, self.submitted, go_on, doubt)
        files = _steering(task.prediction.patch, candidate, instance)
        reverted = None
        if files and go_on([run for run in candidate.runs if run.suite == ORIGINAL]):
            plan = plans.reverted(task.prediction.patch, files)
            reverted = self._side(plan, instance, self.submitted, go_on, doubt)
        sides = Sides(
            instance_id=instance.instance_id,
            claimed=task.claimed,
            gold=gold,
            base=base,
            candidate=candidate,
            reverted=reverted,
            runner_files=files,
            tests=tests,
            candidate_key=patch_key(task.prediction.patch),
            gold_names=names_of_gold(instance.patch, instance.problem_statement or ""),
            tricks=task.tricks if patch_key(task.prediction.patch) != patch_key(instance.patch) else (),
        )
        verdict = judge(sides)
        if verdict.kind is VerdictKind.WRONG:  # nobody is accused by one look
            again, patch = plans.again(), task.prediction.patch
            plan = again.reverted(patch, files) if reverted else again.candidate(patch)
            with ThreadPoolExecutor(max_workers=1) as beside:
                going = beside.submit(self._side, again.gold(), instance, self.trusted)
                judged_again = self._side(plan, instance, self.submitted, go_on, doubt)
                gold_again = going.result()
            verdict = judge(with_second_look(sides, gold_again, judged_again))
        return _with_place(verdict, task.prediction)

    def _side(
        self,
        plan: SidePlan,
        instance: Instance,
        store: RunStore,
        go_on: Callable[[Sequence[Run]], bool] = lambda _runs: True,
        doubt: Callable[[SideRun], str] = setup_doubt,
    ) -> SideRun:
        """A finished side from a store, or run now; where the set-up seems at fault, once more and alone."""
        if (known := self.submitted.find(plan.key)) is not None:
            return known
        work = store.begin(plan.key)
        try:
            side = self._in_box(plan, instance, work, go_on, self.floor.together)
            if why := doubt(side):
                store.drop(work)
                work = store.begin(plan.key)
                side = self._in_box(plan, instance, work, go_on, self.floor.alone)
                side = replace(side, retried=why)
            store.finish(work, side)
        except BaseException:
            store.drop(work)
            raise
        return self.submitted.find(plan.key) or side

    def _in_box(
        self,
        plan: SidePlan,
        instance: Instance,
        work: Path,
        go_on: Callable[[Sequence[Run]], bool],
        room: Callable[[], AbstractContextManager[None]],
    ) -> SideRun:
        """A side from a fresh box, which starts and goes away without `room` but does nothing else so."""
        with self.sandbox.box(self.image(instance)) as box, room():
            side = run_side(box, plan, work, read=reader_of(instance), go_on=go_on)
        if self.stopping():
            raise Interrupted
        return side


def _steering(patch: str, candidate: SideRun, instance: Instance) -> tuple[str, ...]:
    """The files that steer the tests, by what the patch names and by what applying it changed.

    What gold's own patch changes too is the instance's subject, unless it is runner configuration.
    """
    touched = tuple(dict.fromkeys((*touched_paths(patch), *candidate.touched)))
    gold = set(touched_paths(instance.patch))
    known = set(runner_configuration(touched))
    return tuple(sorted(path for path in steering_files(touched) if path in known or path not in gold))


def patch_key(patch: str) -> str:
    """A digest of what a patch does, equal for patches that differ only in what does not matter."""
    return content_key(normalised(patch))


class _Plans:
    """The plans of one instance; everything that decides what a run shows is in their keys."""

    def __init__(
        self, replay: Replay, instance: Instance, script: EvalScript, suites: tuple[Suite, ...]
    ) -> None:
        self._replay = replay
        self._first = 0  # the number of the first repeat
        self._script = script
        self._suites = suites
        self._gold_patch = instance.patch
        self._common = {
            "tool": __version__,
            "image": replay.sandbox.image_id(replay.image(instance)),
            "script": instance.eval_script,
            "parser": instance.log_parser,
            "lists": [instance.fail_to_pass, instance.pass_to_pass, instance.fail_only],
            "suites": [[suite.name, suite.test_patch, suite.directives] for suite in suites],
            "timeout": replay.timeout,
        }

    def again(self) -> _Plans:
        """The same plans for a second look: fresh boxes, the next environments."""
        later = copy.copy(self)
        later._first = self._first + self._replay.repeats
        return later

    def gold(self) -> SidePlan:
        return self._plan(self._gold_patch, self._replay.repeats)

    def base(self) -> SidePlan:
        return self._plan("", min(self._replay.repeats, _BASE_REPEATS))

    def candidate(self, patch: str) -> SidePlan:
        return self._plan(patch, self._replay.repeats)

    def reverted(self, patch: str, files: tuple[str, ...]) -> SidePlan:
        return self._plan(patch, self._replay.repeats, files)

    def _plan(self, patch: str, repeats: int, revert: tuple[str, ...] = ()) -> SidePlan:
        gold_patch = self._gold_patch if revert else ""
        reversible = self._script.order is not Order.FIXED
        varied = environments(repeats, self._first, reversible=reversible)
        decides = {
            "patch": normalised(patch),
            "repeats": [dict(each) for each in varied],
            "revert": [revert, gold_patch],
        }
        key = content_key(self._common | decides)
        return SidePlan(key, patch, self._script, self._suites, repeats, revert, gold_patch, varied)


def suites_of(instance: Instance, tests: Sequence[AugmentedTest]) -> tuple[Suite, ...]:
    """The original test patch, then each augmented test's: alone, or on top of it where it extends."""
    script = parse_eval_script(instance.eval_script or "")
    suites = [Suite(ORIGINAL, instance.test_patch)]
    for test in tests:
        on_top = test.mode is TestMode.EXTENDS
        patch = with_final_newline(instance.test_patch) + test.patch if on_top else test.patch
        suites.append(Suite(test.id, patch, script.new_directives(instance.repo, patch)))
    return tuple(suites)


def _not_runnable(task: Task, *, template: bool) -> tuple[Cause, str] | None:
    row = replace(task.instance, image="template") if template else task.instance
    if field := require_for_replay(row):
        return Cause.NO_ROW_FIELD, f"the benchmark row lacks {field}, which a replay needs"
    if task.prediction.kind is PredictionClass.MISSING_KEY:
        return Cause.NO_PATCH, f"{task.prediction.where}: the prediction has no model_patch"
    if task.prediction.kind is PredictionClass.CORRUPT and not task.prediction.patch:
        return Cause.NO_PATCH, f"{task.prediction.where}: {task.prediction.detail}"
    return None


def _with_place(verdict: Verdict, prediction: Prediction) -> Verdict:
    """For a patch that does not apply: where it stands in the submission, and what git says of it."""
    if verdict.cause is not Cause.PATCH_FAILED:
        return verdict
    malformed = f" (malformed: {prediction.detail})" if prediction.detail else ""
    return replace(verdict, reasons=(f"{prediction.where}: {verdict.reasons[0]}{malformed}",))
