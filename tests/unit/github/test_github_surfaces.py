from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.github_double.runner import commands_in, outputs_in
from utboost_action.errors import InputError
from utboost_action.github.annotations import (
    Annotation,
    Level,
    annotation_of,
    command_line,
    commands_stopped,
    foreign_lines,
    mask_lines,
    write_annotations,
)
from utboost_action.github.badges import (
    Color,
    badge_json,
    badge_path,
    board_badge,
    fault_badge,
    submission_badge,
)
from utboost_action.github.levels import COMMENT_BYTES, SUMMARY_BYTES, largest_that_fits
from utboost_action.github.outputs import output_block, write_outputs
from utboost_action.github.status import ascii_line
from utboost_action.github.summary import write_summary
from utboost_action.model import Finding

HOSTILE = [
    "::error::x",
    "  \t::set-output name=a::b",
    "\u00a0\u2003::add-mask::a",
    "x\r::error::y",
    "x\n::stop-commands::z\n",
    "text ##[error]y",
    "###[[error]",
    "\x1b[31m::warning::x",
    "a\u2028::error::b",
    "a\x85::error::b",
    "\ufeff::error::b",
    "\u202e::error::b",
    "%0A::error::b",
    "\ud800::error::",
    "name<<EOF\nx\nEOF\nother=1",
]
pieces = st.sampled_from(
    ["::", "error", "##[", "]", "\n", "\r", "%", "0A", " ", "set-output name=x", ",", "=", "\0"]
)
hostile_text = st.one_of(
    st.text(max_size=300), st.lists(pieces, max_size=40).map("".join), st.sampled_from(HOSTILE)
)


@given(hostile_text)
def test_foreign_lines_issue_no_command(text: str) -> None:
    shown = foreign_lines(text)
    assert commands_in(shown) == []
    assert all(line.startswith("| ") for line in shown.split("\n"))
    assert all(character.isprintable() or character in "\n\t" for character in shown)
    shown.encode("utf-8")


@given(hostile_text, hostile_text, hostile_text, st.integers(0, 10**6))
def test_an_annotation_is_one_command_and_all_of_it_is_data(
    message: str, title: str, path: str, line: int
) -> None:
    written = command_line(Annotation(Level.WARNING, message, title, path, line))
    found = commands_in(written)
    assert [command.name for command in found] == ["warning"]
    assert set(found[0].properties) <= {"title", "file", "line"}
    written.encode("utf-8")


def test_an_annotation_says_what_it_was_given() -> None:
    written = command_line(Annotation(Level.ERROR, "50% of\na: b, c", "T: x, y", "a,b/c:d.json", 3))
    (found,) = commands_in(written)
    assert found.data == "50% of\na: b, c"
    assert found.properties == {"title": "T: x, y", "file": "a,b/c:d.json", "line": "3"}


def test_a_finding_points_into_the_submission() -> None:
    finding = Finding("corrupt_patch", "hunk 2 is cut", ("a__b-1",), "all_preds.jsonl:12")
    assert annotation_of(finding, Level.WARNING, "evaluation/lite/x") == Annotation(
        Level.WARNING,
        "hunk 2 is cut (a__b-1)",
        "UTBoost: corrupt_patch",
        "evaluation/lite/x/all_preds.jsonl",
        12,
    )
    assert (
        annotation_of(Finding("no_logs", "none"), Level.NOTICE, "evaluation/lite/x").path
        == "evaluation/lite/x"
    )


def test_ten_of_each_level_and_a_word_about_the_rest() -> None:
    stream = io.StringIO()
    write_annotations(
        [Annotation(Level.ERROR, str(n)) for n in range(14)] + [Annotation(Level.NOTICE, "n")], stream
    )
    assert [command.name for command in commands_in(stream.getvalue())] == ["error"] * 10 + ["notice"]
    assert "4 more of level error" in stream.getvalue()


def test_commands_are_stopped_by_a_word_that_nobody_can_guess() -> None:
    stream = io.StringIO()
    with commands_stopped(stream):
        stream.write("::error::from outside")
    first, inside, last = (line for line in stream.getvalue().splitlines() if line)
    word = first.removeprefix("::stop-commands::")
    assert len(word) == 32
    assert (inside, last) == ("::error::from outside", f"::{word}::")


def test_a_secret_is_masked_in_all_its_forms_unless_it_is_too_short() -> None:
    assert mask_lines("short") == ()
    assert [command.name for line in mask_lines("s3cret-enough") for command in commands_in(line)] == [
        "add-mask"
    ] * 3


@given(st.dictionaries(st.sampled_from(["report-path", "claimed", "x"]), hostile_text))
def test_outputs_come_out_as_they_went_in(values: dict[str, str]) -> None:
    text = "".join(output_block(name, value, lambda: "utboost_0123") for name, value in values.items())
    found = outputs_in(text)
    assert set(found) == set(values)
    for name, value in values.items():
        plain = "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in value)
        assert found[name] == plain.replace("\r\n", "\n").replace("\r", "\n")


def test_a_delimiter_is_drawn_until_it_is_not_in_the_value() -> None:
    marks = iter(["a", "b"])
    assert output_block("x", "a\na=1", lambda: next(marks)) == "x<<b\na\na=1\nb\n"


def test_outputs_that_the_runner_would_drop_are_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "output"
    left_out = write_outputs(
        path, {"a": "1", "b": "x-hush-hush-y", "c": "x" * 1_000_001}, masked=["hush-hush", ""]
    )
    assert left_out == ("b", "c")
    assert outputs_in(path.read_text()) == {"a": "1"}
    with pytest.raises(InputError, match="output"):
        write_outputs(path, {"a\nb": "1"})
    with pytest.raises(InputError, match="GITHUB_OUTPUT"):
        write_outputs(tmp_path, {"a": "1"})


def test_the_most_detailed_text_that_fits_is_taken_whole() -> None:
    levels = ["x" * 70_000, "\u00e9" * 40_000, "| a |\n|---|\n", "short"]
    fitted = largest_that_fits(levels, COMMENT_BYTES)
    assert (fitted.text, fitted.level) == (levels[2], 2)
    nothing = largest_that_fits(levels[:2], COMMENT_BYTES)
    assert nothing.level is None
    assert "too long" in nothing.text


@given(st.lists(st.text(max_size=50), max_size=5), st.integers(0, 200))
def test_what_fits_is_within_the_limit_and_can_be_sent(levels: list[str], limit: int) -> None:
    fitted = largest_that_fits([*levels, "\ud83d\0"], limit)
    assert len(fitted.text.encode()) <= limit
    assert "\0" not in fitted.text


def test_the_summary_counts_what_the_step_wrote_before(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    path.write_text("x" * 600_000)
    fitted = write_summary(path, ["y" * 500_000, "z" * 399_990])
    assert fitted.level == 1
    assert path.stat().st_size <= SUMMARY_BYTES
    full = tmp_path / "full"
    full.write_text("x" * SUMMARY_BYTES)
    assert write_summary(full, ["y"]).level is None
    assert full.stat().st_size == SUMMARY_BYTES
    with pytest.raises(InputError, match="GITHUB_STEP_SUMMARY"):
        write_summary(tmp_path, ["y"])


@given(st.text(max_size=400), st.integers(10, 140))
def test_a_status_is_one_short_line_of_ascii(text: str, limit: int) -> None:
    line = ascii_line(text, limit)
    assert len(line) <= limit
    assert line.isascii()
    assert line.isprintable()


def test_a_status_keeps_its_meaning() -> None:
    assert (
        ascii_line("41.2\u201344.0\u00a0% of 300, \u00e9t\u00e9 \U0001f600", 140)
        == "41.2-44.0 % of 300, ete ?"
    )
    assert ascii_line("word " * 40, 20) == "word word word..."


def test_badges() -> None:
    badge = json.loads(badge_json(submission_badge(150, 120, 126, 300)))
    assert badge == {
        "schemaVersion": 1,
        "label": "adjusted",
        "message": "40.0%-42.0% of 50.0% claimed",
        "color": "orange",
        "cacheSeconds": 300,
    }
    assert submission_badge(150, 147, 147, 300).message == "49.0% of 50.0% claimed"
    assert submission_badge(150, 147, 147, 300).color is Color.GOOD
    assert submission_badge(None, 1, 2, 3).color is Color.UNKNOWN
    assert json.loads(badge_json(fault_badge()))["isError"] is True
    assert board_badge(2, 3).message == "2 of 3 submissions"
    assert badge_path("evaluation/lite/x") == "badges/evaluation/lite/x.json"
    for refused in ("../x", "a//b", "a\nb", ""):
        with pytest.raises(ValueError, match="plain path"):
            badge_path(refused)
    with pytest.raises(ValueError, match="out of order"):
        submission_badge(1, 3, 2, 5)
