"""Why claim, official grade and corrected grade differ: the tests, the defect, and the lines of the log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from utboost_action.aliases import AliasRule
from utboost_action.grading import CorrectedGrade, ListedTest, ListName, OfficialGrade


class Defect(StrEnum):
    """What makes a difference."""

    CLAIM = "the submission claims otherwise"
    REFUSED = "the harness refuses the log"
    UNSUPPORTED = "the log supports no grade"
    NAME = "the listed name is not the id of a test"
    LOST = "the harness reads no result for the test"
    FALSE_PASS = "the harness reads a pass where the runner shows none"  # noqa: S105
    FALSE_FAIL = "the harness reads a failure where the runner shows a pass"
    NO_TEST = "the harness reads a result for what is no test of this log"
    ABSENT = "the log does not show the test, which the harness counts as a failure"
    SKIPPED = "skipped tests are counted differently"
    UNKNOWN_STATUS = "the harness does not know the status and leaves the test out"
    AMBIGUOUS = "the tests behind the name disagree"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One reason for a difference; `test` is empty where it is about the log as a whole.

    official, corrected: status words, `absent`, `refused`, or `resolved` / `not resolved` / `unknown`.
    lines: first and last line of the evidence, counted from 1, or None.
    """

    defect: Defect
    official: str
    corrected: str
    test: str = ""
    listed_in: ListName | None = None
    ids: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    detail: str = ""


def explain_difference(
    official: OfficialGrade | None, corrected: CorrectedGrade, claimed: bool | None = None
) -> tuple[Disagreement, ...]:
    """List what tells the readings of one log apart, from each other and from the claim.

    Tests whose outcome differs are listed also where `resolved` comes out the same.
    """
    return (
        *_about_claim(official, corrected, claimed),
        *_about_log(official, corrected),
        *_about_tests(official, corrected),
    )


def said(resolved: bool | None) -> str:
    """Name a three-valued `resolved`."""
    return "unknown" if resolved is None else "resolved" if resolved else "not resolved"


def _about_claim(
    official: OfficialGrade | None, corrected: CorrectedGrade, claimed: bool | None
) -> Iterator[Disagreement]:
    graded = None if official is None else official.resolved
    readings = {reading for reading in (graded, corrected.resolved) if reading is not None}
    if claimed is None or readings <= {claimed}:
        return
    failing = corrected.failing[:1]
    yield Disagreement(
        Defect.CLAIM,
        said(graded),
        said(corrected.resolved),
        test=failing[0].name if failing else "",
        lines=_lines(failing[0]) if failing else None,
        detail=f"claimed: {said(claimed)}; {len(corrected.failing)} listed tests are seen not to pass",
    )


def _about_log(official: OfficialGrade | None, corrected: CorrectedGrade) -> Iterator[Disagreement]:
    if official is None:
        return
    if official.refused is not None and corrected.resolved is not False:
        yield Disagreement(Defect.REFUSED, "refused", said(corrected.resolved), detail=official.refused)
    elif official.resolved and corrected.resolved is not True:
        for reason in corrected.log_reasons:
            yield Disagreement(Defect.UNSUPPORTED, "resolved", said(corrected.resolved), detail=reason)


def _about_tests(official: OfficialGrade | None, corrected: CorrectedGrade) -> Iterator[Disagreement]:
    if official is None or official.refused is not None:
        return
    lists = {ListName.FAIL_TO_PASS: official.fail_to_pass, ListName.PASS_TO_PASS: official.pass_to_pass}
    counted = {
        (listed_in, name): passes
        for listed_in, grade in lists.items()
        for passes, names in ((True, grade.success), (False, grade.failure))
        for name in names
    }
    for test in corrected.tests:
        passes = counted.get((test.listed_in, test.name))
        if passes is test.passes:
            continue
        word = official.statuses.get(test.name)
        yield Disagreement(
            _defect(word, passes, test),
            word or "absent",
            str(test.status) if test.status else "absent",
            test=test.name,
            listed_in=test.listed_in,
            ids=test.standing.ids,
            lines=_lines(test),
            detail="; ".join(part for part in (_by_name(test), test.reason) if part),
        )


def _defect(word: str | None, official: bool | None, test: ListedTest) -> Defect:
    """The first description that fits, the most telling ones first."""
    rule = test.standing.rule
    if official is None:
        return Defect.UNKNOWN_STATUS
    if rule is AliasRule.ARTEFACT or (test.status is None and word is not None):
        return Defect.NO_TEST
    if test.passes is None and test.standing.must_agree and test.standing.ambiguous:
        return Defect.AMBIGUOUS
    if "SKIPPED" in (word, test.status):
        return Defect.SKIPPED
    if word is None and rule is AliasRule.MISSING:
        return Defect.ABSENT
    if word is None:
        return Defect.LOST if rule is AliasRule.EXACT else Defect.NAME
    return Defect.FALSE_PASS if official else Defect.FALSE_FAIL


def _by_name(test: ListedTest) -> str:
    return "" if test.standing.rule is AliasRule.EXACT else f"found as: {test.standing.rule}"


def _lines(test: ListedTest) -> tuple[int, int] | None:
    return (test.evidence.first_line, test.evidence.last_line) if test.evidence else None
