from __future__ import annotations

import random
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from tests.github_double import Fault
from tests.integration.github.conftest import BOARD, READER, TOKEN, Stage
from utboost_action.errors import InputError
from utboost_action.github.git import Git, Remote
from utboost_action.github.git_source import GitSource
from utboost_action.github.problems import GitHubError, Obstacle, SupersededError
from utboost_action.github.pull_request import (
    merge_base,
    pull_request,
    pull_request_of_head,
    require_head,
)
from utboost_action.github.reading import ReadOptions, ReadPullRequest, read_board, read_pull_request
from utboost_action.github.submissions import Limits
from utboost_action.leaderboard import read_submission

NEW = "evaluation/lite/20240202_new"
FILES: dict[str, bytes | tuple[str, bytes] | None] = {
    f"{NEW}/all_preds.jsonl": b'{"instance_id": "a__b-1", "model_patch": ""}\n',
    f"{NEW}/metadata.yaml": b"name: New\n",
    f"{NEW}/logs/a__b-1/test_output.txt": b"PASSED\n",
    f"{NEW}/trajs/a__b-1.traj": b"a long story\n",
}


def read(
    stage: Stage, folder: Path, number: int = 7, *, git: bool = True, token: str = TOKEN
) -> ReadPullRequest:
    pull = stage.board.pulls[number]
    return read_pull_request(
        stage.api(token), BOARD, number, pull.head_sha, folder, stage.environ, ReadOptions(allow_git=git)
    )


def written(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("git", [True, False], ids=["git", "rest"])
def test_a_submission_is_read_and_what_else_was_touched_is_said(
    stage: Stage, tmp_path: Path, git: bool
) -> None:
    stage.board.open_pull(7, {**FILES, "README.md": b"Changed.\n", f"{NEW}/l": ("120000", b"/etc/passwd")})
    found = read(stage, tmp_path / "work", git=git)
    assert found.without_git == ("" if git else "git is not allowed here")
    assert found.located.others == ("README.md",)
    (one,) = found.submissions
    assert one.folder == NEW
    assert one.tree == stage.board.sha(f"{stage.board.pulls[7].head_sha}:{NEW}")
    assert one.root == tmp_path / "work/tree" / NEW
    assert written(one.root) == {
        "all_preds.jsonl": FILES[f"{NEW}/all_preds.jsonl"],
        "metadata.yaml": b"name: New\n",
        "logs/a__b-1/test_output.txt": b"PASSED\n",
        "trajs/a__b-1.traj": b"",
    }
    assert [finding.kind for finding in one.findings] == ["link"]


@pytest.mark.parametrize("git", [True, False], ids=["git", "rest"])
def test_what_others_merged_meanwhile_is_no_change_of_this_pull_request(
    stage: Stage, tmp_path: Path, git: bool
) -> None:
    stage.board.open_pull(7, FILES)
    tip = stage.board.sha("refs/heads/main")
    stage.board.commit(
        "refs/heads/main", {"evaluation/lite/20240203_other/all_preds.jsonl": b"{}"}, parent=tip
    )
    found = read(stage, tmp_path / "work", git=git)
    assert found.located.folders == (NEW,)
    assert found.located.removed == found.located.others == ()


@pytest.mark.parametrize("git", [True, False], ids=["git", "rest"])
def test_a_change_to_an_old_submission_reads_it_whole(stage: Stage, tmp_path: Path, git: bool) -> None:
    old = "evaluation/lite/20240101_first"
    stage.board.open_pull(7, {f"{old}/metadata.yaml": b"name: Renamed\n"})
    (one,) = read(stage, tmp_path / "work", git=git).submissions
    assert written(one.root) == {"all_preds.jsonl": b"{}\n", "metadata.yaml": b"name: Renamed\n"}


def test_twenty_submissions_in_one_pull_request(stage: Stage, tmp_path: Path) -> None:
    files = {path.replace("new", f"n{n:02}"): data for n in range(20) for path, data in FILES.items()}
    stage.board.open_pull(7, files)
    found = read(stage, tmp_path / "work")
    assert len(found.submissions) == 20
    assert all(one.files == 3 and one.names_only == 1 for one in found.submissions)
    fetches = [request for request in stage.double.git_requests if request.startswith("POST")]
    assert len(fetches) <= 4  # two for both commits, one batch of blobs, however many submissions


def many_files(content: Callable[[str], bytes]) -> dict[str, bytes | tuple[str, bytes] | None]:
    """A submission of 2,504 files as the container harness leaves them."""
    files: dict[str, bytes | tuple[str, bytes] | None] = {
        f"{NEW}/{name}": b"{}\n"
        for name in ("all_preds.jsonl", "metadata.yaml", "README.md", "results/results.json")
    }
    for n in range(500):
        for name in ("report.json", "patch.diff", "test_output.txt", "run_instance.log", "eval.sh"):
            path = f"{NEW}/logs/django__django-{10_000 + n}/{name}"
            files[path] = content(path)
    return files


def test_2500_added_files_are_read_with_less_than_a_megabyte(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.board.open_pull(7, many_files(lambda path: f"{path}: passed\n".encode() * 10))
    stage.double.reset_counters()
    commands: list[str] = []
    run_to = Git.run_to

    def counted(git: Git, output: IO[bytes], *arguments: str, **options: Any) -> None:
        commands.append(arguments[0])
        run_to(git, output, *arguments, **options)

    monkeypatch.setattr(Git, "run_to", counted)
    began = time.perf_counter()
    (one,) = read(stage, tmp_path / "work").submissions
    seconds = time.perf_counter() - began
    with capsys.disabled():
        print(f"\n2,504 files, all read: {stage.double.sent:,} bytes received, {seconds:.2f} s")  # noqa: T201
    assert one.files == 2_504
    assert stage.double.sent <= 1_000_000
    assert commands == ["init", "fetch", "rev-parse", "diff-tree", "ls-tree", "fetch", "cat-file"]
    assert len(stage.double.exchanges) == 3  # the pull request, its merge base, the sizes of one folder
    assert len(stage.double.git_requests) == 5  # three for both commits, two for all blobs


@pytest.mark.parametrize("top", [":(exclude)x", ":!x", "*", "[a-z]x", "-x"])
def test_a_folder_whose_name_is_a_pattern_to_git_is_only_a_name(
    stage: Stage, tmp_path: Path, top: str
) -> None:
    files = {f"{top}/{path.rpartition('/')[2]}": data for path, data in FILES.items()}
    stage.board.open_pull(7, files)
    found = read(stage, tmp_path / "work")
    assert found.without_git == ""
    assert [one.folder for one in found.submissions] == [top]


def test_git_is_waited_for_no_longer_than_it_takes_or_may_take(stage: Stage, tmp_path: Path) -> None:
    git = Git(tmp_path / "git", Remote(f"file://{tmp_path}"), stage.environ, timeout=0.3)
    git.init(partial=False)
    began = time.perf_counter()
    with pytest.raises(GitHubError, match="stopped after 0 s"):
        git.run("-c", "alias.wait=!sleep 20", "wait")
    assert time.perf_counter() - began < 10


def test_29_megabytes_of_logs_cost_nothing_until_they_are_wanted(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noise = random.Random(4)
    stage.board.open_pull(7, many_files(lambda _path: noise.randbytes(12_000)))
    stage.double.reset_counters()
    began = time.perf_counter()
    found = read_pull_request(
        stage.api(),
        BOARD,
        7,
        stage.board.pulls[7].head_sha,
        tmp_path / "work",
        stage.environ,
        ReadOptions(names_only=lambda path: path.startswith("logs/")),
    )
    seconds = time.perf_counter() - began
    with capsys.disabled():
        print(f"\n2,504 files, no logs: {stage.double.sent:,} bytes received, {seconds:.2f} s")  # noqa: T201
    assert (found.submissions[0].files, found.submissions[0].names_only) == (4, 2_500)
    assert stage.double.sent <= 1_000_000


def test_contents_that_are_not_wanted_are_not_fetched(stage: Stage, tmp_path: Path) -> None:
    noise = random.Random(1)
    trajectories = {f"{NEW}/trajs/a__b-{n}.traj": noise.randbytes(20_000) for n in range(100)}
    stage.board.open_pull(7, {**FILES, **trajectories})
    stage.double.reset_counters()
    (one,) = read(stage, tmp_path / "work").submissions
    assert one.names_only == 100
    assert stage.double.sent < 100_000


def test_a_file_beyond_the_limit_is_named_and_not_fetched(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, {**FILES, f"{NEW}/big": bytes(300_000)})
    api = stage.api()
    head = stage.board.pulls[7].head_sha
    found = read_pull_request(
        api, BOARD, 7, head, tmp_path / "work", stage.environ, ReadOptions(limits=Limits(file_bytes=1_000))
    )
    assert [finding.kind for finding in found.submissions[0].findings] == ["file_too_large"]
    assert not (found.submissions[0].root / "big").exists()


def test_a_pull_request_beyond_the_whole_limit_is_refused(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, FILES)
    with pytest.raises(GitHubError, match="at most 20 are read"):
        read_pull_request(
            stage.api(),
            BOARD,
            7,
            stage.board.pulls[7].head_sha,
            tmp_path / "work",
            stage.environ,
            ReadOptions(limits=Limits(bytes=20)),
        )


def test_a_truncated_tree_is_asked_for_in_parts(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, FILES)
    stage.double.routes.truncate_trees_above = 3
    (one,) = read(stage, tmp_path / "work").submissions
    assert one.files == 3


def test_a_push_before_the_read_supersedes_it(stage: Stage, tmp_path: Path) -> None:
    pull = stage.board.open_pull(7, FILES)
    old = pull.head_sha
    new = stage.board.push_head(7, {f"{NEW}/all_preds.jsonl": b"other\n"})
    with pytest.raises(SupersededError) as refused:
        read_pull_request(stage.api(), BOARD, 7, old, tmp_path / "work", stage.environ)
    assert (refused.value.expected, refused.value.found) == (old, new)


def test_a_push_between_the_question_and_the_fetch_supersedes_it_too(stage: Stage, tmp_path: Path) -> None:
    pull = stage.board.open_pull(7, FILES)
    base = stage.board.sha("refs/heads/main")
    old = pull.head_sha
    stage.board.push_head(7, {f"{NEW}/all_preds.jsonl": b"other\n"})
    remote = Remote(f"{stage.double.url}/{BOARD}.git", TOKEN)
    source = GitSource(Git(tmp_path / "objects", remote, stage.environ), old, base, number=7)
    with pytest.raises(SupersededError):
        source.fetch()


def test_a_push_during_the_audit_keeps_the_old_run_from_writing(stage: Stage, tmp_path: Path) -> None:
    pull = stage.board.open_pull(7, FILES)
    old = pull.head_sha
    read(stage, tmp_path / "work")
    assert require_head(stage.api(), BOARD, 7, old).head_sha == old
    stage.board.push_head(7, {f"{NEW}/all_preds.jsonl": b"other\n"})
    with pytest.raises(SupersededError, match="superseded"):
        require_head(stage.api(), BOARD, 7, old)


@pytest.mark.parametrize("git", [True, False], ids=["git", "rest"])
def test_a_deleted_fork_can_still_be_read(stage: Stage, tmp_path: Path, git: bool) -> None:
    stage.board.open_pull(7, FILES, head_repository=None)
    found = read(stage, tmp_path / "work", git=git)
    assert found.pull.head_repository is None
    assert found.pull.is_fork
    assert found.submissions[0].files == 3


def test_a_read_only_token_can_read(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, FILES)
    assert read(stage, tmp_path / "work", token=READER).submissions[0].files == 3


def test_the_token_is_in_no_argument_address_or_file(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, FILES)
    seen: list[str] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.append(process.read_bytes().decode("utf-8", "replace"))
                except OSError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        read(stage, tmp_path / "work")
    finally:
        stop.set()
        watcher.join()
    assert any("git" in line and "fetch" in line for line in seen)
    assert not any(TOKEN in line for line in seen)
    assert not any(TOKEN in request for request in stage.double.git_requests)
    assert not any(TOKEN.encode() in data for data in written(tmp_path / "work").values())
    assert TOKEN not in repr(stage.api().connection)


def test_a_wrong_token_is_named_without_being_shown(stage: Stage, tmp_path: Path) -> None:
    remote = Remote(f"{stage.double.url}/{BOARD}.git", "not-a-token-of-anybody")
    git = Git(tmp_path / "objects", remote, stage.environ)
    git.init(partial=True)
    with pytest.raises(GitHubError) as refused:
        git.run("fetch", "origin", "refs/heads/main")
    assert refused.value.obstacle is Obstacle.BAD_CREDENTIALS
    assert "not-a-token" not in str(refused.value)


def test_configuration_of_the_machine_has_no_say(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, FILES)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[url "file:///nowhere"]\n insteadOf = http\n[core]\n bare = maybe\n')
    environ = {**stage.environ, "HOME": str(home), "GIT_DIR": "/nowhere", "GIT_CONFIG_PARAMETERS": "'x.y=1'"}
    pull = stage.board.pulls[7]
    found = read_pull_request(stage.api(), BOARD, 7, pull.head_sha, tmp_path / "work", environ)
    assert found.submissions[0].files == 3


def test_a_fetch_is_repeated_after_a_server_fault(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, FILES)
    stage.double.faults.append(Fault("POST", r"git-upload-pack", 502, times=2))
    assert read(stage, tmp_path / "work").submissions[0].files == 3
    assert stage.clock.waits == [1.0, 2.0]


def test_git_writes_no_more_than_it_may(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, {f"{NEW}/all_preds.jsonl": random.Random(2).randbytes(3_000_000)})
    remote = Remote(f"{stage.double.url}/{BOARD}.git", TOKEN)
    git = Git(tmp_path / "objects", remote, stage.environ, max_bytes=1_000_000)
    source = GitSource(git, stage.board.pulls[7].head_sha, stage.board.sha("refs/heads/main"), number=7)
    source.fetch()
    with pytest.raises(GitHubError) as refused:
        list(source.blobs(source.listings([NEW])[NEW]))
    assert refused.value.obstacle is Obstacle.TOO_LARGE


def test_without_git_the_rest_interface_reads(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, FILES)
    pull = stage.board.pulls[7]
    found = read_pull_request(stage.api(), BOARD, 7, pull.head_sha, tmp_path / "work", {"PATH": "/nowhere"})
    assert found.without_git == "there is no git"
    assert found.submissions[0].files == 3


@pytest.mark.parametrize("status", [403, 404, 502])
def test_where_git_is_barred_the_rest_interface_reads(stage: Stage, tmp_path: Path, status: int) -> None:
    stage.board.open_pull(7, FILES)
    stage.double.faults.append(Fault("POST", r"git-upload-pack", status, times=99))
    found = read(stage, tmp_path / "work")
    assert found.without_git.startswith("git fetch failed: ")
    assert found.submissions[0].files == 3


def test_without_git_too_many_files_are_refused_before_the_first(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, {f"{NEW}/logs/{n}.log": str(n).encode() for n in range(701)})
    with pytest.raises(GitHubError, match="allow the runner to use git"):
        read(stage, tmp_path / "a", git=False)
    assert not any("/git/blobs/" in exchange.path for exchange in stage.double.exchanges)
    stage.board.open_pull(8, {f"{NEW}/logs/{n}.log": b"x" for n in range(3_001)})
    with pytest.raises(GitHubError, match="3,001 files"):
        read(stage, tmp_path / "b", 8, git=False)


def test_hostile_trees_of_git_itself(stage: Stage, tmp_path: Path) -> None:
    """Trees that no git client would make: `..`, `.git` and bytes that are no text, as entries."""
    board = stage.board
    blob = board.git("hash-object", "-w", "--stdin", stdin=b"evil\n").decode().strip()
    raw = b"".join(
        b"100644 " + name + b"\0" + bytes.fromhex(blob)
        for name in (b"..", b".git", b"all_preds.jsonl", b"bad\xff", b"new\nline")
    )
    tree = board.git("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=raw).decode().strip()
    for name in ("20240202_new", "lite", "evaluation"):
        raw = b"40000 " + name.encode() + b"\0" + bytes.fromhex(tree)
        tree = board.git("hash-object", "-t", "tree", "-w", "--stdin", stdin=raw).decode().strip()
    base = board.sha("refs/heads/main")
    who = "Someone <someone@example.org> 1767225600 +0000"
    text = f"tree {tree}\nparent {base}\nauthor {who}\ncommitter {who}\n\nx\n".encode()
    head = board.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=text).decode().strip()
    board.git("update-ref", "refs/pull/7/head", head)
    board.open_pull(8, FILES)
    board.pulls[7] = type(board.pulls[8])(7, head, "main", None)
    found = read(stage, tmp_path / "work")
    (one,) = [one for one in found.submissions if one.folder == NEW]
    assert written(one.root) == {"all_preds.jsonl": b"evil\n"}
    assert [finding.kind for finding in one.findings] == ["invalid_name"] * 4


def test_merged_submissions_are_read_by_path_or_all_of_them(stage: Stage, tmp_path: Path) -> None:
    tip = stage.board.commit("refs/heads/main", FILES, parent=stage.board.sha("refs/heads/main"))
    api = stage.api()
    everything = read_board(api, BOARD, tip, tmp_path / "a", stage.environ)
    assert [one.folder for one in everything] == ["evaluation/lite/20240101_first", NEW]
    (one,) = read_board(api, BOARD, tip, tmp_path / "b", stage.environ, paths=[f"{NEW}/"])
    assert (one.folder, one.files) == (NEW, 3)
    for path in ("evaluation/lite", "README.md", "evaluation/lite/none"):
        with pytest.raises(InputError, match="submission-path"):
            read_board(api, BOARD, tip, tmp_path / f"c{len(path)}", stage.environ, paths=[path])


def test_a_whole_board_costs_few_requests(stage: Stage, tmp_path: Path) -> None:
    files = {path.replace("new", f"n{n:02}"): data for n in range(40) for path, data in FILES.items()}
    tip = stage.board.commit("refs/heads/main", files, parent=stage.board.sha("refs/heads/main"))
    stage.double.reset_counters()
    found = read_board(stage.api(), BOARD, tip, tmp_path / "work", stage.environ)
    assert [one.files for one in found] == [2] + [3] * 40
    assert len(stage.double.exchanges) == 1


@pytest.mark.shared
def test_real_submissions_come_out_of_a_pull_request_as_they_went_in(
    stage: Stage, tmp_path: Path, shared: Path
) -> None:
    archives = sorted((shared / "real/submissions").glob("*.zip"))
    assert archives
    for number, archive in enumerate(archives, 1):
        folder = tmp_path / f"given{number}"
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        given = read_submission(folder)
        files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        stage.board.open_pull(number, {name: path.read_bytes() for name, path in files.items()})
        (one,) = read(stage, tmp_path / f"work{number}", number).submissions
        found = read_submission(one.root)
        assert found.predictions == given.predictions, archive.name
        assert found.claim == given.claim, archive.name
        assert set(found.logs) == set(given.logs), archive.name
        assert [kind.kind for kind in found.findings] == [kind.kind for kind in given.findings], archive.name


def test_a_folder_that_is_not_empty_is_refused(stage: Stage, tmp_path: Path) -> None:
    stage.board.open_pull(7, FILES)
    with pytest.raises(InputError, match="not empty"):
        read(stage, tmp_path)


def test_a_pull_request_is_found_by_its_head_and_by_nothing_else(stage: Stage) -> None:
    pull = stage.board.open_pull(7, FILES)
    stage.board.open_pull(8, {**FILES, "README.md": b"x"})
    api = stage.api()
    found = pull_request_of_head(api, BOARD, "submitter/experiments", "submission", pull.head_sha)
    assert found.number == 7
    for repository, branch, sha in (
        ("submitter/experiments", "submission", "c" * 40),
        ("other/experiments", "submission", pull.head_sha),
        ("submitter/experiments", "other", pull.head_sha),
    ):
        with pytest.raises(GitHubError) as refused:
            pull_request_of_head(api, BOARD, repository, branch, sha)
        assert refused.value.obstacle is Obstacle.NOT_FOUND


def test_a_pull_request_that_is_not_there(stage: Stage) -> None:
    with pytest.raises(GitHubError) as refused:
        pull_request(stage.api(), BOARD, 99)
    assert refused.value.obstacle is Obstacle.NOT_FOUND


def test_the_merge_base_costs_one_small_request(stage: Stage) -> None:
    stage.board.open_pull(7, FILES)
    base = stage.board.sha("refs/heads/main")
    stage.board.commit("refs/heads/main", {"x": b"x"}, parent=base)
    api = stage.api()
    pull = pull_request(api, BOARD, 7)
    assert pull.base_sha != base
    assert merge_base(api, pull) == base
    assert "files" not in stage.double.exchanges[-1].response


def test_an_address_with_credentials_is_no_remote() -> None:
    for url in ("https://me:secret@example.org/x.git", "ext::sh -c x", "ssh://example.org/x", "-oProxy=x"):
        with pytest.raises(InputError, match="remote"):
            Remote(url)
