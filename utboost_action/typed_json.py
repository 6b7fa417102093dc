"""Frozen dataclasses to JSON values and back: the types are the schema, and nothing else is let in.

Understood are str, int, float, bool, None in unions, enums, `tuple[X, ...]`, `frozenset[str]`,
`Mapping[str, X]` and dataclasses of these. Reading refuses unknown and missing keys, other types, NaN,
repeated keys and texts beyond a limit, and names the place.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import TypeVar, cast

MAX_TEXT = 32 << 20  # characters of one text
_T = TypeVar("_T")


class MalformedError(ValueError):
    """A JSON value that is not of the type it should be; the message names the place."""


def to_json(value: object) -> object:
    """A value of dataclasses as JSON values; sets are sorted, so equal values give equal bytes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_json(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if not _is_default(field, getattr(value, field.name))
        }
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_json(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(to_json, value), key=str)
    if isinstance(value, tuple | list):
        return [to_json(each) for each in value]
    return value


def from_json(kind: type[_T], value: object, where: str = "") -> _T:
    """The inverse. where: what to call the value in messages. Raises MalformedError."""
    return cast(_T, _read(kind, value, where or kind.__name__))


def parse(text: str) -> object:
    """JSON text as values; repeated keys, NaN and infinities are refused. Raises MalformedError."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        raise MalformedError(f"no valid JSON: {problem}") from None


def schema_of(kind: type[object], title: str) -> dict[str, object]:
    """The JSON Schema (2020-12) of what `from_json` lets in."""
    definitions: dict[str, object] = {}
    root = _schema(kind, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _is_default(field: dataclasses.Field[typing.Any], value: object) -> bool:
    """Whether a field may be left out, since reading gives it back."""
    if field.default is not dataclasses.MISSING:
        return bool(field.default == value) and type(field.default) is type(value)
    return field.default_factory is not dataclasses.MISSING and bool(field.default_factory() == value)


def _is_required(field: dataclasses.Field[typing.Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@functools.cache
def _hints(kind: typing.Hashable) -> dict[str, object]:
    return typing.get_type_hints(cast(type, kind))


def _read(kind: object, value: object, where: str) -> object:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _read_union(arguments, value, where)
    if origin is tuple:
        return tuple(_read(arguments[0], each, f"{where}[{n}]") for n, each in enumerate(_list(value, where)))
    if origin is frozenset:
        return frozenset(
            _read(arguments[0], each, f"{where}[{n}]") for n, each in enumerate(_list(value, where))
        )
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise MalformedError(f"{where}: no object")
        return {_text(key, where): _read(arguments[1], each, f"{where}.{key}") for key, each in value.items()}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _read_dataclass(kind, value, where)
    return _read_scalar(kind, value, where)


def _read_union(kinds: tuple[object, ...], value: object, where: str) -> object:
    if value is None and types.NoneType in kinds:
        return None
    (kind,) = (each for each in kinds if each is not types.NoneType)
    return _read(kind, value, where)


def _read_dataclass(kind: type[object], value: object, where: str) -> object:
    if not isinstance(value, dict):
        raise MalformedError(f"{where}: no object")
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(set(value) - set(fields)):
        raise MalformedError(f"{where}: unknown key {unknown[0][:80]!a}")
    if missing := [name for name, field in fields.items() if _is_required(field) and name not in value]:
        raise MalformedError(f"{where}: {missing[0]} is missing")
    hints = _hints(cast(typing.Hashable, kind))
    return kind(**{name: _read(hints[name], each, f"{where}.{name}") for name, each in value.items()})


def _read_scalar(kind: object, value: object, where: str) -> object:
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        try:
            return kind(value)
        except ValueError:
            raise MalformedError(f"{where}: none of {', '.join(str(each.value) for each in kind)}") from None
    if kind is str:
        return _text(value, where)
    if kind is bool and isinstance(value, bool):
        return value
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise MalformedError(f"{where}: no finite number")
        return float(value)
    raise MalformedError(f"{where}: no {getattr(kind, '__name__', kind)}")


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise MalformedError(f"{where}: no text")
    if len(value) > MAX_TEXT:
        raise MalformedError(f"{where}: a text of {len(value):,} characters, more than {MAX_TEXT:,}")
    return value


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise MalformedError(f"{where}: no list")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no number")


def _schema(kind: object, definitions: dict[str, object]) -> dict[str, object]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (each for each in arguments if each is not types.NoneType)
        return {"oneOf": [{"type": "null"}, _schema(inner, definitions)]}
    if origin in (tuple, frozenset):
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is not None:
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [each.value for each in kind]}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # taken, should it name itself
            hints = _hints(cast(typing.Hashable, kind))
            definitions[kind.__name__] = {
                "type": "object",
                "additionalProperties": False,
                "required": [field.name for field in dataclasses.fields(kind) if _is_required(field)],
                "properties": {
                    field.name: _schema(hints[field.name], definitions) for field in dataclasses.fields(kind)
                },
            }
        return {"$ref": f"#/$defs/{kind.__name__}"}
    names = {str: "string", int: "integer", float: "number", bool: "boolean"}
    return {"type": names[cast(type, kind)]}
