"""Every shape of the catalogue is read as it was meant."""

from __future__ import annotations

import pytest
from unit.logs.log_cases import DJANGO, NOSE, SYMPY, Case
from unit.logs.pytest_cases import PYTEST

from utboost_action.logs import read_log

CASES = [*DJANGO, *NOSE, *SYMPY, *PYTEST]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parser}: {case.name}")
def test_reads_the_shape(case: Case) -> None:
    log = read_log(case.log.encode(), case.parser, known_ids=case.known)
    assert dict(log.statuses) == case.statuses
    assert dict(log.events) == case.events
    assert case.flags <= {flag.value for flag in log.flags}
    if case.docstrings is not None:
        assert dict(log.docstrings) == case.docstrings
    for name, message in case.messages.items():
        assert log.evidence[name].message == message
    if case.complete != "any":
        assert log.complete is case.complete
    if case.gradable is not None:
        assert log.gradable is case.gradable


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parser}: {case.name}")
def test_clean_shapes_are_not_suspected(case: Case) -> None:
    log = read_log(case.log.encode(), case.parser, known_ids=case.known)
    suspected = {flag.value for flag in log.flags} & {"injection", "flaky", "partial", "incomplete"}
    assert suspected == case.flags & {"injection", "flaky", "partial", "incomplete"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parser}: {case.name}")
def test_evidence_lies_in_the_log(case: Case) -> None:
    log = read_log(case.log.encode(), case.parser, known_ids=case.known)
    assert set(log.evidence) == set(log.statuses) | set(log.events)
    for evidence in log.evidence.values():
        assert 1 <= evidence.first_line <= evidence.last_line <= case.log.count("\n") + 1
        assert evidence.kind in ("inline", "summary")
        assert len(evidence.message) <= 2_000


def test_names_are_unique() -> None:
    assert len({(case.parser, case.name) for case in CASES}) == len(CASES)
