"""Files of an image's tree as text, with a trusted patch applied: read through a box's own output."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from utboost_action.errors import SandboxError
from utboost_action.execution.protocol import Box
from utboost_action.execution.scripts import nul_list
from utboost_action.model import RunState
from utboost_action.patches import with_final_newline


@dataclass(frozen=True, slots=True)
class TreeRequest:
    """What to read: these paths of the base with a patch applied ("" for the base itself)."""

    patch: str
    paths: tuple[str, ...]


def read_files(box: Box, requests: Sequence[TreeRequest], log: Path) -> list[Mapping[str, str]]:
    """For each request the files by path; one that is absent, or no UTF-8, is left out.

    Raises SandboxError when the box does not come to its end.
    """
    nonce = secrets.token_hex(16)
    files = {"read.sh": _script(box.directory, nonce, len(requests)).encode()}
    for number, request in enumerate(requests):
        files[f"{nonce}/{number}.patch"] = with_final_newline(request.patch).encode(
            "utf-8", "surrogateescape"
        )
        files[f"{nonce}/{number}.paths"] = nul_list(request.paths)
    box.put(files)
    execution = box.run("read.sh", log=log)
    if execution.state is not RunState.OK or execution.exit_code != 0:
        raise SandboxError(f"the tree's files cannot be read ({execution.state}, {execution.exit_code})")
    data = log.read_bytes()
    return [_answer(data, nonce, number, request) for number, request in enumerate(requests)]


def _script(directory: str, nonce: str, count: int) -> str:
    return f"""place={directory}/{nonce}
base=$(git rev-parse HEAD) || exit 8
top=$(git rev-parse --show-toplevel) && cd "$top" || exit 8
for number in $(seq 0 {count - 1}); do
  git reset -q --hard "$base" && git clean -fdq
  [ ! -s "$place/$number.patch" ] || git apply "$place/$number.patch" || continue
  index=0
  while IFS= read -r -d '' path; do
    if [ -f "$path" ] && [ ! -L "$path" ]; then
      printf '\\n{nonce} %s %s ' "$number" "$index"; base64 -w 0 "$path"; echo
    fi
    index=$((index + 1))
  done < "$place/$number.paths"
done
exit 0
"""


def _answer(data: bytes, nonce: str, number: int, request: TreeRequest) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in re.finditer(
        rb"^%s %d (\d+) ([A-Za-z0-9+/=]*)$" % (nonce.encode(), number), data, re.MULTILINE
    ):
        index = int(match[1])
        if index < len(request.paths):
            try:
                found[request.paths[index]] = base64.b64decode(match[2], validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError):
                continue
    return found
