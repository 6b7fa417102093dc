"""The tree of Python files as a prompt shows it, in versions from the whole to the test patch's own files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

_TEST_FOLDERS = frozenset(("test", "tests", "testing"))


def is_test_path(path: str) -> bool:
    """Whether a path is a test file by its folders or its name (the runners' usual conventions)."""
    pure = PurePosixPath(path)
    stem = pure.stem
    named = stem.startswith(("test_", "test.")) or stem.endswith("_test") or stem in _TEST_FOLDERS
    return pure.suffix == ".py" and (named or in_test_folder(path))


def in_test_folder(path: str) -> bool:
    """Whether any folder of the path is one of tests."""
    return any(part in _TEST_FOLDERS or part.endswith("_tests") for part in PurePosixPath(path).parts[:-1])


def tree_versions(paths: Iterable[str], test_patch_paths: Iterable[str]) -> Iterator[str]:
    """Versions of the tree, fullest first, one line a folder: `folder/: a b c` (names without `.py`).

    Every version keeps the test patch's files; all but the last keep their packages and every test
    folder: first all files; then test files and those packages; then the other test folders as
    `folder/: n files`; then only the packages of the test patch; at last its files alone.
    """
    every = sorted(paths)
    own = sorted(set(test_patch_paths))
    packages = {_folder(path) for path in own}
    near = [path for path in every if _folder(path) in packages]
    tests = [path for path in every if is_test_path(path) and _folder(path) not in packages]
    yield _listing([*every, *own])
    yield _listing([*near, *own, *tests])
    yield "\n".join([_listing([*near, *own]), *_counts(tests)])
    yield "\n".join([_listing([*near, *own]), *_counts(tests, depth=2)])
    yield _listing([*near, *own])
    yield _listing(own)


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)


def _listing(paths: Iterable[str]) -> str:
    folders: dict[str, list[str]] = {}
    for path in sorted(set(paths)):
        folders.setdefault(_folder(path), []).append(PurePosixPath(path).name.removesuffix(".py"))
    return "\n".join(f"{folder}/: {' '.join(names)}" for folder, names in sorted(folders.items()))


def _counts(paths: Iterable[str], depth: int | None = None) -> list[str]:
    counts: dict[str, int] = {}
    for path in paths:
        folder = "/".join(PurePosixPath(path).parts[:-1][:depth]) or "."
        counts[folder] = counts.get(folder, 0) + 1
    return [f"{folder}/: {count} files" for folder, count in sorted(counts.items())]
