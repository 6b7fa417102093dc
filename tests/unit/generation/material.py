"""A small repository, issue and test patch for generation tests."""

from utboost_action.generation.official import read_official
from utboost_action.generation.repository import view_of

TESTS = '''\
"""Tests of pkg.calc."""

import os

from pkg import add

LIMIT = 10


def make(value):
    return value


class TestOld:
    def setUp(self):
        self.one = 1

    def test_one(self):
        assert add(1, 1) == 2


def test_two():
    # a comment
    assert add(2, 2) == 4
'''
TEST_PATCH = """\
diff --git a/tests/test_calc.py b/tests/test_calc.py
--- a/tests/test_calc.py
+++ b/tests/test_calc.py
@@ -22,2 +22,3 @@ class TestOld:
 def test_two():
     # a comment
+    assert add(2, 2) == 4
"""
FILES = {
    "pkg/__init__.py": b"def add(a, b):\n    '''Add two numbers.'''\n    return a + b\n",
    "pkg/other.py": b"def helper_of_it():\n    return 1\n",
    "pkg/latin.py": "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
    "pkg/old.py": b"print 'two'\n",
    "tests/test_calc.py": TESTS.encode(),
    "tests/test_more.py": b"def test_more():\n    assert True\n",
    "tests/conftest.py": b"x = 1\n",
    "docs/conf.py": b"project = 'p'\n",
}


def view():
    return view_of(FILES, python="3.11.2")


def official():
    return read_official(TEST_PATCH)
