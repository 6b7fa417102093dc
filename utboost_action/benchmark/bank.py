"""The bank: augmented tests, one file an instance, with what is known of each.

Two shapes are read: the bank folder (`<instance_id>.json`, schema 1) and the file published with the
UTBoost paper, `{instance_id: {"aug_test": diff, "augFail2Pass": [names]}}`, whose diffs replace the
official test patch. People confirmed the published tests, so they count as confirmed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from utboost_action.benchmark.bank_signals import signals_from_json, signals_to_json
from utboost_action.errors import InputError
from utboost_action.model import AugmentedTest, BankStatus, TestMode, Validation
from utboost_action.patches import touched_paths, with_final_newline
from utboost_action.storage import canonical_json, write_atomically

SCHEMA = 1
PUBLISHED_SOURCE = "utboost-published"
_PUBLISHED_RATIONALE = "published with the UTBoost paper (arXiv 2506.09289), confirmed by its authors"
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}")

Bank = Mapping[str, tuple[AugmentedTest, ...]]
Change = Callable[[tuple[AugmentedTest, ...]], Iterable[AugmentedTest]]


def read_bank(path: Path) -> Bank:
    """The tests of a bank folder or of a published file, by instance id.

    Raises InputError that names the file and what is wrong with it.
    """
    if path.is_dir():
        entries = [test for file in sorted(path.glob("*.json")) for test in _read_instance_file(file)]
    elif path.is_file():
        entries = read_published(path)
    else:
        raise InputError(
            f"bank {str(path)!r}: no such folder or file; `bank import FILE --bank {path}` makes one"
        )
    by_instance: dict[str, list[AugmentedTest]] = {}
    for test in entries:
        by_instance.setdefault(test.instance_id, []).append(test)
    return {instance_id: tuple(tests) for instance_id, tests in by_instance.items()}


def read_published(path: Path) -> list[AugmentedTest]:
    """The published shape. Missing final newlines are added, names listed twice are kept once."""
    value = _load(path)
    if not isinstance(value, dict):
        raise InputError(
            f"bank {str(path)!r}: expected an object {{instance_id: {{aug_test, augFail2Pass}}}}"
        )
    tests = []
    for instance_id, entry in value.items():
        where = f"bank {str(path)!r}, {instance_id}"
        if not isinstance(entry, dict) or not isinstance(entry.get("aug_test"), str) or not entry["aug_test"]:
            raise InputError(f"{where}: aug_test (a diff) is missing")
        tests.append(
            AugmentedTest(
                id=f"{_checked_id(instance_id, where)}:published",
                instance_id=instance_id,
                mode=TestMode.REPLACES,
                patch=_checked_patch(entry["aug_test"], where),
                targets=_names(entry.get("augFail2Pass", []), f"{where}: augFail2Pass"),
                source=PUBLISHED_SOURCE,
                status=BankStatus.CONFIRMED,
                rationale=_PUBLISHED_RATIONALE,
            )
        )
    return tests


def write_bank(folder: Path, tests: Iterable[AugmentedTest], base_commits: Mapping[str, str]) -> list[Path]:
    """Write tests into a bank folder, one file an instance; entries with the same id are replaced.

    base_commits: instance id -> the commit the tests were written for, where it is known. What is written
    must not rest on an earlier reading of the same bank: `update_bank` is for that.
    """
    by_instance: dict[str, dict[str, AugmentedTest]] = {}
    for test in tests:
        by_instance.setdefault(test.instance_id, {})[test.id] = test

    def these(new: Iterable[AugmentedTest]) -> Change:
        return lambda _now: new

    return [
        update_bank(folder, instance_id, these(new.values()), base_commits.get(instance_id, ""))
        for instance_id, new in by_instance.items()
    ]


def update_bank(
    folder: Path,
    instance_id: str,
    change: Change,
    base_commit: str = "",
) -> Path:
    """Replace or add entries of one instance, in view of those that the bank has at that moment.

    change: the instance's entries -> the ones to write; the others stay. Nobody else writes to the bank
    between the reading and the writing. Raises InputError for a bank that cannot be read or is a file.
    """
    file = folder / f"{_checked_id(instance_id, f'bank {str(folder)!r}')}.json"
    with _alone(folder):
        now = tuple(_read_instance_file(file)) if file.exists() else ()
        entries = {test.id: test for test in now}
        changed = entries | {test.id: test for test in change(now)}
        base = base_commit or _base_commit(file)
        text = canonical_json(_instance_file(instance_id, base, changed.values()))
        if changed != entries or (now and base != _base_commit(file)):
            write_atomically(file, text)
    return file


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the bank's lock: the folder itself, so that nothing is left in it.

    A file system that knows no locks (some network ones) gives none, and the work goes on without.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"bank {str(folder)!r}: a file; tests are written to a folder: "
            f"`bank import {folder} --bank FOLDER` makes one of it"
        )
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def with_status(tests: Iterable[AugmentedTest], status: BankStatus) -> list[AugmentedTest]:
    """The same tests with another standing."""
    return [replace(test, status=status) for test in tests]


def published_shape(bank: Bank) -> dict[str, dict[str, object]]:
    """The published file's value: the first test of each instance that replaces the official patch."""
    result: dict[str, dict[str, object]] = {}
    for instance_id, tests in bank.items():
        for test in tests:
            if test.mode is TestMode.REPLACES and test.status is not BankStatus.RETIRED:
                result[instance_id] = {"aug_test": test.patch, "augFail2Pass": list(test.targets)}
                break
    return result


def _read_instance_file(file: Path) -> list[AugmentedTest]:
    value = _load(file)
    where = f"bank {str(file)!r}"
    if not isinstance(value, dict) or not isinstance(value.get("tests"), list):
        raise InputError(f"{where}: expected an object with `schema`, `instance_id` and `tests`")
    if value.get("schema") != SCHEMA:
        raise InputError(f"{where}: schema {value.get('schema')!r}, this version reads {SCHEMA}")
    instance_id = value.get("instance_id")
    if not isinstance(instance_id, str) or instance_id != file.stem:
        raise InputError(f"{where}: instance_id {instance_id!r} is not the file's name")
    return [_entry(raw, instance_id, f"{where}, test {n}") for n, raw in enumerate(value["tests"], 1)]


def _entry(raw: object, instance_id: str, where: str) -> AugmentedTest:
    if not isinstance(raw, dict):
        raise InputError(f"{where}: expected an object")
    for name in ("id", "mode", "patch", "source", "status"):
        if not isinstance(raw.get(name), str):
            raise InputError(f"{where}: {name} is missing")
    validation = raw.get("validation") or {}
    if not isinstance(validation, dict):
        raise InputError(f"{where}: validation is no object")
    try:
        return AugmentedTest(
            id=raw["id"],
            instance_id=instance_id,
            mode=TestMode(raw["mode"]),
            patch=_checked_patch(raw["patch"], where),
            targets=_names(raw.get("targets", []), f"{where}: targets"),
            source=raw["source"],
            status=BankStatus(raw["status"]),
            validation=Validation(
                gold_runs=int(validation.get("gold_runs", 0)),
                base=validation.get("base"),
                flaky=bool(validation.get("flaky", False)),
                image=validation.get("image"),
                at=validation.get("at"),
            ),
            rationale=str(raw.get("rationale", "")),
            signals=signals_from_json(raw.get("signals") or {}),
        )
    except (ValueError, TypeError) as problem:
        raise InputError(f"{where}: {problem}") from None


def _instance_file(instance_id: str, base: str, tests: Iterable[AugmentedTest]) -> dict[str, object]:
    entries = []
    for test in sorted(tests, key=lambda test: test.id):
        entry = asdict(test)
        del entry["instance_id"]
        entry["signals"] = signals_to_json(test.signals)
        if not entry["signals"]:
            del entry["signals"]
        entries.append(entry)
    return {"schema": SCHEMA, "instance_id": instance_id, "base_commit": base, "tests": entries}


def _base_commit(file: Path) -> str:
    value = _load(file) if file.exists() else {}
    return str(value.get("base_commit", "")) if isinstance(value, dict) else ""


def _checked_id(instance_id: str, where: str) -> str:
    if not _SAFE_ID.fullmatch(instance_id):
        raise InputError(f"{where}: {instance_id!r} is no instance id (letters, digits, . _ + - only)")
    return instance_id


def _checked_patch(patch: str, where: str) -> str:
    paths = touched_paths(patch)
    if not paths:
        raise InputError(f"{where}: the test patch names no file; expected a unified diff")
    for path in paths:
        if path.startswith("/") or ".." in path.split("/") or ".git" in path.split("/"):
            raise InputError(f"{where}: the test patch leaves the tree: {path!r}")
    return with_final_newline(patch)


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{where}: expected a list of test names")
    return tuple(dict.fromkeys(value))


def _load(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as problem:
        raise InputError(f"bank {str(file)!r} line {problem.lineno}: no valid JSON: {problem.msg}") from None
    except (OSError, UnicodeDecodeError, RecursionError) as problem:
        raise InputError(f"bank {str(file)!r}: cannot be read: {problem}") from None
