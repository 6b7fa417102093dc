"""Exported rows in the official harness itself, swebench 5.0.2, on the real images.

It needs the harness with all of its dependencies, in an environment of its own, whose python is
`UTBOOST_SWEBENCH`. `make harness` makes one and runs this.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

PYTHON = os.environ.get("UTBOOST_SWEBENCH", "")
pytestmark = [
    pytest.mark.docker,
    pytest.mark.shared,
    pytest.mark.xdist_group("docker"),
    pytest.mark.skipif(not PYTHON, reason="UTBOOST_SWEBENCH names no python with swebench 5.0.2"),
]
INSTANCE = "mwaskom__seaborn-3010"


def test_exported_rows_run_unchanged(shared: Path, built, cli: Path, tmp_path: Path):
    """Gold is resolved; the patch that the official tests let pass is not."""
    built(INSTANCE)
    data = shared / "real"
    rows = tmp_path / "rows.jsonl"
    subprocess.run(
        [
            *(str(cli), "bank", "export", "--bank", str(data / "benchmark/augtests.json"), "--as", "rows"),
            *("--benchmark", str(data / "benchmark/lite.parquet"), "--out", str(rows)),
        ],
        check=True,
        capture_output=True,
    )
    own = [line for line in rows.read_text().splitlines() if json.loads(line)["instance_id"] == INSTANCE]
    rows.write_text("\n".join(own) + "\n")
    resolved = {}
    for name in ("gold", "made"):
        submission = data / f"instances/leaderboard/evaluation/lite/20260101_{name}/all_preds.jsonl"
        lines = [json.loads(line) for line in submission.read_text().splitlines()]
        predictions = tmp_path / f"{name}.jsonl"
        chosen = [{**line, "model_name_or_path": name} for line in lines if line["instance_id"] == INSTANCE]
        predictions.write_text("".join(json.dumps(line) + "\n" for line in chosen))
        subprocess.run(
            [
                *(PYTHON, "-m", "swebench.harness.run_evaluation", "-d", str(rows)),
                *("-p", str(predictions), "-id", f"utboost_{name}", "--max_workers", "1"),
            ],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            timeout=1800,
        )
        (report,) = tmp_path.rglob(f"utboost_{name}/{name}/{INSTANCE}/report.json")
        resolved[name] = json.loads(report.read_text())[INSTANCE]["resolved"]
    assert resolved == {"gold": True, "made": False}
