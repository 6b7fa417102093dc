"""What the tool adds to the scripts it runs in containers. Needs Docker and the real data beside the project.

The real set is every submission of the real instances whose images are there; UTBOOST_BENCH=all takes
all instances, else three.
"""

import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import docker

from utboost_action.eval_script import parse_eval_script
from utboost_action.execution.docker_sandbox import LABEL, DockerSandbox, connect
from utboost_action.execution.protocol import MIB, Limits
from utboost_action.execution.side import Reading, SidePlan, Suite, run_side

ROOT = Path(__file__).resolve().parents[1]
REAL = ROOT.parent / "shared/real"
SOME = ("django__django-14787", "mwaskom__seaborn-3010", "sympy__sympy-23117")
SUBMISSIONS = ("gold", "made", "made_more", "agent_one", "agent_two", "agent_three", "agent_four")
SLEEPS = """sleep 2
git checkout HEAD
git apply -v - <<'EOF_1'
EOF_1
: '>>>>> Start Test Output'
sleep 1
: '>>>>> End Test Output'
"""
RUNS = 4  # two suites twice


def main() -> None:
    """Print the table of issue "audit end to end"; about 5 minutes on two idle cores."""
    if not REAL.is_dir():
        print("skipped: the real data is not beside the project")
        return
    client = connect()
    try:
        image = _an_image(client)
        _added_time(client, image)
        _memory(image)
    finally:
        client.close()
    _real_set()


def _an_image(client: docker.DockerClient) -> str:
    tags = [tag for image in client.images.list() for tag in image.tags if "sweb.eval" in tag]
    if not tags:
        sys.exit("bench: no instance image is here; `make test` builds three")
    return min(tags)


def _added_time(client: docker.DockerClient, image: str) -> None:
    added, bare = [], []
    sandbox = DockerSandbox(client, Limits(timeout=60))
    script = parse_eval_script(SLEEPS)
    plan = SidePlan("k", "", script, (Suite("original", ""), Suite("aug", "")), 2)
    parts = [script.preparation_text(), *[script.test_text("", "0" * 32, ())] * RUNS]
    for _ in range(5):
        own = _own_time(client, image, parts)
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            with sandbox.box(image) as box:
                run_side(box, plan, Path(folder), read=lambda *_: Reading())
            added.append(time.monotonic() - begin - own)
        begin = time.monotonic()
        container = client.containers.create(image, ["sleep", "60"])
        container.start()
        container.remove(force=True)
        bare.append(time.monotonic() - begin)
    print(
        f"time added per container, preparation and 4 test runs inside: {statistics.median(added):.2f} s "
        f"(target <= 1.5 s); a bare container in this run: {statistics.median(bare):.2f} s "
        f"(ratio {statistics.median(added) / statistics.median(bare):.2f})"
    )


def _own_time(client: docker.DockerClient, image: str, parts: list[str]) -> float:
    """Seconds that the scripts take by themselves, one after another in one bare container."""
    timed = (
        'begin=$EPOCHREALTIME\nfor part; do bash -c "$part"; done >/dev/null 2>&1\necho $begin $EPOCHREALTIME'
    )
    output = client.containers.run(
        image, ["bash", "-c", timed, "own", *parts], network_mode="none", remove=True
    )
    begin, end = map(float, output.split())
    return end - begin


def _memory(image: str) -> None:
    """Peak memory of a process that only starts, and of one whose container writes 500 MB of output."""
    code = (
        "import sys, tempfile\n"
        "from pathlib import Path\n"
        "from utboost_action.execution.docker_sandbox import DockerSandbox, connect\n"
        "from utboost_action.execution.protocol import Limits, MIB\n"
        "import utboost_action.session\n"
        "sandbox = DockerSandbox(connect(), Limits(timeout=300, log=600 * MIB))\n"
        "log = Path(tempfile.mkdtemp()) / 'log'\n"
        f"with sandbox.box({image!r}) as box:\n"
        "    box.put({'x.sh': sys.argv[1].encode()})\n"
        "    box.run('x.sh', log=log)\n"
        "size = log.stat().st_size\n"
        "log.unlink()\n"
        # of this program alone: getrusage counts the memory of whoever started it as well
        "peak = int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
        "print(size, peak * 1024)\n"
    )
    peaks = {}
    for name, script in (("quiet", "true"), ("loud", "head -c 500000000 /dev/zero | tr '\\0' x")):
        done = subprocess.run(
            [sys.executable, "-c", code, script], check=True, capture_output=True, text=True
        )
        size, peaks[name] = map(int, done.stdout.split())
    print(
        f"peak memory while a container writes {size / 1e6:.0f} MB: {peaks['loud'] / MIB:.0f} MiB "
        f"(target <= 200 MB); while it writes nothing: {peaks['quiet'] / MIB:.0f} MiB"
    )


def _real_set() -> None:
    expected = json.loads((REAL / "instances/expect.json").read_text())
    wanted = list(expected) if os.environ.get("UTBOOST_BENCH") == "all" else list(SOME)
    with tempfile.TemporaryDirectory() as folder:
        begin, pairs = time.monotonic(), 0
        with _Created() as created:
            for name in SUBMISSIONS:
                ids = [i for i in wanted if name in expected[i]]
                if ids:
                    pairs += len(ids)
                    created.by.add(_audit(name, ids, Path(folder)))
            wall = time.monotonic() - begin
        units = {p.parent.name: p for p in Path(folder).glob("*/runs/*/unit.json")}
        script = sum(json.loads(path.read_text())["seconds"] for path in units.values())
        print(
            f"real set, {len(wanted)} instances, {pairs} pairs, cold cache, --jobs 2: {wall:.0f} s; "
            f"script time / 2: {script / 2:.0f} s; ratio {2 * wall / script:.2f} (target <= 1.2)"
        )
        print(f"install lines per container: {_installs(units.values())} (target: once)")
        trusted = len(list((Path(folder) / "cache").glob("*/unit.json")))
        print(f"containers: {created.count()} created for {len(units)} units, {trusted} of gold and base")
        print(
            f"containers per (instance, candidate) with a warm cache: "
            f"{(len(units) - trusted) / max(1, pairs):.2f} (target 1; less where equal patches run once)"
        )


def _audit(name: str, ids: list[str], folder: Path) -> int:
    """Audit one submission; the process that did it."""
    command = [
        *(str(Path(sys.executable).parent / "utboost-action"), "audit"),
        str(REAL / f"instances/leaderboard/evaluation/lite/20260101_{name}"),
        *(
            "--benchmark",
            str(REAL / "benchmark/lite.parquet"),
            "--bank",
            str(REAL / "benchmark/augtests.json"),
        ),
        *("--instances", ",".join(ids), "--jobs", "2"),
        *("--out", str(folder / name), "--cache", str(folder / "cache")),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command)
    return process.pid


def _installs(units) -> str:
    counts = []
    for unit in units:
        text = b"".join(gzip.decompress(log.read_bytes()) for log in unit.parent.glob("*.log.gz"))
        counts.append(len(re.findall(rb"^\++ python (?:-m pip|setup.py) install", text, re.MULTILINE)))
    return f"{min(counts)} to {max(counts)}"


class _Created:
    """Counts the containers that audits create, from the engine's own events while they happen."""

    def __init__(self) -> None:
        self.by: set[int] = set()
        self._owners: list[str] = []
        self._client = connect()
        self._events = self._client.events(filters={"event": "create", "label": LABEL}, decode=True)
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> "_Created":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._events.close()
        self._thread.join(timeout=10)
        self._client.close()

    def _listen(self) -> None:
        for event in self._events:
            self._owners.append(event["Actor"]["Attributes"][LABEL])

    def count(self) -> int:
        """Those of the processes in `by`."""
        return sum(int(owner.split(":")[1]) in self.by for owner in self._owners)
