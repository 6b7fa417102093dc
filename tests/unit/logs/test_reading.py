"""The entry point: parser names, cleaning, evidence, what a log is good for."""

# ruff: noqa: E501  log lines stand whole

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utboost_action.errors import InputError
from utboost_action.logs import PARSERS, parser_for_repo, parser_names, read_log
from utboost_action.logs.reading import worse
from utboost_action.logs.text import LINE_LIMIT, LineNumbers, clean, decode, lines
from utboost_action.model import TestStatus

REPOSITORIES = [
    "astropy/astropy", "django/django", "matplotlib/matplotlib", "mwaskom/seaborn", "pallets/flask", "psf/requests",
    "pydata/xarray", "pylint-dev/pylint", "pytest-dev/pytest", "scikit-learn/scikit-learn", "sphinx-doc/sphinx", "sympy/sympy",
]  # fmt: skip


class TestNames:
    @pytest.mark.parametrize("name", parser_names())
    def test_short_and_official_names(self, name: str) -> None:
        for parser in (name, f"parse_log_{name}"):
            assert not read_log(b"", parser).statuses

    def test_all_families_are_there(self) -> None:
        assert {
            "django",
            "unittest",
            "nose",
            "sympy",
            "pytest",
            "pytest_v2",
            "pytest_options",
            "seaborn",
        } <= set(PARSERS)

    def test_unknown_name(self) -> None:
        with pytest.raises(InputError, match=r"'jest'.*django.*xarray"):
            read_log(b"", "jest")

    @pytest.mark.parametrize("repository", REPOSITORIES)
    def test_repositories(self, repository: str) -> None:
        parser = parser_for_repo(repository)
        assert parser is not None
        assert parser.removeprefix("parse_log_") in PARSERS

    @pytest.mark.parametrize("repository", [None, "", "nobody/nothing"])
    def test_unknown_repository(self, repository: str | None) -> None:
        assert parser_for_repo(repository) is None


class TestText:
    def test_escapes_go_whole(self) -> None:
        assert (
            clean(b"\x1b[1;32mok\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\ [32m \x1b(B")
            == b"ok link [32m "
        )

    def test_an_unfinished_escape_stays(self) -> None:
        assert clean(b"\x1b[31") == b"\x1b[31"

    def test_names_hold_no_control_characters(self) -> None:
        assert decode(b"a\x00\x1b\x07b\x9b\xff\xc2\x9bc") == "ab\ufffd\ufffdc"

    @given(st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"\x00", b"\x1b[0m"]), max_size=40))
    def test_lines_are_counted_as_in_the_log(self, pieces: list[bytes]) -> None:
        raw = b"".join(pieces) + b"end"
        text = clean(raw)
        numbers = LineNumbers(text, 1)
        assert numbers.at(text.rindex(b"end")) == raw.count(b"\n") + 1

    def test_long_lines_keep_head_and_tail(self) -> None:
        [(_, line)] = lines(b"head" + b"x" * 1_000_000 + b"tail")
        assert len(line) <= LINE_LIMIT
        assert line.startswith(b"head")
        assert line.endswith(b"tail")

    def test_a_verdict_behind_a_megabyte(self) -> None:
        log = read_log(b"test_a (m.T) ... " + b"x" * 1_000_000 + b" ok\ntest_b (m.T) ... ok\n", "django")
        assert set(log.statuses.values()) == {TestStatus.PASSED}

    def test_bytes_that_are_not_utf8_are_told(self) -> None:
        log = read_log(b"PASSED t.py::a[\xff]\n", "pytest")
        assert set(log.statuses) == {"t.py::a[\ufffd]"}
        assert log.warnings == ("1 names hold bytes that are not UTF-8",)

    def test_byte_order_mark(self) -> None:
        assert set(read_log(b"\xef\xbb\xbftest_a (m.T) ... ok\n", "django").statuses) == {"test_a (m.T)"}


@given(st.sampled_from(TestStatus), st.sampled_from(TestStatus))
def test_the_worse_of_two(one: TestStatus, other: TestStatus) -> None:
    assert worse(one, other) is worse(other, one)
    if one.fails:
        assert worse(one, other).fails
    assert worse(one, one) is one


def test_evidence_spans_inline_and_section() -> None:
    text = (
        "noise\ntest_a (m.T) ... FAIL\n\n" + "=" * 70 + "\nFAIL: test_a (m.T)\n" + "-" * 70 + "\nTraceback (most recent call last):\n"
        '  File "x.py", line 3, in test_a\n    f()\nAssertionError: 1 != 2\n- 1\n+ 2\n\nStdout:\n  File "no"\nNoError\n\n'
        + "-" * 70 + "\nRan 1 test in 0.1s\n\nFAILED (failures=1)\n"
    )  # fmt: skip
    evidence = read_log(text.encode(), "django").evidence["test_a (m.T)"]
    assert (evidence.first_line, evidence.last_line, evidence.kind) == (2, 10, "summary")
    assert evidence.message == "AssertionError: 1 != 2"


def test_messages_are_cut() -> None:
    text = "=== short test summary info ===\nFAILED t.py::a - " + "x" * 9_000 + "\n=== 1 failed in 0.1s ===\n"
    assert len(read_log(text.encode(), "pytest").evidence["t.py::a"].message) == 2_000


def test_chained_exceptions_give_the_last() -> None:
    text = (
        "=== FAILURES ===\n____ test_a ____\nE   KeyError: first\n\nThe above exception was the direct cause\n\nE   ValueError: last\nE     more\n"
        "=== short test summary info ===\nFAILED t.py::test_a - Value...\n=== 1 failed in 0.1s ===\n"
    )
    assert read_log(text.encode(), "pytest").evidence["t.py::test_a"].message == "ValueError: last"


def test_one_title_in_two_files() -> None:
    text = (
        "=== FAILURES ===\n____ test_a ____\nE   assert 1\n____ test_a ____\nE   assert 2\n=== short test summary info ===\n"
        "FAILED a.py::test_a - assert\nFAILED b.py::test_a - assert\n=== 2 failed in 0.1s ===\n"
    )
    log = read_log(text.encode(), "pytest")
    assert [log.evidence[f"{name}.py::test_a"].message for name in "ab"] == ["assert 1", "assert 2"]
