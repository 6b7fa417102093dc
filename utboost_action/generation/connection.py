"""The client that options ask for: a replay, a folder of replies, or an endpoint; and its transcript."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from utboost_action.errors import InputError
from utboost_action.generation.asking import ModelClient
from utboost_action.generation.budget import Budget
from utboost_action.generation.options import GenerationOptions
from utboost_action.generation.reply_folder import ReplyFolder
from utboost_action.generation.transcripts import RecordedFirst, Replay, Transcript

KEY_VARIABLE = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class Connection:
    """A client, the transcript behind it, its budget, and the notes on the endpoint (filled as it goes)."""

    client: ModelClient
    transcript: Transcript
    budget: Budget
    notes: list[str]


@contextmanager
def connected(options: GenerationOptions, folder: Path, environ: Mapping[str, str]) -> Iterator[Connection]:
    """The connection for a run whose folder is `folder`; the API key comes from `environ` alone.

    Raises InputError for options that do not go together, a transcript that cannot be read, a missing key.
    """
    if options.replay is not None:
        transcript = Transcript(options.replay, read_only=True)
        yield Connection(
            Replay(transcript), transcript, Budget(prices=options.prices(), spent=transcript.usage), []
        )
        return
    transcript = Transcript(options.transcript or folder / "transcript.jsonl")
    budget = Budget(options.budget_tokens, options.budget_usd, options.prices(), transcript.usage)
    if options.prompts_out is not None or options.replies is not None:
        replies = options.replies or options.prompts_out
        assert replies is not None
        people = ReplyFolder(replies, prompts=options.prompts_out, transcript=transcript)
        yield Connection(people, transcript, budget, [])
        return
    require_model(options, environ)
    with _endpoint(options, environ.get(KEY_VARIABLE, ""), budget, transcript) as connection:
        yield connection


def require_model(
    options: GenerationOptions, environ: Mapping[str, str], others: str = "--replay FILE or --prompts-out DIR"
) -> None:
    """Raise InputError when nothing and nobody can be asked. others: the options that do without a key."""
    key = environ.get(KEY_VARIABLE, "")
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise InputError(f"{KEY_VARIABLE} holds characters that no key has; was a line end copied with it?")
    answered = options.replay or options.prompts_out or options.replies or options.base_url
    if not answered and not key:
        raise InputError(
            f"no model to ask: set {KEY_VARIABLE} (and --base-url for another endpoint), or give {others}"
        )


@contextmanager
def _endpoint(
    options: GenerationOptions, key: str, budget: Budget, transcript: Transcript
) -> Iterator[Connection]:
    import openai  # takes a second, and only an endpoint needs it

    from utboost_action.generation.endpoint import Endpoint, EndpointLimits

    with openai.OpenAI(
        api_key=key or "none",  # local endpoints take any
        base_url=options.base_url or None,
        max_retries=0,  # ours are bounded, counted and budgeted
        timeout=options.timeout,
    ) as client:
        endpoint = Endpoint(
            client,
            budget=budget,
            record=transcript.append,
            clock=time.monotonic,
            now=lambda: datetime.now(UTC),
            sleep=time.sleep,
            limits=EndpointLimits(options.timeout, options.retries, concurrency=options.concurrency),
        )
        yield Connection(RecordedFirst(transcript, endpoint), transcript, budget, endpoint.features.notes)
