"""The catalogue's pytest shapes (see log_cases)."""

# ruff: noqa: E501  log lines stand whole

from __future__ import annotations

from unit.logs.log_cases import CAPTURED, SUMMARY, XF, XP, Case, E, F, P, S

SESSION = "============================= test session starts =============================="


def end(figures: str) -> str:
    return f"================ {figures} in 0.12s ================\n"


PYTEST = [
    Case(
        "words of a summary",
        "pytest",
        f"{SUMMARY}\nPASSED t/a.py::test_a\nFAILED t/a.py::test_b - assert 0\nERROR t/a.py::test_c - ValueError: x\n"
        "XFAIL t/a.py::test_d - why - not\nXPASS t/a.py::test_e\nSKIPPED t/a.py::test_f - no\n"
        + end("1 failed, 1 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 error"),
        {f"t/a.py::test_{c}": s for c, s in zip("abcdef", [P, F, E, XF, XP, S], strict=True)},
        messages={"t/a.py::test_b": "assert 0", "t/a.py::test_d": "why - not"},
        complete=True,
    ),
    Case(
        "spaces, dashes and brackets in parameters",
        "pytest",
        "PASSED t.py::p[a b]\nFAILED t.py::p[a - b] - x[0] - y\nPASSED t.py::p[] - ]\nFAILED t.py::p[[]] - z\nERROR t.py::p[::] - q\n",
        {"t.py::p[a b]": P, "t.py::p[a - b]": F, "t.py::p[] - ]": P, "t.py::p[[]]": F, "t.py::p[::]": E},
        complete=None,
    ),
    Case(
        "a failure's title tells where its id ends",
        "pytest",
        f"{SESSION}\n=== FAILURES ===\n____ p[a] - [b] ____\n\nE   AssertionError: no\n{SUMMARY}\n"
        "FAILED t.py::p[a] - [b] - AssertionError: no\n" + end("1 failed"),
        {"t.py::p[a] - [b]": F},
        messages={"t.py::p[a] - [b]": "AssertionError: no"},
    ),
    Case(
        "known ids tell where an id ends",
        "pytest",
        "FAILED t.py::p[a] - [b] - AssertionError\nFAILED t.py::q[a] - b\n",
        {"t.py::p[a] - [b]": F, "t.py::q[a]": F},
        known=("t.py::p[a] - [b]", "t.py::q[a]"),
    ),
    Case(
        "text glued to an id",
        "pytest",
        "PASSED t.py::test_aException ignored in: <x>\nPASSED t.py::test_bsome text of another writer\nPASSED t.py::test_longer\n",
        {"t.py::test_a": P, "t.py::test_b": P, "t.py::test_longer": P},
        known=("t.py::test_b", "t.py::test_long"),
    ),
    Case(
        "official names that were cut settle nothing",
        "pytest",
        "FAILED t.py::p[a b] - x\nPASSED t.py::p[a c]Exception ignored in: <x>\n",
        {"t.py::p[a b]": F, "t.py::p[a c]": P},
        known=("t.py::p[a",),
    ),
    Case(
        "ids of pytest < 4, paths and names kept",
        "requests",
        "PASSED t.py::C::()::test_a\nPASSED t.py::f[/x/a.txt]\nFAILED t.py::f[/y/a.txt] - no\n",
        {"t.py::C::test_a": P, "t.py::f[/x/a.txt]": P, "t.py::f[/y/a.txt]": F},
    ),
    Case(
        "enum names kept",
        "matplotlib",
        "PASSED t.py::c[MouseButton.RIGHT]\nFAILED t.py::c[3] - x\n",
        {"t.py::c[MouseButton.RIGHT]": P, "t.py::c[3]": F},
    ),
    Case(
        "verbose lines, old and new",
        "astropy",
        "t.py::test_a PASSED\nt.py::test_b[a FAILED b] FAILED          [ 50%]\nt.py::test_c SKIPPED (no [ 3%] x)   [ 75%]\n"
        "t.py::test_g xfail      [ 80%]\nt.py::test_d XFAIL (why)\nt.py::test_e XPASS [4/5]\nt.py::test_f ERROR   [100%]\n",
        {
            "t.py::test_a": P,
            "t.py::test_b[a FAILED b]": F,
            "t.py::test_c": S,
            "t.py::test_d": XF,
            "t.py::test_e": XP,
            "t.py::test_f": E,
            "t.py::test_g": XF,
        },
    ),
    Case(
        "xdist",
        "pytest",
        "[gw0] [ 50%] PASSED t.py::test_a \nt.py::test_b \n[gw1] [100%] FAILED t.py::test_b \n[gw1] PASSED t.py::test_c\n",
        {"t.py::test_a": P, "t.py::test_b": F, "t.py::test_c": P},
    ),
    Case(
        "verbose lines without a summary of the passed ones",
        "pytest",
        f"{SESSION}\ncollected 2 items\n\nt.py::test_a PASSED [ 50%]\nt.py::test_b FAILED [100%]\n\n=== FAILURES ===\n____ test_b ____\n"
        f"E   assert 0\n{SUMMARY}\nFAILED t.py::test_b - assert 0\n" + end("1 failed, 1 passed"),
        {"t.py::test_a": P, "t.py::test_b": F},
        complete=True,
    ),
    Case(
        "verdicts below what a test prints (-s)",
        "pytest",
        "t.py::test_a hello\nPASSED [ 50%]\nt.py::test_b PASSED t.py::ghost\nFAILED\n",
        {"t.py::test_a": P, "t.py::test_b": F},
    ),
    Case(
        "words that are no verdict lines",
        "pytest",
        "FAILED\nPASSED [ 50%]\nFAILED (failures=1)\nERROR    root:views.py:12 text\nERROR conda.cli.main_run:execute(124): x\n"
        "ERROR: InvocationError for command x\nERROR:   py39: commands failed\nthe cache FAILED\nPASSED the exam\nPASSED t.py::test_a\n",
        {"t.py::test_a": P},
    ),
    Case(
        "colour strips whole sequences only",
        "scikit",
        "\x1b[32mPASSED\x1b[0m t.py::\x1b[1mtest_dur[30m]\x1b[0m\n\x1b[1;31mFAILED\x1b[0m t.py::test_b - x\n",
        {"t.py::test_dur[30m]": P, "t.py::test_b": F},
    ),
    Case(
        "folded skips are events",
        "pytest",
        f"{SUMMARY}\nPASSED t.py::test_a\nSKIPPED [20] t.py:6: no nose\nSKIPPED [1] a b.py:7: x: y\n"
        + end("1 passed, 21 skipped"),
        {"t.py::test_a": P},
        events={"t.py:6": S, "a b.py:7": S},
        messages={"t.py:6": "20 skipped: no nose"},
        complete=True,
    ),
    Case(
        "files that do not import",
        "pytest",
        f"{SESSION}\ncollected 0 items / 2 errors\n\n=== ERRORS ===\n____ ERROR collecting t/a.py ____\nE   ImportError: no\n{SUMMARY}\n"
        "ERROR t/a.py - ImportError: n...\nERROR t/b.py\n!!! Interrupted: 2 errors during collection !!!\n"
        + end("2 errors"),
        {"t/a.py::test_x": E},
        events={"t/a.py": E, "t/b.py": E},
        known=("t/a.py::test_x", "t/c.py::test_y"),
        messages={"t/a.py": "ImportError: no"},
        complete=True,
        gradable=True,
    ),
    Case(
        "refused arguments",
        "pytest",
        "ERROR: file or directory not found: t/none.py\n\n" + end("no tests ran"),
        {},
        complete=True,
        gradable=False,
    ),
    Case(
        "usage",
        "pytest",
        "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: -z\n",
        {},
        gradable=False,
    ),
    Case("all deselected", "pytest", f"{SESSION}\n" + end("3 deselected"), {}, complete=True, gradable=False),
    Case(
        "a failing subtest fails its test",
        "pytest",
        f"{SUMMARY}\nPASSED t.py::C::test_a\nSUBFAILED(i=1) t.py::C::test_a - x\nPASSED t.py::test_b\nSUBFAILED[m (n) o] (i='a b') t.py::test_b - y\n"
        "SUBFAIL t.py::test_c - z\nSUBPASSED(i=2) t.py::test_d\n" + end("3 failed, 2 passed"),
        {"t.py::C::test_a": F, "t.py::test_b": F, "t.py::test_c": F},
    ),
    Case(
        "error at teardown",
        "pytest",
        f"{SUMMARY}\nPASSED t.py::test_a\nERROR t.py::test_a - td\n" + end("1 passed, 1 error"),
        {"t.py::test_a": E},
    ),
    Case(
        "rerun",
        "pytest",
        f"{SUMMARY}\nPASSED t.py::test_a\nFAILED t.py::test_b - x\nRERUN t.py::test_a\nRERUN t.py::test_b\n"
        + end("1 failed, 1 passed, 2 rerun"),
        {"t.py::test_a": P, "t.py::test_b": F},
        flags=frozenset({"flaky"}),
    ),
    Case(
        "inner sessions in captured output",
        "pytest",
        f"{SESSION}\n=== PASSES ===\n____ test_outer ____\n{CAPTURED}\n{SESSION}\nF\n{SUMMARY}\nFAILED in.py::test_one - x\n"
        + end("1 failed")
        + f"1 passed in 0.01s\n{SUMMARY}\nPASSED t.py::test_outer\n"
        + end("1 passed"),
        {"t.py::test_outer": P},
        complete=True,
    ),
    Case(
        "captured output without a summary",
        "pytest",
        f"____ test_a ____\n{CAPTURED}\nPASSED t.py::ghost\n=== FAILURES ===\nFAILED t.py::test_b - x\n",
        {"t.py::test_b": F},
    ),
    Case(
        "a reason of several lines",
        "pytest",
        f"{SUMMARY}\nFAILED t.py::test_a - ValueError: x\nPASSED t.py::ghost\n" + end("1 failed"),
        {"t.py::test_a": F},
        flags=frozenset({"injection"}),
    ),
    Case(
        "a reason of several lines beside real passes",
        "pytest",
        f"{SUMMARY}\nPASSED t.py::test_a\nPASSED t.py::test_b\nFAILED t.py::test_c - ValueError: x\nPASSED t.py::ghost\n"
        + end("1 failed, 2 passed"),
        {"t.py::test_a": P, "t.py::test_b": P, "t.py::test_c": F},
        flags=frozenset({"injection"}),
    ),
    Case(
        "two runs, the worse outcome stays",
        "pytest",
        f"{SUMMARY}\nFAILED t.py::test_a - x\n"
        + end("1 failed")
        + f"{SUMMARY}\nPASSED t.py::test_a\n"
        + end("1 passed"),
        {"t.py::test_a": F},
        flags=frozenset({"conflict"}),
    ),
    Case(
        "result lines behind the closing line",
        "pytest",
        f"{SESSION}\n{SUMMARY}\nFAILED t.py::test_a - x\n"
        + end("1 failed")
        + "PASSED t.py::test_a\nPASSED t.py::ghost\n",
        {"t.py::test_a": F},
        flags=frozenset({"injection"}),
    ),
    Case(
        "a printed closing line behind the closing line",
        "pytest",
        f"{SUMMARY}\nFAILED t.py::test_a - x\n" + end("1 failed") + "1 passed in 0.01s\n",
        {"t.py::test_a": F},
        complete=True,
    ),
    Case(
        "tox and conda around it",
        "sphinx",
        f"py39 run-test: commands[0]\n{SESSION}\n{SUMMARY}\nPASSED t.py::test_a\n"
        + end("1 passed")
        + "ERROR conda.cli.main_run:execute(124): `conda run tox` failed.\n___ summary ___\nERROR:   py39: commands failed\n",
        {"t.py::test_a": P},
        complete=True,
    ),
    Case(
        "only failures are named",
        "pytest",
        f"{SESSION}\ncollected 3 items\n\nt.py .F.\n=== FAILURES ===\n____ test_b ____\nE   assert 0\n{SUMMARY}\nFAILED t.py::test_b - assert 0\n"
        + end("1 failed, 2 passed"),
        {"t.py::test_b": F},
        flags=frozenset({"partial"}),
        complete=True,
    ),
    Case(
        "cut before the summary",
        "pytest",
        f"{SESSION}\ncollected 3 items\n\nt.py ..\n\n\nTimeout error: 60 seconds exceeded.\n",
        {},
        flags=frozenset({"incomplete"}),
        complete=False,
    ),
    Case(
        "cut within the summary",
        "pytest",
        f"{SESSION}\n=== PASSES ===\n___ test_a ___\n{CAPTURED}\nPASSED t.py::ghost\n{SUMMARY}\nPASSED t.py::test_a\n\n\nTimeout error: 60 seconds exceeded.\n",
        {"t.py::test_a": P},
        flags=frozenset({"incomplete"}),
        complete=False,
    ),
    Case(
        "interrupted",
        "pytest",
        f"{SESSION}\n{SUMMARY}\nPASSED t.py::test_a\n!!!!!!! KeyboardInterrupt !!!!!!!\n" + end("1 passed"),
        {"t.py::test_a": P},
        flags=frozenset({"incomplete"}),
        complete=False,
    ),
    Case(
        "the summary stands above other sections (pytest 3)",
        "pytest",
        f"{SESSION}\n{SUMMARY}\nPASSED t.py::test_a\nFAILED t.py::test_b\n=== PASSES ===\n____ test_a ____\n{CAPTURED}\n{SUMMARY}\nPASSED in.py::ghost\n"
        "=== 1 passed in 0.01 seconds ===\n=== 1 failed, 1 passed in 0.10 seconds ===\n",
        {"t.py::test_a": P, "t.py::test_b": F},
        complete=True,
    ),
    Case(
        "a strict xpass",
        "pytest",
        f"{SUMMARY}\nFAILED t.py::test_a - [XPASS(strict)] why\n" + end("1 failed"),
        {"t.py::test_a": F},
    ),
    Case(
        "names with blanks in the closing summary",
        "pytest",
        f"{SUMMARY}\nPASSED docs/a b.rst::a b.rst\nPASSED t.py::test_a\n" + end("2 passed"),
        {"docs/a b.rst::a b.rst": P, "t.py::test_a": P},
    ),
    Case(
        "seaborn",
        "seaborn",
        f"{SUMMARY}\nPASSED t.py::test_a\nERROR t.py::test_b - x\nXFAIL t.py::test_c\nFAILED t.py::test_d - y\n"
        + end("1 failed, 1 passed, 1 xfailed, 1 error"),
        {"t.py::test_a": P, "t.py::test_b": E, "t.py::test_c": XF, "t.py::test_d": F},
    ),
]
