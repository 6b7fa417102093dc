"""What a submitted patch is before anything is run: its class, and what `git apply` says of its form.

`git apply --numstat` reads a patch without a tree and applies nothing; it runs in an empty folder, with
no shell, no configuration and no repository around it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from utboost_action.errors import AuditError
from utboost_action.leaderboard.documents import JsonObject
from utboost_action.model import PredictionClass
from utboost_action.patches import with_final_newline

_BATCH = 64
_SECONDS = 60
_FENCE = re.compile(r"\s*(`{3,}|~{3,})[^\n]*(?:\n|\Z)")
_HEADER = re.compile(r"^(?:diff --git |--- |@@ )", re.MULTILINE)
_BINARY = re.compile(r"^(?:GIT binary patch|Binary files .{1,2000} differ)\r?$", re.MULTILINE)
_NAMES: dict[type, str] = {list: "a list", JsonObject: "an object", bool: "a truth value"}
_LINE = re.compile(r"(?:at line |:)(\d+)\s*$")


@dataclass(frozen=True, slots=True)
class PatchForm:
    """The form of one submitted patch.

    text: what would be run (taken out of its fence). detail: what is wrong and in which line of `text`,
    "" when nothing is; a fenced patch can have one too, `kind` stays FENCED.
    """

    kind: PredictionClass
    text: str = ""
    detail: str = ""
    carriage_returns: bool = False
    no_final_newline: bool = False
    binary: bool = False
    nul: bool = False


def classify(values: Sequence[tuple[str | type | None, bool]]) -> list[PatchForm]:
    """The form of each (text of `model_patch`, or the type of what is no text; is the key there), in order.

    Raises AuditError when there is no git.
    """
    forms = [_before_git(value, present) for value, present in values]
    texts = dict.fromkeys(form.text for form in forms if form.text.strip())
    headed = [text for text in texts if _HEADER.search(text)]
    problems = dict.fromkeys(texts, "no header of a patch in it")
    problems |= zip(headed, _numstat(headed), strict=True)
    return [_with_problem(form, problems[form.text]) if problems.get(form.text) else form for form in forms]


def out_of_fence(patch: str) -> str | None:
    """What a patch that starts with a Markdown fence holds inside, or None for one that does not.

    A fence that is never closed reaches to the end; text behind the closing fence is dropped.
    """
    match = _FENCE.match(patch)
    if match is None:
        return None
    mark = match.group(1)
    lines = patch[match.end() :].split("\n")
    inner: list[str] = []
    for line in lines:
        if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            break
        inner.append(line)
    return with_final_newline("\n".join(inner).rstrip("\n")) if any(inner) else ""


def _before_git(value: str | type | None, present: bool) -> PatchForm:
    if not present:
        return PatchForm(PredictionClass.MISSING_KEY)
    if value is None or (isinstance(value, str) and not value.strip()):
        return PatchForm(PredictionClass.EMPTY)
    if not isinstance(value, str):
        detail = f"model_patch is no text but {_NAMES.get(value, 'a number')}"
        return PatchForm(PredictionClass.CORRUPT, detail=detail)
    inner = out_of_fence(value)
    text = value if inner is None else inner
    return PatchForm(
        kind=PredictionClass.OK if inner is None else PredictionClass.FENCED,
        text=text,
        detail="" if inner is None or inner.strip() else "the fence holds nothing",
        carriage_returns="\r" in value,
        no_final_newline=not value.endswith("\n"),
        binary=_BINARY.search(text) is not None,
        nul="\0" in value,
    )


def _with_problem(form: PatchForm, problem: str) -> PatchForm:
    kind = PredictionClass.CORRUPT if form.kind is PredictionClass.OK else form.kind
    return PatchForm(
        kind, form.text, problem, form.carriage_returns, form.no_final_newline, form.binary, form.nul
    )


def _numstat(patches: Sequence[str]) -> list[str]:
    """For each patch what git finds wrong with it, "" for nothing.

    Sound patches are the rule, so a batch is tried as a whole and only a failing one patch by patch.
    """
    git = shutil.which("git")
    if git is None:
        raise AuditError("git is not installed; it is needed to tell sound patches from corrupt ones")
    result: list[str] = []
    with tempfile.TemporaryDirectory(prefix="utboost-patches-") as name:
        folder = Path(name)
        empty = folder / "empty"
        empty.mkdir()
        for start in range(0, len(patches), _BATCH):
            batch = [
                with_final_newline(patch).encode("utf-8", "replace") for patch in patches[start:][:_BATCH]
            ]
            files = []
            for number, data in enumerate(batch):
                files.append(folder / f"{number}.patch")
                files[-1].write_bytes(data)
            if not _apply(git, empty, [str(file) for file in files], b""):
                result += [""] * len(batch)
            else:
                result += [_apply(git, empty, ["-"], data) for data in batch]
    return result


def _apply(git: str, folder: Path, arguments: list[str], data: bytes) -> str:
    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        run = subprocess.run(  # no shell; names of our own making; a single patch goes in by stdin
            [git, "apply", "--numstat", *arguments],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"git apply did not end within {_SECONDS} s"
    if run.returncode == 0:
        return ""
    message = run.stderr.decode("utf-8", "replace").strip().splitlines() or ["git apply refuses it"]
    return _readable(message[-1])


def _readable(message: str) -> str:
    """Git's message in one form over its versions (`corrupt patch at line N`)."""
    text = message.removeprefix("error: ").removeprefix("fatal: ").split(" (allow with")[0]
    if match := _LINE.search(text):
        return f"{text[: text.rfind(' at ')] if ' at ' in text else text} at line {match.group(1)}"[:200]
    return text[:200]
