"""Predictions files: forms, rows that are bad, caps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utboost_action.leaderboard.prediction_files import (
    PredictionFile,
    is_instance_id,
    prediction_files,
    read_prediction_file,
)
from utboost_action.leaderboard.tree import list_tree

ROW = {"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": "p\n"}
OTHER = {**ROW, "instance_id": "a__b-2"}


def read(tmp_path: Path, content: str | bytes, name: str = "preds.json") -> PredictionFile:
    folder = tmp_path / "s"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_prediction_file(list_tree(folder), name)


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (json.dumps(ROW) + "\n" + json.dumps(OTHER), "jsonl"),
        (json.dumps(ROW), "jsonl"),
        ("\n\n" + json.dumps(ROW) + "\r\n" + json.dumps(OTHER) + "\r\n", "jsonl"),
        (json.dumps([ROW, OTHER]), "json list"),
        (json.dumps([ROW, OTHER], indent=1), "json list"),
        (json.dumps({"a__b-1": ROW, "a__b-2": OTHER}), "json dict"),
        (
            json.dumps({"a__b-1": {"model_patch": "p\n"}, "a__b-2": {"model_patch": "p\n"}}, indent=2),
            "json dict",
        ),
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_form_is_found_by_content(tmp_path: Path, content: str, form: str, mark: str) -> None:
    file = read(tmp_path, mark + content)
    assert file.form == form
    assert [row.instance_id for row in file.rows] == ["a__b-1", "a__b-2"][: len(file.rows)]
    assert {row.patch for row in file.rows} == {"p\n"}
    assert file.findings == ()


def test_one_bad_row_hides_no_other(tmp_path: Path) -> None:
    lines = [
        json.dumps(ROW),
        "{broken",
        "[1]",
        '"text"',
        "",
        b"\xff\xfe".decode("latin-1"),
        json.dumps(OTHER),
    ]
    file = read(tmp_path, "\n".join(lines))
    assert [row.instance_id for row in file.rows] == ["a__b-1", "a__b-2"]
    assert [(item.kind, item.where) for item in file.findings] == [
        ("unreadable_row", f"preds.json:{line}") for line in (2, 3, 4, 6)
    ]


def test_a_bad_first_line_hides_no_other(tmp_path: Path) -> None:
    file = read(tmp_path, "{broken\n" + json.dumps(OTHER) + "\n" + json.dumps(ROW) + "\n", "all_preds.jsonl")
    assert [row.where for row in file.rows] == ["all_preds.jsonl:2", "all_preds.jsonl:3"]


def test_repeated_ids_of_an_object_are_rows_in_order(tmp_path: Path) -> None:
    file = read(tmp_path, '{"a__b-1": {"model_patch": "one"}, "a__b-1": {"model_patch": "two"}}')
    assert [row.patch for row in file.rows] == ["one", "two"]
    assert [item.kind for item in file.findings] == ["duplicate_key"]


def test_key_and_row_that_differ_are_named(tmp_path: Path) -> None:
    file = read(tmp_path, json.dumps({"a__b-9": ROW}))
    assert file.rows[0].instance_id == "a__b-1"  # as the harness reads it
    assert [item.kind for item in file.findings] == ["id_conflict"]


def test_keys_of_multi_swe_bench(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        json.dumps({"org": "o", "repo": "r", "number": 7, "fix_patch": "p\n"}) + "\n" * 2 + json.dumps(ROW),
    )
    assert [(row.instance_id, row.patch) for row in file.rows] == [("o__r-7", "p\n"), ("a__b-1", "p\n")]


def test_nan_in_another_field_does_not_lose_the_patch(tmp_path: Path) -> None:
    file = read(tmp_path, '{"instance_id": "a__b-1", "model_patch": "p\\n", "cost": NaN}\n')
    assert file.rows[0].patch == "p\n"
    assert file.findings[0].kind == "not_a_json_number"
    assert "NaN" in file.findings[0].detail


def test_lone_surrogates_and_nul_survive(tmp_path: Path) -> None:
    file = read(tmp_path, '{"instance_id": "a__b-1", "model_patch": "\\ud800\\u0000x"}\n')
    assert file.rows[0].patch == "\ufffd\ufffd\ufffd\0x"
    str(file.rows[0].patch).encode("utf-8")


def test_a_line_beyond_the_cap_is_named_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utboost_action.leaderboard.prediction_files.MAX_LINE_BYTES", 200)
    long = json.dumps({**ROW, "model_patch": "x" * 300})
    for content in (long + "\n" + json.dumps(OTHER), json.dumps(OTHER) + "\n" + long):
        file = read(tmp_path, content)
        assert [row.instance_id for row in file.rows] == ["a__b-2"]
        assert [item.kind for item in file.findings] == ["line_too_long"]


def test_a_file_beyond_the_cap_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utboost_action.leaderboard.prediction_files.MAX_FILE_BYTES", 10)
    file = read(tmp_path, json.dumps([ROW]))
    assert (file.rows, [item.kind for item in file.findings]) == ((), ["file_too_large"])


def test_files_are_found_by_name_and_by_content(tmp_path: Path) -> None:
    for name, content in {
        "notes.json": "{}",
        "metadata.json": json.dumps(ROW),
        "x.jsonl": json.dumps(ROW),
        "my_predictions.json": "[]",
        "preds.json": "[]",
        "all_preds.jsonl": "",
    }.items():
        (tmp_path / name).write_text(content)
    assert prediction_files(list_tree(tmp_path)) == (
        "all_preds.jsonl",
        "preds.json",
        "my_predictions.json",
        "x.jsonl",
    )


@pytest.mark.parametrize(
    "text", ["", ".", "..", "a/b", "a\\b", "/etc/passwd", "a\nb", "-x", "a b", "x" * 201, None, 7]
)
def test_what_is_no_id(text: object) -> None:
    assert not is_instance_id(text)


@given(st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_no_bytes_make_it_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    read(tmp_path_factory.mktemp("any"), data)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,5}__[a-z]{1,5}-[0-9]{1,4}", fullmatch=True),
        st.text(max_size=60),
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=60, deadline=None)
def test_the_three_forms_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, patches: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("forms")
    rows = [{"instance_id": key, "model_patch": patch} for key, patch in patches.items()]
    files = [
        read(folder, "".join(json.dumps(row) + "\n" for row in rows)),
        read(folder, json.dumps(rows)),
        read(folder, json.dumps({row["instance_id"]: {"model_patch": row["model_patch"]} for row in rows})),
    ]
    assert [{row.instance_id: row.patch for row in file.rows} for file in files] == [patches] * 3
