from dataclasses import replace

import pytest
from material import official, view

from utboost_action.errors import SandboxError
from utboost_action.generation.asking import Reply
from utboost_action.generation.assembly import with_unique_names
from utboost_action.generation.changed_lines import changed_lines
from utboost_action.generation.gates import Tally
from utboost_action.generation.samples import Sample, units_of_sample
from utboost_action.generation.trials import Rules, Trial, Variant, validate
from utboost_action.model import Side, TestStatus

PASS, FAIL, SKIP = TestStatus.PASSED, TestStatus.FAILED, TestStatus.SKIPPED
ORIGINAL = {"tests/test_calc.py::test_two": PASS}


class Bench:
    """A bench whose tests do what their names say."""

    reverses = True

    def __init__(self, uncompiled=(), baseline=ORIGINAL, broken=()):
        self.uncompiled, self.baseline, self.broken = uncompiled, baseline, broken
        self.runs = []

    def syntax_problems(self, files):
        return {
            key: "bad syntax" for key, text in files.items() if any(name in text for name in self.uncompiled)
        }

    def run(self, side, patch, variant):
        self.runs.append((side, patch, variant))
        names = [
            line.split("(")[0].removeprefix("+def ")
            for line in patch.splitlines()
            if line.startswith("+def test")
        ]
        if variant in self.broken:
            return Trial(obstacle="no test output")
        if any("kills" in name for name in names):
            return Trial(obstacle="timeout", seconds=9.0)
        outcomes = dict(self.baseline)
        if not any("silences" in name for name in names):
            for name in names:
                outcomes[f"tests/test_calc.py::{name}"] = self.status(name, side, variant)
        if any("disturbs" in name for name in names):
            outcomes["tests/test_calc.py::test_two"] = FAIL
        return Trial(outcomes=outcomes, seconds=100.0 if any("slow" in name for name in names) else 1.0)

    def status(self, name, side, variant):
        if side is Side.BASE:
            runs = sum(run[0] is Side.BASE and name in run[1] for run in self.runs)
            return FAIL if "f2p" in name or ("wavers" in name and runs == 2) else PASS
        gold = [
            run for run in self.runs if run[0] is Side.GOLD and name in run[1] and run[2] is Variant.NORMAL
        ]
        bad = {
            "wrong": True,
            "seed": variant is Variant.HASH_SEED,
            "order": variant is Variant.REVERSED,
            "flaky": len(gold) == 2,
        }
        if any(word in name and now for word, now in bad.items()):
            return FAIL
        return SKIP if "skips" in name else PASS


def units(*names):
    code = "\n".join(f"def {name}():\n    assert {number}" for number, name in enumerate(names))
    text = (
        "FILE: tests/test_calc.py\n<<<<<<< SEARCH\nLIMIT = 10\n"
        f"=======\nLIMIT = 10\n{code}\n>>>>>>> REPLACE\n"
    )
    found = units_of_sample(Sample("s0.0", "h", 0.0, Reply(text)), view(), official(), Tally())
    return with_unique_names(found, view())


def validated(bench, *names, **rules):
    tally = Tally()
    passed, notes = validate(units(*names), view(), bench, Rules(**rules), tally)
    return [one.unit.test for one in passed], dict(tally.counters()), passed, notes


@pytest.mark.parametrize(
    ("name", "gate"),
    [
        ("test_wrong", "fails on gold"),
        ("test_skips", "skips itself"),
        ("test_seed", "depends on the hash seed"),
        ("test_order", "depends on the order"),
        ("test_flaky", "unstable on gold"),
        ("test_kills", "run stopped"),
        ("test_silences", "not collected"),
        ("test_disturbs", "disturbs existing tests"),
        ("test_slow", "too slow"),
        ("test_wavers", "unstable on base"),
    ],
)
def test_one_bad_test_is_turned_away_and_the_others_pass(name, gate):
    kept, counters, _passed, _notes = validated(Bench(), "test_a", name, "test_b_f2p", test_seconds=50)
    assert kept == ["test_a", "test_b_f2p"]
    assert counters == {gate: 1}


def test_what_base_does_tells_the_two_kinds_apart():
    _kept, _counters, passed, _notes = validated(Bench(), "test_a", "test_b_f2p")
    assert [(one.base, one.gold_runs, one.targets) for one in passed] == [
        ("PASSED", 3, ("tests/test_calc.py::test_a",)),
        ("FAILED", 3, ("tests/test_calc.py::test_b_f2p",)),
    ]


def test_gold_is_run_k_times():
    bench = Bench()
    validated(bench, "test_a", repeats=5)
    normal = [run for run in bench.runs if run[0] is Side.GOLD and run[1] and run[2] is Variant.NORMAL]
    assert len(normal) == 5


def test_a_target_python_that_does_not_take_it():
    kept, counters, _passed, _notes = validated(
        Bench(uncompiled=["test_new_syntax"]), "test_a", "test_new_syntax"
    )
    assert (kept, counters) == (["test_a"], {"unparsable by the target python": 1})


def test_a_variant_that_cannot_be_run_at_all_rejects_nothing_and_is_said():
    kept, counters, _passed, notes = validated(Bench(broken=[Variant.REVERSED]), "test_a", "test_b")
    assert (kept, counters) == (["test_a", "test_b"], {})
    assert notes == ("the tests do not run with reversed order: no test output",)


def test_gold_that_cannot_be_run_is_no_verdict_on_any_test():
    with pytest.raises(SandboxError, match="cannot be run on gold"):
        validated(Bench(broken=[Variant.NORMAL]), "test_a")


def test_nothing_to_validate_runs_nothing():
    bench = Bench()
    assert validate((), view(), bench, Rules(), Tally()) == ((), ())
    assert bench.runs == []


def test_a_test_that_was_there_before_is_not_taken_for_a_new_one():
    kept, counters, _passed, _notes = validated(
        Bench(baseline={**ORIGINAL, "tests/test_calc.py::test_a": PASS}), "test_a"
    )
    assert (kept, counters) == ([], {"not collected": 1})


def test_a_second_file_may_change_how_the_runner_names_the_tests():
    """Sympy's ids are bare when one file runs and `path:name` when several do."""

    class Sympy(Bench):
        def run(self, side, patch, variant):
            trial = super().run(side, patch, variant)
            several = {
                f"sympy/t.py:{name.rpartition('::')[2]}": status for name, status in trial.outcomes.items()
            }
            return replace(trial, outcomes=several if patch else {"test_two": PASS})

    kept, counters, _passed, _notes = validated(Sympy(), "test_a")
    assert (kept, counters) == (["test_a"], {})


def test_lines_that_gold_changes():
    patch = (
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n x\n-y\n+z\n+w\n"
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n--- a/b.py\n+++ b/b.py\n@@ -1,2 +1 @@\n x\n-y\n"
    )
    assert changed_lines(patch) == {"a.py": (2, 3)}
    assert changed_lines("no patch") == {}
