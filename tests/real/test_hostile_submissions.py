"""The hostile inputs that concern submissions, each read in a process of its own and measured."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.shared

_READ = """
import json, sys, time
from pathlib import Path
from utboost_action.benchmark.rows import read_benchmark
from utboost_action.inspection import inspect
verified = read_benchmark(sys.argv[2])
start = time.perf_counter()
described = inspect(Path(sys.argv[1]), instances=verified.instances, split="verified")
described["seconds"] = time.perf_counter() - start
# of this program alone: getrusage counts the memory of whoever started it as well
described["megabytes"] = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
print(json.dumps(described))
"""

Read = Callable[[str], dict[str, object]]


@pytest.fixture(scope="module")
def inputs(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    script = shared / "real" / "hostile" / "make_hostile.py"
    subprocess.run([sys.executable, str(script), str(folder), "--git"], check=True, capture_output=True)
    return folder


@pytest.fixture
def read(inputs: Path, shared: Path) -> Read:
    expected = json.loads((shared / "real/hostile/expect.json").read_text(encoding="utf-8"))
    rows = shared / "real/benchmark/verified.parquet"

    def run(name: str) -> dict[str, object]:
        done = subprocess.run(
            [sys.executable, "-c", _READ, str(inputs / name), str(rows)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        described: dict[str, object] = json.loads(done.stdout)
        assert described["seconds"] < expected["limits"]["seconds_each"]  # type: ignore[operator]
        assert described["megabytes"] < expected["limits"]["memory_mb_each"]  # type: ignore[operator]
        return described

    return run


def findings(described: dict[str, object], *kinds: str) -> list[dict[str, object]]:
    found = described["findings"]
    assert isinstance(found, list)
    return [item for item in found if item["kind"] in kinds]


def predictions(described: dict[str, object]) -> dict[str, object]:
    found = described["predictions"]
    assert isinstance(found, dict)
    return found


def test_yaml_alias_bomb(read: Read) -> None:
    (refused,) = findings(read("01_yaml_alias_bomb"), "yaml_refused")
    assert refused["where"] == "metadata.yaml"


def test_traversal_ids(read: Read) -> None:
    described = read("02_traversal_ids")
    rows, results = findings(described, "invalid_id")
    assert (predictions(described)["unique_ids"], rows["count"]) == (1, 8)
    assert predictions(described)["invalid_ids"] == 8
    assert results["where"] == "results/results.json"
    assert described["claimed"]["ids"] == ["django__django-11099"]  # type: ignore[index]
    assert "a\\nb" in rows["ids"]  # type: ignore[operator]
    assert not any("\n" in text for text in rows["ids"])  # type: ignore[attr-defined]


def test_symlink_tree_from_git_objects(read: Read, inputs: Path) -> None:
    described = read("03_symlink_tree/repo.git")
    wanted = json.loads((inputs / "03_symlink_tree/tree.json").read_text())
    for mode, kind in (("120000", "link"), ("160000", "submodule")):
        assert {item["where"] for item in findings(described, kind)} == {
            row[1] for row in wanted if row[0] == mode
        }
    assert predictions(described)["predictions"] == 0


def test_symlink_tree_checked_out(read: Read, inputs: Path, tmp_path: Path) -> None:
    clone = inputs / "03_clone"
    subprocess.run(
        ["git", "clone", "-q", "-b", "main", str(inputs / "03_symlink_tree/repo.git"), str(clone)], check=True
    )
    described = read("03_clone")
    assert len(findings(described, "link")) == 5
    assert len(findings(described, "submodule")) == 1


def test_long_line(read: Read) -> None:
    described = read("04_long_line")
    assert predictions(described)["predictions"] == 2
    assert len(json.dumps(described)) < 20_000  # nowhere the patch's text


def test_nan_and_duplicate_keys(read: Read) -> None:
    described = read("05_nan_duplicate_keys")
    (numbers,) = findings(described, "not_a_json_number")
    assert all(word in str(numbers["detail"]) for word in ("NaN", "Infinity", "1e999"))
    assert any("resolved" in str(item["detail"]) for item in findings(described, "duplicate_key"))
    assert described["claimed"]["resolved"] is None  # type: ignore[index]
    assert predictions(described)["duplicate_ids"] == ["django__django-11099"]


def test_deep_nesting(read: Read) -> None:
    found = findings(read("06_deep_nesting"), "nesting_too_deep")
    assert {item["where"] for item in found} == {"preds.json", "results/results.json"}


def test_patch_machinery(read: Read, shared: Path) -> None:
    described = read("07_patch_machinery")
    expected = json.loads((shared / "real/hostile/expect.json").read_text())["inputs"]["07_patch_machinery"]
    said: dict[str, str] = {}
    for item in described["findings"]:  # type: ignore[attr-defined]
        if item["weight"] == "review" or item["kind"] == "test_file":
            for key in item["ids"]:
                said[key] = said.get(key, "") + " " + item["detail"]
    assert said.keys() == expected["findings"].keys()
    for key, words in expected["findings"].items():
        assert words in said[key]


def test_markup_injection(read: Read) -> None:
    described = read("09_markup_injection")
    assert findings(described, "site_refused", "name_refused")
    metadata = described["metadata"]
    assert isinstance(metadata, dict)
    assert metadata["site"] == ""
    assert len(metadata["name"]) <= 100
    assert not any(char in metadata["name"] for char in "\n\u202e\u202c")
