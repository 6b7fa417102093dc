"""`board` over a made-up checkout with stored audits: 500 instances x 20 submissions, flat memory."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from utboost_action.commands.board import board_command
from utboost_action.errors import InputError

app = typer.Typer()
app.command()(board_command)

INSTANCES = [f"owner__repo-{n}" for n in range(500)]


def board(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def checkout(root: Path, submissions: int, *, weight: int = 1) -> None:
    """Submission n claims 400 - n of 500; of every third, ten are WRONG, of every fourth, five SUSPECT."""
    rows = [
        {"instance_id": i, "repo": "o/r", "base_commit": "c", "patch": "p", "test_patch": "t",
         "FAIL_TO_PASS": "[]", "PASS_TO_PASS": "[]"}
        for i in INSTANCES
    ]  # fmt: skip
    root.mkdir(parents=True, exist_ok=True)
    (root / "verified.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for n in range(submissions):
        name = f"20260101_agent_{n:02}"
        folder = root / "board/evaluation/verified" / name
        (folder / "results").mkdir(parents=True)
        claimed = INSTANCES[: 400 - n]
        (folder / "results/results.json").write_text(json.dumps({"resolved": claimed}))
        (folder / "metadata.yaml").write_text(f"name: Agent {n}\n")
        entries = []
        for index, instance_id in enumerate(INSTANCES):
            verdict = "HOLDS" if index < 400 - n else "NOT_PLAUSIBLE"
            if n % 3 == 0 and index < 10:
                verdict = "WRONG"
            elif n % 4 == 1 and index < 5:
                verdict = "SUSPECT"
            entries.append(
                {"instance_id": instance_id, "verdict": verdict, "cause": None, "claimed": index < 400 - n,
                 "plausible": True, "differences": [{"message": "x" * 200 * weight}]}
            )  # fmt: skip
        report = {"schema": 1, "submission": {"name": name, "split": "verified"}, "instances": entries}
        audit = root / "board/audits/verified" / name
        audit.mkdir(parents=True)
        (audit / "report.json").write_text(json.dumps(report))


def test_the_board_of_a_checkout(tmp_path: Path):
    checkout(tmp_path, 20)
    begin = time.perf_counter()
    told = board(
        tmp_path / "board", "--benchmark", tmp_path / "verified.jsonl", "--out", tmp_path / "out", "--json"
    )
    seconds = time.perf_counter() - begin
    print(f"500 instances x 20 submissions: {seconds:.2f} s")  # noqa: T201
    assert seconds < 10
    document = json.loads(told)
    assert document == json.loads((tmp_path / "out/board.json").read_text())
    places = {place["name"][-2:]: place for place in document["places"]}
    assert (document["entries"], document["instances"], document["affected"]) == (20, 500, 7)
    assert (places["00"]["claimed"]["count"], places["00"]["adjusted"]["high"]["count"]) == (400, 390)
    assert (places["00"]["rank_before"], places["00"]["wrong"], places["00"]["certainty"]) == (1, 10, "sure")
    assert places["01"]["adjusted"] == {
        "low": {"count": 394, "percent": 78.8},
        "high": {"count": 399, "percent": 79.8},
    }
    assert (places["01"]["rank_before"], places["01"]["rank_after"], places["01"]["suspect"]) == (2, 1, 5)
    page = (tmp_path / "out/board.html").read_text()
    assert "Agent 19" in page
    assert "<script" not in page
    assert "Agent 19" in (tmp_path / "out/board.md").read_text().replace("<code>", "")


def test_memory_does_not_grow_with_the_submissions(tmp_path: Path):
    """The peak of 40 heavy audits is that of 5, within what the allocator keeps."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from utboost_action.board import build_board\n"
        "root = Path(sys.argv[1])\n"
        "ids = [f'owner__repo-{n}' for n in range(500)]\n"
        "build_board(root / 'board', root / 'board/audits', ids, 'b', 'verified')\n"
        # of this program alone: getrusage counts the memory of whoever started it as well
        "peak = int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
        "print(peak / 1024)\n"
    )
    peaks = []
    for count in (5, 40):
        checkout(tmp_path / str(count), count, weight=20)
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / str(count))],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(float(done.stdout))
    print(f"peak memory: {peaks[0]:.0f} MB for 5, {peaks[1]:.0f} MB for 40 submissions")  # noqa: T201
    assert peaks[1] - peaks[0] < 15


def test_equal_names_in_two_splits_keep_their_own_audits(tmp_path: Path):
    checkout(tmp_path, 2)
    name = "20260101_agent_00"
    other = tmp_path / "board/audits/lite" / name
    other.mkdir(parents=True)
    report = {"schema": 1, "submission": {"name": name, "split": "lite"}, "instances": []}
    (other / "report.json").write_text(json.dumps(report))
    told = board(
        tmp_path / "board", "--benchmark", tmp_path / "verified.jsonl", "--out", tmp_path / "out", "--json"
    )
    places = {place["name"]: place for place in json.loads(told)["places"]}
    assert places[name]["audited"] == 500


def test_what_has_no_audit_is_open_and_said(tmp_path: Path):
    checkout(tmp_path, 2)
    (tmp_path / "board/audits/verified/20260101_agent_01/report.json").unlink()
    told = board(
        tmp_path / "board", "--benchmark", tmp_path / "verified.jsonl", "--out", tmp_path / "out", "--json"
    )
    document = json.loads(told)
    assert "1 of 2 submissions have no stored audit" in document["notes"][0]


def test_what_is_wrong_is_said(tmp_path: Path):
    checkout(tmp_path, 1)
    rows = tmp_path / "verified.jsonl"
    with pytest.raises(InputError, match="no such folder; give a checkout"):
        board(tmp_path / "absent", "--benchmark", rows, "--out", tmp_path / "out", "--audits", tmp_path)
    with pytest.raises(InputError, match="no submission of split 'lite'"):
        board(tmp_path / "board", "--benchmark", rows, "--out", tmp_path / "out", "--split", "lite")
    with pytest.raises(InputError, match="--audits"):
        board(tmp_path / "board", "--benchmark", rows, "--out", tmp_path / "out", "--audits", tmp_path / "no")
    (tmp_path / "board/audits/verified/20260101_agent_00/report.json").write_text("{")
    with pytest.raises(InputError, match=r"report\.json': cannot be read as JSON"):
        board(tmp_path / "board", "--benchmark", rows, "--out", tmp_path / "out")
