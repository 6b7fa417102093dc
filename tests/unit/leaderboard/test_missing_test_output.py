"""A report that grades tests needs the log it graded."""

import json
from pathlib import Path

import pytest
from builders import diff

from utboost_action.leaderboard import read_submission


@pytest.mark.parametrize(("report", "missing"), [({"resolved": True}, True), ({"resolved": False}, False)])
def test_a_grade_without_its_test_output_is_named(tmp_path: Path, report, missing):
    folder = tmp_path / "evaluation/verified/20260101_agent"
    for number in (1, 2):
        logs = folder / f"logs/django__django-{number}"
        logs.mkdir(parents=True)
        (logs / "patch.diff").write_text(diff())
        value = {"patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True, **report}
        (logs / "report.json").write_text(json.dumps({f"django__django-{number}": value}))
    (folder / "logs/django__django-1/test_output.txt").write_text("+ : '>>>>> Start Test Output'\n")
    lines = [
        {"instance_id": f"django__django-{n}", "model_name_or_path": "m", "model_patch": diff()}
        for n in (1, 2)
    ]
    (folder / "all_preds.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = [f.ids for f in read_submission(folder).findings if f.kind == "missing_log"]
    assert found == ([("django__django-2",)] if missing else [])
