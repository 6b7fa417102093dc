"""The closed list of what a reader of a submission may say about it (documented in docs/leaderboard.md).

A finding's weight follows from its kind: FAULT (artefacts contradict each other, or cannot be read),
REVIEW (a patch or a log that a person should look at), NOTE (worth knowing, no fault).
"""

from __future__ import annotations

from enum import StrEnum

from utboost_action.model import Finding


class Weight(StrEnum):
    """How much a finding says against a submission."""

    FAULT = "fault"
    REVIEW = "review"
    NOTE = "note"


class FindingKind(StrEnum):
    """Every kind of finding of the intake; the value is what stands in the JSON."""

    # the tree
    LINK = "link"
    SUBMODULE = "submodule"
    INVALID_NAME = "invalid_name"
    TREE_TOO_LARGE = "tree_too_large"
    WRONG_FOLDER = "wrong_folder"
    # files that cannot be read
    UNREADABLE_FILE = "unreadable_file"
    FILE_TOO_LARGE = "file_too_large"
    LINE_TOO_LONG = "line_too_long"
    NESTING_TOO_DEEP = "nesting_too_deep"
    NOT_A_JSON_NUMBER = "not_a_json_number"
    DUPLICATE_KEY = "duplicate_key"
    YAML_REFUSED = "yaml_refused"
    INVALID_UTF8 = "invalid_utf8"
    # predictions
    NO_PREDICTIONS = "no_predictions"
    PREDICTION_FILES_DIFFER = "prediction_files_differ"
    UNREADABLE_ROW = "unreadable_row"
    MISSING_INSTANCE_ID = "missing_instance_id"
    INVALID_ID = "invalid_id"
    ID_CONFLICT = "id_conflict"
    UNKNOWN_ID = "unknown_id"
    OTHER_SPLIT_ID = "other_split_id"
    OTHER_BENCHMARK = "other_benchmark"
    DUPLICATE_ID = "duplicate_id"
    DUPLICATE_ID_CONFLICT = "duplicate_id_conflict"
    WRONG_KEYS = "wrong_keys"
    EMPTY_PATCH = "empty_patch"
    FENCED_PATCH = "fenced_patch"
    CORRUPT_PATCH = "corrupt_patch"
    BINARY_PATCH = "binary_patch"
    CARRIAGE_RETURNS = "carriage_returns"
    NO_FINAL_NEWLINE = "no_final_newline"
    NUL_BYTES = "nul_bytes"
    SEVERAL_MODEL_NAMES = "several_model_names"
    # metadata and claims
    NO_METADATA = "no_metadata"
    WRONG_METADATA = "wrong_metadata"
    SITE_REFUSED = "site_refused"
    NAME_REFUSED = "name_refused"
    SEVERAL_ATTEMPTS = "several_attempts"
    CLAIM_DIFFERS = "claim_differs"
    RATE_MISCOMPUTED = "rate_miscomputed"
    CLAIM_WITHOUT_LOGS = "claim_without_logs"
    PREDICTIONS_FEWER_THAN_CLAIMED_TOTAL = "predictions_fewer_than_claimed_total"
    # results
    RESULTS_UNKNOWN_SHAPE = "results_unknown_shape"
    RESULTS_MISCOUNTED = "results_miscounted"
    RESULTS_CONTRADICT = "results_contradict"
    RESULTS_VS_PREDICTIONS = "results_vs_predictions"
    RESULTS_VS_REPORT = "results_vs_report"
    RESULT_WITHOUT_PREDICTION = "result_without_prediction"
    RESOLVED_WITHOUT_PATCH = "resolved_without_patch"
    CLAIMED_ID_UNKNOWN = "claimed_id_unknown"
    MORE_RESULTS_THAN_INSTANCES = "more_results_than_instances"
    # logs and reports
    NO_LOGS = "no_logs"
    LOGS_NOT_IN_PULL_REQUEST = "logs_not_in_pull_request"
    MISSING_LOG = "missing_log"
    LOG_WITHOUT_PREDICTION = "log_without_prediction"
    NO_MARKERS = "no_markers"
    MIXED_GENERATIONS = "mixed_generations"
    QUOTED_TEST_OUTPUT = "quoted_test_output"
    FORGED_LOG = "forged_log"
    REPORT_VS_LOG = "report_vs_log"
    REPORT_CONTRADICTS_ITSELF = "report_contradicts_itself"
    REPORT_OF_OTHER_INSTANCE = "report_of_other_instance"
    REPORT_SAYS_PATCH_NOT_APPLIED_BUT_TESTS_RAN = "report_says_patch_not_applied_but_tests_ran"
    PATCH_DIFFERS = "patch_differs"
    PATCH_DIFF_EMPTY = "patch_diff_empty"
    PATCH_DIFF_WITHOUT_PREDICTION = "patch_diff_without_prediction"
    PATCH_SAME_AFTER_NORMALISING = "patch_same_after_normalising"
    # trajectories
    NO_TRAJS = "no_trajs"
    MISSING_TRAJ = "missing_traj"
    TRAJ_WITHOUT_PREDICTION = "traj_without_prediction"
    # integrity of patches
    CONFTEST = "conftest"
    INTERPRETER_START_UP_FILE = "interpreter_start_up_file"
    TEST_CONFIGURATION = "test_configuration"
    WORKFLOW_FILE = "workflow_file"
    BELOW_GIT = "below_git"
    PATH_LEAVES_THE_TREE = "path_leaves_the_tree"
    SYMLINK = "symlink"
    GITLINK = "gitlink"
    TEST_FILE = "test_file"
    OFFICIAL_TEST_FILE = "official_test_file"
    WRITES_AT_IMPORT = "writes_at_import"
    EXITS_PROCESS = "exits_process"
    EXIT_HOOK = "exit_hook"
    PATCHES_REPORTER = "patches_reporter"
    PRINTS_RESULT_LINES = "prints_result_lines"
    SKIPS_TESTS = "skips_tests"
    SLEEPS = "sleeps"
    USES_NETWORK = "uses_network"
    USES_GIT_HISTORY = "uses_git_history"
    DETECTS_TEST_RUN = "detects_test_run"
    JUNK_FILE = "junk_file"
    # likeness to gold
    IDENTICAL_TO_GOLD = "identical_to_gold"
    GOLD_SIMILARITY = "gold_similarity"


_NOTES = frozenset(
    {
        FindingKind.WRONG_FOLDER,
        FindingKind.OTHER_BENCHMARK,
        FindingKind.DUPLICATE_ID,
        FindingKind.INVALID_UTF8,
        FindingKind.EMPTY_PATCH,
        FindingKind.CARRIAGE_RETURNS,
        FindingKind.NO_FINAL_NEWLINE,
        FindingKind.SEVERAL_MODEL_NAMES,
        FindingKind.NO_LOGS,
        FindingKind.LOGS_NOT_IN_PULL_REQUEST,
        FindingKind.NO_MARKERS,
        FindingKind.MIXED_GENERATIONS,
        FindingKind.QUOTED_TEST_OUTPUT,
        FindingKind.PATCH_SAME_AFTER_NORMALISING,
        FindingKind.NO_TRAJS,
        FindingKind.MISSING_TRAJ,
        FindingKind.TEST_FILE,
        FindingKind.SLEEPS,
        FindingKind.JUNK_FILE,
    }
)
_REVIEWS = frozenset(
    kind
    for kind in FindingKind
    if list(FindingKind).index(kind) >= list(FindingKind).index(FindingKind.CONFTEST)
) | {FindingKind.BINARY_PATCH, FindingKind.NUL_BYTES, FindingKind.SEVERAL_ATTEMPTS, FindingKind.LINK}


def weight_of(kind: str) -> Weight:
    """The weight of a kind; a kind that is not in the list (another stage's) counts as a fault."""
    if kind in _NOTES:
        return Weight.NOTE
    return Weight.REVIEW if kind in _REVIEWS else Weight.FAULT


def finding(kind: FindingKind, detail: str, ids: tuple[str, ...] = (), where: str = "") -> Finding:
    """A `model.Finding` of this list, its ids sorted."""
    return Finding(kind=kind.value, detail=detail, ids=tuple(sorted(ids)), where=where)
