"""The corrected reading on real evaluation logs, on the shared parser cases and on hostile logs."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from utboost_action.logs import parser_for_repo, read_log
from utboost_action.model import LogFlag, ParsedLog, TestStatus

pytestmark = pytest.mark.shared

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "real"
SETS = ("docker_format", "old_format")
FIGURES = ("ran", "passed", "failed", "errors", "skipped", "xfailed", "xpassed")


@cache
def truth(kind: str) -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = json.loads((REAL / "logs" / f"{kind}.truth.json").read_text())
    return loaded


@cache
def names(kind: str) -> dict[str, dict[str, str]]:
    loaded: dict[str, dict[str, str]] = json.loads(
        gzip.decompress((REAL / "logs" / f"{kind}.names.json.gz").read_bytes())
    )
    return loaded


@cache
def members(kind: str) -> dict[str, str]:
    """Log key -> member of the archive."""
    with zipfile.ZipFile(REAL / "logs" / f"{kind}.zip") as archive:
        found = {name: name for name in archive.namelist()}
    if kind == "docker_format":
        return {name.split("/")[-2]: name for name in found if name.endswith("/test_output.txt")}
    return found


def log_bytes(kind: str, key: str) -> bytes:
    with zipfile.ZipFile(REAL / "logs" / f"{kind}.zip") as archive:
        return archive.read(members(kind)[key])


@cache
def reading(kind: str, key: str) -> ParsedLog:
    repository = truth(kind)[key]["instance"].rsplit("-", 1)[0].replace("__", "/")
    parser = parser_for_repo(repository)
    assert parser is not None
    return read_log(log_bytes(kind, key), parser)


def keys(*, complete: bool) -> list[tuple[str, str]]:
    if not REAL.is_dir():
        return [("absent", "absent")]
    return [(kind, key) for kind in SETS for key, row in truth(kind).items() if row["complete"] is complete]


def bare_where_one_file_ran(expected: dict[str, str]) -> dict[str, str]:
    """sympy prints bare names; the shared list qualifies them always."""
    if len({name.partition(":")[0] for name in expected}) > 1:
        return expected
    return {name.partition(":")[2]: status for name, status in expected.items()}


@pytest.mark.parametrize(("kind", "key"), keys(complete=True))
class TestCompleteLogs:
    def test_summary(self, kind: str, key: str) -> None:
        log, row = reading(kind, key), truth(kind)[key]
        assert log.summary is not None
        assert [getattr(log.summary, figure) for figure in FIGURES] == [row[figure] for figure in FIGURES]
        assert log.complete is True

    def test_statuses(self, kind: str, key: str) -> None:
        expected = names(kind)[key]
        if truth(kind)[key]["runner"] == "sympy":
            expected = bare_where_one_file_ran(expected)
        assert {name: status.value for name, status in reading(kind, key).statuses.items()} == expected

    def test_nothing_is_suspected(self, kind: str, key: str) -> None:
        log = reading(kind, key)
        assert not log.flags
        assert log.gradable
        assert log.generation == ("G2" if kind == "docker_format" else "G1")

    def test_evidence_points_at_the_test(self, kind: str, key: str) -> None:
        log = reading(kind, key)
        lines = log_bytes(kind, key).split(b"\n")
        for name, status in list(log.statuses.items())[:300]:
            evidence = log.evidence[name]
            method = name.rpartition(":")[2].partition(" (")[0].partition("[")[0].encode()
            assert any(method in line for line in lines[evidence.first_line - 1 : evidence.last_line]), name
            if status.fails and truth(kind)[key]["runner"] == "django":
                assert evidence.message


@pytest.mark.parametrize(("kind", "key"), keys(complete=False))
def test_incomplete_logs(kind: str, key: str) -> None:
    log = reading(kind, key)
    assert log.complete is False
    assert LogFlag.INCOMPLETE in log.flags
    assert log.summary is None


def test_folded_skips_of_a_session_with_inner_sessions() -> None:
    log = reading("docker_format", "pytest-dev__pytest-8399")
    assert len(log.statuses) == 59
    assert list(log.events.values()) == [TestStatus.SKIPPED] * 3


def test_the_failing_test_that_the_official_list_does_not_name() -> None:
    log = reading("docker_format", "django__django-7530")
    failing = [name for name, status in log.statuses.items() if status.fails]
    assert [name.partition(" (")[0] for name in failing] == [
        "test_makemigrations_consistency_checks_respect_routers"
    ]
    assert any(name.startswith("test_failing_migration (") for name in log.statuses)


def test_class_events_of_the_large_log() -> None:
    log = reading("docker_format", "django__django-10097")
    assert len(log.statuses) == 12_320
    assert sum(name.startswith("setUpClass") for name in log.events) == 7


def cases() -> list[Any]:
    path = REAL / "parser_cases" / "cases.json"
    if not path.is_file():
        return [pytest.param({}, id="absent")]
    return [pytest.param(case, id=case["id"]) for case in json.loads(path.read_text())]


@pytest.mark.parametrize("case", cases())
def test_parser_cases(case: dict[str, Any]) -> None:
    log = read_log(case["log"].encode(), case["parser"], known_ids=case.get("known_ids", ()))
    statuses = {name: status.value for name, status in log.statuses.items()}
    assert statuses in [case["expected"], *case.get("accept", [])]
    events = {name: status.value for name, status in log.events.items()}
    assert case.get("events", {}).items() <= events.items()
    if "must_flag" in case:
        assert case["must_flag"] in {flag.value for flag in log.flags}
    if "graded" in case:
        assert log.gradable is case["graded"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hostile")
    subprocess.run(
        [sys.executable, str(REAL / "hostile" / "make_hostile.py"), str(out)], check=True, capture_output=True
    )
    return out


@pytest.mark.parametrize(
    ("name", "parser"),
    [
        ("08_workflow_commands", "django"),
        ("10_bytes", "pytest"),
        ("11_lookback", "django"),
        ("12_underscores", "sympy"),
    ],
)
def test_hostile_logs(hostile: Path, name: str, parser: str) -> None:
    expected = json.loads((REAL / "hostile" / "expect.json").read_text())["inputs"][name]["tests"]
    log = read_log((hostile / name / "test_output.txt").read_bytes(), parser)
    assert {key.replace("\ufffd", "*"): status.value for key, status in log.statuses.items()} == expected
    texts = [*log.statuses, *(evidence.message for evidence in log.evidence.values())]
    assert not any(character in text for text in texts for character in "\x00\x1b")
