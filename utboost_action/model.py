"""The values that travel between the stages: frozen dataclasses and enums, no behaviour to speak of.

Every stage may import this module; it imports none of them. Texts are `str`; raw files and logs are
`bytes`, since nothing from outside can be trusted to be UTF-8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

# ---------------------------------------------------------------------------------- logs


class TestStatus(StrEnum):
    """The outcome of one test as its runner sees it."""

    __test__ = False  # pytest: this is no test class

    PASSED = "PASSED"
    FAILED = "FAILED"
    ERROR = "ERROR"
    SKIPPED = "SKIPPED"
    XFAIL = "XFAIL"
    XPASS = "XPASS"

    @property
    def passes(self) -> bool:
        """Whether a run is green with this status, the test having run (an XPASS here is non-strict)."""
        return self in (TestStatus.PASSED, TestStatus.XFAIL, TestStatus.XPASS)

    @property
    def fails(self) -> bool:
        """Whether this status alone makes a run red."""
        return self in (TestStatus.FAILED, TestStatus.ERROR)


class LogFlag(StrEnum):
    """A property of a log that a grade must not overlook."""

    CONFLICT = "conflict"  # one id with two outcomes in top-level runs; the worse one is kept
    FLAKY = "flaky"  # a rerun passed after a failure
    PARTIAL = "partial"  # outcomes without names (dots), so the map cannot be whole
    INCOMPLETE = "incomplete"  # the log was cut
    INJECTION = "injection"  # text that imitates the runner or the harness


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where one outcome stands in a log.

    Lines are counted from 1 over the whole log. `message` is the last line of the failure's
    traceback or assertion (at most 2,000 characters), empty where the log shows none.
    """

    first_line: int
    last_line: int
    kind: str  # "inline": the verdict beside the id; "summary": the runner's closing section
    message: str = ""


@dataclass(frozen=True, slots=True)
class RunnerSummary:
    """The runner's own closing figures, with the meaning of its family (docs/logs.md)."""

    ran: int
    passed: int
    failed: int
    errors: int
    skipped: int
    xfailed: int
    xpassed: int


@dataclass(frozen=True, slots=True)
class ParsedLog:
    """A test log as its runner meant it (the corrected reading).

    statuses: test id as the runner prints it -> outcome. Sympy's ids are bare when one file ran,
        `path:name` when several did.
    events: what is not a test (class or module set-up, collection of a file) -> outcome.
    evidence: test id -> place and message; ids of `statuses` and `events` alike.
    docstrings: test id -> the docstring line printed with it (the alias layer needs it).
    complete: None where the log holds no closing summary and no sign of a cut.
    gradable: False where the log may not be used for a grade (`warnings` says why).
    generation: the slicing that found the test output (docs/logs.md).
    """

    statuses: Mapping[str, TestStatus]
    events: Mapping[str, TestStatus] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    docstrings: Mapping[str, str] = field(default_factory=dict)
    summary: RunnerSummary | None = None
    complete: bool | None = None
    flags: frozenset[LogFlag] = frozenset()
    gradable: bool = True
    generation: str = "text"
    warnings: tuple[str, ...] = ()


# ----------------------------------------------------------------------------- benchmark


@dataclass(frozen=True, slots=True)
class Instance:
    """One task of the benchmark, as its row gives it.

    Fields that older rows lack are None; `derived` names those that were filled by a rule
    (for example `image`), and the row reader says which. `fail_only` is the eval type of rows
    where a listed test that is absent counts as passed.
    """

    instance_id: str
    repo: str
    base_commit: str
    patch: str
    test_patch: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    problem_statement: str = ""
    version: str = ""
    image: str | None = None
    eval_script: str | None = None
    log_parser: str | None = None
    fail_only: bool = False
    derived: tuple[str, ...] = ()


class TestMode(StrEnum):
    """How an augmented test relates to the official test patch."""

    __test__ = False

    EXTENDS = "extends"  # applied on top of the official test patch
    REPLACES = "replaces"  # applied in its place


class BankStatus(StrEnum):
    """How far an augmented test has come: only a confirmed one can make a verdict WRONG."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class Validation:
    """What is known of an augmented test on the trusted sides."""

    gold_runs: int = 0
    base: str | None = None
    flaky: bool = False
    image: str | None = None
    at: str | None = None


class Opinion(StrEnum):
    """What a person decided about an augmented test."""

    CONFIRM = "confirm"
    DISPUTE = "dispute"
    RETIRE = "retire"


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's word on an entry, or on one of its tests (`test`; "" is all of them). at: ISO 8601, UTC."""

    opinion: Opinion
    who: str
    why: str
    at: str
    test: str = ""


class ProgramKind(StrEnum):
    """Programs beside base and gold that an augmented test was tried on (docs/method.md)."""

    VARIANT = "variant"  # gold, rewritten without changing what it does
    MUTANT = "mutant"  # gold with one fault put into a line that it changed
    JUROR = "juror"  # another submission's patch


@dataclass(frozen=True, slots=True)
class Showing:
    """What an entry's tests showed on one more program.

    name: the rewriting, the fault or the submission. key: a digest of the program's patch.
    plausible: the original tests come out as with gold (None: unknown, `problem` says why). fails: the
    tests that gold passes in every repeat and this program does not.
    """

    kind: ProgramKind
    name: str
    key: str
    plausible: bool | None
    fails: tuple[str, ...] = ()
    problem: str = ""


PROPOSED_BY_MODEL = "model:"  # how the `issue_from` of a model's proposal begins


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for and against an augmented test, as far as it was asked (docs/method.md).

    base_messages: test -> the failures of its assertions on base, each run alone (a test stops at its
    first failure; this says what base does at the later ones). issue: the sentence of the issue that the
    test rests on, issue_from: who named it; a model that only proposes it is `model:` and its name.
    fail_to_pass, pass_to_pass: what the official reading of gold and base shows for the whole suite, for
    exported rows.
    """

    showings: tuple[Showing, ...] = ()
    base_messages: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    issue: str = ""
    issue_from: str = ""
    decisions: tuple[Decision, ...] = ()
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()

    @property
    def issue_proposed(self) -> bool:
        """Whether the sentence is a model's proposal that nobody has taken up."""
        return bool(self.issue) and self.issue_from.startswith(PROPOSED_BY_MODEL)


@dataclass(frozen=True, slots=True)
class AugmentedTest:
    """One entry of the bank: a test patch (with final newline) and what is known of it.

    targets: ids of the tests it is about; empty where the source lists none, and then every test
        that it runs counts.
    source: where it comes from (for example `utboost-published`), with its provenance in `rationale`.
    """

    id: str
    instance_id: str
    mode: TestMode
    patch: str
    targets: tuple[str, ...]
    source: str
    status: BankStatus
    validation: Validation = Validation()
    rationale: str = ""
    signals: Signals = Signals()


# --------------------------------------------------------------------------- leaderboard


class PredictionClass(StrEnum):
    """What a submitted patch is, before anything is run."""

    OK = "ok"
    EMPTY = "empty"
    FENCED = "fenced"
    CORRUPT = "corrupt"
    MISSING_KEY = "missing_model_patch_key"


@dataclass(frozen=True, slots=True)
class Prediction:
    """One submitted patch.

    patch: the text to run: taken out of its fence, otherwise as submitted; "" when empty or missing.
    where: `file:line` (or file and key) of the submission.
    detail: for a patch that cannot be read, what is wrong and in which line of it.
    """

    instance_id: str
    patch: str
    kind: PredictionClass
    where: str
    model_name: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a reader of the submission should know; `kind` is from a closed, documented list."""

    kind: str
    detail: str
    ids: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a submission says of itself: the resolved ids and where it says so (None: it says nothing)."""

    resolved: frozenset[str] | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission, read as data.

    predictions: the one that counts for each instance id (the last, as the harness does).
    logs: instance id -> the file with its test output, inside `root`.
    """

    name: str
    root: Path
    generation: str
    split: str | None
    predictions: Mapping[str, Prediction]
    claim: Claim = Claim()
    logs: Mapping[str, Path] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


# ----------------------------------------------------------------------------- execution


ORIGINAL = "original"  # the suite of the official test patch


class Side(StrEnum):
    """Which program a test ran on."""

    BASE = "base"
    GOLD = "gold"
    CANDIDATE = "candidate"


class RunState(StrEnum):
    """Whether a run says anything about its tests; every state but OK is unknown, never a failure."""

    OK = "ok"
    TIMEOUT = "timeout"
    LOG_LIMIT = "log limit"
    DISK_LIMIT = "disk limit"
    KILLED = "killed"
    TEST_PATCH_FAILED = "test patch does not apply"
    NOT_GRADABLE = "log not gradable"


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of one suite (the original tests or one bank entry) on one side.

    suite: `original` or the id of an augmented test; repeat counts from 0.
    outcomes: as `ParsedLog.statuses`; empty unless state is OK. messages: test id -> its failure's
        message. official: `resolved` by the official rules over the official reading of this log
        (None: not graded). fixes: whether every FAIL_TO_PASS test passes by the corrected reading (None:
        not known). log: the name of the gzip'ed log in its run folder. environment: what this repeat set
    beside the script's own variables (hash seed, clock zone, order). excerpts: test -> the lines of the
    log that show its failure, for the first tests that fail.
    """

    suite: str
    repeat: int
    state: RunState
    detail: str = ""
    exit_code: int | None = None
    outcomes: Mapping[str, TestStatus] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    official: bool | None = None
    fixes: bool | None = None
    log: str = ""
    seconds: float = 0.0
    environment: Mapping[str, str] = field(default_factory=dict)
    excerpts: Mapping[str, str] = field(default_factory=dict)


class SideState(StrEnum):
    """Whether a side could be set up at all."""

    OK = "ok"
    PATCH_FAILED = "patch does not apply"
    SETUP_FAILED = "set-up failed"
    IMAGE_MISSING = "image missing"


@dataclass(frozen=True, slots=True)
class SideRun:
    """All runs of one side of one instance, from one container.

    applied_with: the command of the apply chain that took the patch, empty when there was none to take.
    reverted: files that steer the runner and were put back before the runs. retried: why this is the
    second try, run alone; empty when the first one stands. touched: the files that applying the patch
    changed, whatever its text names; odd names are quoted for a shell.
    """

    key: str
    state: SideState
    runs: tuple[Run, ...] = ()
    detail: str = ""
    applied_with: str = ""
    reverted: tuple[str, ...] = ()
    seconds: float = 0.0
    retried: str = ""
    touched: tuple[str, ...] = ()


# -------------------------------------------------------------------------------- oracle


class Standing(StrEnum):
    """Whether a difference may be held against a patch."""

    CONFIRMED = "confirmed"
    OPEN = "not confirmed yet"
    DOUBTED = "doubted"


class DifferenceKind(StrEnum):
    """What base's outcome makes of a difference (gold passes, the candidate does not)."""

    INCOMPLETE_FIX = "incomplete fix"  # base does not pass either, and in the same way
    REGRESSION = "regression"  # base passes
    DIVERGENCE = "divergence"  # base does not pass, but fails in a way of its own
    UNKNOWN = "base unknown"


@dataclass(frozen=True, slots=True)
class Difference:
    """One test whose outcome differs between gold and candidate, stable over all repeats.

    Outcomes are status words, or `missing` where a complete run does not show the test. fault: what in
    the set-up the failure looks like, empty when like none. standing and grounds: whether the test may be
    believed, and why (docs/method.md). excerpt: the lines of the candidate's log that show the failure.
    """

    test: str
    suite: str
    kind: DifferenceKind
    gold: str
    candidate: str
    base: str
    repeats: int
    message: str = ""
    gold_log: str = ""
    candidate_log: str = ""
    base_message: str = ""
    fault: str = ""
    standing: Standing = Standing.OPEN
    grounds: tuple[str, ...] = ()
    excerpt: str = ""


class VerdictKind(StrEnum):
    """The classes of a report (docs/method.md)."""

    HOLDS = "HOLDS"
    WRONG = "WRONG"
    SUSPECT = "SUSPECT"
    MISGRADED = "MISGRADED"
    NOT_PLAUSIBLE = "NOT_PLAUSIBLE"
    INCONCLUSIVE = "INCONCLUSIVE"


class Cause(StrEnum):
    """Why a verdict is INCONCLUSIVE."""

    NO_IMAGE = "image missing"
    NO_ROW_FIELD = "row incomplete"
    SANDBOX = "sandbox failed"
    GOLD_UNUSABLE = "gold does not pass its own tests"
    PATCH_FAILED = "patch does not apply"
    NO_PATCH = "no patch"
    SETUP_FAILED = "set-up failed"
    RUN_UNKNOWN = "run ended without a result"
    UNSTABLE = "candidate wavers"
    NO_AUGMENTED_TEST = "no augmented test"
    NO_USABLE_TEST = "no usable augmented test"
    NOT_AUDITED = "not audited"

    @property
    def is_setup(self) -> bool:
        """Whether it speaks of the set-up, not of the patch; many of these stop an audit."""
        return self in (Cause.NO_IMAGE, Cause.NO_ROW_FIELD, Cause.SANDBOX, Cause.GOLD_UNUSABLE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the audit says of one submitted patch, with its reasons and evidence.

    claimed: None where the submission claims nothing. official: `resolved` by the official rules over
    the official reading of our own replay (None: no replay). plausible: P(T_orig) = P'(T_orig)
    (None: unknown). cause: for an INCONCLUSIVE, a short stable word for the kind of obstacle.
    """

    instance_id: str
    kind: VerdictKind
    reasons: tuple[str, ...]
    claimed: bool | None = None
    official: bool | None = None
    regraded: bool | None = None
    plausible: bool | None = None
    differences: tuple[Difference, ...] = ()
    flaky: tuple[str, ...] = ()
    applied_with: str = ""
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit.

    verdicts: one for each instance that was asked for and has a prediction, in the benchmark's order.
    total: the size of the split, split_ids its instances. notes: what a reader must know to judge the
    figures (rows that could not be read, fields that a rule filled in, a sandbox that isolates nothing).
    problem: why the audit stopped before its end, empty when it did not. gold: instance id -> gold patch.
    """

    submission: Submission
    benchmark: str
    total: int
    split_ids: frozenset[str]
    verdicts: tuple[Verdict, ...]
    tests: Mapping[str, tuple[AugmentedTest, ...]]
    sandbox: str
    repeats: int
    notes: tuple[str, ...] = ()
    problem: str = ""
    gold: Mapping[str, str] = field(default_factory=dict)
