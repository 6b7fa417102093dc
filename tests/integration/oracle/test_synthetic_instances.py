"""200 synthetic cases in the local sandbox (UTBOOST_SYNTHETIC=all), 20 of them in every run."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from integration.oracle.synthetic import BODIES, OLD, PER_INSTANCE, diff, generate

from utboost_action.oracle.variants import variants

INSTANCES = 20 if os.environ.get("UTBOOST_SYNTHETIC") == "all" else 2


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("synthetic")
    cases = generate(root, INSTANCES)
    assert len(cases) == INSTANCES * PER_INSTANCE
    return root, cases


def test_no_right_patch_is_flagged_and_the_wrong_ones_are(made, run_cli, tmp_path: Path):
    root, cases = made
    shown = {}
    for folder in sorted((root / "submissions").iterdir()):
        done = run_cli(
            *("audit", folder, "--benchmark", root / "rows.jsonl", "--bank", root / "bank"),
            *("--sandbox", "local", "--trees", root / "trees", "--cache", tmp_path / "runs"),
            *("--out", tmp_path / folder.name, "--jobs", 2, "--json"),
            timeout=1200,
        )
        assert done.returncode == 0, done.stderr
        for item in json.loads(done.stdout)["instances"]:
            shown[folder.name, item["instance_id"]] = item
    counts: Counter[tuple[str, str]] = Counter()
    for case in cases:
        item = shown[case.name.replace(" ", "_").replace(",", ""), case.instance_id]
        counts[case.truth, item["verdict"]] += 1
        if case.truth == "right":
            assert item["verdict"] == "HOLDS", (case, item)
            assert len(item["flaky_tests"]) == 1, item
        elif case.truth == "wrong":
            assert item["verdict"] == "WRONG", (case, item)
            assert item["differences"][0]["repeats"] == 6
        else:
            assert item["verdict"] in ("INCONCLUSIVE", "SUSPECT"), (case, item)
    print(f"{len(cases)} cases:", dict(counts))  # noqa: T201


def test_rewritings_of_gold_are_flagged_by_nothing(made, run_cli, tmp_path: Path):
    """The harm check: every behaviour-preserving variant as a submission of its own."""
    root, cases = made
    gold = next(case for case in cases if case.name == "gold" and case.instance_id == "made__sums-0")
    base = (root / "trees/sums/sums/sums_0.py").read_text()
    source = base.replace(OLD.format(k=2), BODIES["gold"][1].format(k=2))
    rewritten = variants("sums/sums_0.py", base, source, 8)
    assert len(rewritten) >= 4
    for number, variant in enumerate(rewritten):
        patch = diff("sums/sums_0.py", base, variant.text)
        file = tmp_path / f"preds_{number}.jsonl"
        line = {"instance_id": gold.instance_id, "model_name_or_path": "m", "model_patch": patch}
        file.write_text(json.dumps(line) + "\n")
        done = run_cli(
            *("audit", file, "--benchmark", root / "rows.jsonl", "--bank", root / "bank", "--json"),
            *("--sandbox", "local", "--trees", root / "trees", "--cache", tmp_path / "runs"),
            *("--out", tmp_path / str(number)),
        )
        assert done.returncode == 0, done.stderr
        (item,) = json.loads(done.stdout)["instances"]
        assert item["verdict"] == "HOLDS", (variant.name, item)
