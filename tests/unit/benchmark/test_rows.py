import json
import re

import pyarrow
import pyarrow.parquet
import pytest
from builders import row

from utboost_action.benchmark.rows import (
    image_by_rule,
    instance_from_row,
    read_benchmark,
    require_for_replay,
)
from utboost_action.errors import AuditError, InputError


class Array:
    """What a parquet reader with numpy gives for a list."""

    def tolist(self):
        return ["a", "b [x]"]


def read(value: dict[str, object]):
    return instance_from_row(value, parser_for_repo=lambda repo: f"parser of {repo}")


@pytest.mark.parametrize("names", ['["a", "b [x]"]', ["a", "b [x]"], Array()])
def test_lists_may_be_json_text_a_list_or_an_array(names):
    assert read(row(FAIL_TO_PASS=names)).fail_to_pass == ("a", "b [x]")


def test_older_rows_get_what_a_rule_can_give_and_say_so():
    instance = read(row(image=None, log_parser=None, eval_script=None))
    assert instance.image == "swebench/sweb.eval.x86_64.pallets_1776_flask-1:latest"
    assert instance.log_parser == "parser of pallets/flask"
    assert instance.derived == ("image", "log_parser")
    assert require_for_replay(instance) == "eval_script"


def test_a_whole_row_derives_nothing():
    instance = read(row())
    assert instance.derived == ()
    assert require_for_replay(instance) is None


def test_image_names_are_lower_case():
    assert image_by_rule("Foo__Bar-1") == "swebench/sweb.eval.x86_64.foo_1776_bar-1:latest"


@pytest.mark.parametrize(
    "field", ["instance_id", "repo", "base_commit", "patch", "test_patch", "FAIL_TO_PASS"]
)
def test_a_missing_field_is_named(field):
    with pytest.raises(ValueError, match=field):
        read(row(**{field: None}))


@pytest.mark.parametrize("value", ["not json", '{"a": 1}', 5, [1, 2]])
def test_a_wrong_list_is_named(value):
    with pytest.raises(ValueError, match="PASS_TO_PASS"):
        read(row(PASS_TO_PASS=value))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"instance_id": 5, "patch": ["a"]}, "no text in instance_id (a number), patch (a list); give text"),
        ({"repo": {}}, "no text in repo (an object); give text"),
        ({"repo": ""}, "the row lacks repo"),
        ({"FAIL_TO_PASS": 3}, "FAIL_TO_PASS is no list of test names (a number)"),
        ({"FAIL_TO_PASS": None}, "the row lacks FAIL_TO_PASS (a list of test names)"),
    ],
)
def test_a_field_of_another_type_is_not_called_missing(changes, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        read(row(**changes))


def test_json_jsonl_and_parquet_give_the_same(tmp_path):
    rows = [row(), row(instance_id="pallets__flask-2")]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "by_id.json").write_text(json.dumps({r["instance_id"]: r for r in rows}))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows) + "\n")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    (tmp_path / "folder").mkdir()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "folder/test.parquet")
    names = ("rows.json", "by_id.json", "rows.jsonl", "rows.parquet", "folder")
    read_ = [read_benchmark(str(tmp_path / name)).instances for name in names]
    assert all(instances == read_[0] for instances in read_)
    assert list(read_[0]) == ["pallets__flask-1", "pallets__flask-2"]


def test_one_bad_row_does_not_hide_the_others(tmp_path):
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([row(patch=None), row(instance_id="x__y-2"), row(instance_id="x__y-2")]))
    benchmark = read_benchmark(str(file))
    assert list(benchmark.instances) == ["x__y-2"]
    assert "patch" in benchmark.unreadable["pallets__flask-1"]
    assert benchmark.repeated == ("x__y-2",)
    assert benchmark.total == 2


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("rows.json", "[{]", "line 1"),
        ("rows.jsonl", '{"a": 1}\n{"b"\n', "line 2"),
        ("rows.json", '"text"', "list of rows"),
        ("rows.json", "[1]", "row 1"),
        ("rows.json", "[]", "no usable row"),
        ("rows.csv", "a,b", ".parquet"),
        ("rows.parquet", "no parquet", "no parquet file"),
        ("rows.json", b"\xff\xfe\x00", "cannot be read"),
        ("rows.json", "[" * 100_000, "nested too deeply"),
    ],
)
def test_unreadable_files_are_refused_in_one_line(tmp_path, name, content, says):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=says) as caught:
        read_benchmark(str(file))
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_name_that_is_no_file_and_no_data_set_is_refused():
    with pytest.raises(InputError, match="verified"):
        read_benchmark("nonsense.json")


def test_hub_names_and_aliases_go_through_the_download(tmp_path):
    asked = []

    def download(name):
        asked.append(name)
        folder = tmp_path / name.replace("/", "-")
        (folder / "data").mkdir(parents=True, exist_ok=True)
        table = pyarrow.Table.from_pylist([row()])
        pyarrow.parquet.write_table(table, folder / "data/test-00000-of-00001.parquet")
        return folder

    for source in ("verified", "lite", "someone/their-rows"):
        assert len(read_benchmark(source, hub_download=download).instances) == 1
    assert asked == ["SWE-bench/SWE-bench_Verified", "SWE-bench/SWE-bench_Lite", "someone/their-rows"]
    assert read_benchmark("verified", hub_download=download).split == "verified"


def test_a_hub_that_is_out_of_reach_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(AuditError, match="not in the cache") as caught:
        read_benchmark("someone/unknown-rows")
    assert "\n" not in str(caught.value)
