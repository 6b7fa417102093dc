"""Quirks of the official parsers that a grade hangs on, by name; the rest is held to the original."""

from __future__ import annotations

from time import perf_counter

import pytest

from utboost_action.errors import InputError
from utboost_action.logs.official import Harness, OfficialGraderError, parse_official

CASES = [
    ("django", "test_a (m.A)\nAdds two numbers ... ok", {"Adds two numbers": "PASSED"}),
    ("django", "test_a (m.A) ... FAIL\nokay then", {"test_a (m.A)": "PASSED"}),
    ("django", "FAIL: test_a (m.A)", {"test_a": "FAILED"}),
    ("django", "test_a (m.A) ... expected failure", {}),
    ("django", "test_a (m.A) ... skipped 'x'", {"test_a (m.A)": "SKIPPED"}),
    ("django", "a (m.A) ... b (m.A) ... ok", {"a (m.A) ... b (m.A)": "PASSED"}),
    (
        "django",
        "Applying sites.0002_alter_domain_unique...test_no_migrations (s.T) ... ok",
        {"test_no_migrations (s.T)": "PASSED"},
    ),
    ("django", "x --version is equivalent to version", {"--version is equivalent to version": "PASSED"}),
    ("django", "t (m.A) ... Internal Server Error: /x/\nok", {"t (m.A)": "PASSED"}),
    ("django", "no id here\n...\nInternal Server Error: /x/\nok", {"no id here": "PASSED"}),
    ("pytest", "FAILED t::p[a b] - boom\nPASSED t::p[a c]", {"t::p[a": "PASSED"}),
    ("pytest", "SKIPPED [3] t.py:1: x\nPASSED [100%]", {"[100%]": "PASSED"}),
    ("pytest", "PASSEDx t::a\nERROR: usage", {"t::a": "PASSEDx", "usage": "ERROR:"}),
    (
        "pytest_options",
        "PASSED t::a[/x/f.txt]\nPASSED t::a[//h/x]y",
        {"t::a[/f.txt]": "PASSED", "t::a[//h/x]": "PASSED"},
    ),
    ("requests", "PASSED t::a[x", {"t::a[x": "PASSED"}),
    ("pytest_v2", "ERROR t::a - x y\nFAILED t::b - x", {"t::a - x y": "ERROR", "t::b": "FAILED"}),
    ("sphinx", "\x1b[32mPASSED\x1b[0m t::a\nt::b c FAILED", {"t::a": "PASSED", "t::b c": "FAILED"}),
    ("matplotlib", "PASSED t::a[MouseButton.LEFT]", {"t::a[1]": "PASSED"}),
    ("seaborn", "t::a PASSED [ 50%]\nERROR t::b\nFAILED t::c", {"t::a": "PASSED", "t::c": "FAILED"}),
    ("sympy", "test_a ok\ntest_b ok    [OK]\ntest_c E", {"test_a": "PASSED", "test_c": "ERROR"}),
    ("sympy", "____ a/b.py:test_a ____", {"a/b.py:test_a": "FAILED"}),
    ("sympy", "  File x.py:12 in f", {" File x.py:12 in": "FAILED"}),
]


@pytest.mark.parametrize(("parser", "text", "statuses"), CASES)
def test_a_quirk(parser: str, text: str, statuses: dict[str, str]) -> None:
    assert parse_official(text, parser) == statuses
    assert parse_official(text, f"parse_log_{parser}") == statuses


OLD = [
    ("sphinx", "FAILED t::a - x y\nt::b FAILED 1 FAILED", {"t::a": "FAILED", "t::b": "FAILED"}),
    ("pytest", "SKIPPED [3] t.py:1: x", {"[3]": "SKIPPED"}),
    ("sympy", "test_b ok    [OK]", {"test_b": "PASSED"}),
]


@pytest.mark.parametrize(("parser", "text", "statuses"), OLD)
def test_a_quirk_of_2x(parser: str, text: str, statuses: dict[str, str]) -> None:
    assert parse_official(text, parser, harness=Harness.V2) == statuses
    assert parse_official(text, parser) != statuses


@pytest.mark.parametrize(
    ("parser", "text", "harness"), [("django", "FAIL:", Harness.V5), ("seaborn", "FAILED", Harness.V2)]
)
def test_where_the_original_fails_ours_says_so(parser: str, text: str, harness: Harness) -> None:
    with pytest.raises(OfficialGraderError, match="names no test"):
        parse_official(text, parser, harness=harness)


@pytest.mark.parametrize("parser", ["parse_log_jest", "cargo", "", "Django"])
def test_a_parser_of_another_family_is_refused_by_name(parser: str) -> None:
    with pytest.raises(InputError, match=repr(parser)):
        parse_official("", parser)


SLOW_ONCE = [
    ("sympy", "_" * 400_000),
    ("sympy", "a " * 200_000),
    ("django", "t ... Testing against Django installed in x\n" * 8_000),
    ("django", " ... Testing against Django installed in x" * 8_000 + " silenced).\nok\n"),
    ("django", " ... Internal Server Error: /" * 16_000),
]


@pytest.mark.parametrize(("parser", "text"), SLOW_ONCE)
def test_texts_that_stall_the_original_are_read_at_once(parser: str, text: str) -> None:
    began = perf_counter()
    parse_official(text, parser)
    assert perf_counter() - began < 1
