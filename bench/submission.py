"""A full submission, 500 instances with 500 logs: `inspect` and `regrade`, seconds and memory.

The submission is made for the measurement from the official rows of Verified: the gold patches as
predictions, and for each instance a log of its runner in which every listed test passes. Needs the real
data beside the project.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from utboost_action.benchmark.rows import read_benchmark
from utboost_action.logs import parser_for_repo
from utboost_action.model import Instance

ROWS = Path(__file__).resolve().parents[1].parent / "shared/real/benchmark/verified.parquet"
RUN = (  # the high-water mark of its own memory: getrusage counts that of whoever started it as well
    "import sys\n"
    "from pathlib import Path\n"
    "from utboost_action.cli import app\n"
    "try:\n"
    "    app(sys.argv[1:])\n"
    "finally:\n"
    "    peak = int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
    "    print(peak // 1024, file=sys.stderr)\n"
)


def main() -> None:
    """Print seconds and peak memory of both commands for 50 and for 500 instances."""
    if not ROWS.is_file():
        print("skipped: the real data is not beside the project")
        return
    instances = list(read_benchmark(str(ROWS), parser_for_repo=parser_for_repo).instances.values())
    for count in (50, len(instances)):
        with tempfile.TemporaryDirectory() as folder:
            submission = Path(folder) / "20260101_gold"
            size = make(submission, instances[:count])
            for command in ("inspect", "regrade"):
                seconds, peak, output = _measure(command, submission)
                what = f"{output['corrected']} of {count} resolved" if command == "regrade" else "read"
                print(
                    f"{command:8} {count:4} instances, {size / 1e6:6.1f} MB of logs: "
                    f"{seconds:5.1f} s, peak {peak} MiB ({what})"
                )


def make(folder: Path, instances: list[Instance]) -> int:
    """Write the submission; the bytes of its logs."""
    size = 0
    folder.mkdir(parents=True)
    lines = []
    for instance in instances:
        row = {"instance_id": instance.instance_id, "model_name_or_path": "m", "model_patch": instance.patch}
        lines.append(json.dumps(row) + "\n")
        log = folder / "logs" / instance.instance_id / "test_output.txt"
        log.parent.mkdir(parents=True)
        text = log_text(instance)
        log.write_text(text)
        size += len(text)
        (log.parent / "patch.diff").write_text(instance.patch)
        report = {instance.instance_id: {"patch_is_None": False, "patch_exists": True, "resolved": True}}
        report[instance.instance_id]["patch_successfully_applied"] = True
        (log.parent / "report.json").write_text(json.dumps(report))
    (folder / "all_preds.jsonl").write_text("".join(lines))
    (folder / "metadata.yaml").write_text(
        "name: gold\noss: true\nsite: https://example.org\nverified: false\n"
    )
    (folder / "README.md").write_text("# gold\n")
    (folder / "results").mkdir()
    resolved = [instance.instance_id for instance in instances]
    results = {"no_generation": [], "no_logs": [], "resolved": resolved}
    (folder / "results/results.json").write_text(json.dumps(results))
    return size


def log_text(instance: Instance) -> str:
    """A log with markers in which the runner reports every listed name as passed."""
    names = [*instance.fail_to_pass, *instance.pass_to_pass]
    family = (instance.log_parser or "").removeprefix("parse_log_")
    if family == "django":
        body = "".join(f"{name} ... ok\n" for name in names)
        body += f"\n{'-' * 70}\nRan {len(names)} tests in 1.0s\n\nOK\n"
    elif family == "sympy":
        body = f"{'=' * 30} test process starts {'=' * 30}\n\nsympy/tests/test_a.py[{len(names)}] \n"
        body += "".join(f"{name} ok\n" for name in names[:-1])
        body += f"{names[-1]} ok".ljust(76) + "[OK]\n\n"
        body += f"{'=' * 18} tests finished: {len(names)} passed, in 1.00 seconds {'=' * 18}\n"
    else:
        body = f"collected {len(names)} items\n\n{'=' * 27} short test summary info {'=' * 28}\n"
        body += "".join(f"PASSED {name}\n" for name in names)
        body += f"{'=' * 30} {len(names)} passed in 1.00s {'=' * 30}\n"
    start, end = "+ : '>>>>> Start Test Output'\n", "+ : '>>>>> End Test Output'\n"
    return f"+ git apply -v -\nApplied patch t.py cleanly.\n{start}{body}{end}+ git checkout abc t.py\n"


def _measure(command: str, submission: Path) -> tuple[float, int, dict]:
    begin = time.monotonic()
    arguments = [command, str(submission), "--benchmark", str(ROWS), "--json"]
    done = subprocess.run([sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=True)
    seconds = time.monotonic() - begin
    return seconds, int(done.stderr.split()[-1]), json.loads(done.stdout)
