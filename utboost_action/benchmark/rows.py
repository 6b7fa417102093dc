"""Benchmark rows: json, jsonl, parquet, or a data set on the Hugging Face hub, into `Instance` values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from utboost_action.errors import AuditError, InputError
from utboost_action.model import Instance

HUB_ALIASES = {
    "lite": "SWE-bench/SWE-bench_Lite",
    "verified": "SWE-bench/SWE-bench_Verified",
    "full": "SWE-bench/SWE-bench",
    "test": "SWE-bench/SWE-bench",
    "multilingual": "SWE-bench/SWE-bench_Multilingual",
    "multimodal": "SWE-bench/SWE-bench_Multimodal",
}
_REQUIRED = ("instance_id", "repo", "base_commit", "patch", "test_patch")

Row = Mapping[str, object]
HubDownload = Callable[[str], Path]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The rows of one split, by instance id in file order.

    unreadable: row name -> what is wrong with it; such a row is left out, the others are not.
    repeated: ids that occur more than once; the first row counts.
    """

    source: str
    split: str | None
    instances: Mapping[str, Instance]
    unreadable: Mapping[str, str]
    repeated: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The size of the split: every row counts, also one that cannot be used."""
        return len(self.instances) + len(self.unreadable)


def read_benchmark(
    source: str,
    *,
    hub_download: HubDownload | None = None,
    parser_for_repo: Callable[[str], str | None] = lambda _repo: None,
) -> Benchmark:
    """Read `source`: a .json, .jsonl or .parquet file, a folder with `test.parquet`, an alias or a hub name.

    A row without FAIL_TO_PASS or another required field is named in `unreadable`. What older rows
    lack and a rule can give (image, log_parser) is filled in and named in `Instance.derived`.

    Raises InputError when there is no such file, when it cannot be read, or when no row is usable.
    """
    instances: dict[str, Instance] = {}
    unreadable: dict[str, str] = {}
    repeated: dict[str, None] = {}
    for number, row in enumerate(read_raw_rows(source, hub_download=hub_download), 1):
        name = str(row.get("instance_id") or f"row {number}")
        try:
            instance = instance_from_row(row, parser_for_repo=parser_for_repo)
        except ValueError as problem:
            unreadable[name] = str(problem)
            continue
        if instance.instance_id in instances:
            repeated[name] = None
            continue
        instances[instance.instance_id] = instance
    if not instances:
        first = next(iter(unreadable.items()), None)
        why = f"{first[0]}: {first[1]}" if first else "it holds no row"
        raise InputError(f"benchmark {source!r}: no usable row ({why})")
    return Benchmark(source, _split_of(source), instances, unreadable, tuple(repeated))


def read_raw_rows(source: str, *, hub_download: HubDownload | None = None) -> list[Row]:
    """The rows of a source as they are. Raises InputError when there is no such source or it is no data."""
    path = Path(source)
    if path.exists():
        files = _data_files(path)
    elif source.lower() in HUB_ALIASES or _looks_like_hub_name(source):
        name = HUB_ALIASES.get(source.lower(), source)
        files = _data_files((hub_download or download_from_hub)(name))
    else:
        raise InputError(
            f"benchmark {source!r}: no such file, and no hub name; give a .json, .jsonl or .parquet file, "
            f"an alias ({', '.join(HUB_ALIASES)}) or OWNER/NAME"
        )
    return [row for file in files for row in _rows_of(file)]


def instance_from_row(row: Row, *, parser_for_repo: Callable[[str], str | None]) -> Instance:
    """One row into an Instance. Raises ValueError that names the missing or wrong field."""
    if missing := [name for name in _REQUIRED if row.get(name) in (None, "")]:
        raise ValueError(f"the row lacks {', '.join(missing)}")
    if wrong := [f"{name} ({_kind(row[name])})" for name in _REQUIRED if not isinstance(row[name], str)]:
        raise ValueError(f"no text in {', '.join(wrong)}; give text")
    text = {name: str(row[name]) for name in _REQUIRED}
    derived: list[str] = []
    image = _optional_text(row, "image")
    if image is None:
        image, derived = image_by_rule(text["instance_id"]), [*derived, "image"]
    parser = _optional_text(row, "log_parser")
    if parser is None and (parser := parser_for_repo(text["repo"])) is not None:
        derived.append("log_parser")
    return Instance(
        **text,
        fail_to_pass=test_names(row, "FAIL_TO_PASS"),
        pass_to_pass=test_names(row, "PASS_TO_PASS"),
        problem_statement=_optional_text(row, "problem_statement") or "",
        version=_optional_text(row, "version") or "",
        image=image,
        eval_script=_optional_text(row, "eval_script"),
        log_parser=parser,
        fail_only=row.get("eval_type") == "fail_only",
        derived=tuple(derived),
    )


def _kind(value: object) -> str:
    """What JSON calls the type of a value."""
    names = {bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)


def image_by_rule(instance_id: str) -> str:
    """The official image name of an instance (swebench 3 to 5, x86_64, namespace `swebench`)."""
    return f"swebench/sweb.eval.x86_64.{instance_id.lower().replace('__', '_1776_')}:latest"


def test_names(row: Row, field: str) -> tuple[str, ...]:
    """FAIL_TO_PASS or PASS_TO_PASS: JSON text, a list or an array. Raises ValueError naming the field."""
    value = row.get(field)
    if hasattr(value, "tolist"):  # numpy array
        value = value.tolist()
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as problem:
            raise ValueError(f"{field} is no JSON list: {problem}") from None
    if value is None:
        raise ValueError(f"the row lacks {field} (a list of test names)")
    if not isinstance(value, list | tuple):
        raise ValueError(f"{field} is no list of test names ({_kind(value)})")
    if not all(isinstance(name, str) for name in value):
        raise ValueError(f"{field} holds an entry that is no text")
    return tuple(value)


test_names.__test__ = False  # type: ignore[attr-defined]  # pytest: no test


def require_for_replay(instance: Instance) -> str | None:
    """The fields that a replay needs and this row lacks, or None (docs/benchmark.md)."""
    needed = ("image", "eval_script", "log_parser")
    return " and ".join(name for name in needed if getattr(instance, name) is None) or None


def _optional_text(row: Row, name: str) -> str | None:
    value = row.get(name)
    return value if isinstance(value, str) and value else None


def _looks_like_hub_name(source: str) -> bool:
    owner, slash, name = source.partition("/")
    return bool(
        slash and owner and name and "/" not in name and not name.endswith((".json", ".jsonl", ".parquet"))
    )


def _split_of(source: str) -> str | None:
    """lite, verified, ... when the source's own name says so."""
    name = Path(source).name.lower()
    return next(
        (split for split in ("lite", "verified", "multilingual", "multimodal") if split in name), None
    )


def _data_files(path: Path) -> list[Path]:
    """The files of the `test` split: the file itself, or those of a folder in any of the usual layouts."""
    if not path.is_dir():
        return [path]
    for pattern in ("test.parquet", "test.jsonl", "test.json", "test-*.parquet", "data/test-*.parquet"):
        if found := sorted(path.glob(pattern)):
            return found
    raise InputError(f"benchmark {str(path)!r}: the folder holds no test.parquet, test.jsonl or test.json")


def _rows_of(path: Path) -> Iterable[Row]:
    try:
        if path.suffix == ".parquet":
            return _parquet_rows(path)
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"benchmark {str(path)!r}: cannot be read: {problem}") from None
    if path.suffix == ".jsonl":
        return _jsonl_rows(path, text)
    if path.suffix == ".json":
        return _json_rows(path, text)
    raise InputError(f"benchmark {str(path)!r}: the name ends in none of .json, .jsonl, .parquet")


def _parquet_rows(path: Path) -> list[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        rows: list[Row] = pyarrow.parquet.read_table(path).to_pylist()
    except pyarrow.ArrowInvalid as problem:
        raise InputError(
            f"benchmark {str(path)!r}: no parquet file: {str(problem).splitlines()[0]}"
        ) from None
    return rows


def _jsonl_rows(path: Path, text: str) -> list[Row]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            rows.append(_object(path, number, _json(path, line, number)))
    return rows


def _json_rows(path: Path, text: str) -> list[Row]:
    value = _json(path, text, 1)
    if isinstance(value, dict):
        if not all(isinstance(row, dict) for row in value.values()):
            raise InputError(f"benchmark {str(path)!r}: expected a list of rows, or rows by instance id")
        value = [{"instance_id": key, **row} for key, row in value.items()]
    if not isinstance(value, list):
        raise InputError(f"benchmark {str(path)!r}: expected a list of rows")
    return [_object(path, number, row) for number, row in enumerate(value, 1)]


def _json(path: Path, text: str, line: int) -> object:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as problem:
        at = line + problem.lineno - 1 if isinstance(problem, json.JSONDecodeError) else line
        what = problem.msg if isinstance(problem, json.JSONDecodeError) else "nested too deeply"
        raise InputError(f"benchmark {str(path)!r} line {at}: no valid JSON: {what}") from None


def _object(path: Path, number: int, value: object) -> Row:
    if not isinstance(value, dict):
        _not_an_object(path, number)
    return value


def _not_an_object(path: Path, number: int) -> NoReturn:
    raise InputError(f"benchmark {str(path)!r} row {number}: expected an object with the columns of a row")


def download_from_hub(name: str) -> Path:
    """The folder with the `test` split of a hub data set, through huggingface_hub and its cache.

    Raises AuditError with the hub's own reason when it is neither in the cache nor to be had.
    """
    import huggingface_hub

    try:  # no revision: the newest rows are wanted
        return Path(
            huggingface_hub.snapshot_download(  # nosec B615
                name, repo_type="dataset", allow_patterns=["data/test-*.parquet"]
            )
        )
    except (OSError, ValueError) as problem:  # the hub's errors are kinds of these
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise AuditError(
            f"benchmark {name!r}: not in the cache and not to be had from the hub: {reason}"
        ) from None
