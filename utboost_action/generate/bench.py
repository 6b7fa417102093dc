"""Gold and base of one instance in boxes, for generation: the tree as data, trials, coverage.

Joins generation with the sandbox and the log readers. Both sides are trusted programs; the generated
tests are not, and run nowhere else.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from utboost_action.errors import SandboxError
from utboost_action.eval_script import REVERSE_ARGUMENT, EvalScript, Order
from utboost_action.execution import scripts
from utboost_action.execution.protocol import Box, Execution, Sandbox
from utboost_action.generation.changed_lines import Coverage, changed_lines
from utboost_action.generation.inside_files import inside_files
from utboost_action.generation.repository import RepositoryView, view_from_log, view_script
from utboost_action.generation.trials import Trial, Variant
from utboost_action.logs import read_log
from utboost_action.model import Instance, ParsedLog, RunState, Side
from utboost_action.patches import touched_paths, with_final_newline

_HASH_SEED = "4242"


class _SetUpError(SandboxError):
    """A side could not be prepared in its box."""


@dataclass(frozen=True, slots=True)
class _Finished:
    """A script that ended: its log and its nonce."""

    execution: Execution
    log: bytes
    nonce: str


@dataclass(slots=True)
class _Side:
    """One side in a prepared box."""

    box: Box
    base: str


@dataclass(slots=True)
class SandboxBench:
    """The trials of one instance. image: what it runs in; folder: where logs of the last runs are kept.

    A box is started when it is first needed, and again after a run that was stopped. Use it in a `with`.
    """

    sandbox: Sandbox
    instance: Instance
    image: str
    script: EvalScript
    folder: Path
    runs: int = 0
    _sides: dict[Side, _Side] = field(default_factory=dict)
    _stack: dict[Side, contextlib.ExitStack] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for side in list(self._stack):
            self._close(side)

    @property
    def reverses(self) -> bool:
        """Whether this runner can be told to reverse its order (pytest and django can)."""
        return self.script.order is not Order.FIXED

    def view(self) -> RepositoryView:
        """The Python files at base with the official test patch applied. Raises SandboxError."""
        box, nonce = self._side(Side.BASE).box, secrets.token_hex(16)
        box.put(
            {
                "view.patch": with_final_newline(self.instance.test_patch).encode("utf-8", "surrogateescape"),
                "view.list": scripts.nul_list(
                    tuple(path for path in touched_paths(self.instance.test_patch) if path.endswith(".py"))
                ),
                "view.sh": view_script(box.directory, nonce).encode(),
            }
        )
        done = self._script(Side.BASE, "view.sh", nonce)
        if done.execution.exit_code == 9:
            raise SandboxError("the official test patch does not apply on the base")
        return view_from_log(done.log, nonce)

    def run(self, side: Side, patch: str, variant: Variant) -> Trial:
        """One run of the official tests with `patch` on top (see trials.Bench)."""
        lines, directives = self._variant(variant, self._side(side).box.directory)
        done = self._tests(side, patch, lines, directives)
        return self._read(done)

    def syntax_problems(self, files: Mapping[str, str]) -> Mapping[str, str]:
        """Key -> problem for sources that the instance's Python does not compile."""
        box, nonce = self._side(Side.GOLD).box, secrets.token_hex(16)
        place = f"{box.directory}/{nonce}"
        names = {key: f"{number}.py" for number, key in enumerate(files)}
        listing = json.dumps([[key, f"{place}/{name}"] for key, name in names.items()])
        lines = [
            f". {shlex.quote(box.directory)}/{scripts.RECORD}/environment 2>/dev/null",
            f"echo; echo utboost {nonce} answer",
            f"python {shlex.quote(place)}/check_syntax.py {shlex.quote(place)}/listing.json",
        ]
        box.put(
            {f"{nonce}/{name}": files[key].encode("utf-8", "surrogateescape") for key, name in names.items()}
            | {f"{nonce}/listing.json": listing.encode(), "check.sh": "\n".join(lines).encode()}
            | inside_files("check", target=nonce)
        )
        answer = _answer(self._script(Side.GOLD, "check.sh", nonce))
        if not isinstance(answer, dict):
            raise SandboxError(
                f"{self.instance.instance_id}: the instance's Python could not check the tests"
            )
        return {str(key): str(value) for key, value in answer.items()}

    def coverage(self, patches: Sequence[str]) -> Coverage | None:
        """What the official tests, and those with each of `patches` on top, run of gold's changed lines.

        None where gold changes no Python line that holds code, or where the runs left no trace (a runner
        that starts Python in a way the tracer does not reach).
        """
        watched = changed_lines(self.instance.patch)
        original = self._hit(watched, "") if watched else None
        if original is None or not original[0] or not original[1]:
            return None
        hit = original[1]
        for patch in patches:
            more = self._hit(watched, patch)
            hit |= more[1] if more else frozenset()
        return Coverage(original[0], original[1], hit)

    def _hit(
        self, watched: Mapping[str, tuple[int, ...]], patch: str
    ) -> tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]] | None:
        """(executable, hit) of the watched lines in one traced run on gold."""
        box, nonce = self._side(Side.GOLD).box, secrets.token_hex(16)
        place = f"{box.directory}/trace-{nonce}"
        box.put(
            inside_files("trace", target=f"trace-{nonce}")
            | {f"trace-{nonce}/trace.json": json.dumps(watched).encode(), f"trace-{nonce}/hits/none": b""}
        )
        lines = (
            f"git rev-parse --show-toplevel > {shlex.quote(place)}/top",
            f'export PYTHONPATH={shlex.quote(place)}"${{PYTHONPATH:+:$PYTHONPATH}}"',
        )
        done = self._tests(Side.GOLD, patch, lines, ())
        if done.execution.state is not RunState.OK:
            return None
        report = [
            f". {shlex.quote(box.directory)}/{scripts.RECORD}/environment 2>/dev/null",
            f"echo; echo utboost {nonce} answer",
            f"python {shlex.quote(place)}/coverage_report.py",
        ]
        box.put({"report.sh": "\n".join(report).encode()})
        answer = _answer(self._script(Side.GOLD, "report.sh", nonce))
        try:
            return _pairs(answer, "executable"), _pairs(answer, "hit")
        except (AttributeError, KeyError, TypeError):
            return None

    def _variant(self, variant: Variant, directory: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(shell lines before the test command, arguments of it) that make a variant."""
        if variant is Variant.HASH_SEED:
            return (f"export PYTHONHASHSEED={_HASH_SEED}",), ()
        if variant is Variant.REVERSED and self.script.order is Order.ARGUMENT:
            return (), (REVERSE_ARGUMENT,)
        if variant is Variant.REVERSED and self.script.order is Order.PLUGIN:
            order = shlex.quote(f"{directory}/order")
            return (
                f'export PYTHONPATH={order}"${{PYTHONPATH:+:$PYTHONPATH}}"',
                'export PYTEST_ADDOPTS="-p utboost_reversed ${PYTEST_ADDOPTS:-}"',
            ), ()
        return (), ()

    def _tests(
        self, side: Side, patch: str, lines: tuple[str, ...], directives: tuple[str, ...]
    ) -> _Finished:
        """The row's test command over the official test patch and `patch`, from a clean tree."""
        started, nonce = self._side(side), secrets.token_hex(16)
        whole = with_final_newline(self.instance.test_patch) + patch
        script = replace(self.script, before=(*self.script.before, *lines))
        more = (*script.new_directives(self.instance.repo, whole), *directives)
        started.box.put(
            {
                f"{nonce}/test.patch": whole.encode("utf-8", "surrogateescape"),
                f"{nonce}/paths.list": scripts.nul_list(touched_paths(whole)),
                f"{nonce}/tests.sh": script.test_text(whole, nonce, more).encode("utf-8", "surrogateescape"),
                "run.sh": scripts.run_script(started.box.directory, started.base, nonce, reset=True).encode(),
            }
        )
        return self._script(side, "run.sh", nonce)

    def _script(self, side: Side, name: str, nonce: str) -> _Finished:
        self.runs += 1
        log = self.folder / f"{side}.{name.removesuffix('.sh')}.log"
        execution = self._side(side).box.run(name, log=log)
        if execution.exit_code is None:
            self._close(side)
        return _Finished(execution, log.read_bytes(), nonce)

    def _read(self, done: _Finished) -> Trial:
        seconds = done.execution.seconds
        if done.execution.state is not RunState.OK:
            return Trial(obstacle=str(done.execution.state), seconds=seconds)
        if failed := re.search(rb"^utboost %s (.*)$" % done.nonce.encode(), done.log, re.MULTILINE):
            return Trial(obstacle=failed[1].decode("utf-8", "replace"), seconds=seconds, applied=False)
        parsed = read_log(done.log, self.instance.log_parser or "", nonce=done.nonce)
        if problem := _problem(parsed, done.execution.exit_code):
            return Trial(obstacle=problem, seconds=seconds)
        messages = {test: spot.message for test, spot in parsed.evidence.items() if spot.message}
        return Trial(outcomes=parsed.statuses, messages=messages, seconds=seconds)

    def _side(self, side: Side) -> _Side:
        if side not in self._sides:
            try:
                self._open(side)
            except _SetUpError:  # it may have been the machine's fault: once more, in a fresh box
                self._open(side)
        return self._sides[side]

    def _open(self, side: Side) -> None:
        stack = contextlib.ExitStack()
        self._stack[side] = stack
        try:
            box = stack.enter_context(self.sandbox.box(self.image))
            self._sides[side] = _Side(box, self._set_up(side, box))
        except BaseException:
            self._close(side)
            raise

    def _set_up(self, side: Side, box: Box) -> str:
        """Apply the side's patch and run the row's preparation; the base commit. Raises _SetUpError."""
        nonce = secrets.token_hex(16)
        patch = with_final_newline(self.instance.patch) if side is Side.GOLD else ""
        box.put(
            {
                "candidate.patch": patch.encode("utf-8", "surrogateescape"),
                "gold.patch": b"",
                "revert.list": b"",
                "apply.sh": scripts.apply_script(box.directory, nonce).encode(),
                "preparation.sh": self.script.preparation_text().encode(),
                "prepare.sh": scripts.prepare_script(box.directory).encode(),
            }
            | scripts.REVERSED_PLUGIN
        )
        log = self.folder / f"{side}.set-up.log"
        applying = box.run("apply.sh", log=log)
        told = re.search(
            rf"^utboost {nonce} base ([0-9a-f]+)$", log.read_text("utf-8", "replace"), re.MULTILINE
        )
        if applying.exit_code != 0 or told is None:
            raise _SetUpError(f"{self.instance.instance_id}: the {side} patch cannot be applied in its image")
        preparing = box.run("prepare.sh", log=log)
        if preparing.exit_code != 0:
            stopped = preparing.state is not RunState.OK
            how = preparing.state if stopped else f"exit code {preparing.exit_code}"
            raise _SetUpError(f"{self.instance.instance_id}: the row's set-up of {side} fails twice: {how}")
        return told[1]

    def _close(self, side: Side) -> None:
        self._sides.pop(side, None)
        if (stack := self._stack.pop(side, None)) is not None:
            stack.close()


def _problem(parsed: ParsedLog, exit_code: int | None) -> str:
    """Why the outcomes of a log may not be used, "" when they may."""
    shown = (*parsed.statuses.values(), *parsed.events.values())
    if not parsed.gradable:
        return "; ".join(parsed.warnings) or "the log may not be used"
    if parsed.complete is False:
        return "the log is cut"
    if parsed.statuses and exit_code and not any(status.fails for status in shown):
        return f"exit code {exit_code}, but the log shows no failure"
    return ""


def _pairs(answer: Any, kind: str) -> frozenset[tuple[str, int]]:
    """(path, line) pairs of the tracer's report, which came out of a box that ran generated tests."""
    return frozenset((str(path), int(line)) for path, found in answer.items() for line in found[kind])


def _answer(done: _Finished) -> object:
    """The JSON on the line behind the answer's mark, None where there is none."""
    _, mark, rest = done.log.partition(b"utboost %s answer\n" % done.nonce.encode())
    try:
        return json.loads(rest.decode("utf-8", "replace")) if mark else None
    except ValueError:
        return None
