"""Statuses and lists into `resolved`: by the official rules, and by what the log really shows.

The official rules are those of swebench 5.0.2 (2.1.8 for logs of its time) to the letter. The corrected
rules ask for positive evidence of every listed test, through the alias layer (`aliases.py`), and leave
unknown what the log leaves unknown. docs/grading.md tells both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from utboost_action.aliases import AliasLayer, AliasRule, Standing, worst
from utboost_action.model import Evidence, Instance, LogFlag, ParsedLog, TestStatus
from utboost_action.patches import touched_paths

# --------------------------------------------------------------------------- official


class OfficialRules(StrEnum):
    """Whose status table and name rules are applied."""

    V2 = "2.1.8"
    V5 = "5.0.2"


class Resolution(StrEnum):
    """How far an instance is resolved; only FULL counts."""

    FULL = "RESOLVED_FULL"
    PARTIAL = "RESOLVED_PARTIAL"
    NO = "RESOLVED_NO"


@dataclass(frozen=True, slots=True)
class ListGrade:
    """One official list, sorted by outcome in the list's order; `neither` drops out of the ratio."""

    success: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()
    neither: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """Success over what was counted; 1 when nothing was."""
        counted = len(self.success) + len(self.failure)
        return len(self.success) / counted if counted else 1.0


@dataclass(frozen=True, slots=True)
class OfficialGrade:
    """What the official harness says of an instance.

    statuses: listed name -> the status word that counted for it; names without one are absent.
    refused: why the log was not graded (the harness then says that the patch was not applied), else None.
    """

    resolved: bool
    rules: OfficialRules
    fail_to_pass: ListGrade = ListGrade()
    pass_to_pass: ListGrade = ListGrade()
    statuses: Mapping[str, str] = field(default_factory=dict)
    refused: str | None = None

    @property
    def resolution(self) -> Resolution:
        """FULL: both ratios are 1; PARTIAL: some of FAIL_TO_PASS and all of PASS_TO_PASS."""
        if self.refused is not None or self.pass_to_pass.ratio < 1:
            return Resolution.NO
        f2p = self.fail_to_pass.ratio
        return Resolution.FULL if f2p == 1 else Resolution.PARTIAL if f2p > 0 else Resolution.NO


_PASSING = ("PASSED", "XFAIL")
_FAILING = {
    OfficialRules.V2: ("FAILED", "ERROR"),
    OfficialRules.V5: ("FAILED", "ERROR", "SKIPPED"),
}


def grade_official(
    statuses: Mapping[str, str],
    fail_to_pass: Sequence[str],
    pass_to_pass: Sequence[str],
    *,
    fail_only: bool = False,
    refused: str | None = None,
    rules: OfficialRules = OfficialRules.V5,
) -> OfficialGrade:
    """Grade an official reading against the official lists.

    `statuses` is the map of an official parser, in its order; `refused` its refusal, which makes the
    instance unresolved whatever the map holds. Source: get_eval_report of swebench 5.0.2 and 2.1.8.
    """
    if refused is not None:
        return OfficialGrade(resolved=False, rules=rules, refused=refused)
    words: dict[str, str] = {}
    for name in (*fail_to_pass, *pass_to_pass):
        key = name if fail_only or rules is OfficialRules.V2 else _official_key(name, statuses)
        if key is not None and key in statuses:
            words[name] = statuses[key]
    if fail_only:
        f2p, p2p = (_fail_only_list(names, words) for names in (fail_to_pass, pass_to_pass))
    else:
        maintained = (*_PASSING, "SKIPPED") if rules is OfficialRules.V5 else _PASSING
        f2p = _graded_list(fail_to_pass, words, _PASSING, _FAILING[rules])
        p2p = _graded_list(pass_to_pass, words, maintained, _FAILING[rules])
    resolved = f2p.ratio == 1 and p2p.ratio == 1
    return OfficialGrade(resolved, rules, f2p, p2p, words)


def _official_key(name: str, statuses: Mapping[str, str]) -> str | None:
    """The key that counts for a name: itself, or for a cut id the first of a prefix group that agrees."""
    if name in statuses:
        return name
    if name.count("[") <= name.count("]"):
        return None
    keys = [key for key in statuses if key.startswith(name)]
    return keys[0] if len({statuses[key] in _PASSING for key in keys}) == 1 else None


def _graded_list(
    names: Sequence[str], words: Mapping[str, str], passing: Collection[str], failing: Collection[str]
) -> ListGrade:
    success, failure, neither = [], [], []
    for name in names:
        word = words.get(name)
        if word in passing:
            success.append(name)
        elif word is None or word in failing:
            failure.append(name)
        else:
            neither.append(name)
    return ListGrade(tuple(success), tuple(failure), tuple(neither))


def _fail_only_list(names: Sequence[str], words: Mapping[str, str]) -> ListGrade:
    failure = tuple(name for name in names if words.get(name) == "FAILED")
    return ListGrade(tuple(name for name in names if words.get(name) != "FAILED"), failure)


# -------------------------------------------------------------------------- corrected


class ListName(StrEnum):
    """Which official list names a test."""

    FAIL_TO_PASS = "FAIL_TO_PASS"  # noqa: S105 (no password: the name of a list)
    PASS_TO_PASS = "PASS_TO_PASS"  # noqa: S105


@dataclass(frozen=True, slots=True)
class ListedTest:
    """One listed name and what the corrected reading says of it.

    status: the worst of the statuses behind the name; None when nothing in the log stands for it.
    passes: True and False need evidence in the log; None is unknown, and `reason` says why.
    """

    name: str
    listed_in: ListName
    standing: Standing
    status: TestStatus | None
    passes: bool | None
    reason: str = ""
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class CorrectedGrade:
    """What the log really supports: resolved, not resolved, or None (inconclusive).

    log_reasons: why the log as a whole supports no `resolved` (cut, injected, not gradable, no lists).
    """

    resolved: bool | None
    tests: tuple[ListedTest, ...] = ()
    log_reasons: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Everything that stands between this log and `resolved`, in words."""
        open_tests = (test for test in self.tests if not test.passes)
        return (*self.log_reasons, *(f"{test.name}: {test.reason}" for test in open_tests))

    @property
    def failing(self) -> tuple[ListedTest, ...]:
        """The listed tests that were seen not to pass."""
        return tuple(test for test in self.tests if test.passes is False)

    @property
    def unknown(self) -> tuple[ListedTest, ...]:
        """The listed tests of which the log says nothing that counts."""
        return tuple(test for test in self.tests if test.passes is None)

    @property
    def ambiguous(self) -> tuple[ListedTest, ...]:
        """The listed names that stand for several tests."""
        return tuple(test for test in self.tests if test.standing.ambiguous)


def grade_corrected(
    parsed: ParsedLog,
    instance: Instance,
    *,
    official: Mapping[str, str] | None = None,
    gold_skips: Collection[str] | None = None,
) -> CorrectedGrade:
    """Grade a corrected reading against the lists of an instance, through the alias layer.

    `official` is the official reading of the same log, asked only for names that are no tests (artefacts).
    `gold_skips` are the ids that gold skips in the same image; without it a skipped PASS_TO_PASS test
    settles nothing. Rules: docs/grading.md.
    """
    layer = AliasLayer(parsed, touched_paths(instance.test_patch))
    grader = _ListGrader(parsed, layer, official or {}, gold_skips)
    tests = tuple(grader.graded(name, listed_in) for listed_in, names in _lists(instance) for name in names)
    if not tests:
        return CorrectedGrade(None, log_reasons=("both lists are empty: nothing to grade",))
    obstacles = tuple(_obstacles(parsed))
    if any(_counts_as_failure(test, parsed) for test in tests):
        return CorrectedGrade(False, tests, obstacles)
    settled = not obstacles and all(test.passes for test in tests)
    return CorrectedGrade(True if settled else None, tests, obstacles)


def _lists(instance: Instance) -> tuple[tuple[ListName, tuple[str, ...]], ...]:
    return (
        (ListName.FAIL_TO_PASS, instance.fail_to_pass),
        (ListName.PASS_TO_PASS, instance.pass_to_pass),
    )


class _ListGrader:
    """One listed name at a time against one log."""

    def __init__(
        self,
        parsed: ParsedLog,
        layer: AliasLayer,
        official: Mapping[str, str],
        gold_skips: Collection[str] | None,
    ) -> None:
        self._parsed = parsed
        self._layer = layer
        self._official = official
        self._gold_skips = gold_skips

    def graded(self, name: str, listed_in: ListName) -> ListedTest:
        standing = self._layer.standing(name)
        if standing.rule is AliasRule.ARTEFACT:
            return self._artefact(standing, listed_in)
        if standing.rule is AliasRule.MISSING:
            return ListedTest(name, listed_in, standing, None, *self._missing())
        source = self._parsed.events if standing.rule is AliasRule.EVENT else self._parsed.statuses
        statuses = {test: source.get(test) or self._parsed.statuses[test] for test in standing.ids}
        status = worst(statuses.values())
        decisive = next(test for test in standing.ids if statuses[test] is status)
        evidence = self._parsed.evidence.get(decisive)
        passes, reason = self._verdict(decisive, status, listed_in, evidence)
        if standing.must_agree and len({found.passes for found in statuses.values()}) > 1:
            passes, reason = None, "the tests it may stand for disagree"
        return ListedTest(name, listed_in, standing, status, passes, reason, evidence)

    def _artefact(self, standing: Standing, listed_in: ListName) -> ListedTest:
        passes = True if self._official.get(standing.name) in _PASSING else None
        reason = "names no test; graded as the official reading does" if passes else "names no test"
        return ListedTest(standing.name, listed_in, standing, None, passes, reason)

    def _missing(self) -> tuple[bool | None, str]:
        if _nothing_passed(self._parsed):
            return False, "the runner counts failures and not one test that passed"
        if LogFlag.PARTIAL in self._parsed.flags:
            return None, "the runner printed outcomes without names"
        if self._parsed.complete is False:
            return None, "not in the log, which was cut"
        return None, "not in the log"

    def _verdict(
        self, test: str, status: TestStatus, listed_in: ListName, evidence: Evidence | None
    ) -> tuple[bool | None, str]:
        if status.passes:
            return True, ""
        if status is not TestStatus.SKIPPED:
            if evidence is not None and evidence.message.startswith(NO_VERDICT):
                return None, "started, but the log shows no verdict"
            return False, f"{status}"
        if listed_in is ListName.FAIL_TO_PASS:
            return False, "skipped: a skipped test shows no fix"
        if self._gold_skips is None:
            return None, "skipped, and it is unknown whether gold skips it too"
        skipped_by_gold = test in self._gold_skips
        return skipped_by_gold, "skipped, as by gold" if skipped_by_gold else "skipped, but gold runs it"


NO_VERDICT = "no verdict"  # how the message of a test begins that started and was left open (an ERROR)


def _nothing_passed(parsed: ParsedLog) -> bool:
    """Whether a whole run ended in failure before any test passed, for example at an import."""
    total = parsed.summary
    if total is None or parsed.complete is not True or parsed.statuses:
        return False
    green = total.passed + total.xfailed + total.xpassed + total.skipped
    return green == 0 and total.failed + total.errors > 0


def _obstacles(parsed: ParsedLog) -> list[str]:
    """Why a log supports no `resolved`, whatever its listed tests say."""
    obstacles = []
    if LogFlag.INJECTION in parsed.flags:
        obstacles.append("the log holds text that imitates the runner or the harness")
    if parsed.complete is False:
        obstacles.append("the log was cut")
    if not parsed.gradable:
        obstacles.append("; ".join(("the log is not gradable", *parsed.warnings)))
    return obstacles


def _counts_as_failure(test: ListedTest, parsed: ParsedLog) -> bool:
    """A failure counts in any log that shows it; where text was injected, only the closing section's does."""
    if test.passes is not False:
        return False
    if LogFlag.INJECTION in parsed.flags:
        return test.evidence is not None and test.evidence.kind == "summary"
    return True
