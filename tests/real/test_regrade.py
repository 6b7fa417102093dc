"""Regrading real and made submissions comes out as their expect.json says."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from utboost_action.benchmark.rows import read_benchmark
from utboost_action.logs import parser_for_repo
from utboost_action.model import Finding, Instance, Prediction, PredictionClass
from utboost_action.regrade import Regrade, doubts_about, regrade_log

pytestmark = pytest.mark.shared

SYNTHETIC = (
    "syn_g4_other_split",
    "syn_g4_patch_mismatch",
    "syn_g4_quoted",
    "syn_g5_clean",
    "syn_g5_duplicates",
    "syn_g5_forged",
)


@pytest.fixture(scope="module")
def instances(shared: Path) -> dict[str, Instance]:
    found: dict[str, Instance] = {}
    for split in ("lite", "verified"):
        source = str(shared / "real" / "benchmark" / f"{split}.parquet")
        found |= read_benchmark(source, parser_for_repo=parser_for_repo).instances
    return found


def _expected(shared: Path, name: str) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads(
        (shared / "real" / "submissions" / f"{name}.expect.json").read_text()
    )
    return expected


def _logs(archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    for entry in archive.namelist():
        path = PurePosixPath(entry)
        if path.name == "test_output.txt":
            yield path.parent.name, archive.read(entry)
        elif path.name.endswith(".eval.log"):
            yield path.name.split(".")[0], archive.read(entry)


def _regraded(shared: Path, name: str, instances: dict[str, Instance]) -> dict[str, Regrade]:
    """Every log of a submission; the findings of the intake are taken from its expect.json."""
    expected = _expected(shared, name)
    findings = [
        Finding(found["kind"], found.get("detail", ""), tuple(found.get("ids", ())))
        for found in expected["inconsistencies"]
    ]
    with zipfile.ZipFile(shared / "real" / "submissions" / f"{name}.zip") as archive:
        graded = {
            test: regrade_log(instances[test], data, doubts=doubts_about(test, findings))
            for test, data in _logs(archive)
        }
    for test in expected["predictions"]["ids"].get("empty", ()):
        empty = Prediction(test, "", PredictionClass.EMPTY, name)
        graded[test] = regrade_log(instances[test], None, prediction=empty)
    return graded


@pytest.mark.parametrize("name", SYNTHETIC)
def test_a_made_submission(shared: Path, instances: dict[str, Instance], name: str) -> None:
    expected = _expected(shared, name)
    graded = _regraded(shared, name, instances)
    wanted = {test: found["resolved"] for test, found in expected["instances"].items()}
    assert {test: graded[test].corrected.resolved for test in wanted} == wanted
    assert sorted(test for test in graded if graded[test].corrected.resolved) == expected["correct_resolved"]


def test_the_forged_exit_code_is_named(shared: Path, instances: dict[str, Instance]) -> None:
    graded = _regraded(shared, "syn_g5_forged", instances)
    kinds = {test: [found.kind for found in one.findings] for test, one in graded.items() if one.findings}
    assert kinds == {"sphinx-doc__sphinx-8721": ["early_exit_code"]}


def test_the_old_submission_is_graded_as_it_claims(shared: Path, instances: dict[str, Instance]) -> None:
    expected = _expected(shared, "g1_agent_run1")["reference_regrade"]
    graded = _regraded(shared, "g1_agent_run1", instances)
    official = sorted(test for test, one in graded.items() if one.official and one.official.resolved)
    corrected = sorted(test for test, one in graded.items() if one.corrected.resolved)
    unknown = sorted(test for test, one in graded.items() if one.corrected.resolved is None)
    assert official == corrected == expected["full"]
    assert unknown == expected["not_graded"]
    assert not any(one.findings for one in graded.values())


def test_the_seven_container_logs(shared: Path, instances: dict[str, Instance]) -> None:
    expected = _expected(shared, "g2_docker_seven")
    not_applied, _ = expected["inconsistencies"]
    graded = _regraded(shared, "g2_docker_seven", instances)
    assert not any(one.corrected.resolved for one in graded.values())
    for test in not_applied["ids"]:
        assert graded[test].corrected.resolved is None
        assert "test patch did not apply" in graded[test].corrected.log_reasons[0]
    for one in graded.values():
        assert one.official_latest is not None
        assert one.official_latest.refused is not None
