"""Real patches in real containers: every (instance, submission) as the expectations say."""

import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.shared, pytest.mark.xdist_group("docker")]

SUBMISSIONS = ("gold", "made", "made_more", "agent_one", "agent_two", "agent_three", "agent_four")


class Real:
    """One cache and one output folder per submission, so that later tests of this module reuse runs."""

    def __init__(self, shared: Path, ids: tuple[str, ...], folder: Path, cli: Path) -> None:
        self.data = shared / "real"
        self.expected = json.loads((self.data / "instances/expect.json").read_text())
        self.ids = ids
        self.folder = folder
        self.cli = cli

    def arguments(self, name: str, *more: object, bank: Path | None = None) -> list[str]:
        ids = [i for i in self.ids if name in self.expected[i]]
        return [
            str(self.cli),
            "audit",
            str(self.data / f"instances/leaderboard/evaluation/lite/20260101_{name}"),
            *("--benchmark", str(self.data / "benchmark/lite.parquet")),
            *("--bank", str(bank or self.data / "benchmark/augtests.json")),
            *("--cache", str(self.folder / "cache")),
            *("--instances", ",".join(ids)),
            *("--jobs", "2"),
            *map(str, more),
        ]

    def audit(self, name: str, bank: Path | None = None) -> dict[str, dict]:
        if not any(name in self.expected[i] for i in self.ids):
            return {}
        out = self.folder / name
        done = subprocess.run(
            self.arguments(name, "--out", out, bank=bank), capture_output=True, text=True, timeout=3000
        )
        assert done.returncode == 0, done.stderr
        report = json.loads((out / "report.json").read_text())
        return {entry["instance_id"]: entry for entry in report["instances"]}


@pytest.fixture(scope="module")
def real(shared, instance_ids, built, tmp_path_factory, cli) -> Real:
    built(*instance_ids)
    return Real(shared, instance_ids, tmp_path_factory.mktemp("real"), cli)


def _disagreement(name: str, instance_id: str, expected: dict, entry: dict, *, bank_has_test: bool) -> str:
    verdict = entry["verdict"]
    shown = {difference["test"] for difference in entry["differences"]}
    if expected["flag"]:
        accepted = {"WRONG", "MISGRADED"} if expected["plausible"] == "official" else {"WRONG"}
        right = verdict in accepted and shown & set(expected["tests"])
    elif expected["plausible"] is True:
        right = verdict == ("HOLDS" if bank_has_test else "INCONCLUSIVE") and entry["plausible"] is True
        right = right and (bank_has_test or entry["cause"] == "no augmented test")
    else:
        right = verdict in ("NOT_PLAUSIBLE", "MISGRADED", "INCONCLUSIVE") and entry["plausible"] is not True
    return "" if right else f"{instance_id}/{name}: {verdict} {entry['reasons']} {sorted(shown)}"


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_verdicts_agree_with_the_expectations(real: Real, name, no_container_left):
    published = json.loads((real.data / "benchmark/augtests.json").read_text())
    entries = real.audit(name)
    wrong = [
        _disagreement(name, i, real.expected[i][name], entries[i], bank_has_test=i in published)
        for i in real.ids
        if name in real.expected[i]
    ]
    assert not any(wrong), [text for text in wrong if text]


@pytest.mark.parametrize("name", ["gold", "made", "agent_two", "agent_four"])
def test_unconfirmed_tests_make_nothing_wrong(real: Real, name, tmp_path):
    bank = tmp_path / "bank"
    subprocess.run(
        [
            *(str(real.cli), "bank", "import", str(real.data / "benchmark/augtests.json")),
            *("--bank", str(bank), "--as", "candidate"),
        ],
        check=True,
        capture_output=True,
    )
    confirmed = real.audit(name)
    suspected = real.audit(name, bank=bank)
    for instance_id, entry in suspected.items():
        before = confirmed[instance_id]["verdict"]
        assert entry["verdict"] == ("SUSPECT" if before == "WRONG" else before), instance_id
    assert {entry["verdict"] for entry in suspected.values()}.isdisjoint({"WRONG"})


def test_exported_rows_are_resolved_by_gold_and_not_by_the_wrong_patch(real: Real, tmp_path):
    """Rows with the stronger tests, run as the official harness would, by the official reading."""
    rows = tmp_path / "rows.jsonl"
    subprocess.run(
        [
            *(str(real.cli), "bank", "export", "--bank", str(real.data / "benchmark/augtests.json")),
            *("--as", "rows", "--benchmark", str(real.data / "benchmark/lite.parquet"), "--out", str(rows)),
        ],
        check=True,
        capture_output=True,
    )
    wanted = "mwaskom__seaborn-3010"
    official = {}
    for name in ("gold", "made"):
        out = tmp_path / name
        subprocess.run(
            [
                *(str(real.cli), "audit"),
                str(real.data / f"instances/leaderboard/evaluation/lite/20260101_{name}"),
                *("--benchmark", str(rows), "--instances", wanted, "--repeats", "1", "--out", str(out)),
                *("--cache", str(tmp_path / "cache")),
            ],
            check=True,
            capture_output=True,
            timeout=1200,
        )
        (entry,) = json.loads((out / "report.json").read_text())["instances"]
        official[name] = entry["official"]
    assert official == {"gold": True, "made": False}


def test_killed_at_random_moments_it_ends_with_the_same_report(real: Real, tmp_path, no_container_left):
    name = "made"
    kills = 10 if len(real.ids) > 3 else 4
    undisturbed = real.audit(name)
    dice = random.Random(20260101)  # the moments, in seconds; a run in between ends early or late
    more = ["--out", tmp_path / "out", "--cache", tmp_path / "cache"]
    for _ in range(kills):
        arguments = [a for a in real.arguments(name) if a != str(real.folder / "cache")]
        arguments.remove("--cache")
        process = subprocess.Popen([*arguments, *map(str, more)], stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.5, 12))
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = subprocess.run([*arguments, *map(str, more)], capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out/report.json").read_text())
    entries = {entry["instance_id"]: entry for entry in report["instances"]}
    assert _without_place(entries) == _without_place(undisturbed)


def _without_place(entries: dict[str, dict]) -> dict[str, dict]:
    """What does not name the folder of the run."""
    return {key: {k: v for k, v in entry.items() if k != "reproduce"} for key, entry in entries.items()}
