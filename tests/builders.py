"""Small values for tests; every argument has a default that makes a valid value."""

import json
from collections.abc import Mapping

from utboost_action.model import (
    AugmentedTest,
    BankStatus,
    Run,
    RunState,
    SideRun,
    SideState,
    TestMode,
    TestStatus,
)

EVAL_SCRIPT = """#!/bin/bash
set -uxo pipefail
source activate
python -m pip install -e .
git checkout abc123 tests/test_a.py
git apply -v - <<'EOF_114329324912'
diff --git a/tests/test_a.py b/tests/test_a.py
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -1 +1,2 @@
 import a
+assert a.b

EOF_114329324912
: '>>>>> Start Test Output'
pytest -rA tests/test_a.py
: '>>>>> End Test Output'
git checkout abc123 tests/test_a.py
"""


def diff(path: str = "pkg/mod.py", old: str = "one", new: str = "two") -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def row(**changes: object) -> dict[str, object]:
    value: dict[str, object] = {
        "repo": "pallets/flask",
        "instance_id": "pallets__flask-1",
        "base_commit": "abc123",
        "patch": diff(),
        "test_patch": diff("tests/test_a.py"),
        "problem_statement": "It does not.",
        "version": "1.0",
        "FAIL_TO_PASS": json.dumps(["tests/test_a.py::test_new"]),
        "PASS_TO_PASS": json.dumps(["tests/test_a.py::test_old"]),
        "image": "some/image:latest",
        "eval_script": EVAL_SCRIPT,
        "log_parser": "parse_log_flask",
        "eval_type": "pass_and_fail",
    }
    return {key: value for key, value in (value | changes).items() if value is not None}


def augmented(
    id: str = "aug",  # noqa: A002
    status: BankStatus = BankStatus.CONFIRMED,
    mode: TestMode = TestMode.REPLACES,
    patch: str | None = None,
    targets: tuple[str, ...] = (),
    instance_id: str = "pallets__flask-1",
) -> AugmentedTest:
    return AugmentedTest(id, instance_id, mode, patch or diff("tests/test_a.py"), targets, "somebody", status)


_WORDS = {
    ".": TestStatus.PASSED,
    "F": TestStatus.FAILED,
    "E": TestStatus.ERROR,
    "s": TestStatus.SKIPPED,
    "x": TestStatus.XFAIL,
    "X": TestStatus.XPASS,
}


def runs(suite: str, messages: Mapping[str, str] | None = None, **outcomes: str) -> tuple[Run, ...]:
    """Runs of one suite: each test's outcomes by repeat, one letter each; `-` is missing, `!` a time-out."""
    (repeats,) = {len(letters) for letters in outcomes.values()}
    result = []
    for repeat in range(repeats):
        letters = {test: text[repeat] for test, text in outcomes.items()}
        stopped = "!" in letters.values()
        result.append(
            Run(
                suite=suite,
                repeat=repeat,
                state=RunState.TIMEOUT if stopped else RunState.OK,
                exit_code=None if stopped else 0,
                outcomes={} if stopped else {t: _WORDS[c] for t, c in letters.items() if c in _WORDS},
                messages=messages or {},
                log=f"{suite}.{repeat}.log.gz",
            )
        )
    return tuple(result)


def side(
    *groups: tuple[Run, ...], state: SideState = SideState.OK, key: str = "k", **fields: object
) -> SideRun:
    return SideRun(key, state, tuple(run for group in groups for run in group), **fields)  # type: ignore[arg-type]
