"""Transcripts: every exchange with a model on a line of JSON, and replies by the request's exact hash."""

from __future__ import annotations

import json
import operator
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.generation.asking import (
    BudgetExhaustedError,
    Exchange,
    ModelClient,
    ModelError,
    PendingReplyError,
    ReplayMissError,
    Reply,
    Request,
    Usage,
    usage_sum,
)

Replies = Mapping[tuple[str, int], Reply]


class Transcript:
    """A transcript file: what it holds is read once, each new exchange is on disk before it is used.

    A line: `hash`, `instance`, `stage`, `request`, `samples` (their numbers), `replies` (text, finish),
    `usage` (null: not measured, then `bound`), `seconds`, `at`; without replies, `failure` says why. A
    last line that a kill left unfinished is dropped. Raises InputError that names the line of anything
    else that cannot be read.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._lock = threading.Lock()
        self.replies: dict[tuple[str, int], Reply] = {}
        self.failures: dict[str, ModelError] = {}
        self._usages: list[Usage] = []
        self._by_stage: dict[tuple[str, str], list[Usage]] = {}
        self._load()

    @property
    def usage(self) -> Usage:
        """What all exchanges of the file took."""
        return usage_sum(self._usages)

    def usage_of(self, instance_id: str) -> dict[str, Usage]:
        """Stage -> what its exchanges took, for one instance, in the order of the stages."""
        return {
            stage: usage_sum(usages)
            for (owner, stage), usages in self._by_stage.items()
            if owner == instance_id
        }

    def append(self, exchange: Exchange) -> None:
        """Add an exchange, synced to disk."""
        line = json.dumps(_line(exchange), ensure_ascii=False, sort_keys=True)
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(line.encode("utf-8", "backslashreplace") + b"\n")
                file.flush()
                os.fsync(file.fileno())
            request = exchange.request
            self._take(request.hash, exchange.samples, exchange.replies)
            self._count(request.instance_id, request.stage, exchange.usage)
            self._fail(request.hash, exchange.failure, exhausted=exchange.exhausted)

    def _take(self, request_hash: str, samples: Sequence[int], replies: Sequence[Reply]) -> None:
        for sample, reply in zip(samples, replies, strict=False):
            self.replies[request_hash, sample] = reply  # the last one counts: people change answers

    def _count(self, instance_id: str, stage: str, usage: Usage) -> None:
        self._usages.append(usage)
        self._by_stage.setdefault((instance_id, stage), []).append(usage)

    def _fail(self, request_hash: str, failure: str, *, exhausted: bool) -> None:
        if failure:
            self.failures[request_hash] = (BudgetExhaustedError if exhausted else ModelError)(failure)

    def _load(self) -> None:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            if self.read_only:
                raise InputError(f"--replay {str(self.path)!r}: no such file") from None
            return
        except OSError as problem:
            raise InputError(f"transcript {str(self.path)!r}: cannot be read: {problem.strerror}") from None
        whole, _, rest = data.rpartition(b"\n")
        if rest and _is_json(rest):  # whole, but for its end of line
            whole = data
            if not self.read_only:
                with self.path.open("ab") as file:
                    file.write(b"\n")
        elif rest and not self.read_only:
            with self.path.open("r+b") as file:
                file.truncate(len(data) - len(rest))
        for number, line in enumerate(whole.split(b"\n"), 1):
            if line.strip():
                self._read(line, number)

    def _read(self, line: bytes, number: int) -> None:
        try:
            value = json.loads(line)
            replies = [
                Reply(_text(one["text"]), _text(one["finish"]), _text(value["at"]))
                for one in value["replies"]
            ]
            samples = [operator.index(sample) for sample in value["samples"]]
            usage = value["usage"] or value["bound"]
            taken = Usage(
                int(usage["prompt_tokens"]), int(usage["completion_tokens"]), value["usage"] is not None
            )
            self._take(_text(value["hash"]), samples, replies)
            self._count(value["instance"], value["stage"], taken)
            self._fail(value["hash"], str(value.get("failure", "")), exhausted=bool(value.get("exhausted")))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as problem:
            what = f"{type(problem).__name__}: {problem}"
            raise InputError(
                f"transcript {str(self.path)!r} line {number}: not an exchange ({what})"
            ) from None


class RecordedFirst:
    """A client that answers from a transcript and asks another one only for what is not in it."""

    def __init__(self, transcript: Transcript, other: ModelClient) -> None:
        self._transcript = transcript
        self._other = other

    def ask(self, request: Request, samples: Sequence[int]) -> Mapping[int, Reply]:
        """The replies to these samples, recorded ones first.

        Raises as the other client, where nothing is recorded; such a failure is recorded too.
        """
        known = _known(self._transcript.replies, request, samples)
        missing = [sample for sample in samples if sample not in known]
        if not missing:
            return known
        try:
            return {**known, **self._other.ask(request, missing)}
        except PendingReplyError:
            if known:
                return known
            raise
        except ModelError as problem:
            exhausted = isinstance(problem, BudgetExhaustedError)
            self._transcript.append(
                Exchange(request, (), (), Usage(), 0.0, "", failure=str(problem), exhausted=exhausted)
            )
            if known:
                return known
            raise


class Replay:
    """A client that answers from a transcript alone, recorded failures included."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript

    def ask(self, request: Request, samples: Sequence[int]) -> Mapping[int, Reply]:
        """The recorded replies; fewer than asked for where the run had fewer.

        Raises the recorded failure of a request that had none, else ReplayMissError.
        """
        known = _known(self._transcript.replies, request, samples)
        if not known and (failure := self._transcript.failures.get(request.hash)) is not None:
            raise failure
        if not known:
            raise ReplayMissError(
                f"{self._transcript.path}: no reply to the prompt {request.hash} "
                f"({request.instance_id}, {request.stage}, temperature {request.temperature:g}); "
                "it was recorded with another version, model, setting or instance"
            )
        return known


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _known(replies: Replies, request: Request, samples: Sequence[int]) -> dict[int, Reply]:
    key = request.hash
    return {sample: replies[key, sample] for sample in samples if (key, sample) in replies}


def _line(exchange: Exchange) -> dict[str, object]:
    usage = {
        "prompt_tokens": exchange.usage.prompt_tokens,
        "completion_tokens": exchange.usage.completion_tokens,
    }
    ended = {"failure": exchange.failure, "exhausted": exchange.exhausted} if exchange.failure else {}
    return {
        **ended,
        "hash": exchange.request.hash,
        "instance": exchange.request.instance_id,
        "stage": exchange.request.stage,
        "request": exchange.request.as_json(),
        "samples": list(exchange.samples),
        "replies": [{"text": reply.text, "finish": reply.finish} for reply in exchange.replies],
        "usage": usage if exchange.usage.measured else None,
        "bound": None if exchange.usage.measured else usage,
        "seconds": round(exchange.seconds, 3),
        "at": exchange.at,
    }
