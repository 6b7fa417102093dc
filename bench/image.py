"""The image: its compressed size beside its base's, and its start beside plain Python's in the same base."""

import gzip
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BASE = "utboost-base:bookworm"
IMAGE = "utboost-action:test"
TIMES = 7
TARGET_BYTES, TARGET_SECONDS = 250_000_000, 0.5


def main() -> None:
    """Builds the image where it is not there; needs Docker."""
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "version"], capture_output=True).returncode
    ):
        print("skipped: no Docker engine answers")
        return
    subprocess.run([ROOT / "tests/end_to_end/build_image.sh", IMAGE], check=True, stdout=subprocess.DEVNULL)
    base, image = _compressed(BASE), _compressed(IMAGE)
    verdict = "met" if image <= TARGET_BYTES else "missed"
    print(f"compressed: {image / 1e6:.0f} MB, base {base / 1e6:.0f} MB; ratio {image / base:.2f}")
    print(f"target {TARGET_BYTES / 1e6:.0f} MB: {verdict}")
    plain, first, whole = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        event = Path(folder) / "event.json"
        event.write_text(json.dumps({}))
        for _ in range(TIMES):  # in turn, so that other work on the machine weighs on both
            plain.append(_first_and_last([BASE, "python3", "-c", "print(1)"])[0])
            words = ["-e", "GITHUB_EVENT_NAME=release", "-e", "GITHUB_EVENT_PATH=/event.json"]
            begun, ended = _first_and_last([*words, "-v", f"{event}:/event.json", IMAGE])
            first.append(begun)
            whole.append(ended)
    reference, ours = statistics.median(plain), statistics.median(first)
    verdict = "met" if ours - reference <= TARGET_SECONDS else "missed"
    print(f"start to first log line: {ours:.2f} s, plain Python {reference:.2f} s (medians of {TIMES})")
    print(f"ratio {ours / reference:.2f}, difference {ours - reference:.2f} s, load {os.getloadavg()[0]:.1f}")
    print(
        f"target + {TARGET_SECONDS} s: {verdict}; a step with nothing to do: {statistics.median(whole):.2f} s"
    )


def _compressed(image: str) -> int:
    """Bytes of the image as a registry would keep it: its layers, each gzip'ed."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "image.tar"
        subprocess.run(["docker", "save", "-o", archive, image], check=True)
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
        return sum(_gzipped(layer) for layer in Path(folder).rglob("layer.tar"))


def _gzipped(path: Path) -> int:
    total = 0

    class _Counter:
        def write(self, data: bytes) -> int:
            nonlocal total
            total += len(data)
            return len(data)

        def flush(self) -> None:
            """Nothing is kept."""

    with path.open("rb") as layer, gzip.GzipFile(fileobj=_Counter(), mode="wb", compresslevel=6) as packed:  # type: ignore[call-overload]
        shutil.copyfileobj(layer, packed, 1 << 20)
    return total


def _first_and_last(words: list[str]) -> tuple[float, float]:
    """Seconds from `docker run` to the first byte that the container prints, and to its end."""
    begin = time.monotonic()
    with subprocess.Popen(
        ["docker", "run", "--rm", "--network", "none", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        seconds = time.monotonic() - begin
        process.stdout.read()
    return seconds, time.monotonic() - begin
