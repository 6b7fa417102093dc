"""The least that shows a flag."""

import pytest

from utboost_action.model import AugmentedTest, BankStatus, Difference, DifferenceKind, Standing, TestMode
from utboost_action.report.minimal import compared_values, minimal_evidence, patch_difference


@pytest.mark.parametrize(
    ("message", "base", "gold", "candidate"),
    [
        ("assert 30.0 == 33.3", "", "33.3", "30.0"),
        ("AssertionError: assert [(1, 3)] == [(1, 9)]", "", "[(1, 9)]", "[(1, 3)]"),
        ("AssertionError: 'a != b' != 'c'", "", "'c'", "'a != b'"),
        ("AssertionError: 3 != 1 : a note", "", "1", "3"),
        ("AssertionError: 'want' != 'x'", "AssertionError: 'want' != 'y'", "'want'", "'x'"),
        ("AssertionError: 'x' != 'want'", "AssertionError: 'y' != 'want'", "'want'", "'x'"),
        ("AttributeError: no attribute", "", "", ""),
        ("assert f(x)", "", "", ""),
        ("assert a == b == c", "", "", ""),
        ("", "", "", ""),
    ],
)
def test_the_two_values(message, base, gold, candidate):
    assert compared_values(message, base) == (gold, candidate)


GOLD = """diff --git a/m.py b/m.py
--- a/m.py
+++ b/m.py
@@ -1,4 +1,4 @@ def f(x):
 def f(x):
     y = x
-    return y
+    return y + 1
 # end
@@ -20,2 +20,3 @@ def g(x):
 def g(x):
+    x = x or 0
     return x
"""
CANDIDATE = """diff --git a/m.py b/m.py
index 1..2 100644
--- a/m.py
+++ b/m.py
@@ -2,2 +2,2 @@ def f(x):
     y = x
-    return y
+    return y + 2
diff --git a/n.py b/n.py
--- a/n.py
+++ b/n.py
@@ -1 +1,2 @@
 import os
+import sys
"""


def test_the_patches_side_by_side():
    shown = patch_difference(GOLD, CANDIDATE).split("\n")
    assert "-    return y + 1" in shown
    assert "+    return y + 2" in shown
    assert " def f(x):" in shown
    assert "-    x = x or 0" in shown  # only gold touches g
    assert "+import sys" in shown  # only the candidate touches n.py
    assert patch_difference(GOLD, GOLD) == ""
    assert patch_difference("", "") == ""
    assert patch_difference("no patch", "@@ -1 +1 @@\n-a\n") == ""


def test_a_long_difference_is_cut_and_says_so():
    body = "".join(f"+line {n}\n" for n in range(500))
    added = f"--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,500 @@\n{body}"
    assert patch_difference("", added).endswith("more lines]")


def test_the_believable_and_small_comes_first():
    patch = (
        "--- a/t.py\n+++ b/t.py\n@@ -1,1 +1,8 @@\n a\n+def test_long():\n+    x = 1\n+    assert x\n+\n"
        "+def test_short():\n+    assert f() == 2\n+\n+\n"
    )
    entry = AugmentedTest("e", "i", TestMode.EXTENDS, patch, (), "s", BankStatus.CONFIRMED)

    def difference(test: str, standing: Standing = Standing.CONFIRMED) -> Difference:
        kind, message = DifferenceKind.REGRESSION, "assert 1 == 2"
        return Difference(test, "e", kind, "PASSED", "FAILED", "PASSED", 3, message, standing=standing)

    both = [difference("t.py::test_long"), difference("t.py::test_short")]
    found = minimal_evidence(both, [entry], GOLD, CANDIDATE)
    assert found is not None
    assert (found.test, found.gold, found.candidate) == ("t.py::test_short", "2", "1")
    assert found.source == "def test_short():\n    assert f() == 2"
    mixed = [both[0], difference("t.py::test_short", Standing.DOUBTED)]
    found = minimal_evidence(mixed, [entry], "", "")
    assert found is not None
    assert found.test == "t.py::test_long"
    assert minimal_evidence([], [entry], "", "") is None
