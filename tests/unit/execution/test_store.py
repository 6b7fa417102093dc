from pathlib import Path

import pytest
from builders import runs, side

from utboost_action.execution.ownership import name_part
from utboost_action.execution.store import RunStore
from utboost_action.model import SideRun


def finished(store: RunStore, unit: SideRun, log: str = "log") -> SideRun:
    work = store.begin(unit.key)
    (work / "original.0.log.gz").write_text(log)
    store.finish(work, unit)
    return unit


@pytest.fixture
def unit() -> SideRun:
    return side(runs("original", {"a": "boom"}, a=".F", b="sX"), key="key", applied_with="git apply")


def test_a_finished_unit_comes_back_equal(tmp_path: Path, unit):
    store = RunStore(tmp_path)
    assert store.find("key") is None
    finished(store, unit)
    assert store.find("key") == unit


def test_an_unfinished_unit_is_absent(tmp_path: Path, unit):
    store = RunStore(tmp_path)
    store.begin(unit.key)
    assert store.find(unit.key) is None


@pytest.mark.parametrize(
    "record", ["", "{", "[]", '{"key": "key"}', '{"key": "key", "state": "?", "runs": []}']
)
def test_a_damaged_record_is_absent_and_replaced(tmp_path: Path, unit, record):
    store = RunStore(tmp_path)
    finished(store, unit)
    (tmp_path / "key/unit.json").write_text(record)
    assert store.find("key") is None
    finished(store, unit)
    assert store.find("key") == unit


def test_a_unit_of_the_parent_is_taken_over_with_its_logs(tmp_path: Path, unit):
    parent = RunStore(tmp_path / "parent")
    finished(parent, unit)
    store = RunStore(tmp_path / "own", parent)
    assert store.find("key") == unit
    assert (tmp_path / "own/key/original.0.log.gz").read_text() == "log"
    assert RunStore(tmp_path / "own").find("key") == unit


def test_the_slower_of_two_processes_changes_nothing(tmp_path: Path, unit):
    store = RunStore(tmp_path)
    slow = store.begin("key")
    finished(store, unit, "first")
    (slow / "original.0.log.gz").write_text("second")
    store.finish(slow, unit)
    assert (tmp_path / "key/original.0.log.gz").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_leftovers_of_dead_processes_go_and_living_ones_stay(tmp_path: Path):
    store = RunStore(tmp_path)
    living = store.begin("key")
    here = name_part().partition("-")[0]
    dead, elsewhere = (tmp_path / f".key.{space}-999999999-1.abcd" for space in (here, "0" * 12))
    dead.mkdir()
    elsewhere.mkdir()
    store.remove_leftovers()
    assert living.exists()
    assert not dead.exists()
    assert elsewhere.exists()  # of another process namespace: nobody here knows whether it lives


def test_a_copy_that_fails_leaves_no_work_folder(tmp_path: Path, unit, monkeypatch):
    finished(parent := RunStore(tmp_path / "parent"), unit)
    store = RunStore(tmp_path / "own", parent)

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    with pytest.raises(OSError, match="No space left"):
        store.find("key")
    assert list((tmp_path / "own").iterdir()) == []


def test_clear_forgets_own_units_only(tmp_path: Path, unit):
    parent = RunStore(tmp_path / "parent")
    finished(parent, unit)
    store = RunStore(tmp_path / "own", parent)
    store.find("key")
    store.clear()
    assert list((tmp_path / "own").iterdir()) == []
    assert parent.find("key") == unit
