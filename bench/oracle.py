"""The pure rules and the rewritings: verdicts a second, variants and mutants of a large file."""

import time

from utboost_action.model import ORIGINAL, Run, RunState, SideRun, SideState, TestStatus
from utboost_action.oracle.mutants import mutants
from utboost_action.oracle.variants import variants
from utboost_action.oracle.verdicts import Sides, judge
from utboost_action.report.board import Entry, places_of

_PASSED, _FAILED = TestStatus.PASSED, TestStatus.FAILED


def main() -> None:
    """Print the measurements."""
    _judging()
    _rewriting()
    _ranking()


def _judging() -> None:
    """One verdict over 5,000 tests and three repeats, against reading the same outcomes once."""
    outcomes = {f"tests/test_{n // 50}.py::test_{n}": _PASSED for n in range(5000)}
    runs = tuple(Run(ORIGINAL, n, RunState.OK, outcomes=outcomes, exit_code=0) for n in range(3))
    broken = {**outcomes, "tests/test_0.py::test_3": _FAILED}
    bad = tuple(Run(ORIGINAL, n, RunState.OK, outcomes=broken, exit_code=1) for n in range(3))
    gold, candidate = SideRun("g", SideState.OK, runs), SideRun("c", SideState.OK, bad)
    sides = Sides("o__r-1", True, gold, None, candidate, None, (), ())
    begin = time.perf_counter()
    kind = judge(sides).kind
    judging = time.perf_counter() - begin
    begin = time.perf_counter()
    for run in (*runs, *bad):
        assert all(status is not None for status in run.outcomes.values())
    reading = time.perf_counter() - begin
    print(
        f"a verdict ({kind}) over 5,000 tests x 3: {judging * 1000:.0f} ms, {judging / reading:.0f} x reading"
    )


def _rewriting() -> None:
    body = "".join(
        f"    def method_{n}(self, a, b):\n        c = a + b\n        if c > {n}:\n            return c\n"
        f"        d = [x for x in (a, b)]\n        return max(d)\n\n"
        for n in range(400)
    )
    base = "class Large:\n" + body
    gold = base.replace("        if c > 200:\n", "        if c > 200 and b:\n")
    begin = time.perf_counter()
    compile(gold, "large.py", "exec")
    compiling = time.perf_counter() - begin
    for what, make in (("variants", variants), ("mutants", mutants)):
        begin = time.perf_counter()
        made = make("large.py", base, gold)
        seconds = time.perf_counter() - begin
        print(
            f"{len(made)} {what} of a file of {len(gold) // 1000} kB: {seconds:.1f} s, "
            f"{seconds / compiling:.0f} x compiling it"
        )


def _ranking() -> None:
    entries = [Entry(f"s{n}", "", n, n - n % 7, n - n % 3) for n in range(20_000)]
    begin = time.perf_counter()
    places_of(entries)
    ranking = time.perf_counter() - begin
    begin = time.perf_counter()
    sorted(entries, key=lambda entry: entry.high)
    sorting = time.perf_counter() - begin
    print(f"ranks of 20,000 submissions: {ranking * 1000:.0f} ms, {ranking / sorting:.0f} x sorting them")
