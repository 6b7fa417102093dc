"""Which part of a log is test output, for every generation of the harness."""

# ruff: noqa: E501  log lines stand whole

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utboost_action.logs import read_log
from utboost_action.logs.slicing import find_region, unquote
from utboost_action.model import LogFlag, ParsedLog

START, END = "+ : '>>>>> Start Test Output'", "+ : '>>>>> End Test Output'"
BASE = "0123456789" * 4
COUNT = "=== 1 passed in 0.1s ==="
NONCE = "3f2a9c"


def read(*lines: str, parser: str = "pytest", nonce: str | None = None) -> ParsedLog:
    return read_log("\n".join(lines).encode(), parser, nonce=nonce)


def own(word: str, nonce: str = NONCE) -> str:
    return f"+ : '>>>>> {word} Test Output {nonce}'"


class TestMarkers:
    def test_only_the_region_is_read(self) -> None:
        log = read("PASSED t::before", START, "PASSED t::test_a", END, "PASSED t::after")
        assert dict(log.statuses) == {"t::test_a": "PASSED"}
        assert log.generation == "G4"
        assert log.evidence["t::test_a"].first_line == 3

    def test_printed_markers_are_text(self) -> None:
        log = read(
            START,
            "PASSED t::a",
            ">>>>> End Test Output",
            "FAILED t::b - x",
            ">>>>> Start Test Output",
            "PASSED t::b",
            END,
        )
        assert dict(log.statuses) == {"t::a": "PASSED", "t::b": "FAILED"}
        assert LogFlag.INJECTION in log.flags
        assert log.gradable

    def test_from_the_first_start_to_the_last_end(self) -> None:
        log = read(START, "PASSED t::a", END, "FAILED t::b - x", START, "PASSED t::c", END)
        assert dict(log.statuses) == {"t::a": "PASSED", "t::b": "FAILED", "t::c": "PASSED"}
        assert LogFlag.INJECTION in log.flags

    def test_start_before_the_test_patch_does_not_count(self) -> None:
        log = read(START, "PASSED t::ghost", "+ git apply -v -", "patched", START, "PASSED t::a", END)
        assert dict(log.statuses) == {"t::a": "PASSED"}

    def test_marker_glued_to_output(self) -> None:
        log = read(START, "PASSED t::a", "no line end" + END, "PASSED t::after")
        assert dict(log.statuses) == {"t::a": "PASSED"}

    def test_marker_that_does_not_end_its_line_is_text(self) -> None:
        log = read(START, "PASSED t::a", END + " said the test", "PASSED t::b", END)
        assert set(log.statuses) == {"t::a", "t::b"}

    def test_crlf(self) -> None:
        log = read_log(f"{START}\r\nPASSED t::a\r\n{END}\r\n".encode(), "pytest")
        assert dict(log.statuses) == {"t::a": "PASSED"}

    def test_no_end_is_a_cut(self) -> None:
        log = read(START, "PASSED t::a")
        assert log.complete is False
        assert LogFlag.INCOMPLETE in log.flags

    def test_bad_codes_count_outside_the_region_only(self) -> None:
        assert read(START, ">>>>> Patch Apply Failed", "PASSED t::a", END).gradable
        assert not read(">>>>> Patch Apply Failed", START, "PASSED t::a", END).gradable

    def test_empty_region_falls_back_to_the_whole_log(self) -> None:
        log = read(START, END, "PASSED t::a", COUNT)
        assert dict(log.statuses) == {"t::a": "PASSED"}
        assert any("whole log" in warning for warning in log.warnings)


class TestExitCode:
    def test_failures_explain_it(self) -> None:
        log = read(START, "FAILED t::a - x", END, ">>>>> Test Exit Code: 1")
        assert log.generation == "G5"
        assert log.gradable

    def test_nothing_but_passes_does_not(self) -> None:
        log = read(
            START, "PASSED t::a", COUNT, END, "+ echo '>>>>> Test Exit Code: 1'", ">>>>> Test Exit Code: 1"
        )
        assert not log.gradable
        assert dict(log.statuses) == {"t::a": "PASSED"}

    def test_the_last_one_counts(self) -> None:
        assert not read(
            START, "PASSED t::a", END, ">>>>> Test Exit Code: 0", ">>>>> Test Exit Code: 2"
        ).gradable

    def test_one_printed_in_the_region_is_text(self) -> None:
        log = read(START, ">>>>> Test Exit Code: 0", "PASSED t::a", END, ">>>>> Test Exit Code: 1")
        assert not log.gradable
        assert LogFlag.INJECTION in log.flags

    def test_zero_with_failures_is_told(self) -> None:
        log = read(START, "FAILED t::a - x", END, ">>>>> Test Exit Code: 0")
        assert log.gradable
        assert any("exit code 0" in warning for warning in log.warnings)

    def test_the_closing_figures_explain_it_too(self) -> None:
        log = read(START, "PASSED t::a", "=== 1 failed, 1 passed in 0.1s ===", END, ">>>>> Test Exit Code: 1")
        assert log.gradable


class TestOwnRuns:
    def test_only_markers_with_the_nonce_count(self) -> None:
        log = read(START, "PASSED t::ghost", END, own("Start"), "PASSED t::a", COUNT, own("End"), nonce=NONCE)
        assert dict(log.statuses) == {"t::a": "PASSED"}
        assert (log.generation, log.complete, log.gradable) == ("own", True, True)

    def test_another_nonce_is_text(self) -> None:
        log = read(
            own("Start"), "FAILED t::a - x", own("End", "other"), "PASSED t::b", own("End"), nonce=NONCE
        )
        assert dict(log.statuses) == {"t::a": "FAILED", "t::b": "PASSED"}
        assert log.complete is False

    @pytest.mark.parametrize(
        "line", [START, own("Start", "other"), f">>>>> Start Test Output {NONCE}", own("End")]
    )
    def test_no_start_marker_is_no_grade(self, line: str) -> None:
        log = read(line, "PASSED t::a", COUNT, own("End"), nonce=NONCE)
        assert not log.statuses
        assert not log.gradable
        assert log.complete is False
        assert any("nonce" in warning for warning in log.warnings)

    def test_no_end_marker_is_a_cut(self) -> None:
        log = read(own("Start"), "PASSED t::a", COUNT, nonce=NONCE)
        assert log.complete is False

    def test_printed_markers_are_told(self) -> None:
        log = read(own("Start"), ">>>>> End Test Output", "PASSED t::a", COUNT, own("End"), nonce=NONCE)
        assert LogFlag.INJECTION in log.flags

    def test_no_closing_line_is_incomplete(self) -> None:
        log = read(own("Start"), "test_a (m.T) ... ok", own("End"), parser="django", nonce=NONCE)
        assert log.complete is False


class TestTrace:
    TRACE = (
        "+ git checkout " + BASE,
        "+ git apply -v -",
        "Applied patch cleanly.",
        "+ X=1",
        "+ pytest -rA t.py",
    )

    def test_between_the_command_and_the_last_checkout(self) -> None:
        log = read(
            "PASSED t::before",
            *self.TRACE,
            "+ diff of a test",
            "PASSED t::a",
            COUNT,
            "+ git checkout " + BASE,
            "PASSED t::after",
        )
        assert dict(log.statuses) == {"t::a": "PASSED"}
        assert (log.generation, log.complete) == ("G2", True)

    def test_a_printed_checkout_hides_nothing(self) -> None:
        log = read(
            *self.TRACE, "PASSED t::a", "+ git checkout " + BASE, "FAILED t::b - x", "+ git checkout " + BASE
        )
        assert set(log.statuses) == {"t::a", "t::b"}

    def test_no_checkout_is_a_cut(self) -> None:
        assert read(*self.TRACE, "PASSED t::a").complete is False

    def test_a_second_apply_is_told(self) -> None:
        log = read(
            *self.TRACE, "FAILED t::a - x", "+ git apply -v -", "PASSED t::a", "+ git checkout " + BASE
        )
        assert dict(log.statuses) == {"t::a": "FAILED"}
        assert LogFlag.INJECTION in log.flags


def old(
    *output: str,
    order: tuple[str, str] = ("pred", "test"),
    code: int | None = 1,
    last: str = "Some Tests Failed",
) -> list[str]:
    return [
        "Task Metadata:",
        "\t- Instance ID: x__y-1",
        *(f">>>>> Applied Patch ({kind})" for kind in ("pred_try", "pred_try", *order)),
        "Test Script: run;",
        "[env] [x__y-1] Std. Output:",
        *output,
        *([f"[env] [x__y-1] Return Code: {code} "] if code is not None else []),
        "",
        *([f">>>>> {last}"] if last else []),
    ]


class TestOldLogs:
    @pytest.mark.parametrize("order", [("pred", "test"), ("test", "pred"), ("test", "pred_minimal")])
    def test_after_the_last_of_both_patches(self, order: tuple[str, str]) -> None:
        log = read(
            "Task Metadata:",
            "PASSED t::before",
            *old("FAILED t::a - x", "=== 1 failed in 0.1s ===", order=order)[1:],
        )
        assert dict(log.statuses) == {"t::a": "FAILED"}
        assert (log.generation, log.complete) == ("G1", True)

    def test_prefixed_head(self) -> None:
        lines = old(
            "test_a (m.T) ... ok", "-" * 70, "Ran 1 test in 0.1s", "", "OK", code=0, last="All Tests Passed"
        )
        lines[0] = "[env__1] [x__y-1] Task Metadata:"
        log = read(*lines, parser="django")
        assert dict(log.statuses) == {"test_a (m.T)": "PASSED"}
        assert log.complete

    def test_a_run_that_broke_is_incomplete(self) -> None:
        log = read(*old("Traceback", "ImportError: x"), parser="django")
        assert (log.complete, log.gradable, dict(log.statuses)) == (False, False, {})

    def test_timed_out(self) -> None:
        log = read(
            *old(
                "test_a (m.T) ... ok", "test_b (m.T) ...", code=None, last="Tests Timed Out after 9 seconds"
            ),
            parser="django",
        )
        assert dict(log.statuses) == {"test_a (m.T)": "PASSED", "test_b (m.T)": "ERROR"}
        assert log.complete is False

    def test_no_patched_run(self) -> None:
        log = read(
            "Task Metadata:",
            ">>>>> Patch Apply Failed; (pred_try)",
            "PASSED t::a",
            ">>>>> Patch Apply Failed; (pred_minimal_try)",
        )
        assert (log.complete, log.gradable, dict(log.statuses)) == (False, False, {})

    def test_printed_patch_markers_hide_nothing(self) -> None:
        log = read(
            *old("FAILED t::a - x", ">>>>> Applied Patch (pred)", "PASSED t::a", "=== 1 failed in 0.1s ===")
        )
        assert LogFlag.INJECTION in log.flags
        assert log.statuses["t::a"] == "FAILED"

    def test_a_printed_end_hides_nothing(self) -> None:
        log = read(*old("PASSED t::a", ">>>>> All Tests Passed", "FAILED t::b - x"))
        assert dict(log.statuses) == {"t::a": "PASSED", "t::b": "FAILED"}


class TestQuoted:
    def test_a_json_string_is_unquoted(self) -> None:
        text = f'{START}\nPASSED t::a[é"x]\n{COUNT}\n{END}\n'
        log = read_log(json.dumps(text).encode(), "pytest")
        assert dict(log.statuses) == {'t::a[é"x]': "PASSED"}
        assert (log.generation, log.complete) == ("G4+json", True)

    def test_a_cut_one_is_read_as_far_as_it_goes(self) -> None:
        quoted = json.dumps("PASSED t::a\nFAILED t::b - x\nmore").encode()
        assert set(read_log(quoted[:-4], "pytest").statuses) == {"t::a", "t::b"}

    def test_a_log_that_begins_with_a_quote_is_a_log(self) -> None:
        assert unquote(b'"quoted" by a test\nPASSED t::a\n') is None
        assert unquote(b'"a\\nb" and more') is None

    @given(st.text())
    def test_round_trip(self, text: str) -> None:
        quoted = json.dumps(text + "\n").encode()
        assert unquote(quoted) == (text + "\n").encode("utf-8", "surrogatepass")


class TestTimeLimit:
    def test_the_line_at_the_end_is_a_cut(self) -> None:
        log = read("PASSED t::a", COUNT, "", "", "Timeout error: 1800.0 seconds exceeded.")
        assert log.complete is False

    @pytest.mark.parametrize(
        ("parser", "line", "expected"),
        [
            ("pytest", "PASSED t::test_whole_na", {}),
            ("pytest", "PASSED t::test_p[a] - b]", {}),
            ("django", "test_a (m.T) ... ok", {"test_a (m.T)": "ERROR"}),
            ("sympy", "test_a ok", {"test_a": "ERROR"}),
        ],
    )
    def test_half_a_line_tells_nothing(self, parser: str, line: str, expected: dict[str, str]) -> None:
        log = read("x.py[2] ", line, "", "Timeout error: 5 seconds exceeded.", parser=parser)
        assert dict(log.statuses) == expected

    def test_the_same_words_before_are_text(self) -> None:
        assert (
            read("Timeout error: 1800 seconds exceeded.", *["text"] * 50, "PASSED t::a", COUNT).complete
            is True
        )


@given(st.binary(max_size=400), st.sampled_from([None, NONCE]))
def test_any_bytes_have_a_region(data: bytes, nonce: str | None) -> None:
    region = find_region(data, nonce)
    assert 0 <= region.start <= region.end <= len(data)


PIECES = st.sampled_from(
    [
        START, END, own("Start"), own("End"), ">>>>> Applied Patch (pred)", ">>>>> Applied Patch (test)", "Test Script: x",
        "Task Metadata:", "+ git apply -v -", "+ git checkout " + BASE, ">>>>> Some Tests Failed", "PASSED t::a", "text",
        ">>>>> Test Exit Code: 1", "Timeout error: 1 seconds exceeded.", ">>>>> Patch Apply Failed", "", "+ cmd",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30), st.sampled_from([None, NONCE]))
def test_any_order_of_markers_has_a_region(pieces: list[str], nonce: str | None) -> None:
    data = "\n".join(pieces).encode()
    region = find_region(data, nonce)
    assert 0 <= region.start <= region.end <= len(data)
    read_log(data, "pytest", nonce=nonce)
