"""Seeded makers of logs for the official reading: invented ones, and mutations of given ones."""

from __future__ import annotations

import random
from collections.abc import Sequence

PARSERS = ("django", "pytest", "pytest_options", "pytest_v2", "seaborn", "matplotlib", "sympy")

START, END = ">>>>> Start Test Output", ">>>>> End Test Output"
REFUSALS = (
    ">>>>> Patch Apply Failed",
    ">>>>> Reset Failed",
    ">>>>> Tests Errored",
    ">>>>> Tests Timed Out",
    "Failed to reset task environment",
)
_WORDS = (
    "PASSED",
    "FAILED",
    "ERROR",
    "SKIPPED",
    "XFAIL",
    "XPASS",
    "RERUN",
    "PASSEDx",
    "ERROR:",
    "ok",
    "OK",
    "F",
    "E",
)
_NAMES = (
    "test_a (m.tests.A)",
    "test_b (m.tests.B.test_b)",
    "test_no_migrations (sites.T)",
    "Two numbers, ... and a third",
    "setUpClass (m.tests.A)",
    "t/test_a.py::test_a",
    "t/test_a.py::C::test_b[x-1]",
    "t/test_a.py::test_c[a b - c]",
    "t/test_a.py::test_d[/tmp/x/y.txt]",
    "t/test_a.py::test_d[//host/y]",
    "t/test_a.py::test_e[MouseButton.LEFT-MouseButton.RIGHT]",
    "t/test_a.py::test_f[[31m]",
    "t/test_a.py::test_g]x[",
    "t/test_a.py::test_p[a-1]",
    "t/test_a.py::test_p[a-2]",
    "t/test_a.py::test_p[a-3]",
    "sympy/core/tests/test_a.py:test_a",
    "test_sym",
    "[100%]",
    "[3]",
    "[\u0663]",
    "x",
)
_UNITTEST = (
    "{n} ... ok",
    "{n} ... OK",
    "{n} ...  OK",
    "{n} ... FAIL",
    "{n} ... ERROR",
    "{n} ... skipped 'no ... db'",
    '{n} ... skipped "x"',
    "{n} ... skipped '{n} ... skipped x'",
    "{n} ... expected failure",
    "{n} ... text",
    "{n} ... {n} ... ok",
    "{n}",
    "ok",
    "   ok",
    "okay then",
    "FAIL: {n}",
    "ERROR: {n}",
    "FAIL:{n}",
    "--version is equivalent to version ... {w}",
    "--version is equivalent to version",
    "Applying sites.0002_alter_domain_unique...{n} ... ok",
    "Applying sites.0002_alter_domain_unique...test_no_migrations (sites.T) ... ok",
    "{n} ... Testing against Django installed in '/x' with (0 silenced).",
    "{n} ... Testing against Django installed in '/x'\nmore silenced).\nok",
    "{n} ... Testing against Django installed in /x ... Testing against Django installed in /y",
    "{n} ... Internal Server Error: /a/b/\nok",
    "{n} ... Internal Server Error: /\nok",
    "{n} ... Internal Server Error: /a ...\nInternal Server Error: /b/\nok",
    "{n}\n...\nInternal Server Error: /b/\nok",
    "{n} ... System check identified no issues (0 silenced)\nok",
    "{n}\u00a0...\tSystem check identified no issues (0 silenced)\nokay",
    "System check identified no issues (0 silenced).",
    " silenced).\nok",
)
_PYTEST = (
    "{w} {n}",
    "{w} {n} - {n}: {w}",
    "{w}",
    " {w} {n}",
    "{w}\t{n}",
    "{n} {w}",
    "{n} {w} ",
    "{n} {w} [ 50%]",
    "{n} {w} {n}",
    " {w} ",
    "[gw0] [ 50%] {w} {n}",
    "\x1b[32m{w}\x1b[0m {n}",
    "[32m{w} {n}[0m",
    "\x1b[1;31m{w}\x1b[0m {n}",
    "SKIPPED [3] t/test_a.py:12: reason",
)
_SYMPY = (
    "{n} {w}      [OK]",
    "{n} {w}                [FAIL]",
    "test_two ok",
    "test_two hello E",
    "test_two F",
    "  test_two ok  [OK]",
    "____________ sympy/core/tests/test_a.py:test_two ____________",
    "  File x.py:12 in f ",
    "a b.py:c.py:d e",
    "_.py: _",
)
_OTHER = (
    "=== 1 failed, 2 passed in 0.1s ===",
    "FAILED (failures=1)",
    "Executed 3 of 4",
    "Executed 0 of 0",
    "0012 passing",
    "000 passing",
    "Tests:   1 passed",
    "Test Suites: 1 failed, 2 total",
    "# tests 4",
    "10 specs, 0 failures",
    "x': ok",
    "TOTAL: 4 SUCCESS",
    "Applied patch t/test_a.py cleanly.",
    ">>>>> Applied Patch (pred)",
    "",
    "\x0c",
)
_SHAPES = (*_UNITTEST, *_PYTEST, *_SYMPY, *_OTHER)
_OWN = {"django": _UNITTEST, "sympy": _SYMPY}
_RESULTS = ("PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL")


def line(rng: random.Random, parser: str = "") -> str:
    """One line (some shapes take several): mostly of the parser's own runner, else of any or of none."""
    own = parser and rng.random() < 0.7
    shape = rng.choice(_OWN.get(parser, _PYTEST) if own else _SHAPES)
    return shape.format(n=rng.choice(_NAMES), w=rng.choice(_RESULTS if own else _WORDS))


def _lines(rng: random.Random, parser: str, most: int) -> list[str]:
    return [line(rng, parser) for _ in range(rng.randrange(most))]


def _exit_line(rng: random.Random) -> str:
    code = rng.choice(("0", "1", "1", "2", "-9", "", "x", "007", "\u0661"))
    return rng.choice(
        ("+ echo '>>>>> Test Exit Code: {}'", ">>>>> Test Exit Code: {}", ">>>>> Test Exit Code:\n{}")
    ).format(code)


def _marker(rng: random.Random, text: str) -> str:
    return rng.choice((f"+ : '{text}'", f"+ : '{text}'", text, f"glued{text}", f"{text} {line(rng)}"))


def invented_log(seed: int, parser: str) -> bytes:
    """A whole log: usually marked, with what a harness, a runner or a cheat may write anywhere in it."""
    rng = random.Random(seed)
    parts = _lines(rng, parser, 4)
    if rng.random() < 0.95:
        parts.append(_marker(rng, START))
    parts += _lines(rng, parser, rng.choice((1, 6, 30, 30)))
    if rng.random() < 0.95:
        parts.append(_marker(rng, END))
    if rng.random() < 0.6:
        parts.append(_exit_line(rng))
    parts += _lines(rng, parser, 3)
    extra = (
        (0.05, lambda: rng.choice(REFUSALS)),
        (0.1, lambda: _marker(rng, START)),
        (0.1, lambda: _marker(rng, END)),
        (0.1, lambda: _exit_line(rng)),
        (0.05, lambda: rng.choice(("FAIL:", "ERROR:", "FAILED"))),
    )
    for chance, make in extra:
        if rng.random() < chance:
            parts.insert(rng.randrange(len(parts) + 1), make())
    return _as_bytes(rng, "\n".join(parts))


def _as_bytes(rng: random.Random, text: str) -> bytes:
    if rng.random() < 0.1:
        text = text.replace("\n", rng.choice(("\r\n", "\r")))
    data = text.encode()
    if rng.random() < 0.02:
        position = rng.randrange(len(data) + 1)
        data = data[:position] + b"\xff" + data[position:]
    return data


def mutated_log(seed: int, text: str) -> bytes:
    """A slice of a given log, marked or not, with lines and letters moved, lost, doubled and added."""
    rng = random.Random(seed)
    lines = text.split("\n")
    if rng.random() < 0.9:
        first = rng.randrange(max(len(lines) - 20, 1))
        lines = lines[first : first + rng.choice((10, 40, 120))]
    for _ in range(rng.randrange(1, 8)):
        _mutate(rng, lines)
    if rng.random() < 0.8:
        lines = [f"+ : '{START}'", *lines, f"+ : '{END}'"]
        if rng.random() < 0.7:
            lines.append(_exit_line(rng))
    return _as_bytes(rng, "\n".join(lines))


def _mutate(rng: random.Random, lines: list[str]) -> None:
    at = rng.randrange(len(lines) + 1)
    if at == len(lines) or (kind := rng.randrange(8)) == 0:
        lines.insert(at, line(rng))
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif kind == 3:
        lines[at] += lines.pop(at + 1) if at + 1 < len(lines) else ""
    elif kind == 4:
        cut = rng.randrange(len(lines[at]) + 1)
        lines[at : at + 1] = [lines[at][:cut], lines[at][cut:]]
    elif kind == 5:
        lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
    elif kind == 6:
        cut = rng.randrange(len(lines[at]) + 1)
        token = rng.choice(
            (" ... ", "ok", " ... ok", "FAILED ", "[", "]", " - ", "\t", "\x1b[31m", END, START, " PASSED ")
        )
        lines[at] = lines[at][:cut] + token + lines[at][cut:]
    else:
        lines[at] = rng.choice((lines[at].strip(), lines[at].upper(), lines[at][::-1], " " + lines[at]))


def lists_for(seed: int, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """FAIL_TO_PASS and PASS_TO_PASS out of the names of a map, some cut, some unknown, now and then none."""
    rng = random.Random(seed)

    def some() -> tuple[str, ...]:
        pool = [
            *names,
            *(name[: rng.randrange(len(name) + 1)] for name in names if "[" in name),
            "unknown",
            "p[a",
        ]
        return tuple(rng.choice(pool) for _ in range(rng.choice((0, 1, 1, 2, 3))))

    return some(), some()
