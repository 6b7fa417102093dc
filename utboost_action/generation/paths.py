"""Paths that a model named: which of them may be read, edited or made. They are compared, never opened."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from utboost_action.generation.gates import Gate, RejectedError
from utboost_action.generation.tree import is_test_path

_ALLOWED = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
_STEERING = frozenset(
    (
        "conftest.py",
        "setup.py",
        "sitecustomize.py",
        "usercustomize.py",
        "noxfile.py",
        "runtests.py",
        "__init__.py",
    )
)


def known_path(name: str, known: Collection[str]) -> str:
    """The path if it is one of `known`. Raises RejectedError (ESCAPING_PATH, INVENTED_PATH)."""
    path = name.strip()
    if path in known:
        return path
    if not _ALLOWED.fullmatch(path):
        raise RejectedError(Gate.ESCAPING_PATH, f"{_shown(name)} is no plain path inside the repository")
    raise RejectedError(Gate.INVENTED_PATH, f"{_shown(name)} is no file of the repository")


def new_test_path(name: str, folders: Collection[str]) -> str:
    """The path of a test file to be made, in one of the existing `folders` with tests.

    Raises RejectedError (ESCAPING_PATH, FORBIDDEN_FILE).
    """
    path = name.strip()
    if not _ALLOWED.fullmatch(path):
        raise RejectedError(Gate.ESCAPING_PATH, f"{_shown(name)} is no plain path inside the repository")
    pure = PurePosixPath(path)
    if pure.name in _STEERING or not is_test_path(path) or not pure.stem.startswith("test"):
        raise RejectedError(Gate.FORBIDDEN_FILE, f"{_shown(name)} is no new test file (folder/test_*.py)")
    if str(pure.parent) not in folders:
        raise RejectedError(Gate.FORBIDDEN_FILE, f"{_shown(name)}: its folder holds no tests so far")
    return path


def editable_test_path(path: str, official: Collection[str]) -> str:
    """The path if it is a test file: by its name and folders, or since the official patch touches it.

    Raises RejectedError (FORBIDDEN_FILE, RUNNER_CONFIGURATION).
    """
    name = PurePosixPath(path).name
    if name in _STEERING:
        raise RejectedError(Gate.RUNNER_CONFIGURATION, f"{_shown(path)} steers the test run")
    in_tests = "tests" in PurePosixPath(path).parts[:-1] and name != "settings.py"
    if path not in official and not _is_named_as_test(name) and not in_tests:
        raise RejectedError(Gate.FORBIDDEN_FILE, f"{_shown(path)} is no test file")
    return path


def _is_named_as_test(name: str) -> bool:
    stem = name.removesuffix(".py")
    return stem.startswith("test_") or stem.endswith("_test") or stem in ("test", "tests")


def _shown(name: str) -> str:
    return ascii(name if len(name) <= 120 else name[:117] + "...")
