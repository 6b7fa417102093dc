"""The confirmation record of a bank entry (`signals`) as JSON values and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from utboost_action.model import Decision, Opinion, ProgramKind, Showing, Signals


def signals_to_json(signals: Signals) -> dict[str, object]:
    """Only what is there: an entry that nobody asked about has an empty record."""
    return {name: value for name, value in asdict(signals).items() if value}


def signals_from_json(value: object) -> Signals:
    """The inverse. Raises ValueError that says which part has the wrong shape."""
    record = _object(value, "signals")
    messages = _object(record.get("base_messages", {}), "signals.base_messages")
    return Signals(
        showings=tuple(_showing(item) for item in _list(record.get("showings", []), "signals.showings")),
        base_messages={
            test: _texts(texts, f"signals.base_messages of {test}") for test, texts in messages.items()
        },
        issue=_text(record, "issue", ""),
        issue_from=_text(record, "issue_from", ""),
        decisions=tuple(_decision(item) for item in _list(record.get("decisions", []), "signals.decisions")),
        fail_to_pass=_texts(record.get("fail_to_pass", []), "signals.fail_to_pass"),
        pass_to_pass=_texts(record.get("pass_to_pass", []), "signals.pass_to_pass"),
    )


def _showing(value: object) -> Showing:
    record = _object(value, "a showing")
    plausible = record.get("plausible")
    if plausible is not None and not isinstance(plausible, bool):
        raise ValueError(f"a showing: plausible is {plausible!r}, expected true, false or null")
    return Showing(
        kind=ProgramKind(_text(record, "kind")),
        name=_text(record, "name"),
        key=_text(record, "key"),
        plausible=plausible,
        fails=_texts(record.get("fails", []), "a showing's fails"),
        problem=_text(record, "problem", ""),
    )


def _decision(value: object) -> Decision:
    record = _object(value, "a decision")
    return Decision(
        opinion=Opinion(_text(record, "opinion")),
        who=_text(record, "who"),
        why=_text(record, "why"),
        at=_text(record, "at"),
        test=_text(record, "test", ""),
    )


def _object(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no object")
    return value


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{what} is no list")
    return value


def _texts(value: object, what: str) -> tuple[str, ...]:
    items = _list(value, what)
    if not all(isinstance(item, str) for item in items):
        raise ValueError(f"{what} is no list of texts")
    return tuple(map(str, items))


def _text(record: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = record.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"signals: {name} is missing or no text")
    return value
