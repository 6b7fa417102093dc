"""Speed and memory of the log readers, beside the official ones where swebench can be imported.

    python bench/logs.py [LOG]        LOG: a django test log (default: the 16.5 MB one of ../shared)

Prints the best of several runs in seconds, and the peak memory above the log in MB.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from utboost_action.logs import read_log  # noqa: E402

ARCHIVE = ROOT.parent / "shared" / "real" / "logs" / "docker_format.zip"
LARGE = "django__django-10097/test_output.txt"


def best(run: Callable[[], object], times: int = 5) -> float:
    """Return the shortest of `times` runs, in seconds."""
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        run()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def large_log() -> bytes:
    """Return the log to measure."""
    if len(sys.argv) > 1:
        return Path(sys.argv[1]).read_bytes()
    with zipfile.ZipFile(ARCHIVE) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(LARGE)))


def official() -> Callable[[str], object] | None:
    """Return the official django parser, None where swebench 5.0.2 is not installed."""
    from reference import load_reference, missing_reference

    if missing_reference() is not None:
        print(f"official reader: {missing_reference()}")
        return None
    parser = load_reference().parsers["parse_log_django"]
    return lambda text: parser(text, None)


GROWING: dict[str, tuple[str, Callable[[int], str]]] = {
    "noise lines": ("django", lambda n: "\n" + "".join(f"Step {i} ... ok\n" for i in range(n))),
    "subtest lines": (
        "django",
        lambda n: (
            "test_a (m.A.test_a) ... \n"
            + "".join(f"  test_a (m.A.test_a) (i={i}) ... FAIL\n" for i in range(n))
        ),
    ),
    "glued output": ("django", lambda n: "t ... Testing against Django installed in x\n" * n),
    "underscores": ("sympy", lambda n: "_" * n),
    "one long line": ("sympy", lambda n: "a " * n),
}


def main() -> None:
    """Measure and print."""
    data = large_log()
    ours = best(lambda: read_log(data, "django"))
    print(f"large log, {len(data) / 1e6:.1f} MB: {ours:.3f} s")
    reference = official()
    if reference is not None:
        text = data.decode("utf-8", "replace")
        theirs = best(lambda: reference(text), 3)
        print(f"official reader: {theirs:.3f} s, ratio {theirs / ours:.1f}")
    tracemalloc.start()
    read_log(data, "django")
    print(f"peak memory above the log: {tracemalloc.get_traced_memory()[1] / 1e6:.1f} MB")
    tracemalloc.stop()
    for name, (parser, make) in GROWING.items():
        figures = []
        for size in (8_000, 16_000):
            log = make(size).encode()
            figures.append(best(lambda log=log, parser=parser: read_log(log, parser), 3))
        print(f"{name}: 8,000: {figures[0]:.4f} s, 16,000: {figures[1]:.4f} s")


if __name__ == "__main__":
    main()
