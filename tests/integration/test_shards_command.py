"""`plan`, `execute`, `merge`: the merged report is that of one audit, and what is missing is said."""

import json
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SUBMISSION = EXAMPLES / "leaderboard/evaluation/demo/20260101_example_agent"
COMMON = [
    *("--benchmark", EXAMPLES / "benchmark/rows.jsonl", "--bank", EXAMPLES / "benchmark/bank"),
    *("--sandbox", "local", "--trees", EXAMPLES / "benchmark/trees"),
    *("--instances", ",".join(f"example__pocketknife-{n}" for n in (1, 2, 3, 6)), "--repeats", "2"),
]


def test_shards_together_are_the_whole_audit(run_cli, tmp_path):
    seconds = tmp_path / "durations.json"
    seconds.write_text(json.dumps({f"example__pocketknife-{n}": 400 for n in range(1, 8)}))
    plan = run_cli(
        "plan", SUBMISSION, *COMMON, "--out", tmp_path / "x", "--durations", seconds, "--shards", 2, "--json"
    )
    assert plan.returncode == 0, plan.stderr
    assert [shard["instances"] for shard in json.loads(plan.stdout)] == [2, 2]
    for shard in (1, 2):
        done = run_cli("execute", tmp_path / "x", "--shard", shard, "--out", tmp_path / f"runs-{shard}")
        assert done.returncode == 0, done.stderr
    merged = run_cli("merge", tmp_path / "x", "--out", tmp_path / "merged")
    assert merged.returncode == 0, merged.stderr
    whole = run_cli("audit", SUBMISSION, *COMMON, "--out", tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    for name in ("report.json", "report.md", "summary.md", "badge.json"):
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    flagged = run_cli("merge", tmp_path / "x", "--out", tmp_path / "flagged", "--fail-on", "wrong")
    assert flagged.returncode == 3

    (tmp_path / "x/shard-2.json").unlink()
    partial = run_cli("merge", tmp_path / "x", "--out", tmp_path / "partial", "--json")
    assert partial.returncode == 1
    assert "shard 2 of 2 is missing (it brought no result), 2 of its instances not audited" in partial.stderr
    value = json.loads(partial.stdout)
    assert sorted(entry["cause"] or "" for entry in value["instances"]).count("not audited") == 2
    assert value["rates"]["coverage"]["audited"] == 2


def test_wrong_usage_names_the_mend(run_cli, tmp_path):
    done = run_cli("plan", SUBMISSION, *COMMON, "--out", tmp_path / "x", "--shards", 257)
    assert (done.returncode, "1 to 256" in done.stderr) == (2, True)
    done = run_cli("execute", tmp_path / "nowhere", "--shard", 1)
    assert (done.returncode, "plan.json: no such file" in done.stderr) == (2, True)
    assert run_cli("plan", SUBMISSION, *COMMON, "--out", tmp_path / "x").returncode == 0
    done = run_cli("execute", tmp_path / "x", "--shard", 9)
    assert (done.returncode, "the plan has shards 1 to 1" in done.stderr) == (2, True)
