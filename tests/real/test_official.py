"""The official reading and grade held to swebench 5.0.2 itself."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from official_logs import PARSERS, invented_log, lists_for, mutated_log
from reference import Reference, load_reference, missing_reference

from utboost_action.grading import grade_official
from utboost_action.logs.official import Harness, OfficialGraderError, official_report_map, parse_official

COUNT = 10_000

pytestmark = pytest.mark.skipif(missing_reference() is not None, reason=str(missing_reference()))

CRASH = "crash"
Read = tuple[list[tuple[str, str]], bool] | str


@pytest.fixture(scope="module")
def reference() -> Reference:
    return load_reference()


def _theirs(reference: Reference, parser: str, text: str) -> Any:
    try:
        return list(reference.parsers[f"parse_log_{parser}"](text, None).items())
    except IndexError:
        return CRASH


def _ours(parser: str, text: str) -> Any:
    try:
        return list(parse_official(text, parser).items())
    except OfficialGraderError:
        return CRASH


def _whole_theirs(reference: Reference, parser: str, path: Path) -> Read:
    try:
        statuses, found = reference.get_logs_eval(reference.spec(f"parse_log_{parser}"), str(path))
    except (IndexError, ValueError):
        return CRASH
    return list(statuses.items()), found


def _whole_ours(parser: str, data: bytes) -> Read:
    reading = official_report_map(data, parser)
    if reading.refused is not None and reading.refused.name == "CRASH":
        return CRASH
    return list(reading.statuses.items()), reading.found


def _real_logs(shared: Path) -> Iterable[tuple[str, bytes]]:
    for name in ("docker_format", "old_format"):
        with zipfile.ZipFile(shared / "real" / "logs" / f"{name}.zip") as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    yield entry.filename, archive.read(entry)


def _own_parser(reference: Reference, name: str) -> str:
    found = [
        parser
        for parser in ("django", "sympy", "seaborn", "matplotlib", "sphinx", "requests")
        if parser in name
    ]
    return found[0] if found else "pytest_v2" if "astropy" in name or "scikit" in name else "pytest"


def _compare(reference: Reference, seed: int, data: bytes, parser: str, path: Path) -> None:
    """Reading, refusal and grade of one log, by both."""
    path.write_bytes(data)
    want = _whole_theirs(reference, parser, path)
    assert _whole_ours(parser, data) == want, f"seed {seed}, parser {parser}: {data!r}"
    if want == CRASH:
        return
    reading = official_report_map(data, parser)
    f2p, p2p = lists_for(seed, list(reading.statuses))
    fail_only = seed % 5 == 0
    spec = reference.spec(f"parse_log_{parser}", f2p, p2p, fail_only=fail_only)
    prediction = {"instance_id": "x", "model_name_or_path": "m", "model_patch": "p"}
    report = reference.get_eval_report(spec, prediction, str(path), include_tests_status=True)["x"]
    grade = grade_official(reading.statuses, f2p, p2p, fail_only=fail_only, refused=reading.refused)
    assert grade.resolved == report["resolved"], f"seed {seed}"
    assert (grade.refused is None) == report["patch_successfully_applied"]
    if grade.refused is None:
        status = report["tests_status"]
        for ours, theirs in ((grade.fail_to_pass, "FAIL_TO_PASS"), (grade.pass_to_pass, "PASS_TO_PASS")):
            assert list(ours.success) == status[theirs]["success"], f"seed {seed}"
            assert list(ours.failure) == status[theirs]["failure"], f"seed {seed}"
        assert grade.resolution == reference.get_resolution_status(status)


def test_every_alias_of_the_registry_is_known(reference: Reference) -> None:
    text = "\n".join(f"PASSED t::a[/x/{n}] b\nt::{n} FAILED\nok" for n in range(3))
    python = [name for name in reference.parsers if reference.parsers[name].__module__.endswith(".python")]
    assert len(python) == 20
    for name in python:
        assert parse_official(text, name) == reference.parsers[name](text, None)


@pytest.mark.shared
def test_real_logs_are_read_alike(reference: Reference, shared: Path, tmp_path: Path) -> None:
    read = 0
    for name, data in _real_logs(shared):
        text = data.decode()
        big = len(data) > 1_000_000
        for parser in [_own_parser(reference, name)] if big else PARSERS:
            assert _ours(parser, text) == _theirs(reference, parser, text), f"{name}, {parser}"
        marked = b"+ : '>>>>> Start Test Output'\n" + data + b"\n+ : '>>>>> End Test Output'\n"
        for whole in [data] if big else [data, marked]:
            _compare(reference, read, whole, _own_parser(reference, name), tmp_path / "log")
        read += 1
    assert read >= 139


@pytest.mark.shared
def test_parser_cases_are_read_alike(reference: Reference, shared: Path, tmp_path: Path) -> None:
    cases = json.loads((shared / "real" / "parser_cases" / "cases.json").read_text())
    for number, case in enumerate(cases):
        for parser in PARSERS:
            assert _ours(parser, case["log"]) == _theirs(reference, parser, case["log"]), case["id"]
            _compare(reference, number, case["log"].encode(), parser, tmp_path / "log")


def test_invented_logs_are_read_and_graded_alike(reference: Reference, tmp_path: Path) -> None:
    for seed in range(COUNT):
        parser = PARSERS[seed % len(PARSERS)]
        _compare(reference, seed, invented_log(seed, parser), parser, tmp_path / "log")


@pytest.mark.shared
def test_mutated_real_logs_are_read_and_graded_alike(
    reference: Reference, shared: Path, tmp_path: Path
) -> None:
    sources = [(name, data.decode()) for name, data in _real_logs(shared) if len(data) < 60_000]
    rng = random.Random(3)
    for seed in range(COUNT):
        name, text = rng.choice(sources)
        parser = rng.choice((_own_parser(reference, name), rng.choice(PARSERS)))
        _compare(reference, seed, mutated_log(seed, text), parser, tmp_path / "log")


@pytest.mark.shared
def test_the_big_log_takes_no_longer_than_the_original(reference: Reference, shared: Path) -> None:
    from time import perf_counter

    data = max((data for _, data in _real_logs(shared)), key=len)
    text = data.decode()
    began = perf_counter()
    reference.parsers["parse_log_django"](text, None)
    between = perf_counter()
    parse_official(text, "django", harness=Harness.V5)
    assert perf_counter() - between < between - began
