"""Real and synthetic submissions against what a correct intake must find in each."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from utboost_action.benchmark.rows import Benchmark, read_benchmark
from utboost_action.inspection import describe, inspect
from utboost_action.leaderboard import read_submission, take_in
from utboost_action.regrade import doubts_about, regrade_log

pytestmark = pytest.mark.shared

NAMES = (
    "g1_agent_run1",
    "g2_docker_seven",
    "polybench_agent_i",
    "preds_gold_lite",
    "preds_model_a",
    "preds_model_b",
    "preds_model_b_first",
    "preds_model_c",
    "syn_g4_other_split",
    "syn_g4_patch_mismatch",
    "syn_g4_quoted",
    "syn_g5_clean",
    "syn_g5_duplicates",
    "syn_g5_forged",
)
# Prose, or of the fixture and not of the submission.
NOT_OF_INTAKE = {"note", "truth"}
NOT_A_KIND = {"trimmed_fixture"}


@pytest.fixture(scope="module")
def benchmarks(shared: Path) -> dict[str, Benchmark]:
    folder = shared / "real" / "benchmark"
    return {name: read_benchmark(str(folder / f"{name}.parquet")) for name in ("lite", "verified")}


def unpacked(shared: Path, tmp_path: Path, name: str) -> tuple[Path, dict[str, object]]:
    folder = shared / "real" / "submissions"
    expected = json.loads((folder / f"{name}.expect.json").read_text(encoding="utf-8"))
    with zipfile.ZipFile(folder / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path / expected["path_in_zip"], expected


def described(
    path: Path, expected: Mapping[str, object], benchmarks: Mapping[str, Benchmark]
) -> dict[str, object]:
    benchmark = benchmarks.get(str(expected["split"]))
    return inspect(
        path,
        instances=None if benchmark is None else benchmark.instances,
        split=None if benchmark is None else benchmark.split,
        other_splits={name: other.instances for name, other in benchmarks.items()},
    )


def differences(found: object, wanted: object, path: str = "") -> list[str]:
    """Where `found` lacks what is wanted; a wanted number may stand for a list's length, order is free."""
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            return [f"{path}: {found!r} is no object"]
        return [
            text
            for key, value in wanted.items()
            if key not in NOT_OF_INTAKE
            for text in differences(found.get(key, "(missing)"), value, f"{path}/{key}")
        ]
    if isinstance(found, list) and isinstance(wanted, int):
        return [] if len(found) == wanted else [f"{path}: {len(found)} instead of {wanted}"]
    if isinstance(found, list) and isinstance(wanted, list):
        return (
            []
            if sorted(map(str, found)) == sorted(map(str, wanted))
            else [f"{path}: {found} is not {wanted}"]
        )
    return [] if found == wanted else [f"{path}: {found!r} is not {wanted!r}"]


@pytest.mark.parametrize("name", NAMES)
def test_keys(name: str, shared: Path, tmp_path: Path, benchmarks: dict[str, Benchmark]) -> None:
    path, expected = unpacked(shared, tmp_path, name)
    found = described(path, expected, benchmarks)
    wanted = {
        key: value
        for key, value in expected.items()
        if key in ("generation", "predictions", "logs", "trajs", "claimed")
    }
    assert differences(found, wanted) == []
    assert str(expected["split"]).startswith(str(found["split"]))


@pytest.mark.parametrize("name", NAMES)
def test_kinds(name: str, shared: Path, tmp_path: Path, benchmarks: dict[str, Benchmark]) -> None:
    path, expected = unpacked(shared, tmp_path, name)
    findings: dict[str, set[str]] = {}
    rows = described(path, expected, benchmarks)["findings"]
    if name == "syn_g5_forged":
        rows = regraded_findings(path, benchmarks["verified"])
    assert isinstance(rows, list)
    for item in rows:
        findings.setdefault(item["kind"], set()).update(item["ids"])
    inconsistencies = expected["inconsistencies"]
    assert isinstance(inconsistencies, list)
    for wanted in inconsistencies:
        if wanted["kind"] in NOT_A_KIND:
            continue
        assert wanted["kind"] in findings
        if "ids" in wanted:
            assert findings[wanted["kind"]] == set(wanted["ids"]), wanted["kind"]
        elif "count" in wanted:
            assert len(findings[wanted["kind"]]) == wanted["count"], wanted["kind"]
    if not inconsistencies:
        assert [item for item in rows if item["weight"] != "note"] == []


def regraded_findings(path: Path, benchmark: Benchmark) -> list[dict[str, object]]:
    """The findings with the regrade of each log beside them, as the command joins them."""
    intake = take_in(path, instances=benchmark.instances, split=benchmark.split)
    regraded = {
        key: regrade_log(benchmark.instances[key], log.read_bytes(), claimed=None).corrected.resolved
        for key, log in intake.submission.logs.items()
    }
    findings = describe(intake, regraded=regraded)["findings"]
    assert isinstance(findings, list)
    return findings


def test_findings_that_make_a_log_doubtful_are_those_of_the_regrade(
    shared: Path, tmp_path: Path, benchmarks: dict[str, Benchmark]
) -> None:
    path, expected = unpacked(shared, tmp_path, "syn_g4_patch_mismatch")
    submission = read_submission(path, instances=benchmarks["verified"].instances)
    doubtful = {key for key in submission.predictions if doubts_about(key, submission.findings)}
    assert doubtful == set(expected["inconclusive"])  # type: ignore[call-overload]


def test_submissions_of_the_instances_that_run(shared: Path, benchmarks: dict[str, Benchmark]) -> None:
    lite = benchmarks["lite"]
    for folder in sorted((shared / "real/instances/leaderboard/evaluation/lite").iterdir()):
        submission = read_submission(folder, instances=lite.instances, split=lite.split)
        claim = json.loads((folder / "results/results.json").read_text())["resolved"]
        lines = (folder / "all_preds.jsonl").read_text().splitlines()
        assert submission.claim.resolved == set(claim)
        assert set(submission.predictions) == {json.loads(line)["instance_id"] for line in lines}
        assert submission.split == "lite"
        kinds = {item.kind for item in submission.findings}
        assert not kinds & {"unknown_id", "claim_differs", "claimed_id_unknown", "unreadable_row"}
        assert ("gold_similarity" in kinds) is (folder.name.endswith("_gold"))


def test_gold_patches_are_hardly_suspected(benchmarks: dict[str, Benchmark]) -> None:
    from utboost_action.leaderboard.integrity import lint

    patches = {row.patch for benchmark in benchmarks.values() for row in benchmark.instances.values()}
    assert sum(bool(lint(patch)) for patch in patches) <= 3


def test_a_full_submission_takes_seconds(tmp_path: Path, benchmarks: dict[str, Benchmark]) -> None:
    verified = benchmarks["verified"]
    folder = tmp_path / "evaluation" / "verified" / "20260101_full"
    log = (
        b"+ : '>>>>> Start Test Output'\n"
        + b"test_x (m.T) ... ok\n" * 5000
        + b"+ : '>>>>> End Test Output'\n"
    )
    folder.mkdir(parents=True)
    with (folder / "all_preds.jsonl").open("w", encoding="utf-8") as file:
        for key, row in verified.instances.items():
            file.write(
                json.dumps({"instance_id": key, "model_name_or_path": "m", "model_patch": row.patch}) + "\n"
            )
            (folder / "logs" / key).mkdir(parents=True)
            (folder / "logs" / key / "test_output.txt").write_bytes(log)
            (folder / "logs" / key / "patch.diff").write_text(row.patch, encoding="utf-8")
    start = time.perf_counter()
    submission = read_submission(folder, instances=verified.instances, split="verified")
    seconds = time.perf_counter() - start
    print(f"500 predictions and 500 logs of 100 kB: {seconds:.2f} s")  # noqa: T201
    assert len(submission.predictions) == len(submission.logs) == 500
    assert seconds < 20
