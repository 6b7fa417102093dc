"""A look-up that found nothing out is never read as "no known vulnerabilities"."""

import json

import pytest

from tests.check_dependencies import Answer, answer_of, verdict

CLEAN = {"name": "a", "version": "1.0", "vulns": []}
HIT = {"name": "b", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
MISSED = {"name": "c", "skip_reason": "Dependency not found on PyPI and could not be audited: c (3.0)"}


def answer(*dependencies: dict) -> Answer:
    return answer_of(json.dumps({"dependencies": dependencies, "fixes": []}), "")


def test_what_is_known_is_counted_and_what_is_wrong_is_named():
    assert answer(CLEAN, HIT, MISSED) == Answer(2, ("c",), ("b 2.0: PYSEC-1, fixed in 2.1",))


@pytest.mark.parametrize(
    ("output", "said", "problem"),
    [
        (json.dumps({"dependencies": [MISSED]}), "No known vulnerabilities found", "none of 1 packages"),
        (json.dumps({"dependencies": []}), "", "pins nothing"),
        ("", "Traceback\nConnectionError: no route\n", "ConnectionError: no route"),
        ("", "", "no output"),
    ],
)
def test_an_answer_about_nothing_is_no_answer(output, said, problem):
    assert problem in answer_of(output, said).problem


@pytest.mark.parametrize(
    ("answers", "required", "code", "says"),
    [
        ({"pypi": answer(CLEAN)}, True, 0, "1 packages looked up at pypi, 0 advisories"),
        ({"pypi": answer(HIT)}, False, 1, "b 2.0: PYSEC-1, fixed in 2.1"),
        ({"pypi": answer(CLEAN, MISSED)}, False, 0, "not known there: c"),
        ({"pypi": answer(CLEAN, MISSED)}, True, 1, "not known there: c"),
        ({"pypi": answer(MISSED), "osv": answer(CLEAN)}, True, 0, "looked up at osv"),
        ({"pypi": answer(MISSED), "osv": Answer(problem="down")}, False, 0, "not reachable: skipped"),
        ({"pypi": answer(MISSED), "osv": Answer(problem="down")}, True, 1, "not reachable: required"),
    ],
)
def test_the_verdict(answers, required, code, says):
    found, lines = verdict("requirements.txt", answers, required=required)
    assert found == code
    assert says in "\n".join(lines)
