"""Bounded JSON and YAML."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utboost_action.leaderboard.documents import NOT_A_NUMBER, measure, parse_json, parse_yaml


def kinds(data: bytes, *, yaml: bool = False) -> list[str]:
    document = parse_yaml(data, "f") if yaml else parse_json(data, "f")
    return [item.kind for item in document.findings]


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_non_numbers_are_refused_by_name(word: str) -> None:
    document = parse_json(f'{{"a": {word}}}'.encode(), "results.json")
    assert document.value is None
    assert word in document.findings[0].detail
    assert document.findings[0].where == "results.json"
    assert parse_json(f"[{word}]".encode(), "f", lenient=True).value == [NOT_A_NUMBER]


def test_a_repeated_key_is_named_and_no_value_taken() -> None:
    document = parse_json(b'{"resolved": [1], "x": {"k": 1, "k": 1}, "resolved": []}', "f")
    assert document.value is None
    assert "resolved" in document.findings[0].detail
    assert "k" in document.findings[0].detail


def test_nesting_is_refused_without_recursion() -> None:
    for data in (b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[" * 101):
        assert kinds(data) == ["nesting_too_deep"]
    assert parse_json(b"[" * 100 + b"]" * 100, "f").findings == ()


def test_brackets_in_strings_do_not_nest() -> None:
    assert measure(json.dumps(["[" * 500, '"[[[\\"', "\\"]).encode())[0] == 1


def test_an_unclosed_string_costs_linear_time() -> None:
    def seconds(size: int) -> float:
        start = time.perf_counter()
        measure(b'"' + b'\\"' * size)
        return time.perf_counter() - start

    seconds(1000)
    assert seconds(1_000_000) < 1.0


def test_items_are_counted_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utboost_action.leaderboard.documents.MAX_JSON_ITEMS", 10)
    assert kinds(b"[" + b"1," * 20 + b"1]") == ["file_too_large"]
    assert kinds(b"[" + b"[]," * 20 + b"1]") == ["file_too_large"]
    assert kinds(b'["' + b"," * 99 + b'"]') == []


def test_long_integers_are_refused_and_not_converted() -> None:
    assert kinds(b"[" + b"1" * 10_000 + b"]") == ["unreadable_file"]


def test_invalid_utf8_is_replaced_and_said() -> None:
    document = parse_json(b'\xef\xbb\xbf{"a": "\xff"}', "f")
    assert document.value == {"a": "\ufffd"}
    assert [item.kind for item in document.findings] == ["invalid_utf8"]


def test_yaml_values() -> None:
    text = b"a: 1\nb: [x, true, null, 1.5]\nc: {d: 2026-03-30}\ne: .nan\nf: 96.7%\ng: '1'\n"
    assert parse_yaml(text, "f").value == {
        "a": 1,
        "b": ["x", True, None, 1.5],
        "c": {"d": "2026-03-30"},
        "e": ".nan",
        "f": "96.7%",
        "g": "1",
    }


def test_yaml_aliases_within_the_budget_are_read_and_a_bomb_is_refused() -> None:
    assert parse_yaml(b"a: &x [1, 2]\nb: *x\n", "f").value == {"a": [1, 2], "b": [1, 2]}
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, key in zip("abcdefgh", "bcdefghi", strict=True):
        levels.append(f"{key}: &{key} [" + ", ".join([f"*{before}"] * 9) + "]")
    start = time.perf_counter()
    document = parse_yaml("\n".join(levels).encode(), "metadata.yaml")
    assert time.perf_counter() - start < 2
    assert document.value is None
    assert [item.kind for item in document.findings] == ["yaml_refused"]


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: !!python/object/apply:os.system [id]",
        "a: !custom 1",
        "? [a]\n: 1",
        "x: [" + "1," * 20_000 + "]",
    ],
)
def test_liberties_of_yaml_are_refused(text: str) -> None:
    assert kinds(text.encode(), yaml=True) == ["yaml_refused"]


def test_yaml_nesting_and_syntax_are_findings() -> None:
    assert kinds(b"[" * 5000, yaml=True)[0] in ("nesting_too_deep", "yaml_refused", "unreadable_file")
    assert kinds(b"a: [", yaml=True) == ["unreadable_file"]
    assert kinds(b"a: 1\na: 2\n", yaml=True) == ["duplicate_key"]
    assert kinds(b"a: 1\n---\nb: 2\n", yaml=True) == ["unreadable_file"]
    assert kinds(b"a: \x00", yaml=True) == ["unreadable_file"]


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_no_bytes_make_a_reader_raise(data: bytes) -> None:
    parse_json(data, "f")
    parse_yaml(data, "f")
