from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from utboost_action.github.payload import is_instance_id, is_plain_path, is_repository
from utboost_action.github.problems import GitHubError, Obstacle
from utboost_action.github.source import Change, ChangeKind, TreeEntry
from utboost_action.github.submissions import Limits, export, locate
from utboost_action.leaderboard.kinds import FindingKind

BOARD = "evaluation/lite/20240202_x"


class FakeSource:
    """A tree in memory."""

    def __init__(self, entries: Sequence[TreeEntry], data: dict[str, bytes]) -> None:
        self.entries, self.data = entries, data
        self.asked: list[str] = []

    def changes(self) -> Sequence[Change]:
        return [Change(entry.path, ChangeKind.ADDED) for entry in self.entries]

    def known_files(self) -> Sequence[str]:
        return [entry.path for entry in self.entries]

    def listings(self, folders: Sequence[str]) -> dict[str, Sequence[TreeEntry]]:
        return {
            folder: [entry for entry in self.entries if entry.path.startswith(f"{folder}/")]
            for folder in folders
        }

    def tree_id(self, folder: str) -> str:
        return folder.encode().hex()

    def blobs(self, entries: Sequence[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes]]:
        for entry in entries:
            self.asked.append(entry.path)
            yield entry, self.data[entry.path]


def source(files: dict[str, bytes | str]) -> FakeSource:
    """path -> content, or the mode of an entry without content."""
    entries = [
        TreeEntry(path, "100644", "0" * 40, len(content))
        if isinstance(content, bytes)
        else TreeEntry(path, content, "0" * 40)
        for path, content in files.items()
    ]
    return FakeSource(entries, {path: data for path, data in files.items() if isinstance(data, bytes)})


def added(*paths: str) -> list[Change]:
    return [Change(path, ChangeKind.ADDED) for path in paths]


def test_the_layouts_of_known_boards() -> None:
    paths = [
        "evaluation/lite/20240202_x/all_preds.jsonl",
        "evaluation/lite/20240202_x/trajs/a/preds.json",
        "evaluation/verified/20240202_y/metadata.yaml",
        "evaluation/java/verified/20240202_z/all_preds.jsonl",
        "evaluation/java/verified/20240202_z/logs/a.log",
        "submissions/other/preds.json",
        "submissions/other/logs/a",
        "README.md",
        "analysis/table.py",
        "evaluation/README.md",
    ]
    found = locate(added(*paths), paths)
    assert found.folders == (
        "evaluation/java/verified/20240202_z",
        "evaluation/lite/20240202_x",
        "evaluation/verified/20240202_y",
        "submissions/other",
    )
    assert found.others == ("README.md", "analysis/table.py", "evaluation/README.md")


def test_a_predictions_file_high_up_does_not_swallow_the_board() -> None:
    paths = ["evaluation/preds.json", "evaluation/lite/preds.json", f"{BOARD}/all_preds.jsonl", "preds.json"]
    found = locate(added(*paths), paths)
    assert found.folders == (BOARD,)
    assert set(found.others) == {"evaluation/preds.json", "evaluation/lite/preds.json", "preds.json"}


def test_a_change_inside_a_submission_that_was_there_before() -> None:
    known = [f"{BOARD}/all_preds.jsonl", f"{BOARD}/logs/a.log"]
    assert locate(added(f"{BOARD}/logs/a.log"), known).folders == (BOARD,)


def test_a_removed_submission_is_said_and_a_thinned_out_one_is_read() -> None:
    gone = [Change(f"{BOARD}/all_preds.jsonl", ChangeKind.DELETED)]
    assert locate(gone, []).removed == (BOARD,)
    assert locate(gone, [f"{BOARD}/metadata.yaml"]).folders == (BOARD,)


def test_patterns_replace_the_rules() -> None:
    paths = ["boards/a/x/preds.json", "boards/a/y", "evaluation/lite/z/preds.json"]
    found = locate(added(*paths), paths, ["boards/*/*/"])
    assert found.folders == ("boards/a/x",)
    assert found.others == ("boards/a/y", "evaluation/lite/z/preds.json")


def test_only_regular_files_with_checked_names_are_written(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        f"{BOARD}/all_preds.jsonl": b"{}\n",
        f"{BOARD}/run.sh": b"#!/bin/sh\n",
        f"{BOARD}/trajs/a.traj": b"never read",
        f"{BOARD}/link": "120000",
        f"{BOARD}/sub": "160000",
        f"{BOARD}/../up": b"",
        f"{BOARD}/.git/config": b"",
        f"{BOARD}/x/.GIT./hooks": b"",
        f"{BOARD}/a\\b": b"",
        f"{BOARD}/a\nb": b"",
        f"{BOARD}/a\u202eb": b"",
        f"{BOARD}/a\udcffb": b"",
        f"{BOARD}//double": b"",
        f"{BOARD}/{'n' * 256}": b"",
        f"{BOARD}/huge": b"x" * 101,
        f"{BOARD}/clash": b"file",
        f"{BOARD}/clash/below": b"in a file",
    }
    given_source = source(files)
    (found,) = export(given_source, [BOARD], tmp_path / "out", limits=Limits(file_bytes=100))
    written = {str(path.relative_to(found.root)) for path in found.root.rglob("*") if path.is_file()}
    assert written == {"all_preds.jsonl", "run.sh", "trajs/a.traj", "clash"}
    assert (found.root / "trajs/a.traj").read_bytes() == b""
    assert (found.files, found.names_only, found.bytes) == (3, 1, 17)
    assert stat.S_IMODE((found.root / "run.sh").stat().st_mode) & 0o111 == 0
    assert f"{BOARD}/huge" not in given_source.asked
    kinds = [finding.kind for finding in found.findings]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "link": 1,
        "submodule": 1,
        "invalid_name": 10,
        "file_too_large": 1,
    }
    assert set(kinds) <= set(FindingKind)
    assert all(finding.where.isprintable() for finding in found.findings)


def test_limits_are_checked_before_any_content_is_asked_for(tmp_path: Path) -> None:
    given_source = source({f"{BOARD}/{n}": b"x" * 10 for n in range(5)})
    for limits in (Limits(files=4), Limits(bytes=49), Limits(submissions=0)):
        with pytest.raises(GitHubError) as refused:
            export(given_source, [BOARD], tmp_path / "out", limits=limits)
        assert refused.value.obstacle is Obstacle.TOO_LARGE
    assert given_source.asked == []


def test_sizes_that_were_not_known_are_checked_when_contents_arrive(tmp_path: Path) -> None:
    entries = [TreeEntry(f"{BOARD}/{n}", "100644", "0" * 40) for n in range(3)]
    given_source = FakeSource(entries, {entry.path: b"x" * 60 for entry in entries})
    with pytest.raises(GitHubError, match="at most 100"):
        export(given_source, [BOARD], tmp_path / "a", limits=Limits(bytes=100))
    (found,) = export(given_source, [BOARD], tmp_path / "b", limits=Limits(file_bytes=59))
    assert (found.files, len(found.findings)) == (0, 3)


parts = st.one_of(
    st.sampled_from(
        [".", "..", ".git", ".GiT", ".git ", "git~1", "", "a", "b", "con", "\0", "a:b", ".git:x"]
    ),
    st.text(max_size=8),
)


@given(
    st.dictionaries(st.lists(parts, min_size=1, max_size=4).map("/".join), st.binary(max_size=4), max_size=8)
)
@example({"a": b"", "a/b": b"", "a/b/c": b""})
def test_no_tree_writes_outside_of_its_folder(files: dict[str, bytes]) -> None:
    with TemporaryDirectory() as folder:
        top = Path(folder)
        out = top / "out"
        export(source({f"{BOARD}/{path}": data for path, data in files.items()}), [BOARD], out)
        assert sorted(path.name for path in top.iterdir()) == ["out"]
        for path in out.rglob("*"):
            inside = str(path.relative_to(out))
            assert not path.is_symlink()
            assert is_plain_path(inside)
            if path.is_file():
                assert path.read_bytes() == files[inside.removeprefix(f"{BOARD}/")]


@pytest.mark.parametrize("name", ["django__django-11099", "a__b-1", "matplotlib__matplotlib.x-2"])
def test_instance_ids(name: str) -> None:
    assert is_instance_id(name)


@pytest.mark.parametrize("name", ["", "django-1", "a__b", "a__b-1\n", "a__b-1;x", "../a__b-1", "a__b-\u0661"])
def test_no_instance_ids(name: str) -> None:
    assert not is_instance_id(name)


def test_repository_names() -> None:
    assert is_repository("a-b/c.d")
    assert not any(is_repository(name) for name in ("a", "a/b/c", "../x", "a/..", "a/b\n", "a b/c"))
