"""10,000 simulated outcome tables through the pure rules: flake, order effects, set-up faults.

The truth of each table is known. No right patch may come out WRONG; how many wrong ones are found is
printed.
"""

import random
from collections import Counter

from unit.oracle.oracle_builders import SUITE, E, F, P, entry, jurors, showing, side, variants

from utboost_action.model import ORIGINAL, BankStatus, ProgramKind, SideRun, Signals, TestStatus, VerdictKind
from utboost_action.oracle.setup_faults import setup_doubt
from utboost_action.oracle.verdicts import Sides, is_plausible, judge, with_second_look

TABLES = 10_000
FAULTS = ("ConnectionRefusedError: refused", "MemoryError", "ModuleNotFoundError: No module named 'lxml'")


class Table:
    """One instance with one candidate: right or wrong, under noise."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.is_right = self.dice.random() < 0.6
        self.taste = self.dice.random() < 0.15  # the test asks for more than the issue
        self.flake = self.dice.choice((0.0, 0.0, 0.05, 0.3))
        self.order = self.dice.random() < 0.1  # fails when the order is reversed
        self.setup = self.dice.choice(("", "", "", "once", "always"))
        self.kind = self.dice.choice(("incomplete", "regression", "divergence"))
        self.confirmed = self.dice.random() < 0.5 and not self.taste  # people let no taste through

    def outcome(self, repeat: int, *, fails: bool) -> TestStatus:
        if fails or self.dice.random() < self.flake or (self.order and repeat == 2):
            return F
        return P

    def program(self, *, fails: bool, repeats: int = 3, messages: dict[str, str] | None = None) -> SideRun:
        original = [{"a": P, "b": P}] * repeats
        augmented = [{"a": P, "new": self.outcome(n, fails=fails)} for n in range(repeats)]
        return side(original, augmented, messages)

    def candidate_fails(self) -> bool:
        return not self.is_right or self.taste

    def candidate(self, attempt: int) -> SideRun:
        message = (
            "AssertionError: its own" if self.taste or self.kind == "divergence" else "AssertionError: old"
        )
        shown = self.program(fails=self.candidate_fails(), messages={"new": message})
        if self.setup == "always" or (self.setup == "once" and attempt == 0):
            fault = self.dice.choice(FAULTS)
            return side([{"a": P, "b": P}] * 3, [{"a": P, "new": E}] * 3, {"new": fault})
        return shown

    def base(self) -> SideRun:
        passes = self.kind == "regression" and not self.taste
        messages = {} if passes else {"new": "AssertionError: old"}
        augmented = [{"a": P, "new": P if passes else F}] * 2
        return side([{"a": P, "b": F}] * 2, augmented, messages)

    def signals(self) -> Signals:
        """Variants pass what gold passes; of the jury the right ones pass, unless the test is taste."""
        passing, failing = self.dice.randint(0, 3), self.dice.randint(0, 3)
        if self.taste:
            passing, failing = 0, passing + failing
        killer = (showing(ProgramKind.MUTANT, 0, "new"),) if self.dice.random() < 0.5 else ()
        return Signals((*variants(self.dice.randint(0, 4)), *jurors(passing, failing), *killer))


def judged(table: Table):
    gold, base = table.program(fails=False), table.base()
    candidate = table.candidate(0)
    if why := setup_doubt(candidate, gold, base):
        again = table.candidate(1)
        candidate = SideRun(again.key, again.state, again.runs, retried=why)
    status = BankStatus.CONFIRMED if table.confirmed else BankStatus.CANDIDATE
    tests = (entry(status, table.signals()),)
    assert is_plausible(gold, [run for run in candidate.runs if run.suite == ORIGINAL])
    sides = Sides("x__y-1", True, gold, base, candidate, None, (), tests, candidate_key="own")
    found = judge(sides)
    if found.kind is VerdictKind.WRONG:  # as replay.py has it
        gold_again, again = table.program(fails=False), table.candidate(1)
        found = judge(with_second_look(sides, gold_again, again))
    return found


def test_no_right_patch_is_wrong_in_ten_thousand_tables():
    counts: Counter[tuple[str, VerdictKind]] = Counter()
    for seed in range(TABLES):
        table = Table(seed)
        found = judged(table)
        counts["right" if table.is_right else "wrong", found.kind] += 1
        if table.is_right:
            assert found.kind is not VerdictKind.WRONG, (seed, vars(table), found.reasons)
        elif not table.setup and not table.flake and not table.order and table.confirmed:
            assert found.kind is VerdictKind.WRONG, (seed, vars(table), found.reasons)
    wrong = {kind: count for (truth, kind), count in counts.items() if truth == "wrong"}
    flagged = wrong[VerdictKind.WRONG] + wrong[VerdictKind.SUSPECT]
    total = sum(wrong.values())
    found = f"WRONG {wrong[VerdictKind.WRONG] / total:.1%}, flagged {flagged / total:.1%}"
    told = f"{found} of {total} wrong patches"
    print(told, dict(counts))  # noqa: T201
    assert flagged / total > 0.5


def test_the_suite_of_the_simulation_is_the_entrys():
    assert entry().id == SUITE
