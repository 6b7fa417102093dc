"""A tiny package in a local tree, with an issue, a gold patch and a test patch: one instance."""

import json
from pathlib import Path

from utboost_action.benchmark.rows import instance_from_row
from utboost_action.model import Instance

SOURCE = '''\
def clamp(value, low, high):
    """Return value, but at least low and at most high."""
    if value < low:
        return low
    return value
'''
TESTS = """\
from tiny import clamp


def test_low():
    assert clamp(-1, 0, 9) == 0
"""
GOLD = '''\
diff --git a/tiny.py b/tiny.py
--- a/tiny.py
+++ b/tiny.py
@@ -1,5 +1,9 @@
 def clamp(value, low, high):
     """Return value, but at least low and at most high."""
+    if low > high:
+        raise ValueError(low)
     if value < low:
         return low
+    if value > high:
+        return high
     return value
'''
TEST_PATCH = """\
diff --git a/tests/test_tiny.py b/tests/test_tiny.py
--- a/tests/test_tiny.py
+++ b/tests/test_tiny.py
@@ -3,3 +3,7 @@

 def test_low():
     assert clamp(-1, 0, 9) == 0
+
+
+def test_high():
+    assert clamp(10, 0, 9) == 9
""".replace("\n\n def", "\n \n def")
SPECIAL_CASE = '''\
diff --git a/tiny.py b/tiny.py
--- a/tiny.py
+++ b/tiny.py
@@ -2,4 +2,6 @@ def clamp(value, low, high):
     """Return value, but at least low and at most high."""
     if value < low:
         return low
+    if value == 10:
+        return high
     return value
'''
ISSUE = """\
clamp() ignores its upper bound: clamp(10, 0, 9) should be 9.

It returns at most high, says its docstring. An empty range is a ValueError."""


def instance(trees: Path) -> Instance:
    """Lay the tree below `trees` (image `local:tiny`) and give its row."""
    tree = trees / "tiny"
    (tree / "tests").mkdir(parents=True)
    (tree / "tiny.py").write_text(SOURCE)
    (tree / "tests" / "test_tiny.py").write_text(TESTS)
    (tree / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = -p no:cacheprovider\n")
    (tree / ".gitignore").write_text("__pycache__/\n")
    lines = [
        "#!/bin/bash",
        "set -uxo pipefail",
        "git checkout HEAD tests/test_tiny.py",
        "git apply -v - <<'EOF_1'",
        TEST_PATCH,
        "EOF_1",
        ": '>>>>> Start Test Output'",
        "python -m pytest -rA tests/test_tiny.py",
        ": '>>>>> End Test Output'",
        "git checkout HEAD tests/test_tiny.py",
    ]
    row = {
        "instance_id": "demo__tiny-1",
        "repo": "demo/tiny",
        "base_commit": "HEAD",
        "patch": GOLD,
        "test_patch": TEST_PATCH,
        "problem_statement": ISSUE,
        "FAIL_TO_PASS": json.dumps(["tests/test_tiny.py::test_high"]),
        "PASS_TO_PASS": json.dumps(["tests/test_tiny.py::test_low"]),
        "image": "local:tiny",
        "eval_script": "\n".join(lines),
        "log_parser": "parse_log_pytest",
    }
    return instance_from_row(row, parser_for_repo=lambda _repo: None)


def block(
    code: str, *, path: str = "tests/test_tiny.py", search: str = "def test_low():", more: str = ""
) -> str:
    """A reply that adds code before `test_low`."""
    replace = f"{code}\n\n\n{search}" if search else code
    return f"FILE: {path}\n{more}<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


GOOD = {
    "files": '{"files": ["tests/test_tiny.py"]}',
    "places": '{"places": [{"path": "tests/test_tiny.py", "name": "test_high"}]}',
    "lines": '{"ranges": [{"path": "tests/test_tiny.py", "first": 8, "last": 9}]}',
}
TESTS_WRITTEN = [
    block("def test_far_above():\n    found = clamp(50, 0, 9)\n    assert found == 9")
    + 'WHY: test_far_above: "It returns at most high, says its docstring."\n',
    block("def test_inside():\n    assert clamp(5, 0, 9) == 5"),
    block("def test_wrong():\n    assert clamp(5, 0, 9) == 6"),
    block(
        "def test_empty_range():\n    with pytest.raises(ValueError):\n        clamp(5, 6, 4)",
        more="IMPORT: import pytest\n",
    )
    + "WHY: test_empty_range: none\n",
    block("def test_far_above_again():\n    result = clamp(50, 0, 9)\n    assert result == 9"),
    block(
        "SEEN = []\n\n\ndef test_hash():\n"
        "    assert max({'spam', 'ham'}) == 'spam'\n    assert clamp(1, 0, 9)"
    ),
    "I cannot.",
    block("def test_low():\n    pass"),
]
