"""Finished units on disk: one folder a unit, complete or absent, whatever kills the process.

A unit is all runs of one side of one instance. Its key is a digest over everything that decides what
they show (image, patch, script, tests, repeats, time limit, version of the tool), so equal patches share one.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from utboost_action.execution.ownership import is_orphans, name_part
from utboost_action.model import Run, RunState, SideRun, SideState, TestStatus
from utboost_action.storage import canonical_json, write_atomically

_RECORD = "unit.json"


class RunStore:
    """Units below `folder`; with a `parent` store, units found there are used but written here."""

    def __init__(self, folder: Path, parent: RunStore | None = None) -> None:
        self.folder = folder
        self._parent = parent

    def find(self, key: str) -> SideRun | None:
        """The finished unit of this key, or None. A record that cannot be read counts as absent.

        One that only the parent has is taken over, logs included, so that this folder is whole in itself.
        """
        with suppress(OSError, ValueError, KeyError, TypeError):
            record = self.folder / key / _RECORD
            return side_run_from_json(json.loads(record.read_text(encoding="utf-8")))
        known = self._parent.find(key) if self._parent else None
        if known is not None and self._parent is not None:
            work = self.begin(key)
            try:
                source = self._parent.folder / key
                shutil.copytree(source, work, dirs_exist_ok=True, copy_function=_link_or_copy)
            except BaseException:
                self.drop(work)
                raise
            self._publish(work, key)
        return known

    def begin(self, key: str) -> Path:
        """An empty work folder for a unit, on the same file system."""
        folder = self.folder / f".{key}.{name_part()}.{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        return folder

    def finish(self, work: Path, side: SideRun) -> None:
        """Publish a unit: the record goes into its work folder, then the folder gets its name at once."""
        write_atomically(work / _RECORD, canonical_json(side_run_to_json(side)))
        self._publish(work, side.key)

    def _publish(self, work: Path, key: str) -> None:
        target = self.folder / key
        try:
            work.rename(target)
        except OSError:  # another process was faster, or an unreadable record stands there
            if (target / _RECORD).is_file() and self.find(key) is not None:
                self.drop(work)
            else:
                shutil.rmtree(target, ignore_errors=True)
                work.rename(target)

    def drop(self, work: Path) -> None:
        """Forget an unfinished unit."""
        shutil.rmtree(work, ignore_errors=True)

    def clear(self) -> None:
        """Forget every unit of this folder (not of the parent)."""
        for unit in self.folder.iterdir():
            self.drop(unit)

    def remove_leftovers(self) -> None:
        """Remove the work folders of processes that are no more; another namespace's are let be."""
        for work in self.folder.glob(".*.*.*"):
            if is_orphans(work.name.split(".")[2]):
                self.drop(work)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def side_run_to_json(side: SideRun) -> dict[str, object]:
    """A SideRun as JSON values."""
    return asdict(side)


def side_run_from_json(value: Mapping[str, object]) -> SideRun:
    """The inverse of `side_run_to_json`. Raises ValueError, KeyError or TypeError on anything else."""
    fields = dict(value)
    runs = fields.pop("runs")
    if not isinstance(runs, list):
        raise TypeError("runs is no list")
    fields["touched"] = tuple(map(str, fields.get("touched") or ()))  # type: ignore[call-overload]
    state, reverted = SideState(str(fields.pop("state"))), tuple(map(str, fields.pop("reverted")))  # type: ignore[call-overload]
    return SideRun(state=state, reverted=reverted, runs=tuple(map(_run, runs)), **fields)  # type: ignore[arg-type]


def _run(value: Mapping[str, object]) -> Run:
    fields = dict(value)
    outcomes = fields.pop("outcomes")
    if not isinstance(outcomes, dict):
        raise TypeError("outcomes is no object")
    return Run(
        state=RunState(str(fields.pop("state"))),
        outcomes={test: TestStatus(status) for test, status in outcomes.items()},
        **fields,  # type: ignore[arg-type]
    )
