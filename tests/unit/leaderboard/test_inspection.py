"""The JSON of `inspect`: its keys, and that it can be written whatever the submission holds."""

from __future__ import annotations

import json
from pathlib import Path

from unit.leaderboard.submission_builders import GOLD, Builder, instances, log_text, patch_of, row

from utboost_action.inspection import KINDS, describe, inspect
from utboost_action.leaderboard import take_in
from utboost_action.leaderboard.kinds import FindingKind

IDS = ("a__b-1", "a__b-2", "a__b-3")


def test_predictions(build: Builder) -> None:
    rows = [
        row("a__b-1", GOLD),
        row("a__b-1", GOLD),
        row("a__b-2", f"```\n{patch_of()}```"),
        row("x__y-1", patch_of("tests/test_x.py").rstrip()),
        json.dumps({"instance_id": "a__b-3", "prediction": "x"}) + "\n",
        row("../x", None),
    ]
    build.put("all_preds.jsonl", "".join(rows))
    described = inspect(build.root, instances=instances(*IDS, "a__b-4"), split="verified")["predictions"]
    assert isinstance(described, dict)
    del described["gold_similarity"]
    assert described == {
        "file": "all_preds.jsonl",
        "format": "jsonl",
        "predictions": 6,
        "key_sets": [["instance_id", "model_name_or_path", "model_patch"], ["instance_id", "prediction"]],
        "classes": {"empty": 1, "fenced": 1, "missing_model_patch_key": 1, "ok": 3},
        "ids": {"fenced": ["a__b-2"], "missing_model_patch_key": ["a__b-3"]},
        "unique_ids": 4,
        "duplicate_ids": ["a__b-1"],
        "invalid_ids": 1,
        "no_final_newline": ["a__b-2", "x__y-1"],
        "carriage_returns": [],
        "binary": [],
        "touches_test_like_paths": ["x__y-1"],
        "touches_runner_configuration": [],
        "fenced_inner_diff_ok": 1,
        "unknown_ids": ["x__y-1"],
        "split_size": 4,
        "not_attempted": 1,
        "touches_official_test_files": [],
        "identical_to_gold": 1,
    }


def test_logs_and_claims(build: Builder) -> None:
    build.predictions({"a__b-1": GOLD}).results(["a__b-1", "x__y-1"]).log(
        "a__b-1", text=log_text(exit_code=0)
    )
    build.metadata("pass_rate: 100% (2/2)\n").put("README.md", "Resolved 2 of 2\n").put(
        "trajs/a__b-1.traj", ""
    )
    described = inspect(build.root, instances=instances(*IDS), split="verified")
    assert described["logs"] == {
        "count": 1,
        "name_form": "logs/<instance_id>/test_output.txt",
        "markers": True,
        "generations": {"G5": 1},
        "bytes": len(log_text(exit_code=0)),
        "quoted": [],
        "without_test_result": [],
        "patch_not_applied": [],
    }
    assert described["claimed"] == {
        "resolved": 2,
        "source": "results/results.json (3 lists)",
        "ids": ["a__b-1", "x__y-1"],
        "readme": "2 of 2",
        "percent": "100%",
        "pass_rate": "100% (2/2)",
        "within_split": 1,
        "resolved_with_log_here": ["a__b-1"],
    }
    assert described["trajs"] == {"count": 1, "suffixes": {".traj": 1}}


def test_the_regrade_of_others_becomes_a_finding(build: Builder) -> None:
    build.predictions({"a__b-1": GOLD}).results(["a__b-1"]).log("a__b-1")
    findings = describe(take_in(build.root), regraded={"a__b-1": False})["findings"]
    assert isinstance(findings, list)
    assert [item["ids"] for item in findings if item["kind"] == "report_vs_log"] == [["a__b-1"]]


def test_it_is_json_whatever_comes(build: Builder) -> None:
    build.put("all_preds.jsonl", '{"instance_id": "a__b-1", "model_patch": "\\ud83d", "\\ud800": 1}\n')
    build.metadata('name: "\\uD800"\nsite: "\\x07"\n').put("README.md", b"resolved \xff\x00 1 of 2")
    json.dumps(inspect(build.root), ensure_ascii=False).encode("utf-8")


def test_the_documentation_lists_exactly_the_kinds() -> None:
    page = (Path(__file__).parents[3] / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    listed = [
        line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and line.count("|") == 4
    ]
    assert sorted(listed) == sorted(KINDS) == sorted(kind.value for kind in FindingKind)
