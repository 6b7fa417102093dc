"""What an OpenAI-compatible endpoint can do, found out from what it refuses."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from enum import StrEnum

from utboost_action.generation.asking import Request


class Feature(StrEnum):
    """Parts of a request that not every endpoint takes, in the order they are given up."""

    JSON_SCHEMA = "structured outputs (response_format json_schema)"
    JSON_OBJECT = "JSON mode (response_format json_object)"
    SEED = "seed"
    MANY = "n"
    MAX_TOKENS = "max_tokens"  # else max_completion_tokens
    TEMPERATURE = "temperature"
    SYSTEM = "system messages"


_CONSEQUENCES = {
    Feature.JSON_SCHEMA: "replies are asked for in JSON mode",
    Feature.JSON_OBJECT: "replies are held to JSON by the prompt and the parser alone",
    Feature.SEED: "samples are not seeded",
    Feature.MANY: "samples go out as single calls",
    Feature.MAX_TOKENS: "max_completion_tokens is sent instead",
    Feature.TEMPERATURE: "samples are drawn at the endpoint's own temperature",
    Feature.SYSTEM: "the system text is put before the user's",
}
_NAMED_BY = (
    (
        Feature.JSON_SCHEMA,
        re.compile(r"response_format|json_schema|json_object|json mode|structured", re.IGNORECASE),
    ),
    (Feature.MAX_TOKENS, re.compile(r"max_tokens|max_completion_tokens", re.IGNORECASE)),
    (Feature.SEED, re.compile(r"\bseed\b", re.IGNORECASE)),
    (Feature.TEMPERATURE, re.compile(r"\btemperature\b", re.IGNORECASE)),
    (Feature.MANY, re.compile(r"(?:^|['\"`\s(])n(?:['\"`\s):=]|$)")),
    (Feature.SYSTEM, re.compile(r"\bsystem\b", re.IGNORECASE)),
)

_ELSEWHERE = re.compile(  # what a refusal is about when it is about no feature
    r"context|too long|maximum.*length|model\b.*(?:exist|found|unknown|support)|unknown model"
    r"|content.{0,20}(?:filter|policy|policies)|moderation|safety|usage polic",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Features:
    """The features still taken for granted, shared by all calls to one endpoint.

    notes: what was found missing and what follows from it, each once, for the report.
    """

    present: set[Feature] = field(default_factory=lambda: set(Feature))
    notes: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def has(self, feature: Feature) -> bool:
        """Whether the feature may be used."""
        return feature in self.present

    def give_up(self, feature: Feature) -> None:
        """Never use the feature again, and say so."""
        with self._lock:
            if feature in self.present:
                self.present.discard(feature)
                self.notes.append(_lacks(feature))

    def note(self, text: str) -> None:
        """Say something once."""
        with self._lock:
            if text not in self.notes:
                self.notes.append(text)

    def used_by(self, request: Request, count: int) -> list[Feature]:
        """The features that a call for `count` samples uses now, in the order they are given up."""
        wanted = {
            Feature.JSON_SCHEMA: request.schema is not None,
            Feature.JSON_OBJECT: request.schema is not None and not self.has(Feature.JSON_SCHEMA),
            Feature.SEED: True,
            Feature.MANY: count > 1,
            Feature.MAX_TOKENS: True,
            Feature.TEMPERATURE: True,
            Feature.SYSTEM: any(message.role == "system" for message in request.messages),
        }
        return [feature for feature, used in wanted.items() if used and self.has(feature)]

    def named(self, message: str, param: str, used: list[Feature]) -> Feature | None:
        """The used feature that a refusal names, by its parameter or in its text."""
        for text in (param, "" if _ELSEWHERE.search(message) else message):
            for feature, pattern in _NAMED_BY:
                if text and pattern.search(text):
                    if feature is Feature.JSON_SCHEMA and feature not in used:
                        feature = Feature.JSON_OBJECT
                    if feature in used:
                        return feature
        return None

    def guess(self, message: str, used: list[Feature]) -> Feature | None:
        """The first used feature that a refusal may mean; None where it is about something else."""
        if _ELSEWHERE.search(message):
            return None
        return next((one for one in used if one not in (Feature.MAX_TOKENS, Feature.TEMPERATURE)), None)

    def restore(self, guessed: list[Feature]) -> None:
        """Take back guesses that did not help."""
        with self._lock:
            for feature in guessed:
                self.present.add(feature)
                self.notes[:] = [note for note in self.notes if note != _lacks(feature)]


def _lacks(feature: Feature) -> str:
    return f"the endpoint lacks {feature}: {_CONSEQUENCES[feature]}"


def body_of(request: Request, samples: list[int], features: Features) -> dict[str, object]:
    """The call's JSON body with the features that the endpoint has."""
    messages = [{"role": one.role, "content": one.content} for one in request.messages]
    if not features.has(Feature.SYSTEM) and messages and messages[0]["role"] == "system":
        system = messages.pop(0)["content"]
        messages[0] = {"role": "user", "content": f"{system}\n\n{messages[0]['content']}"}
    limit = "max_tokens" if features.has(Feature.MAX_TOKENS) else "max_completion_tokens"
    body: dict[str, object] = {"model": request.model, "messages": messages, limit: request.max_tokens}
    if features.has(Feature.TEMPERATURE):
        body["temperature"] = request.temperature
    if features.has(Feature.SEED):
        body["seed"] = samples[0]
    if len(samples) > 1:
        body["n"] = len(samples)
    if request.schema is not None and features.has(Feature.JSON_SCHEMA):
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.schema_name.replace(" ", "_"),
                "strict": True,
                "schema": request.schema,
            },
        }
    elif request.schema is not None and features.has(Feature.JSON_OBJECT):
        body["response_format"] = {"type": "json_object"}
    return body
