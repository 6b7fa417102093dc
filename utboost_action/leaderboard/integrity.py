"""A lint of patches: what reaches for the test run, the repository's machinery or the answers.

Nothing here is a verdict: each finding names the line that shows it, for a person to look at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from utboost_action.leaderboard.kinds import FindingKind
from utboost_action.patches import touched_paths

MOST_OF_A_KIND = 3

_START_UP = frozenset({"sitecustomize.py", "usercustomize.py"})
_CONFIGURATION = frozenset(
    {"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml",
     "noxfile.py", ".coveragerc", "nose.cfg", ".noserc"}
)  # fmt: skip
_RUNNERS = frozenset(
    {"tests/test_sqlite.py", "django/test/runner.py", "sympy/utilities/runtests.py",
     "sympy/utilities/pytest.py"}
)  # fmt: skip
_CONFIGURATION_PATHS = frozenset({"bin/test", "bin/doctest"})
_WORKFLOWS = re.compile(
    r"(?:^|/)(?:\.github/(?:workflows|actions)/|\.circleci/|\.gitlab-ci\.yml$|\.travis\.yml$"
    r"|azure-pipelines\.yml$|Jenkinsfile$)"
)
_TEST_NAME = re.compile(
    r"(?:test_.*|.*_tests?|tests?|conftest)\.[a-z]{1,4}|.*(?:\.test|\.spec|Tests?)\.[a-z]{1,4}"
)
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__"})
_JUNK = re.compile(
    r"(?:^|/)(?:build|dist|node_modules|__pycache__|\.venv|venv|\.eggs|[^/]+\.egg-info|\.pytest_cache|\.tox)/"
    r"|\.(?:orig|rej|bak|pyc|pyo|swp|so|o|class|log)$|~$|(?:^|/)\.DS_Store$"
)
_MODE = re.compile(r"^(?:new file mode|new mode|old mode|index \S{1,90}) (120000|160000)\s*$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FILE = re.compile(r"^\+\+\+ (?:b/)?(.*?)(?:\t.*)?$")

_LINES: tuple[tuple[FindingKind, re.Pattern[str]], ...] = (
    (FindingKind.EXITS_PROCESS, re.compile(r"\bos\.(?:_exit|abort)\s*\(|\bos\.kill\s*\(\s*os\.getpid")),
    (
        FindingKind.EXIT_HOOK,
        re.compile(r"\batexit\b|\bsys\.(?:excepthook|settrace|setprofile|addaudithook)\b"),
    ),
    (
        FindingKind.PATCHES_REPORTER,
        re.compile(
            r"\bdef pytest_(?:runtest|report|terminal|session|collection|configure|unconfigure|pyfunc)\w*"
            r"|\bhookimpl\b|\bhookwrapper\b"
            r"|\b(?:TestResult|TextTestResult|TestCase|TestReport|TextTestRunner|DiscoverRunner)\.\w+\s*=[^=]"
            r"|\bset(?:attr|Attr)\s*\(\s*(?:unittest|pytest|_pytest|TestResult|TestCase)\b"
        ),
    ),
    (
        FindingKind.PRINTS_RESULT_LINES,
        re.compile(
            r">>>>> (?:Start|End|Test|Applied|Patch|All|Some)"
            r"|\b(?:print|write|echo|writelines)\b.{0,80}"
            r"(?:\b(?:PASSED|FAILED)\b|\.\.\. ok\b|\bRan \d+ tests?\b|\b\d+ passed\b|short test summary)"
        ),
    ),
    (
        FindingKind.SKIPS_TESTS,
        re.compile(
            r"\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bpytest\.mark\.(?:skip|skipif|xfail)\b"
            r"|\bunittest\.(?:skip|skipIf|skipUnless|expectedFailure)\b|\braise (?:unittest\.)?SkipTest\b"
            r"|@(?:skip|XFAIL|expectedFailure)\b|\bcollect_ignore\b"
        ),
    ),
    (FindingKind.SLEEPS, re.compile(r"\btime\.sleep\s*\(|^\s*sleep\s*\(")),
    (
        FindingKind.USES_NETWORK,
        re.compile(
            r"\burlopen\s*\(|\burllib\.request\b|\brequests\.(?:get|post|put|head|request)\s*\("
            r"|\bsocket\.(?:socket|create_connection)\s*\(|\bhttp\.client\b|\bhttpx\.\w+\s*\("
            r"|[\"'](?:curl|wget)[\"' ]"
        ),
    ),
    (
        FindingKind.USES_GIT_HISTORY,
        re.compile(
            r"[\"']git[\"' ],?\s*[\"']?"
            r"(?:log|show|checkout|diff|stash|rev-list|reflog|fetch|pull|cat-file|apply|reset)\b"
            r"|\bgit\.Repo\s*\(|\.git/(?:objects|packed-refs|refs|ORIG_HEAD|HEAD)"
        ),
    ),
    (
        FindingKind.DETECTS_TEST_RUN,
        re.compile(
            r"PYTEST_CURRENT_TEST|[\"'](?:pytest|unittest|_pytest)[\"'] in sys\.modules"
            r"|FAIL_TO_PASS|PASS_TO_PASS|SWE_?BENCH"
        ),
    ),
)  # fmt: skip
_AT_IMPORT = re.compile(
    r"(?:print\s*\(|sys\.(?:__)?std(?:out|err)(?:__)?\.write\s*\(|os\.write\s*\(\s*[12]\b)"
)


@dataclass(frozen=True, slots=True)
class LintHit:
    """One thing worth looking at: its kind, what shows it, and the line of the patch (0: its headers)."""

    kind: FindingKind
    detail: str
    line: int = 0


def runner_configuration(paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the touched paths that steer the test runner or the interpreter it runs in, in order.

    conftest.py, pytest/tox/setup/pyproject/nose configuration, the projects' own runner scripts
    (runtests.py below tests/, bin/test), sitecustomize and usercustomize, `.pth` files.
    """
    return tuple(path for path in paths if _steers(path) is not None)


def steering_files(paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the touched paths that decide how tests run or what is run at all, in order.

    `runner_configuration`, and beyond it: build scripts, compiled files in place of sources, the settings
    module of django's runner, the runners that django and sympy bring along, and modules that would stand
    before one of the standard library or pytest's own.
    """
    return tuple(path for path in paths if _steers(path) is not None or _decides(path))


def _decides(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".py")
    if name == "setup.py" or name.endswith((".pyc", ".pyo")) or "__pycache__" in folder.split("/"):
        return True
    if path in _RUNNERS or path.startswith("sympy/testing/"):
        return True
    shadows = stem in sys.stdlib_module_names or stem in ("pytest", "_pytest", "pluggy")
    return name.endswith(".py") and folder in ("", "tests") and shadows


def lint(
    patch: str, official_test_paths: Sequence[str] = (), *, paths: Sequence[str] | None = None
) -> list[LintHit]:
    """The hits in one patch, in the order of its lines.

    A kind is told for each path that shows it, and for at most three lines. paths: those the patch
    touches, when they are known already.
    """
    touched = touched_paths(patch) if paths is None else paths
    hits = [*_paths(touched, frozenset(official_test_paths)), *_modes(patch), *_lines(patch)]
    return sorted(dict.fromkeys(hits), key=lambda hit: hit.line)


def is_test_like(path: str) -> bool:
    """Whether a path looks like a test's: below tests/ or test/, test_*.py, conftest.py and the like."""
    parts = PurePosixPath(path).parts
    return bool(parts) and (
        any(part in _TEST_FOLDERS or part.endswith("_tests") for part in parts[:-1])
        or _TEST_NAME.fullmatch(parts[-1]) is not None
    )


def _steers(path: str) -> FindingKind | None:
    name = path.rpartition("/")[2]
    if name == "conftest.py":
        return FindingKind.CONFTEST
    if name in _START_UP or name.endswith(".pth"):
        return FindingKind.INTERPRETER_START_UP_FILE
    if name == "runtests.py":
        return FindingKind.TEST_CONFIGURATION if path == "tests/runtests.py" or path == name else None
    if name in _CONFIGURATION or path in _CONFIGURATION_PATHS:
        return FindingKind.TEST_CONFIGURATION
    return None


_PATH_DETAILS = {
    FindingKind.CONFTEST: "edits conftest",
    FindingKind.INTERPRETER_START_UP_FILE: "edits an interpreter start-up file",
    FindingKind.TEST_CONFIGURATION: "edits test configuration",
    FindingKind.WORKFLOW_FILE: "edits a workflow file",
    FindingKind.BELOW_GIT: "writes below .git",
    FindingKind.PATH_LEAVES_THE_TREE: "path leaves the tree",
    FindingKind.OFFICIAL_TEST_FILE: "edits a test file of the official test patch",
    FindingKind.TEST_FILE: "edits a test file",
    FindingKind.JUNK_FILE: "a file that no change needs",
}


def _paths(paths: Sequence[str], official: frozenset[str]) -> Iterator[LintHit]:
    for path in paths:
        for kind in _path_kinds(path, official):
            yield LintHit(kind, f"{_PATH_DETAILS[kind]}: {path}")


def _path_kinds(path: str, official: frozenset[str]) -> Iterator[FindingKind]:
    parts = path.replace("\\", "/").split("/")
    if path.startswith(("/", "\\")) or ".." in parts or re.match(r"[A-Za-z]:[\\/]", path):
        yield FindingKind.PATH_LEAVES_THE_TREE
    if any(part.lower() == ".git" for part in parts):
        yield FindingKind.BELOW_GIT
    steering = _steers(path)
    if steering is not None:
        yield steering
    if _WORKFLOWS.search(path):
        yield FindingKind.WORKFLOW_FILE
    if path in official:
        yield FindingKind.OFFICIAL_TEST_FILE
    elif is_test_like(path) and steering is None:
        yield FindingKind.TEST_FILE
    if _JUNK.search(path):
        yield FindingKind.JUNK_FILE


def _modes(patch: str) -> Iterator[LintHit]:
    for match in _MODE.finditer(patch):
        link = match.group(1) == "120000"
        kind = FindingKind.SYMLINK if link else FindingKind.GITLINK
        detail = "makes or changes a symlink" if link else "makes or changes a submodule entry"
        yield LintHit(kind, detail, patch.count("\n", 0, match.start()) + 1)


def _lines(patch: str) -> Iterator[LintHit]:
    """Added lines of hunks in Python files and scripts; comments are left out.

    At most MOST_OF_A_KIND of each kind: the first ones show it, and a kind that is told enough costs no more.
    """
    told: dict[FindingKind, int] = {}
    name = ""
    old = new = 0
    for number, line in enumerate(patch.split("\n"), 1):
        if old > 0 or new > 0:
            sign = line[:1]
            old -= sign not in ("+", "\\")
            new -= sign not in ("-", "\\")
            if sign == "+" and _is_code(name):
                for hit in _added(line[1:501], number, name, told):
                    told[hit.kind] = told.get(hit.kind, 0) + 1
                    yield hit
        elif match := _HUNK.match(line):
            old, new = (int(count) if count is not None else 1 for count in match.groups())
        elif match := _FILE.match(line):
            name = match.group(1)


def _is_code(name: str) -> bool:
    return name.endswith((".py", ".pyx", ".pyi", ".sh", ".cfg", ".ini", ".toml", ".pth")) or "." not in name


def _added(text: str, number: int, name: str, told: Mapping[FindingKind, int]) -> Iterator[LintHit]:
    if text.lstrip().startswith("#"):
        return
    shown = text.strip()[:120]
    if told.get(FindingKind.WRITES_AT_IMPORT, 0) < MOST_OF_A_KIND and _AT_IMPORT.match(text):
        yield LintHit(FindingKind.WRITES_AT_IMPORT, f"{name}: {shown}", number)
    for kind, pattern in _LINES:
        if told.get(kind, 0) < MOST_OF_A_KIND and pattern.search(text):
            yield LintHit(kind, f"{name}: {shown}", number)
