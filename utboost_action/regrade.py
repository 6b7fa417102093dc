"""One instance and its log into claimed, official and corrected, with what makes them differ."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from utboost_action.bypasses import find_bypasses
from utboost_action.disagreement import Disagreement, explain_difference
from utboost_action.errors import InputError
from utboost_action.grading import (
    CorrectedGrade,
    OfficialGrade,
    OfficialRules,
    grade_corrected,
    grade_official,
)
from utboost_action.logs import parser_for_repo, read_log
from utboost_action.logs.official import Harness, OfficialReading, harness_of, official_report_map
from utboost_action.logs.slicing import unquote
from utboost_action.model import Finding, Instance, ParsedLog, Prediction, PredictionClass, Submission

MAX_LOG = 256 << 20  # bytes of one submitted log that are read

# Findings of the intake after which a log no longer speaks for the submitted patch.
DOUBTS = {
    "patch_differs": "the evaluated patch is not the submitted one",
    "patch_diff_empty": "the evaluated patch is not the submitted one",
    "duplicate_id_conflict": "two different predictions",
}


@dataclass(frozen=True, slots=True)
class Regrade:
    """What one instance's own files support.

    official: by the harness of the log's generation (None without a log or an evaluated patch);
    official_latest: by swebench 5.0.2 on the same log, the same value when the log has markers.
    findings: known ways around the official grader seen in the log (`bypasses.py`).
    """

    instance_id: str
    claimed: bool | None
    official: OfficialGrade | None
    official_latest: OfficialGrade | None
    corrected: CorrectedGrade
    disagreements: tuple[Disagreement, ...] = ()
    findings: tuple[Finding, ...] = ()
    parsed: ParsedLog | None = None


def regrade_log(
    instance: Instance,
    data: bytes | None,
    *,
    claimed: bool | None = None,
    prediction: Prediction | None = None,
    doubts: Sequence[str] = (),
    gold_skips: Collection[str] | None = None,
    nonce: str | None = None,
) -> Regrade:
    """Regrade one instance from its log.

    data: the log file as submitted (gzip already undone; a log quoted as one JSON string is unquoted), or
    None. prediction: an empty one is unresolved whatever a log says. doubts: why the log may not speak
    for the submitted patch (`doubts_about`); a resolved then becomes unknown. Raises InputError for a log
    parser that is not of a Python family.
    """
    if prediction is not None and prediction.kind is PredictionClass.EMPTY:
        return _without_log(instance, claimed, CorrectedGrade(False, log_reasons=("the patch is empty",)))
    if data is None:
        return _without_log(instance, claimed, CorrectedGrade(None, log_reasons=("there is no log",)))

    data = unquote(data) or data
    parser = _parser_of(instance)
    reading = official_report_map(data, parser, harness=harness_of(data))
    latest = reading if reading.harness is Harness.V5 else official_report_map(data, parser)
    official = _officially(instance, reading)
    parsed = read_log(data, parser, known_ids=_known_ids(instance), nonce=nonce)
    corrected = grade_corrected(parsed, instance, official=reading.statuses, gold_skips=gold_skips)
    doubts = (*doubts, *_test_patch_doubts(data))
    if doubts:
        corrected = CorrectedGrade(None, corrected.tests, (*doubts, *corrected.log_reasons))
    return Regrade(
        instance_id=instance.instance_id,
        claimed=claimed,
        official=official,
        official_latest=official if latest is reading else _officially(instance, latest),
        corrected=corrected,
        disagreements=explain_difference(official, corrected, claimed),
        findings=find_bypasses(data, reading.statuses, official, corrected, parsed),
        parsed=parsed,
    )


def regrade_submission(submission: Submission, instances: Mapping[str, Instance]) -> Iterator[Regrade]:
    """Regrade every instance that has a prediction or a log, one log in memory at a time.

    A row whose log no reader knows is left out. Yields in the order of `instances`.
    """
    resolved = submission.claim.resolved
    for instance_id, instance in instances.items():
        path = submission.logs.get(instance_id)
        prediction = submission.predictions.get(instance_id)
        if path is None and prediction is None:
            continue
        with contextlib.suppress(InputError):
            yield regrade_log(
                instance,
                read_submitted_log(path) if path else None,
                claimed=None if resolved is None else instance_id in resolved,
                prediction=prediction,
                doubts=doubts_about(instance_id, submission.findings),
            )


def read_submitted_log(path: Path) -> bytes | None:
    """A submitted log, or None when it is too large to be one or cannot be read."""
    try:
        return path.read_bytes() if path.stat().st_size <= MAX_LOG else None
    except OSError:
        return None


def doubts_about(instance_id: str, findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return why an instance's log may not speak for its patch, from the findings of the intake."""
    named = (found.kind for found in findings if instance_id in found.ids and found.kind in DOUBTS)
    return tuple(dict.fromkeys(DOUBTS[kind] for kind in named))


_APPLY_TEST_PATCH = re.compile(rb"^\+ git apply -v -[ \r]*\n((?:(?!\+ )[^\n]*\n){0,2000})", re.MULTILINE)


def _test_patch_doubts(data: bytes) -> tuple[str, ...]:
    """Whether the log says that the test patch did not apply: then the official tests never ran."""
    applied = _APPLY_TEST_PATCH.search(data)
    if applied is not None:
        said = applied[1]
        failed = b"error: " in said and b"Applied patch " not in said
    else:
        failed = b">>>>> Applied Patch (pred)" in data and b">>>>> Applied Patch (test)" not in data
    return ("the test patch did not apply, so the listed tests are not the official ones",) if failed else ()


def _without_log(instance: Instance, claimed: bool | None, corrected: CorrectedGrade) -> Regrade:
    why = explain_difference(None, corrected, claimed)
    return Regrade(instance.instance_id, claimed, None, None, corrected, why)


def _officially(instance: Instance, reading: OfficialReading) -> OfficialGrade:
    refused = None if reading.refused is None else f"{reading.refused}: {reading.detail}"
    return grade_official(
        reading.statuses,
        instance.fail_to_pass,
        instance.pass_to_pass,
        fail_only=instance.fail_only,
        refused=refused,
        rules=OfficialRules(reading.harness.value),
    )


def _parser_of(instance: Instance) -> str:
    parser = instance.log_parser or parser_for_repo(instance.repo)
    if parser is None:
        raise InputError(
            f"{instance.instance_id}: the row names no log_parser, and none is known for {instance.repo}"
        )
    return parser


def _known_ids(instance: Instance) -> tuple[str, ...]:
    """Listed names that are whole pytest ids: they repair an id that stderr text is glued to.

    Other names stay out, since a docstring or a cut id would let printed text count as a test.
    """
    names = (*instance.fail_to_pass, *instance.pass_to_pass)
    return tuple(name for name in names if "::" in name and name.count("[") == name.count("]"))
