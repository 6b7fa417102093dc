"""Variants do what gold does, mutants do not, and a patch made of either applies."""

import subprocess
import types

import pytest

from utboost_action.oracle.assertions import base_messages, original_id, with_single_assertions
from utboost_action.oracle.mutants import mutants
from utboost_action.oracle.rewriting import changed_lines, incremental_patch
from utboost_action.oracle.variants import variants

BASE = '''"""A module."""


class Box:
    """Holds values."""

    def __init__(self, values):
        self.values = values

    def mean(self, default=0):
        total = sum(self.values)
        count = len(self.values)
        return total / count

    def spread(self, low=None, *, high=None):
        kept = [value for value in self.values]
        return max(kept) - min(kept)
'''
GOLD = '''"""A module."""


class Box:
    """Holds values."""

    def __init__(self, values):
        self.values = values

    def mean(self, default=0):
        total = sum(self.values)
        count = len(self.values)
        if not count:
            return default
        return total / count

    def spread(self, low=None, *, high=None):
        least = 0
        most = 100
        kept = [value for value in self.values if value is not None and value > least]
        if low is not None:
            kept = [max(value, low) for value in kept]
        elif high is not None:
            kept = [min(value, high) for value in kept]
        else:
            kept = list(kept)
        for most, value in enumerate(kept):
            least = value if most == 0 else min(least, value)
        return max(kept) - least if kept else 0
'''
ARGUMENTS = ([], [1], [3, None, 8], [-4, 2, 2], [5, 1, 9, None])


def behaviour(text: str) -> list[object]:
    module = types.ModuleType("made")
    exec(compile(text, "made.py", "exec"), module.__dict__)
    shown: list[object] = []
    for values in ARGUMENTS:
        for call in (
            lambda box: box.mean(),
            lambda box: box.mean(default=7),
            lambda box: box.spread(),
            lambda box: box.spread(low=4),
            lambda box: box.spread(high=4),
        ):
            try:
                shown.append(call(module.Box(list(values))))
            except Exception as problem:
                shown.append(type(problem).__name__)
    return shown


MADE = variants("made.py", BASE, GOLD, 20)


def test_there_are_variants_of_every_kind():
    kinds = {name.name.split(" ")[0] for name in MADE}
    assert kinds == {"renamed", "inverted", "extracted", "named", "reordered"}
    assert len({variant.text for variant in MADE}) == len(MADE) >= 8


@pytest.mark.parametrize("variant", MADE, ids=lambda variant: variant.name)
def test_a_variant_does_what_gold_does(variant):
    assert variant.text != GOLD
    assert behaviour(variant.text) == behaviour(GOLD)


def test_most_mutants_do_something_else():
    made = mutants("made.py", BASE, GOLD, 40)
    assert len(made) >= 20
    assert len({mutant.text for mutant in made}) == len(made)
    other = sum(behaviour(mutant.text) != behaviour(GOLD) for mutant in made)
    assert other / len(made) > 0.6
    changed = changed_lines(BASE, GOLD)
    assert all(int(mutant.name.rpartition(" ")[2]) in changed for mutant in made)


def test_words_that_are_raised_or_logged_are_never_mutated():
    gold = (
        "def f(x):\n    if x < 0:\n        raise ValueError('at least ' + str(0))\n"
        "    log.warning('x %s', 3)\n    return x\n"
    )
    made = mutants("made.py", "def f(x):\n    return x\n", gold, 40)
    assert {mutant.name.partition(",")[0] for mutant in made} == {
        "condition negated",
        "LessThan into LessThanEqual",
        "number plus one",
        "statement left out",
        "argument in place of the call",
        "without the last argument",
        "without warning",
    } - {"argument in place of the call"}


@pytest.mark.parametrize(
    "unsafe",
    [
        "def f():\n    x = 1\n    return locals()\n",
        "def f():\n    x = 1\n    return eval('x')\n",
        "def f():\n    global x\n    x = 1\n",
        "def f():\n    x = 1\n    class A:\n        y = x\n    return A\n",
    ],
)
def test_what_looks_at_names_is_not_renamed(unsafe):
    made = variants("made.py", "", unsafe, 20)
    assert not [variant for variant in made if variant.name.startswith("renamed")]


def test_a_yield_an_await_and_super_stay_where_they_are():
    gold = (
        "class A(B):\n    async def f(self):\n        return await g()\n\n"
        "    def h(self):\n        x = yield 1\n"
        "        return super().h() + x\n"
    )
    for variant in variants("made.py", "", gold, 20):
        compile(variant.text, "made.py", "exec")
        assert "extracted" not in variant.name


def test_what_is_no_python_has_no_variants():
    assert variants("made.py", "", "print 'two'\n") == []
    assert mutants("made.py", "", "print 'two'\n") == []


@pytest.mark.parametrize("ending", ["\n", ""])
@pytest.mark.parametrize("before", [BASE, ""])
def test_an_incremental_patch_applies(tmp_path, before, ending):
    before, after = before.rstrip("\n") + ending if before else "", GOLD.rstrip("\n") + ending
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    if before:
        (tmp_path / "made.py").write_text(before)
    patch = incremental_patch("made.py", before, after)
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "made.py").read_text() == after
    assert incremental_patch("made.py", after, after) == ""


TESTS = '''import unittest


class ThingTests(unittest.TestCase):
    def test_two(self):
        """Words."""
        x = thing()
        self.assertEqual(x, 1)
        if x:
            assert x.y == 2
        with self.assertRaises(ValueError):
            x.z()

    def test_one(self):
        assert thing()


def test_two():
    assert_frame_equal(a, b)
    assert c
'''


def test_each_assertion_stands_alone_in_a_copy():
    copied = with_single_assertions(TESTS, {"test_two", "test_one"})
    compile(copied, "t.py", "exec")
    assert copied.count("def test_two_utboost_0") == 2
    assert copied.count("def test_two_utboost_1") == 2
    assert "test_one_utboost" not in copied
    assert copied.count('"""Words."""') == 1
    assert copied.count("self.assertEqual(x, 1)") == 2
    assert with_single_assertions(TESTS, {"absent"}) == ""
    assert with_single_assertions("print 'two'", {"test_two"}) == ""


def test_messages_of_copies_go_to_their_test():
    told = {
        "test_two (m.T)": "whole",
        "test_two_utboost_0 (m.T)": "first",
        "test_two_utboost_1 (m.T)": "second",
        "t.py::test_two_utboost_10[a]": "other",
    }
    assert base_messages(told) == {"test_two (m.T)": ("first", "second"), "t.py::test_two[a]": ("other",)}
    assert original_id("t.py::test_two[a]") == "t.py::test_two[a]"
