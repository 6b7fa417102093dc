"""The gates that need running: what a unit's test does on gold and on base.

Units are run together where they can be, and apart where one of them spoils a run; each survivor is run
alone as well, since that is what the bank holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from utboost_action.errors import SandboxError
from utboost_action.generation.assembly import files_of, groups_of, patch_of
from utboost_action.generation.gates import Gate, Tally
from utboost_action.generation.repository import RepositoryView
from utboost_action.generation.units import Unit
from utboost_action.model import Side, TestStatus


class Variant(StrEnum):
    """How a suite is run."""

    NORMAL = "normal"
    HASH_SEED = "another hash seed"
    REVERSED = "reversed order"


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of the test files. obstacle: why it shows nothing, empty when it ended by itself."""

    obstacle: str = ""
    outcomes: Mapping[str, TestStatus] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    applied: bool = True


class Bench(Protocol):
    """The two trusted programs, ready to run test files.

    reverses: whether REVERSED turns the runner's order round; else the new tests are laid down in
    reversed order instead.
    """

    @property
    def reverses(self) -> bool:
        """See above."""

    def run(self, side: Side, patch: str, variant: Variant) -> Trial:
        """Run the official tests with `patch` on top of the official test patch ("" for nothing)."""

    def syntax_problems(self, files: Mapping[str, str]) -> Mapping[str, str]:
        """Key -> problem for the sources that the instance's own Python does not compile."""


@dataclass(frozen=True, slots=True)
class Validated:
    """A unit that passed every gate.

    targets: its test ids, alone on gold. gold_runs: normal runs on gold that it passed, all of them.
    base: its status word on base.
    """

    unit: Unit
    patch: str
    targets: tuple[str, ...]
    gold_runs: int
    base: str


@dataclass(frozen=True, slots=True)
class Rules:
    """repeats: runs on gold that must all pass (at least 2). test_seconds: what a test may take alone."""

    repeats: int = 3
    test_seconds: float = 60.0


def validate(
    units: Sequence[Unit], view: RepositoryView, bench: Bench, rules: Rules, tally: Tally
) -> tuple[tuple[Validated, ...], tuple[str, ...]]:
    """The units that pass, in order, and notes on what could not be measured.

    Raises SandboxError when the official tests alone cannot be run on gold.
    """
    run = _Run(view, bench, rules, tally)
    left = run.compiled(units)
    if not left:
        return (), ()
    run.take_baseline()
    left = run.passing(left, Variant.NORMAL, Gate.FAILS_ON_GOLD)
    for _ in range(rules.repeats - 2):
        left = run.passing(left, Variant.NORMAL, Gate.UNSTABLE)
    left = run.passing(left, Variant.HASH_SEED, Gate.HASH_SEED)
    left = run.passing(left, Variant.REVERSED, Gate.ORDER)
    alone = [passed for unit in left if (passed := run.alone(unit)) is not None]
    stable = run.on_base(alone)
    return tuple(stable), tuple(run.notes)


class _Run:
    """The runs of one instance's units."""

    def __init__(self, view: RepositoryView, bench: Bench, rules: Rules, tally: Tally) -> None:
        self.view, self.bench, self.rules, self.tally = view, bench, rules, tally
        self.baseline = Trial()
        self.notes: list[str] = []

    def compiled(self, units: Sequence[Unit]) -> list[Unit]:
        """Those whose files the target Python compiles."""
        sources = {
            f"{number}/{path}": text
            for number, unit in enumerate(units)
            for path, text in files_of([unit], self.view).items()
        }
        problems = self.bench.syntax_problems(sources) if sources else {}
        by_unit = {int(key.split("/")[0]): text for key, text in problems.items()}
        for number, text in by_unit.items():
            self._reject(Gate.TARGET_SYNTAX, units[number], text)
        return [unit for number, unit in enumerate(units) if number not in by_unit]

    def take_baseline(self) -> None:
        """The official tests alone on gold."""
        self.baseline = self.bench.run(Side.GOLD, "", Variant.NORMAL)
        if self.baseline.obstacle:
            raise SandboxError(f"the official tests cannot be run on gold: {self.baseline.obstacle}")

    def passing(self, units: Sequence[Unit], variant: Variant, gate: Gate) -> list[Unit]:
        """Those that pass on gold in one more run; the others are rejected at `gate`."""
        kept: set[str] = set()
        for group in groups_of(units):
            kept |= self._passing_group(group, variant, gate)
        return [unit for unit in units if unit.test in kept]

    def _passing_group(self, group: Sequence[Unit], variant: Variant, gate: Gate) -> set[str]:
        backwards = variant is Variant.REVERSED and not self.bench.reverses
        patch = patch_of(group[::-1] if backwards else group, self.view)
        trial = self.bench.run(Side.GOLD, patch, variant)
        shown = {unit.test: self._ids(unit, trial) for unit in group}
        silent = [unit for unit in group if not shown[unit.test]]
        kept = {
            unit.test
            for unit in group
            if shown[unit.test] and self._passes(unit, shown[unit.test], trial, gate)
        }
        if not silent:
            return kept
        if len(group) > 1:  # one of them may have silenced the others
            parts = (
                [silent]
                if len(silent) < len(group)
                else [silent[: len(silent) // 2], silent[len(silent) // 2 :]]
            )
            for part in parts:
                kept |= self._passing_group(part, variant, gate)
            return kept
        if variant is not Variant.NORMAL and self.bench.run(Side.GOLD, "", variant).obstacle:
            self._note(f"the tests do not run with {variant}: {trial.obstacle or 'no outcome'}")
            return {silent[0].test}
        if not trial.applied:
            self._reject(Gate.NOT_APPLICABLE, silent[0], trial.obstacle)
        elif trial.obstacle:
            self._reject(Gate.STOPPED, silent[0], trial.obstacle)
        else:
            self._reject(
                Gate.NOT_COLLECTED if gate is Gate.FAILS_ON_GOLD else gate, silent[0], "not shown by the run"
            )
        return kept

    def _passes(self, unit: Unit, ids: Sequence[str], trial: Trial, gate: Gate) -> bool:
        for name in ids:
            status = trial.outcomes[name]
            if status in (TestStatus.SKIPPED, TestStatus.XFAIL, TestStatus.XPASS):
                self._reject(Gate.SKIPPED, unit, f"{name}: {status}")
                return False
            if not status.passes:
                self._reject(gate, unit, f"{name}: {status} {trial.messages.get(name, '')}".strip())
                return False
        return True

    def alone(self, unit: Unit) -> Validated | None:
        """The unit run alone on gold, as the bank will hold it."""
        patch = patch_of([unit], self.view)
        trial = self.bench.run(Side.GOLD, patch, Variant.NORMAL)
        ids = self._ids(unit, trial)
        if trial.obstacle or not ids:
            self._reject(Gate.FAILS_ALONE, unit, trial.obstacle or "not shown by the run")
            return None
        if not self._passes(unit, ids, trial, Gate.FAILS_ALONE):
            return None
        now = {**_bare(trial.outcomes), **trial.outcomes}
        broken = [
            name
            for name, status in self.baseline.outcomes.items()
            if status.passes and not now.get(name, TestStatus.ERROR).passes
        ]
        if broken:
            self._reject(Gate.DISTURBS_EXISTING, unit, f"{len(broken)} tests, first {broken[0]}")
            return None
        if (took := trial.seconds - self.baseline.seconds) > self.rules.test_seconds:
            self._reject(Gate.TOO_SLOW, unit, f"{took:.1f} s, {self.rules.test_seconds:g} s are allowed")
            return None
        return Validated(unit, patch, tuple(ids), max(self.rules.repeats, 2), "")

    def on_base(self, passed: Sequence[Validated]) -> list[Validated]:
        """Those that come out the same on base twice, with that outcome."""
        units = [one.unit for one in passed]
        first, second = self._base_words(units), self._base_words(units)
        kept = []
        for one in passed:
            word, again = first[one.unit.test], second[one.unit.test]
            if word == again:
                kept.append(replace(one, base=word))
            else:
                self._reject(Gate.UNSTABLE_BASE, one.unit, f"{word}, then {again}")
        return kept

    def _base_words(self, units: Sequence[Unit]) -> Mapping[str, str]:
        """Test name -> status word on base, `missing` where base cannot show it (an import that fails)."""
        words: dict[str, str] = {}
        for group in groups_of(units):
            together = self.bench.run(Side.BASE, patch_of(group, self.view), Variant.NORMAL)
            for unit in group:
                ids = self._ids(unit, together)
                trial = together
                if not ids and len(group) > 1:
                    trial = self.bench.run(Side.BASE, patch_of([unit], self.view), Variant.NORMAL)
                    ids = self._ids(unit, trial)
                words[unit.test] = _word([trial.outcomes[name] for name in ids])
        return words

    def _ids(self, unit: Unit, trial: Trial) -> list[str]:
        """The ids in a run's outcomes that are the unit's test, parameters included."""
        pattern = re.compile(rf"(?<!\w){re.escape(unit.test)}(?!\w)")
        return [
            name for name in trial.outcomes if name not in self.baseline.outcomes and pattern.search(name)
        ]

    def _reject(self, gate: Gate, unit: Unit, detail: str) -> None:
        self.tally.reject(gate, f"{unit.sample} {unit.test}", detail[:300])

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _bare(outcomes: Mapping[str, TestStatus]) -> dict[str, TestStatus]:
    """The outcomes by bare names: sympy's runner prints `path:name` as soon as a second file runs."""
    return {name.rpartition(".py:")[2]: status for name, status in outcomes.items()}


def _word(statuses: Sequence[TestStatus]) -> str:
    """One status word for a test's ids: the first that does not pass, else the first."""
    if not statuses:
        return "missing"
    return str(next((status for status in statuses if not status.passes), statuses[0]))
