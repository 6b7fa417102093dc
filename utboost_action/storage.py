"""Files that are written whole or not at all: canonical JSON, content keys, gzip'ed logs."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path


def canonical_json(value: object) -> str:
    """JSON with sorted keys and a final newline: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def content_key(value: object) -> str:
    """The first 32 hex digits of the SHA-256 over the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text so that a reader, or a kill at any moment, finds the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException as problem:
        Path(name).unlink(missing_ok=True)
        if isinstance(problem, OSError) and problem.filename is None:  # a full disk is met without a name
            problem.filename = str(path)
        raise


def compress(source: Path, target: Path) -> None:
    """`source` as gzip in `target`, written atomically and without a time stamp; `source` goes."""
    partial = target.with_name(f".{target.name}.part")
    with (
        source.open("rb") as plain,
        partial.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
    ):
        shutil.copyfileobj(plain, packed, 1 << 20)
    partial.replace(target)
    source.unlink()
