"""All runs of one side of one instance, from one fresh container.

The order inside: apply the patch, prepare once (the row's install lines), then each suite's repeats with
the tree reset in between: first the original tests, and only if `go_on` says so the augmented ones.
"""

from __future__ import annotations

import gzip
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from utboost_action.eval_script import REVERSE_ARGUMENT, EvalScript, Order
from utboost_action.execution import scripts
from utboost_action.execution.protocol import Box, Execution
from utboost_action.model import ORIGINAL, Run, RunState, SideRun, SideState, TestStatus
from utboost_action.patches import touched_paths, with_final_newline
from utboost_action.storage import compress

_TOLD = r"^utboost {nonce} (\w+) (.*)$"
_KILLED_BY_KERNEL = 137  # 128 + SIGKILL: the out-of-memory killer, mostly


@dataclass(frozen=True, slots=True)
class Suite:
    """A test patch to run, in place of the official one. name: `original` or an augmented test's id."""

    name: str
    test_patch: str
    directives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a log says: outcomes and failure messages by test id, the official `resolved`, F2P met or not.

    excerpts: test -> the log's lines about its failure, of the first that fail.
    usable: False where the log may not be used (`problem` says why).
    """

    outcomes: Mapping[str, TestStatus] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    excerpts: Mapping[str, str] = field(default_factory=dict)
    official: bool | None = None
    fixes: bool | None = None
    usable: bool = True
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SidePlan:
    """What to run: `patch` ("" is the base) under `script`, `suites` (the original first), `repeats` times.

    revert: paths to put back to the base, with `gold_patch`'s change to them, before anything runs.
    environments: what each repeat sets beside the script's own variables; nothing where it is too short.
    """

    key: str
    patch: str
    script: EvalScript
    suites: tuple[Suite, ...]
    repeats: int
    revert: tuple[str, ...] = ()
    gold_patch: str = ""
    environments: tuple[Mapping[str, str], ...] = ()

    def environment(self, repeat: int) -> Mapping[str, str]:
        """What the repeat sets beside the script's own environment."""
        return self.environments[repeat] if repeat < len(self.environments) else {}


ReadLog = Callable[[bytes, str, int | None], Reading]  # log, nonce, exit code of the test command


def run_side(
    box: Box,
    plan: SidePlan,
    folder: Path,
    *,
    read: ReadLog,
    go_on: Callable[[Sequence[Run]], bool] = lambda _runs: True,
) -> SideRun:
    """Run a plan in a started box; logs go, gzip'ed, into `folder`.

    go_on: asked once, with the runs of the original suite, whether the augmented ones are wanted.
    A box that was stopped (time, output, disk) ends the side: what had run is kept, and the run that
    was stopped is recorded with its state.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nonce = secrets.token_hex(16)
    box.put(
        {
            "candidate.patch": with_final_newline(plan.patch).encode("utf-8", "surrogateescape"),
            "gold.patch": with_final_newline(plan.gold_patch).encode("utf-8", "surrogateescape"),
            "revert.list": scripts.nul_list(plan.revert),
            "apply.sh": scripts.apply_script(box.directory, nonce).encode(),
            "preparation.sh": plan.script.preparation_text().encode(),
            "prepare.sh": scripts.prepare_script(box.directory).encode(),
        }
        | (scripts.REVERSED_PLUGIN if any("order" in each for each in plan.environments) else {})
    )
    applying, told = _apply(box, folder, nonce)
    base = told.get("base", "")
    seconds = applying.seconds
    if applying.exit_code != 0 or not base:
        state = SideState.PATCH_FAILED if base and applying.state is RunState.OK else SideState.SETUP_FAILED
        detail = (
            "no command of the apply chain takes it" if state is SideState.PATCH_FAILED else applying.state
        )
        return SideRun(key=plan.key, state=state, detail=detail, reverted=plan.revert, seconds=seconds)
    applied = told.get("applied", "")
    touched = _touched(folder, nonce)
    preparing = box.run("prepare.sh", log=folder / "prepare.log")
    seconds += preparing.seconds
    compress(folder / "prepare.log", folder / "prepare.log.gz")
    if preparing.exit_code != 0:
        detail = preparing.state if preparing.state is not RunState.OK else f"exit code {preparing.exit_code}"
        return SideRun(plan.key, SideState.SETUP_FAILED, (), detail, applied, plan.revert, seconds)
    record = {f"{scripts.RECORD}/{name}": data for name, data in box.get(scripts.RECORD).items()}
    runs: list[Run] = []
    for suite in plan.suites:
        if suite.name != ORIGINAL and not go_on(tuple(runs)):
            break
        for repeat in range(plan.repeats):
            run = _run_suite(box, plan, suite, repeat, base, folder, read, record, reset=bool(runs))
            runs.append(run)
            if run.exit_code is None:  # the box is gone
                return _ended(plan, runs, applied, touched, seconds)
    return _ended(plan, runs, applied, touched, seconds)


def _ended(
    plan: SidePlan, runs: list[Run], applied: str, touched: tuple[str, ...], seconds: float
) -> SideRun:
    return SideRun(
        key=plan.key,
        state=SideState.OK,
        runs=tuple(runs),
        applied_with=applied,
        reverted=plan.revert,
        touched=touched,
        seconds=seconds + sum(run.seconds for run in runs),
    )


def _touched(folder: Path, nonce: str) -> tuple[str, ...]:
    """The files that applying the patch changed, as the apply script saw them."""
    text = gzip.decompress((folder / "apply.log.gz").read_bytes()).decode("utf-8", "replace")
    return tuple(re.findall(rf"^utboost {nonce} touched (.*)$", text, re.MULTILINE))


def _apply(box: Box, folder: Path, nonce: str) -> tuple[Execution, dict[str, str]]:
    log = folder / "apply.log"
    execution = box.run("apply.sh", log=log)
    text = log.read_text(encoding="utf-8", errors="replace")
    compress(log, folder / "apply.log.gz")
    told: dict[str, str] = {}
    for word, value in re.findall(_TOLD.format(nonce=nonce), text, re.MULTILINE):
        told.setdefault(word, value)
    return execution, told


def _run_suite(
    box: Box,
    plan: SidePlan,
    suite: Suite,
    repeat: int,
    base: str,
    folder: Path,
    read: ReadLog,
    record: Mapping[str, bytes],
    *,
    reset: bool,
) -> Run:
    nonce = secrets.token_hex(16)
    environment = plan.environment(repeat)
    variables, directives = environment, suite.directives
    if "order" in environment and plan.script.order is Order.ARGUMENT:
        variables = {name: value for name, value in environment.items() if name != "order"}
        directives = (*suite.directives, REVERSE_ARGUMENT)
    box.put(
        {
            **record,  # what an earlier run made of it does not count
            f"{nonce}/test.patch": with_final_newline(suite.test_patch).encode("utf-8", "surrogateescape"),
            f"{nonce}/paths.list": scripts.nul_list(touched_paths(suite.test_patch)),
            f"{nonce}/tests.sh": plan.script.test_text(suite.test_patch, nonce, directives).encode(
                "utf-8", "surrogateescape"
            ),
            "run.sh": scripts.run_script(
                box.directory, base, nonce, reset=reset, environment=variables
            ).encode(),
        }
    )
    name = f"{_file_name(suite.name)}.{repeat}.log"
    log = folder / name
    execution = box.run("run.sh", log=log)
    data = log.read_bytes()
    compress(log, folder / f"{name}.gz")
    state, detail, reading = _judge(execution, data, nonce, read)
    return Run(
        suite=suite.name,
        repeat=repeat,
        state=state,
        detail=detail,
        exit_code=execution.exit_code,
        outcomes=reading.outcomes,
        messages=reading.messages,
        official=reading.official,
        fixes=reading.fixes,
        log=f"{name}.gz",
        seconds=round(execution.seconds, 3),
        environment=dict(environment),
        excerpts=reading.excerpts,
    )


def _judge(execution: Execution, data: bytes, nonce: str, read: ReadLog) -> tuple[RunState, str, Reading]:
    """Whether a run says anything, and what. Nothing that was stopped is read."""
    nothing = Reading()
    if execution.state is not RunState.OK:
        return execution.state, "", nothing
    if failure := re.search(rb"^utboost %s (.*)$" % nonce.encode(), data, re.MULTILINE):
        return RunState.TEST_PATCH_FAILED, failure.group(1).decode("utf-8", "replace"), nothing
    if execution.exit_code == _KILLED_BY_KERNEL:
        return RunState.KILLED, "the test command was killed (out of memory?)", nothing
    reading = read(data, nonce, execution.exit_code)
    if not reading.usable:
        return RunState.NOT_GRADABLE, reading.problem, nothing
    return RunState.OK, "", reading


def _file_name(suite: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", suite)
