"""The artefacts of a submission against each other: one contradiction a test."""

from __future__ import annotations

import json

import pytest
from unit.leaderboard.submission_builders import Builder, instances, log_text, patch_of, row

from utboost_action.leaderboard import read_submission, take_in
from utboost_action.leaderboard.crosscheck import report_vs_regrade
from utboost_action.leaderboard.kinds import FindingKind, Weight, weight_of
from utboost_action.model import Finding

IDS = ("a__b-1", "a__b-2", "a__b-3")
PATCHES = {key: patch_of(added=f"z = {key[-1]}") for key in IDS}


def findings(build: Builder, kind: str) -> list[Finding]:
    submission = read_submission(build.root, instances=instances(*IDS), split="verified")
    return [item for item in submission.findings if item.kind == kind]


def ids(build: Builder, kind: str) -> set[str]:
    return {key for item in findings(build, kind) for key in item.ids}


@pytest.fixture
def base(build: Builder) -> Builder:
    """Three predictions with logs; the first two resolved."""
    build.predictions(PATCHES).metadata().results(["a__b-1", "a__b-2"])
    for key in IDS:
        build.log(key, patch=PATCHES[key], resolved=key != "a__b-3")
    return build


def test_patch_files(base: Builder) -> None:
    base.put("logs/a__b-1/patch.diff", patch_of(added="other = 1"))
    base.put("logs/a__b-2/patch.diff", " \n")
    base.put("logs/a__b-3/patch.diff", PATCHES["a__b-3"].replace("\n", "\r\n").rstrip())
    assert ids(base, "patch_differs") == {"a__b-1"}
    assert ids(base, "patch_diff_empty") == {"a__b-2"}
    assert ids(base, "patch_same_after_normalising") == {"a__b-3"}
    base.predictions({**PATCHES, "a__b-1": ""})
    assert ids(base, "patch_diff_without_prediction") == {"a__b-1"}


def test_a_fenced_prediction_equals_the_patch_diff_inside_and_outside_its_fence(base: Builder) -> None:
    fenced = f"```diff\n{PATCHES['a__b-1']}```"
    base.predictions({**PATCHES, "a__b-1": fenced})
    assert ids(base, "patch_differs") == set()
    base.put("logs/a__b-1/patch.diff", fenced)
    assert ids(base, "patch_differs") == set()


def test_results_against_reports(base: Builder) -> None:
    base.results(["a__b-1", "a__b-3"])
    assert ids(base, "results_vs_report") == {"a__b-2", "a__b-3"}


def test_results_against_predictions(base: Builder) -> None:
    base.results(["a__b-1", "x__y-1"], no_generation=["a__b-2"])
    assert ids(base, "result_without_prediction") == {"x__y-1"}
    assert ids(base, "claimed_id_unknown") == {"x__y-1"}
    assert ids(base, "results_vs_predictions") == {"a__b-2"}
    base.predictions({**PATCHES, "a__b-1": ""})
    assert ids(base, "resolved_without_patch") == {"a__b-1"}


def test_results_against_themselves(base: Builder) -> None:
    base.results(["a__b-1", "a__b-1", "../x"], no_logs=["a__b-1"])
    assert ids(base, "results_contradict") == {"a__b-1"}
    assert ids(base, "results_miscounted") == {"a__b-1"}
    assert ids(base, "invalid_id") == {"../x"}
    base.results(["a__b-1", "a__b-2"]).put(
        "results/resolved_by_repo.json", '{"a/b": {"resolved": 9, "total": 9}}'
    )
    assert "adds up to 9" in findings(base, "results_miscounted")[0].detail


def test_a_run_report_is_read_and_held_against_the_results(base: Builder) -> None:
    report = {
        "schema_version": 2,
        "total_instances": 3,
        "submitted_instances": 2,
        "resolved_instances": 5,
        "resolved_ids": ["a__b-1"],
        "unresolved_ids": ["a__b-1"],
    }
    base.put("m.run.json", json.dumps(report))
    assert ids(base, "results_contradict") == {"a__b-1", "a__b-2"}
    assert "resolved: 5 counted, 1 listed" in findings(base, "results_miscounted")[0].detail
    assert "submitted_instances is 2" in findings(base, "results_vs_predictions")[0].detail
    (base.root / "results/results.json").unlink()
    assert read_submission(base.root).claim.where == "m.run.json (run report)"


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ('{"resolved": ["a__b-1"]}', {"a__b-1"}),
        ('["a__b-1"]', {"a__b-1"}),
        ('{"a__b-1": true, "a__b-2": false}', {"a__b-1"}),
        ('{"a__b-1": {"resolved": true}, "a__b-2": {"resolved": false}}', {"a__b-1"}),
        ('{"total_instances": 9, "resolved": ["a__b-1"]}', {"a__b-1"}),
        ('{"resolved": 7}', None),
        ("7", None),
    ],
)
def test_shapes_of_results(build: Builder, text: str, resolved: set[str] | None) -> None:
    build.predictions(PATCHES).put("results/results.json", text)
    assert read_submission(build.root).claim.resolved == resolved
    assert bool(findings(build, "results_unknown_shape")) is (resolved is None)


def test_more_results_than_instances(base: Builder) -> None:
    base.results([*IDS, "x__y-1"])
    assert (
        findings(base, "more_results_than_instances")[0].detail == "results for 4 instances, the split has 3"
    )


def test_reports(base: Builder) -> None:
    status = {"FAIL_TO_PASS": {"success": [], "failure": ["t1"]}}
    base.put("logs/a__b-1/report.json", json.dumps({"a__b-1": {"resolved": True, "tests_status": status}}))
    base.put("logs/a__b-2/report.json", json.dumps({"a__b-9": {"resolved": True}}))
    base.put("logs/a__b-3/report.json", "{}")
    assert ids(base, "report_contradicts_itself") == {"a__b-1"}
    assert ids(base, "report_of_other_instance") == {"a__b-2"}
    assert ids(base, "unreadable_file") == {"a__b-3"}


def test_report_says_not_applied_and_tests_ran(base: Builder) -> None:
    base.log("a__b-3", applied=False, resolved=False, text=log_text(markers=False))
    assert ids(base, "report_says_patch_not_applied_but_tests_ran") == {"a__b-3"}
    base.log("a__b-3", applied=False, resolved=False, text="+ git apply -v -\nerror\n")
    assert ids(base, "report_says_patch_not_applied_but_tests_ran") == set()


def test_logs(base: Builder) -> None:
    base.log("a__b-1", text=log_text(markers=False))
    base.log("a__b-2", text=json.dumps(log_text()))
    base.log("x__y-1")
    (base.root / "logs/a__b-3/test_output.txt").unlink()
    (base.root / "logs/a__b-3/report.json").unlink()
    assert ids(base, "no_markers") == {"a__b-1"}
    assert ids(base, "quoted_test_output") == {"a__b-2"}
    assert ids(base, "missing_log") == {"a__b-3"}
    assert ids(base, "log_without_prediction") == {"x__y-1"}
    assert findings(base, "mixed_generations")


@pytest.mark.parametrize(
    "forged",
    [
        log_text(exit_code=1).replace("+ pytest\n", "+ pytest\n>>>>> Test Exit Code: 0\n"),
        log_text().replace("+ pytest\n", "+ pytest\n+ : '>>>>> End Test Output'\n"),
        log_text().replace("+ pytest\n", "+ pytest\n>>>>> End Test Output\n"),
        log_text().replace(
            "+ pytest\n",
            "PASSED t.py::test_a\n===== short test summary info =====\nFAILED t.py::test_a - assert 0\n",
        ),
    ],
)
def test_forged_logs(base: Builder, forged: str) -> None:
    base.log("a__b-1", text=forged)
    assert ids(base, "forged_log") == {"a__b-1"}


def test_a_marker_glued_to_test_output_is_no_forgery(base: Builder) -> None:
    base.log("a__b-1", text=log_text().replace("+ : '>>>>> End", "no newline+ : '>>>>> End"))
    assert ids(base, "forged_log") == set()


def test_without_logs(build: Builder) -> None:
    build.predictions(PATCHES).metadata().results(["a__b-1"])
    assert ids(build, "no_logs") == set(IDS)
    assert findings(build, "claim_without_logs")
    build.metadata("assets: {logs: 's3://bucket/logs', trajs: 's3://bucket/trajs'}")
    assert ids(build, "logs_not_in_pull_request") == set(IDS)
    assert not findings(build, "no_logs")
    assert not findings(build, "claim_without_logs")


def test_trajectories(base: Builder) -> None:
    assert findings(base, "no_trajs")
    base.put("trajs/a__b-1.traj", "").put("trajs/a__b-2/step.json", "").put("trajs/x__y-1.log", "")
    assert ids(base, "traj_without_prediction") == {"x__y-1"}
    assert ids(base, "missing_traj") == {"a__b-3"}


def test_two_prediction_files(base: Builder) -> None:
    base.put("preds.json", json.dumps({key: {"model_patch": patch} for key, patch in PATCHES.items()}))
    assert not findings(base, "prediction_files_differ")
    base.put("preds.json", "[" + row("a__b-1", "other").strip() + "]")
    assert findings(base, "prediction_files_differ")[0].where == "preds.json"


@pytest.mark.parametrize(
    ("metadata", "readme", "kind"),
    [
        ("name: a\n", "Resolved: 2 of 3\n", None),
        ("name: a\n", "Resolved: 3 of 3\n", "claim_differs"),
        ("pass_rate: 66.67% (2/3)\n", "", None),
        ("pass_rate: 66.6% (2/3)\n", "", None),
        ("pass_rate: 80% (2/3)\n", "", "rate_miscomputed"),
        ("pass_rate: 80%\n", "", "rate_miscomputed"),
        ("name: a\n", "We resolved 2/1 tasks\n", "rate_miscomputed"),
        ("name: a\n", "Resolved 2 instances (66.67%)\n", None),
        ("name: a\n", "Resolved 3 instances\n", "claim_differs"),
        ("name: a\n", "Another agent resolved 1 of 9\nours resolved 2 of 3\n", None),
        ("successful: 1\n", "", "claim_differs"),
        ("successful: 2\ntotal_tasks: 5\n", "", "predictions_fewer_than_claimed_total"),
        ("pass_rate: 40% (2/5)\n", "", "predictions_fewer_than_claimed_total"),
        ("name: a\nsite: '://x'\n", "", "site_refused"),
        ("name: a\nsite: [ftp://x, 'https://example.org']\n", "", None),
        ("name: 'a\u202eb'\n", "", "name_refused"),
        ("tags: {system: {attempts: '2+'}}\n", "", "several_attempts"),
        ("tags: {system: {attempts: '1'}}\n", "", None),
    ],
)
def test_figures(base: Builder, metadata: str, readme: str, kind: str | None) -> None:
    base.metadata(metadata).put("README.md", readme)
    checked = (
        "claim_differs",
        "rate_miscomputed",
        "predictions_fewer_than_claimed_total",
        "site_refused",
        "name_refused",
        "several_attempts",
    )
    assert [name for name in checked if findings(base, name)] == ([kind] if kind else [])


def test_metadata_json_and_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    build = Builder(tmp_path_factory.mktemp("x") / "submissions" / "verified" / "20260101_agent")
    build.predictions(PATCHES).put("metadata.json", '{"success_count": 2}')
    assert findings(build, "wrong_metadata")
    assert (
        findings(build, "wrong_folder")[0].detail
        == "submissions/verified/... instead of evaluation/verified/..."
    )
    (build.root / "metadata.json").unlink()
    assert findings(build, "no_metadata")


def test_report_against_a_regraded_log(base: Builder) -> None:
    material = take_in(base.root).material
    found = report_vs_regrade(material, {"a__b-1": False, "a__b-2": True, "a__b-3": None})
    assert [(item.kind, item.ids) for item in found] == [("report_vs_log", ("a__b-1",))]


def test_every_kind_has_a_weight_and_notes_are_notes() -> None:
    assert weight_of(FindingKind.PATCH_SAME_AFTER_NORMALISING) is Weight.NOTE
    assert weight_of(FindingKind.CONFTEST) is Weight.REVIEW
    assert weight_of(FindingKind.PATCH_DIFFERS) is Weight.FAULT
    assert weight_of("of another stage") is Weight.FAULT
