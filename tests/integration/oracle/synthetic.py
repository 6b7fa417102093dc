"""Synthetic instances for the local sandbox: small functions, each with ten patches whose truth is known.

Run by unittest, so that a suite takes a tenth of a second. Every bank entry also holds a test that hangs on
the clock's zone, which must never count.
"""

import difflib
import json
from dataclasses import dataclass
from pathlib import Path

PER_INSTANCE = 10


@dataclass(frozen=True)
class Case:
    """One patch. truth: right, wrong, or unknown (nobody may say; it must not be WRONG)."""

    instance_id: str
    name: str
    truth: str
    patch: str


BASE = """\"\"\"Sums.\"\"\"


def total(values):
    \"\"\"The sum of some values.\"\"\"
    result = 0
    for value in values:
        result += value * {k}
    return result


def first(values):
    \"\"\"The first value.\"\"\"
    return values[0]
"""

OLD = """    result = 0
    for value in values:
        result += value * {k}
    return result
"""

# what an issue might ask for: None is skipped, and what is below zero counts as nothing
BODIES: dict[str, tuple[str, str]] = {
    "gold": (
        "right",
        """    result = 0
    for value in values:
        if value is None or value < 0:
            continue
        result += value * {k}
    return result
""",
    ),
    "rewritten by a comprehension": (
        "right",
        """    return sum(value * {k} for value in values if value is not None and value >= 0)
""",
    ),
    "rewritten by a filter": (
        "right",
        """    kept = [value for value in values if value is not None]
    return {k} * sum(max(value, 0) for value in kept)
""",
    ),
    "rewritten by recursion": (
        "right",
        """    if not values:
        return 0
    head = values[0] or 0
    return max(head, 0) * {k} + total(values[1:])
""",
    ),
    "only None": (
        "wrong",
        """    result = 0
    for value in values:
        if value is None:
            continue
        result += value * {k}
    return result
""",
    ),
    "the size of what is below zero": (
        "wrong",
        """    return sum(abs(value) * {k} for value in values if value is not None)
""",
    ),
    "large values lost": (
        "wrong",
        """    return sum(value * {k} for value in values if value is not None and 0 <= value < 50)
""",
    ),
    "it hangs on the hash seed": (
        "unknown",
        """    import sys
    import time
    extra = 1 if time.localtime(0).tm_hour and len(values) == 4 else 0
    return extra + sum(value * {k} for value in values if value is not None and value >= 0)
""",
    ),
    "a package that is not there": (
        "unknown",
        """    if len(values) == 4:
        import a_package_that_is_nowhere
    return sum(value * {k} for value in values if value is not None and value >= 0)
""",
    ),
}

TESTS = """import time
import unittest

from sums.sums_{n} import first, total


class TotalTests(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(total([1, 2]), {three})
        self.assertEqual(first([3, 4]), 3)
"""
ORIGINAL = """
    def test_none_is_skipped(self):
        self.assertEqual(total([1, None, 2]), {three})
"""
AUGMENTED = """
    def test_below_zero_counts_as_nothing(self):
        self.assertEqual(total([-1, 2, None, 1]), {three})

    def test_large_values(self):
        self.assertEqual(total([99, 1, None, 0]), {hundred})

    def test_that_hangs_on_the_clock(self):
        self.assertEqual(time.localtime(0).tm_hour, 0)
"""


def diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return f"diff --git a/{path} b/{path}\n" + "".join(lines)


def generate(root: Path, instances: int) -> list[Case]:
    """Write trees, rows.jsonl, the bank and a submission for each name; the cases with their truth."""
    tree = root / "trees" / "sums"
    for folder in ("sums", "tests"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "__init__.py").touch()
    (root / "bank").mkdir()
    cases: list[Case] = []
    rows = []
    for n in range(instances):
        k = n + 2
        shape = {"n": n, "k": k, "three": 3 * k, "hundred": 100 * k}
        path, test_path = f"sums/sums_{n}.py", f"tests/test_sums_{n}.py"
        base, tests = BASE.format(**shape), TESTS.format(**shape)
        (tree / path).write_text(base)
        (tree / test_path).write_text(tests)
        official = tests + ORIGINAL.format(**shape)
        test_patch = diff(test_path, tests, official)
        instance_id = f"made__sums-{n}"
        patches = {
            name: diff(path, base, base.replace(OLD.format(**shape), body.format(**shape)))
            for name, (_, body) in BODIES.items()
        }
        rows.append(_row(instance_id, n, patches["gold"], test_patch))
        _write_entry(
            root / "bank", instance_id, diff(test_path, official, official + AUGMENTED.format(**shape))
        )
        cases += [Case(instance_id, name, BODIES[name][0], patch) for name, patch in patches.items()]
        noisy = patches["gold"].replace("--- a/", "index 1234567..89abcde 100644\n--- a/") + "\n\n"
        cases.append(Case(instance_id, "gold, written otherwise", "right", noisy))
    (root / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in {case.name for case in cases}:
        folder = root / "submissions" / name.replace(" ", "_").replace(",", "")
        folder.mkdir(parents=True)
        own = [case for case in cases if case.name == name]
        lines = [
            {"instance_id": c.instance_id, "model_name_or_path": "m", "model_patch": c.patch} for c in own
        ]
        (folder / "all_preds.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / "results").mkdir()
        (folder / "results/results.json").write_text(json.dumps({"resolved": [c.instance_id for c in own]}))
    return cases


def _row(instance_id: str, n: int, patch: str, test_patch: str) -> dict[str, object]:
    case = f"tests.test_sums_{n}.TotalTests"
    script = f"""#!/bin/bash
set -uxo pipefail
git checkout HEAD tests/test_sums_{n}.py
git apply -v - <<'EOF_114329324912'
{test_patch}EOF_114329324912
: '>>>>> Start Test Output'
python -B -m unittest -v tests.test_sums_{n}
: '>>>>> End Test Output'
git checkout HEAD tests/test_sums_{n}.py
"""
    return {
        "instance_id": instance_id,
        "repo": "made/sums",
        "base_commit": "HEAD",
        "patch": patch,
        "test_patch": test_patch,
        "problem_statement": "total fails for None; what is below zero should count as nothing.",
        "FAIL_TO_PASS": json.dumps([f"test_none_is_skipped ({case}.test_none_is_skipped)"]),
        "PASS_TO_PASS": json.dumps([f"test_plain ({case}.test_plain)"]),
        "image": "local:sums",
        "eval_script": script,
        "log_parser": "parse_log_django",
    }


def _write_entry(bank: Path, instance_id: str, patch: str) -> None:
    entry = {
        "id": f"{instance_id}:made",
        "mode": "extends",
        "patch": patch,
        "targets": [],
        "source": "made",
        "status": "confirmed",
    }
    value = {"schema": 1, "instance_id": instance_id, "base_commit": "HEAD", "tests": [entry]}
    (bank / f"{instance_id}.json").write_text(json.dumps(value))
