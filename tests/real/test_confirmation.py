"""Recall and precision against the expectations, with the published tests confirmed, and as mere candidates.

`pytest -s tests/real/test_confirmation.py` prints both; UTBOOST_REAL=all takes every real instance.
"""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.docker,
    pytest.mark.shared,
    pytest.mark.xdist_group("docker"),
    # CI holds three instances to their expectations in test_instances.py; these take all, and experiments
    pytest.mark.skipif(os.environ.get("UTBOOST_REAL") != "all", reason="takes an hour: make real runs it"),
]

SUBMISSIONS = ("gold", "made", "made_more", "agent_one", "agent_two", "agent_three", "agent_four")
SHOWN_WRONG = {"WRONG", "MISGRADED"}


class Expected:
    """The real instances of this run, and one cache for all audits of them."""

    def __init__(self, shared: Path, ids: tuple[str, ...], folder: Path, cli: Path) -> None:
        self.data = shared / "real"
        self.ids = ids
        self.folder = folder
        self.cli = cli
        expected = json.loads((self.data / "instances/expect.json").read_text())
        self.cases = {
            (i, name): expected[i][name] for i in ids for name in SUBMISSIONS if name in expected[i]
        }

    def audit(self, bank: Path, out: str) -> dict[tuple[str, str], dict]:
        """(instance, submission) -> its entry of report.json, for all submissions."""
        shown = {}
        for name in SUBMISSIONS:
            own = [i for i, submission in self.cases if submission == name]
            if not own:
                continue
            done = subprocess.run(
                [
                    *(str(self.cli), "audit"),
                    str(self.data / f"instances/leaderboard/evaluation/lite/20260101_{name}"),
                    *("--benchmark", str(self.data / "benchmark/lite.parquet"), "--bank", str(bank)),
                    *("--instances", ",".join(own), "--cache", str(self.folder / "cache"), "--json"),
                    *("--out", str(self.folder / out / name), "--jobs", "2"),
                ],
                capture_output=True,
                text=True,
                timeout=5400,
            )
            assert done.returncode == 0, done.stderr
            shown |= {(item["instance_id"], name): item for item in json.loads(done.stdout)["instances"]}
        return shown

    def figures(self, shown: dict[tuple[str, str], dict]) -> tuple[float, float, list[str]]:
        """(recall at least SUSPECT, recall shown wrong, right patches that are shown wrong); printed."""
        wrong = [case for case, said in self.cases.items() if said["flag"]]
        right = [case for case, said in self.cases.items() if said["plausible"] is True and not said["flag"]]
        verdicts = Counter(shown[case]["verdict"] for case in wrong)
        accused = [f"{i}/{name}" for i, name in right if shown[i, name]["verdict"] in SHOWN_WRONG]
        suspected = [f"{i}/{name}" for i, name in right if shown[i, name]["verdict"] == "SUSPECT"]
        hit = sum(verdicts[kind] for kind in SHOWN_WRONG)
        flagged = hit + verdicts["SUSPECT"]
        precision = hit / (hit + len(accused)) if hit + len(accused) else 1.0
        print(  # noqa: T201
            f"{len(wrong)} wrong patches: {verdicts['WRONG']} WRONG, {verdicts['MISGRADED']} MISGRADED, "
            f"{verdicts['SUSPECT']} SUSPECT; recall {hit / len(wrong):.0%}, "
            f"flagged {flagged / len(wrong):.0%}; "
            f"{len(right)} right patches: {len(accused)} WRONG or MISGRADED, {len(suspected)} SUSPECT; "
            f"precision {precision:.0%}"
        )
        return flagged / len(wrong), hit / len(wrong), accused


@pytest.fixture(scope="module")
def expected(shared, instance_ids, built, tmp_path_factory, cli) -> Expected:
    built(*instance_ids)
    return Expected(shared, instance_ids, tmp_path_factory.mktemp("confirmation"), cli)


def test_with_the_published_tests_confirmed(expected: Expected):
    shown = expected.audit(expected.data / "benchmark/augtests.json", "confirmed")
    flagged, hit, accused = expected.figures(shown)
    assert accused == []
    assert (flagged, hit) == (1.0, 1.0)


def test_with_the_published_tests_as_candidates_that_earn_it(expected: Expected, tmp_path: Path):
    bank = tmp_path / "bank"
    benchmark = str(expected.data / "benchmark/lite.parquet")
    published = expected.data / "benchmark/augtests.json"
    with_test = [i for i in expected.ids if i in json.loads(published.read_text())]
    for command in (
        [
            *(str(expected.cli), "bank", "import", str(published), "--bank", str(bank)),
            *("--as", "candidate", "--benchmark", benchmark),
        ],
        [
            *(str(expected.cli), "confirm", "--bank", str(bank), "--benchmark", benchmark, "--jobs", "2"),
            *("--leaderboard", str(expected.data / "instances/leaderboard"), "--split", "lite"),
            *("--instances", ",".join(with_test), "--cache", str(expected.folder / "cache")),
            *("--variants", "3", "--mutants", "4", "--timeout", "300"),
        ],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=7200)
        assert done.returncode == 0, done.stderr
    flagged, hit, accused = expected.figures(expected.audit(bank, "earned"))
    assert accused == []
    assert flagged == 1.0
    assert hit >= 0.9
