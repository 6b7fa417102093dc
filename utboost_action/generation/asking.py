"""What travels to and from a model: requests with an exact hash, replies, usage; the client's protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from utboost_action.errors import AuditError
from utboost_action.storage import content_key


class ModelError(AuditError):
    """The model could not be asked, or gave nothing usable after every retry."""


class BudgetExhaustedError(ModelError):
    """The next call could go over the budget; what was earned so far is kept."""


class ReplayMissError(ModelError):
    """A transcript holds no reply to a request."""


class PendingReplyError(ModelError):
    """The replies come from a folder, and this one is not there yet."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat. role: system, user or assistant. Lone surrogates in it become escapes."""

    role: str
    content: str

    def __post_init__(self) -> None:
        if not self.content.isascii():
            clean = self.content.encode("utf-8", "backslashreplace").decode("utf-8")
            object.__setattr__(self, "content", clean)


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and how it is sampled; `hash` covers all of it but the labels.

    schema_name, schema: the JSON schema of the reply, None for free text. max_tokens: of each reply.
    instance_id and stage label the exchange in errors, transcripts and reports.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float
    max_tokens: int
    instance_id: str = field(default="", compare=False)
    stage: str = field(default="", compare=False)
    schema_name: str = ""
    schema: Mapping[str, object] | None = None

    @property
    def hash(self) -> str:
        """32 hex digits: the same for the same model, messages, temperature, length and schema."""
        return content_key(self.as_json())

    def as_json(self) -> dict[str, object]:
        """The request as a transcript keeps it."""
        return {
            "model": self.model,
            "messages": [{"role": m.role, "content": m.content} for m in self.messages],
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "schema": self.schema_name,
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. measured: False where the endpoint gave no figures and bounds stand in."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    measured: bool = True

    @property
    def total(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """One sample. finish: the endpoint's reason for its end (`length`: it was cut). at: ISO time, UTC."""

    text: str
    finish: str = "stop"
    at: str = ""

    @property
    def cut(self) -> bool:
        """Whether the reply ends because it reached its length."""
        return self.finish == "length"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call: the samples that were asked for by number, and their replies in the same order.

    failure: why the request ended without replies, so that a replay ends the same way; exhausted:
    whether that was the budget.
    """

    request: Request
    samples: tuple[int, ...]
    replies: tuple[Reply, ...]
    usage: Usage
    seconds: float
    at: str
    failure: str = ""
    exhausted: bool = False


class ModelClient(Protocol):
    """Where replies come from: an endpoint, a transcript or a folder."""

    def ask(self, request: Request, samples: Sequence[int]) -> Mapping[int, Reply]:
        """The replies to these sample numbers of one request.

        Samples that could not be had are absent from the answer. Raises ModelError when none could,
        and BudgetExhaustedError, ReplayMissError or PendingReplyError.
        """


def usage_sum(usages: Sequence[Usage]) -> Usage:
    """All usages as one."""
    return Usage(
        sum(usage.prompt_tokens for usage in usages),
        sum(usage.completion_tokens for usage in usages),
        all(usage.measured for usage in usages),
    )
