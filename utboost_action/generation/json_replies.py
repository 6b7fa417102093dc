"""The JSON replies of the localisation: their schemas, and a strict reader of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

_FENCE = re.compile(r"\A```[A-Za-z]*\n(?P<body>.*)\n```\Z", re.DOTALL)
_MOST_ENTRIES = 50
_LONGEST_TEXT = 1_000


@dataclass(frozen=True, slots=True)
class Shape:
    """A reply of the form `{key: [entry, …]}`; entries are strings (fields empty) or flat objects."""

    key: str
    fields: Mapping[str, type[str] | type[int]]

    @property
    def schema(self) -> Mapping[str, object]:
        """The JSON schema, in the subset that structured outputs take (strict, no extra properties)."""
        types = {str: "string", int: "integer"}
        entry: dict[str, object] = {"type": "string"}
        if self.fields:
            entry = {
                "type": "object",
                "properties": {name: {"type": types[kind]} for name, kind in self.fields.items()},
                "required": list(self.fields),
                "additionalProperties": False,
            }
        return {
            "type": "object",
            "properties": {self.key: {"type": "array", "items": entry}},
            "required": [self.key],
            "additionalProperties": False,
        }


FILES = Shape("files", {})
PLACES = Shape("places", {"path": str, "name": str})
RANGES = Shape("ranges", {"path": str, "first": int, "last": int})


def read_texts(reply: str, shape: Shape) -> list[str]:
    """The strings of a reply whose entries are strings. Raises ValueError as `read_entries`."""
    return [str(entry["value"]) for entry in read_entries(reply, shape)]


def read_entries(reply: str, shape: Shape) -> list[dict[str, str | int]]:
    """The entries of a reply, in order; strings come as `{"value": text}`.

    One object alone, or in one code fence: prose around it, other keys, other types, more than 50
    entries or texts over 1,000 characters are refused. Raises ValueError that says what is wrong.
    """
    text = reply.strip()
    if fenced := _FENCE.match(text):
        text = fenced["body"]
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as problem:
        what = problem.msg if isinstance(problem, json.JSONDecodeError) else "nested too deeply"
        raise ValueError(f"it is no JSON object alone ({what})") from None
    except ValueError as problem:  # numbers of thousands of digits
        raise ValueError(f"it is no usable JSON ({problem})") from None
    if not isinstance(value, dict) or set(value) != {shape.key} or not isinstance(value[shape.key], list):
        raise ValueError(f'expected {{"{shape.key}": [...]}} and no other key')
    if len(value[shape.key]) > _MOST_ENTRIES:
        raise ValueError(f"more than {_MOST_ENTRIES} entries")
    return [_entry(raw, shape) for raw in value[shape.key]]


def _entry(raw: object, shape: Shape) -> dict[str, str | int]:
    if not shape.fields:
        return {"value": _typed(raw, str, "an entry")}
    if not isinstance(raw, dict) or set(raw) != set(shape.fields):
        raise ValueError(f"every entry has the keys {', '.join(shape.fields)} and no others")
    return {name: _typed(raw[name], kind, name) for name, kind in shape.fields.items()}


def _typed(value: object, kind: type[str] | type[int], what: str) -> str | int:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{what} must be {'text' if kind is str else 'a whole number'}")
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        raise ValueError(f"{what} is longer than {_LONGEST_TEXT} characters")
    return value
