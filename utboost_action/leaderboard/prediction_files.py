"""The rows of a predictions file: jsonl, a JSON list, or a JSON object by instance id.

The form is found from the content, not from the name. One bad row is a finding and hides no other.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from utboost_action.leaderboard.documents import (
    Document,
    JsonObject,
    clean_text,
    parse_json,
    read_bytes,
)
from utboost_action.leaderboard.kinds import FindingKind, finding
from utboost_action.leaderboard.tree import SubmissionTree, shown
from utboost_action.model import Finding

MAX_FILE_BYTES = 96 * 1024 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_ROWS = 10_000
MAX_KEYS = 100
MAX_ROW_FINDINGS = 5_000
_KNOWN_NAMES = ("all_preds.jsonl", "preds.json", "all_preds.json", "preds.jsonl")
_NOT_PREDICTIONS = frozenset({"metadata.json", "results.json", "report.json", "run.json", "tree.json"})
_PEEK_BYTES = 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}")
_FIRST_LINE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(\{[^\n]*\})[ \t\r]*(?:\n|\Z)")
_TEXT = re.compile(rb"\S")
_MULTI_SWE_KEYS = frozenset({"org", "repo", "number", "fix_patch"})


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One row as it stands: nothing is judged but that the id has the form of an id.

    instance_id: None where the row has none that could be one (a finding says so).
    patch: the text of `model_patch`, None for null, or the type of what stands there instead;
    has_patch: whether the key is there. keys: at most MAX_KEYS, sorted.
    resolved: the verdict that some boards keep in the row itself.
    """

    instance_id: str | None
    patch: str | type | None
    has_patch: bool
    keys: tuple[str, ...]
    where: str
    model_name: str = ""
    resolved: bool | None = None


@dataclass(frozen=True, slots=True)
class PredictionFile:
    """What one file holds. `form` is `jsonl`, `json list`, `json dict` or "" (unreadable)."""

    path: str
    form: str
    rows: tuple[PredictionRow, ...]
    findings: tuple[Finding, ...] = ()


def is_instance_id(text: object) -> bool:
    """Whether a value has the form of an instance id (a plain name, no path, at most 200 characters)."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def prediction_files(tree: SubmissionTree) -> tuple[str, ...]:
    """The top-level files that hold predictions, the one that counts first."""
    known = [name for name in _KNOWN_NAMES if name in tree.files]
    others = [
        path
        for path in tree.files
        if "/" not in path
        and path.endswith((".json", ".jsonl"))
        and path not in known
        and path not in _NOT_PREDICTIONS
    ]
    named = [path for path in others if "pred" in path.lower()]
    rest = [path for path in others if path not in named and _looks_like_predictions(tree, path)]
    return tuple(known + named + rest)


def read_prediction_file(tree: SubmissionTree, path: str) -> PredictionFile:
    """Every row of the file that can be read; the rest becomes findings. Raises nothing."""
    data = read_bytes(tree, path, MAX_FILE_BYTES)
    if isinstance(data, Finding):
        return PredictionFile(path, "", (), (data,))
    if not data.strip():
        return PredictionFile(
            path, "", (), (finding(FindingKind.UNREADABLE_FILE, "it is empty", where=path),)
        )
    file = _read(data, path)
    if not file.rows and b"\0" in data:
        detail = "binary data, no text; expected predictions as jsonl or JSON"
        return PredictionFile(path, "", (), (finding(FindingKind.UNREADABLE_FILE, detail, where=path),))
    return file


def _read(data: bytes, path: str) -> PredictionFile:
    first = _first_line(data)
    if first is not None:
        return _jsonl(data, path)
    document = parse_json(data, path, lenient=True)
    if isinstance(document.value, list):
        return _collect(path, "json list", _list_rows(document.value, path), document.findings)
    if isinstance(document.value, JsonObject):
        if "instance_id" in document.value:
            return _collect(path, "jsonl", iter([_row(document.value, f"{path}:1")]), document.findings)
        return _collect(path, "json dict", _dict_rows(document.value, path), document.findings)
    if document.value is None and data.count(b"\n") > 1 and path.endswith(".jsonl"):
        return _jsonl(data, path)
    found = document.findings or (
        finding(
            FindingKind.UNREADABLE_FILE, "neither rows nor a list nor an object of predictions", where=path
        ),
    )
    return PredictionFile(path, "", (), found)


def _looks_like_predictions(tree: SubmissionTree, path: str) -> bool:
    data = read_bytes(tree, path, MAX_FILE_BYTES)
    return isinstance(data, bytes) and b'"model_patch"' in data[:_PEEK_BYTES]


def _first_line(data: bytes) -> JsonObject | None:
    """The first line when it is a row by itself and others follow, or it names its own instance."""
    match = _FIRST_LINE.match(data)
    line = match.group(1) if match else b""
    more = _TEXT.search(data, match.end() if match else 0) is not None
    if len(line) > MAX_LINE_BYTES and more:
        return JsonObject()
    document = parse_json(line, "", lenient=True) if line else Document(None)
    if not isinstance(document.value, JsonObject):
        return None
    return document.value if more or "instance_id" in document.value else None


def _jsonl(data: bytes, path: str) -> PredictionFile:
    return _collect(path, "jsonl", _jsonl_rows(data, path), ())


def _jsonl_rows(data: bytes, path: str) -> Iterator[PredictionRow | Finding]:
    start, number = (3 if data.startswith(codecs.BOM_UTF8) else 0), 0
    while start < len(data):
        number += 1
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        where = f"{path}:{number}"
        if end - start > MAX_LINE_BYTES:
            detail = f"{end - start:,} bytes in one line, more than the {MAX_LINE_BYTES:,} read"
            yield finding(FindingKind.LINE_TOO_LONG, detail, where=where)
        elif line := data[start:end].strip():
            document = parse_json(line, where, lenient=True)
            if isinstance(document.value, JsonObject):
                yield from document.findings
                yield _row(document.value, where)
            else:
                yield _unreadable_row(document, where)
        start = end + 1


def _unreadable_row(document: Document, where: str) -> Finding:
    detail = document.findings[0].detail if document.findings else "a row must be a JSON object"
    return finding(FindingKind.UNREADABLE_ROW, detail, where=where)


def _list_rows(values: list[object], path: str) -> Iterator[PredictionRow | Finding]:
    for number, value in enumerate(values, 1):
        where = f"{path} row {number}"
        if isinstance(value, JsonObject):
            yield _row(value, where)
        else:
            yield finding(FindingKind.UNREADABLE_ROW, "a row must be a JSON object", where=where)


def _dict_rows(values: JsonObject, path: str) -> Iterator[PredictionRow | Finding]:
    for key, value in (*values.repeated, *values.items()):
        where = f"{path} {shown(key)}"
        if not isinstance(value, JsonObject):
            yield finding(FindingKind.UNREADABLE_ROW, "a prediction must be a JSON object", where=where)
            continue
        row = _row(value, where, key)
        yield row
        own = value.get("instance_id")
        if own is not None and own != key:
            detail = (
                f"the key says {shown(key)}, the row {shown(str(own))}; the row counts, as in the harness"
            )
            yield finding(FindingKind.ID_CONFLICT, detail, where=where)


def _row(value: JsonObject, where: str, key: str | None = None) -> PredictionRow:
    keys = tuple(sorted(clean_text(name)[:100] for name in value)[:MAX_KEYS])
    instance_id = value.get("instance_id", key)
    patch_key = "model_patch"
    if value.keys() >= _MULTI_SWE_KEYS and key is None and instance_id is None:
        instance_id = f"{value['org']}__{value['repo']}-{value['number']}"
        patch_key = "fix_patch"
    patch = value.get(patch_key)
    name = value.get("model_name_or_path")
    resolved = value.get("resolved")
    return PredictionRow(
        instance_id=instance_id if isinstance(instance_id, str) else None,
        patch=clean_text(patch) if isinstance(patch, str) else None if patch is None else type(patch),
        has_patch=patch_key in value,
        keys=keys,
        where=where,
        model_name=clean_text(name)[:200] if isinstance(name, str) else "",
        resolved=resolved if isinstance(resolved, bool) else None,
    )


def _collect(
    path: str, form: str, items: Iterator[PredictionRow | Finding], found: Iterable[Finding]
) -> PredictionFile:
    """Rows and findings sorted out, both bounded."""
    rows: list[PredictionRow] = []
    own: list[Finding] = []
    for item in items:
        if isinstance(item, Finding):
            own.append(item)
        else:
            rows.append(item)
        if len(rows) > MAX_ROWS or len(own) > MAX_ROW_FINDINGS:
            detail = (
                f"more than {MAX_ROWS:,} predictions or {MAX_ROW_FINDINGS:,} findings; the rest was not read"
            )
            own.append(finding(FindingKind.FILE_TOO_LARGE, detail, where=path))
            break
    return PredictionFile(path, form, tuple(rows[:MAX_ROWS]), (*found, *own))
