import errno
import gzip
import json
import os

import pytest

from utboost_action.storage import canonical_json, compress, content_key, write_atomically


def test_equal_values_have_equal_texts_and_keys():
    assert canonical_json({"b": 1, "a": [2]}) == canonical_json({"a": [2], "b": 1})
    assert content_key({"b": 1, "a": 2}) == content_key({"a": 2, "b": 1})
    assert content_key({"a": 1}) != content_key({"a": 2})


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "f.json"
    write_atomically(file, "old")
    with pytest.raises(TypeError):
        write_atomically(file, 5)  # type: ignore[arg-type]
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["f.json"]


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"f\.json"):
        write_atomically(tmp_path / "f.json", "text")
    assert list(tmp_path.iterdir()) == []


def test_lone_surrogates_survive_as_json_escapes(tmp_path):
    write_atomically(tmp_path / "f.json", canonical_json({"a": "\ud800"}))
    assert json.loads((tmp_path / "f.json").read_text()) == {"a": "\ud800"}


def test_compressed_logs_are_whole_and_carry_no_time(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(b"x" * 100_000)
        compress(tmp_path / name, tmp_path / f"{name}.gz")
        assert not (tmp_path / name).exists()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == b"x" * 100_000
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
