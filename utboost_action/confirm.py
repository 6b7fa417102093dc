"""The experiments that confirm a bank entry, or throw doubt on it, for one instance (docs/method.md).

Joins the oracle's rewritings with the sandbox: gold rewritten and gold with faults (both trusted), base at
each assertion alone, and the patches of other submissions as a jury. What they show goes into the bank.
"""

from __future__ import annotations

import gzip
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from utboost_action.errors import AuditError, SandboxError
from utboost_action.execution.reading import TreeRequest, read_files
from utboost_action.execution.side import Suite
from utboost_action.logs.official import official_report_map
from utboost_action.model import (
    ORIGINAL,
    AugmentedTest,
    BankStatus,
    Instance,
    ProgramKind,
    Showing,
    SideRun,
    Signals,
    TestMode,
    Validation,
)
from utboost_action.oracle.assertions import base_messages, with_single_assertions
from utboost_action.oracle.mutants import mutants
from utboost_action.oracle.relation import outcomes_of
from utboost_action.oracle.rewriting import Rewriting, incremental_patch
from utboost_action.oracle.showings import showing_of
from utboost_action.oracle.variants import variants
from utboost_action.patches import normalised, touched_paths, with_final_newline
from utboost_action.replay import Replay, patch_key, suites_of
from utboost_action.storage import content_key

_MARKER = re.compile(rb"(>>>>> (?:Start|End) Test Output) [0-9a-f]{32}'")
_IN_ONE_BOX = 6
_FUNCTION = re.compile(r"\w+")


@dataclass(frozen=True)  # no slots: the defaults are read off the class by the command line
class Effort:
    """How many programs are tried for one instance, each run once; base and gold as an audit runs them."""

    variants: int = 4
    mutants: int = 8
    jurors: int = 8


@dataclass(frozen=True, slots=True)
class Juror:
    """Another submission's patch for the instance."""

    name: str
    patch: str


@dataclass(frozen=True, slots=True)
class _Program:
    """A program to try: gold with `change` (base into the rewritten file), or a whole patch of its own."""

    kind: ProgramKind
    name: str
    key: str
    change: str


def confirm(
    replay: Replay,
    instance: Instance,
    entries: Sequence[AugmentedTest],
    jurors: Sequence[Juror] = (),
    effort: Effort | None = None,
    *,
    at: str | None = None,
) -> tuple[AugmentedTest, ...]:
    """The entries with the signals of fresh experiments; their standing and people's decisions stay.

    jurors: patches equal to gold, or to one before, are left out. at: the time to record. A retired entry
    comes back as it is. Raises AuditError when gold cannot be run or does not pass its own tests.
    """
    effort = effort or Effort()
    live = tuple(entry for entry in entries if entry.status is not BankStatus.RETIRED)
    if not live:
        return tuple(entries)
    suites = suites_of(instance, live)
    gold = replay.side(instance, suites, instance.patch, repeats=replay.repeats, trusted=True)
    base = replay.side(instance, suites, "", repeats=min(replay.repeats, 2), trusted=True)
    if problem := outcomes_of(gold, ORIGINAL).obstacle:
        raise AuditError(f"{instance.instance_id}: gold: {problem}")
    texts = _Texts.read(replay, instance, live)
    shown: dict[str, list[Showing]] = {entry.id: [] for entry in live}
    tried = [
        *_trusted_programs(replay, instance, suites, texts, effort),
        *_jury(replay, instance, suites, gold, jurors, effort),
    ]
    for program, side in tried:
        for entry in live:
            showing = showing_of(entry.id, program.kind, program.name, program.key, gold, side)
            shown[entry.id].append(showing)
    told = _base_messages(replay, instance, live, texts, gold, base)
    result = []
    for entry in entries:
        if entry.id in shown:
            official = _official_lists(replay, instance, entry, gold, base)
            signals = replace(
                entry.signals,
                showings=tuple(shown[entry.id]),
                base_messages=told.get(entry.id, {}),
                fail_to_pass=official[0],
                pass_to_pass=official[1],
            )
            entry = replace(
                entry, signals=signals, validation=_validation(replay, instance, entry, gold, base, at)
            )
        result.append(entry)
    return tuple(result)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Files as text: base and gold for what gold touches, and the test files of each entry."""

    base: Mapping[str, str]
    gold: Mapping[str, str]
    tests: Mapping[str, Mapping[str, str]]

    @classmethod
    def read(cls, replay: Replay, instance: Instance, entries: Sequence[AugmentedTest]) -> _Texts:
        """Read them in one box. Raises SandboxError."""
        paths = tuple(path for path in touched_paths(instance.patch) if path.endswith(".py"))
        requests = [TreeRequest("", paths), TreeRequest(instance.patch, paths)]
        for entry in entries:
            patch = _whole_test_patch(instance, entry)
            requests.append(TreeRequest(patch, tuple(p for p in touched_paths(patch) if p.endswith(".py"))))
        with (
            tempfile.TemporaryDirectory() as folder,
            replay.sandbox.box(replay.image(instance)) as box,
            replay.floor.together(),
        ):
            base, gold, *tests = read_files(box, requests, Path(folder) / "read.log")
        return cls(base, gold, {entry.id: files for entry, files in zip(entries, tests, strict=True)})


def _trusted_programs(
    replay: Replay, instance: Instance, suites: Sequence[Suite], texts: _Texts, effort: Effort
) -> Iterator[tuple[_Program, SideRun]]:
    """Variants and mutants, many in one box: each is laid over the prepared gold tree with its test patch.

    A program that stops the box (a mutant that loops) is known by that; the next ones get a new box.
    """
    left = list(_rewritten(instance, texts, effort))
    while left:
        batch = left[:_IN_ONE_BOX]
        laid = [
            replace(suite, name=_suite_name(n, suite), test_patch=program.change + suite.test_patch)
            for n, program in enumerate(batch)
            for suite in suites
        ]
        side = replay.side(instance, (suites[0], *laid), instance.patch, repeats=1, trusted=True, retry=False)
        for n, program in enumerate(batch):
            names = {_suite_name(n, suite): suite.name for suite in suites}
            own = tuple(replace(run, suite=names[run.suite]) for run in side.runs if run.suite in names)
            stopped = any(run.exit_code is None for run in own)
            yield program, replace(side, runs=own)
            left.pop(0)
            if stopped:
                break


def _rewritten(instance: Instance, texts: _Texts, effort: Effort) -> Iterator[_Program]:
    for kind, make, limit in (
        (ProgramKind.VARIANT, variants, effort.variants),
        (ProgramKind.MUTANT, mutants, effort.mutants),
    ):
        by_file = [make(path, texts.base.get(path, ""), text, limit) for path, text in texts.gold.items()]
        for rewriting in _in_turn(by_file)[:limit]:
            change = incremental_patch(rewriting.path, texts.base.get(rewriting.path, ""), rewriting.text)
            key = content_key([normalised(instance.patch), change])
            yield _Program(kind, rewriting.name, key, change)


def _jury(
    replay: Replay,
    instance: Instance,
    suites: Sequence[Suite],
    gold: SideRun,
    jurors: Sequence[Juror],
    effort: Effort,
) -> Iterator[tuple[_Program, SideRun]]:
    """Other submissions' patches, each in a box of its own; equal ones, and those equal to gold, once."""
    seen = {patch_key(instance.patch)}
    for juror in jurors:
        key = patch_key(juror.patch)
        if len(seen) > effort.jurors or not juror.patch.strip() or key in seen:
            continue
        seen.add(key)
        side = replay.side(instance, suites, juror.patch, repeats=1, trusted=False, like=gold)
        yield _Program(ProgramKind.JUROR, juror.name, key, ""), side


def _suite_name(number: int, suite: Suite) -> str:
    return f"{number}:{suite.name}"


def _in_turn(lists: Sequence[Sequence[Rewriting]]) -> list[Rewriting]:
    return [some[n] for n in range(max(map(len, lists), default=0)) for some in lists if n < len(some)]


def _base_messages(
    replay: Replay,
    instance: Instance,
    entries: Sequence[AugmentedTest],
    texts: _Texts,
    gold: SideRun,
    base: SideRun,
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Entry id -> test -> base's failures, assertion by assertion, of the tests that base fails."""
    split: list[AugmentedTest] = []
    for entry in entries:
        passing, on_base = set(outcomes_of(gold, entry.id).passing()), outcomes_of(base, entry.id)
        failing = [test for test in passing if test in on_base.messages]
        names = {name for test in failing for name in _FUNCTION.findall(test) if name.startswith("test")}
        change = "".join(
            incremental_patch(path, text, copied)
            for path, text in texts.tests[entry.id].items()
            if (copied := with_single_assertions(text, names))
        )
        if change:
            patch = with_final_newline(entry.patch) + change
            split.append(replace(entry, id=f"{entry.id}:assertions", patch=patch, signals=Signals()))
    if not split:
        return {}
    try:
        side = replay.side(instance, suites_of(instance, split), "", repeats=1, trusted=True)
    except SandboxError:
        return {}
    found = {}
    for entry in split:
        messages = dict(outcomes_of(side, entry.id).messages)
        found[entry.id.removesuffix(":assertions")] = base_messages(messages)
    return found


def _official_lists(
    replay: Replay, instance: Instance, entry: AugmentedTest, gold: SideRun, base: SideRun
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(fail to pass, pass to pass) of the entry's whole suite, by the official reading of our own logs."""
    on_gold = [_official(replay, instance, gold, entry, n) for n in range(len(_runs(gold, entry)))]
    on_base = [_official(replay, instance, base, entry, n) for n in range(len(_runs(base, entry)))]
    if not on_gold or not on_base:
        return (), ()
    passing = [name for name in on_gold[0] if all(name in run for run in on_gold)]
    fail_to_pass = tuple(name for name in passing if not any(name in run for run in on_base))
    pass_to_pass = tuple(name for name in passing if all(name in run for run in on_base))
    return fail_to_pass, pass_to_pass


def _runs(side: SideRun, entry: AugmentedTest) -> list[str]:
    return [run.log for run in side.runs if run.suite == entry.id]


def _official(
    replay: Replay, instance: Instance, side: SideRun, entry: AugmentedTest, number: int
) -> dict[str, None]:
    """The names that the official reading of one of our logs says pass."""
    log = replay.submitted.folder / side.key / _runs(side, entry)[number]
    try:
        data = gzip.decompress(log.read_bytes())
    except (OSError, EOFError):
        return {}
    reading = official_report_map(_MARKER.sub(rb"\1'", data), instance.log_parser or "")
    return {name: None for name, status in reading.statuses.items() if status in ("PASSED", "XFAIL")}


def _validation(
    replay: Replay, instance: Instance, entry: AugmentedTest, gold: SideRun, base: SideRun, at: str | None
) -> Validation:
    on_gold, on_base = outcomes_of(gold, entry.id), outcomes_of(base, entry.id)
    targets = entry.targets or on_gold.passing()
    words = {on_base.obstacle or on_base.of(test) for test in targets}
    return Validation(
        gold_runs=on_gold.repeats,
        base=words.pop() if len(words) == 1 else "mixed" if words else None,
        flaky=bool(on_gold.wavering or on_base.wavering),
        image=replay.sandbox.image_id(replay.image(instance)),
        at=at,
    )


def _whole_test_patch(instance: Instance, entry: AugmentedTest) -> str:
    if entry.mode is TestMode.EXTENDS:
        return with_final_newline(instance.test_patch) + entry.patch
    return entry.patch
