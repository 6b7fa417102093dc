"""The files between the jobs of a workflow: JSON of known types and bounded size, nothing else.

A folder holds `plan.json` (docs/plan.schema.json) and one `shard-N.json` a shard (docs/shard.schema.json).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar

from utboost_action.errors import AuditError, InputError
from utboost_action.shards import SCHEMA, Plan, ShardResult
from utboost_action.storage import canonical_json, write_atomically
from utboost_action.typed_json import MalformedError, from_json, parse, to_json

PLAN = "plan.json"
MAX_PLAN = 256 << 20  # bytes; 20 submissions of 500 patches take some 30 MB
MAX_RESULT = 64 << 20
_RESULT = re.compile(r"shard-([1-9][0-9]{0,3})\.json")
_T = TypeVar("_T")


def write_plan(folder: Path, plan: Plan) -> Path:
    """Write the plan. Raises AuditError when it is larger than what a later job reads."""
    return _write(folder / PLAN, plan, MAX_PLAN)


def write_result(folder: Path, result: ShardResult) -> Path:
    """Write a shard's result. Raises AuditError when it is larger than what a later job reads."""
    return _write(folder / f"shard-{result.index}.json", result, MAX_RESULT)


def read_plan(folder: Path) -> Plan:
    """Read the plan. Raises InputError for a file that is absent, too large, or not of this version."""
    path = folder / PLAN
    if not path.is_file():
        raise InputError(
            f"{path}: no such file; the job that collects writes it; download its artifact to here"
        )
    try:
        plan = _read(Plan, path, MAX_PLAN)
        _check(plan)
    except MalformedError as problem:
        raise InputError(f"{path}: {problem}") from None
    return plan


def read_results(folder: Path) -> tuple[list[ShardResult], dict[int, str]]:
    """(the results in a folder, shard -> why its file cannot be used). Other files are not looked at."""
    results: list[ShardResult] = []
    unusable: dict[int, str] = {}
    for path in sorted(folder.rglob("shard-*.json")):
        match = _RESULT.fullmatch(path.name)
        if match is None or path.is_symlink() or not path.is_file():
            continue
        index = int(match[1])
        try:
            result = _read(ShardResult, path, MAX_RESULT)
        except MalformedError as problem:
            unusable[index] = f"its result cannot be read: {problem}"
            continue
        if result.index != index:
            unusable[index] = "its result is another shard's"
        else:
            results.append(result)
    return results, unusable


def _check(plan: Plan) -> None:
    """What the types do not say."""
    if plan.schema != SCHEMA:
        raise MalformedError(f"schema {plan.schema}, this version reads {SCHEMA}")
    for shard in plan.shards:
        for unit in shard.units:
            if not 0 <= unit.submission < len(plan.submissions):
                raise MalformedError(f"shard {shard.index}: no submission {unit.submission}")
            if unit.instance_id not in plan.submissions[unit.submission].instances:
                raise MalformedError(f"shard {shard.index}: {unit.instance_id[:80]!a} is not to be audited")


def _write(path: Path, value: object, limit: int) -> Path:
    text = canonical_json(to_json(value))
    size = len(text.encode("utf-8", "backslashreplace"))
    if size > limit:
        raise AuditError(
            f"{path.name}: {size:,} bytes, more than the {limit:,} that travel between jobs; audit fewer "
            "submissions at a time"
        )
    write_atomically(path, text)
    return path


def _read(kind: type[_T], path: Path, limit: int) -> _T:
    try:
        size = path.stat().st_size
        if size > limit:
            raise MalformedError(f"{size:,} bytes, more than the {limit:,} that are read")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise MalformedError(f"cannot be read: {problem}") from None
    return from_json(kind, parse(text), path.name)
