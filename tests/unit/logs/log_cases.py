"""A catalogue of minimal logs, one shape each: what a reader must make of it."""

# ruff: noqa: E501  log lines stand whole

from __future__ import annotations

from dataclasses import dataclass, field

RULE, THIN = "=" * 70, "-" * 70
SUMMARY = "=========================== short test summary info ============================"
CAPTURED = "----------------------------- Captured stdout call -----------------------------"

P, F, E, S, XF, XP = "PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"


@dataclass(frozen=True)
class Case:
    """One log and its right reading; `complete` and `gradable` are compared only where given."""

    name: str
    parser: str
    log: str
    statuses: dict[str, str]
    events: dict[str, str] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    known: tuple[str, ...] = ()
    docstrings: dict[str, str] | None = None
    messages: dict[str, str] = field(default_factory=dict)
    complete: bool | str | None = "any"
    gradable: bool | None = None


def header(kind: str, test: str, *body: str) -> str:
    """One block of unittest's closing section."""
    return "\n".join([RULE, f"{kind}: {test}", THIN, *body, "", ""])


def closing(ran: int, outcome: str) -> str:
    return f"{THIN}\nRan {ran} tests in 0.004s\n\n{outcome}\n"


DJANGO = [
    Case(
        "verdicts",
        "django",
        "test_a (app.T) ... ok\ntest_b (app.T) ... FAIL\ntest_c (app.T) ... ERROR\n"
        "test_d (app.T) ... skipped 'no x'\ntest_e (app.T) ... skipped \"it's\"\n"
        "test_f (app.T) ... expected failure\ntest_g (app.T) ... unexpected success\n",
        {f"test_{c} (app.T)": s for c, s in zip("abcdefg", [P, F, E, S, S, XF, F], strict=True)},
        complete=None,
    ),
    Case(
        "two tests share a docstring and one fails",
        "django",
        "test_a (app.T)\nSame words. ... FAIL\ntest_b (app.T)\nSame words. ... ok\n",
        {"test_a (app.T)": F, "test_b (app.T)": P},
        docstrings={"test_a (app.T)": "Same words.", "test_b (app.T)": "Same words."},
    ),
    Case(
        "docstring and skip reason hold the separator",
        "django",
        "test_a (app.T)\nOne ... two ... ok\ntest_b (app.T)\nThree ... skipped 'four ... five'\n",
        {"test_a (app.T)": P, "test_b (app.T)": S},
        docstrings={"test_a (app.T)": "One ... two", "test_b (app.T)": "Three"},
    ),
    Case(
        "verdict on a line of its own",
        "django",
        "test_a (app.T) ... printed\nok\ntest_b (app.T) ... printed\nmore\nFAIL\ntest_c (app.T) ... \nERROR\n",
        {"test_a (app.T)": P, "test_b (app.T)": F, "test_c (app.T)": E},
    ),
    Case(
        "verdict glued to printed text",
        "django",
        "test_a (app.T) ... printedok\ntest_b (app.T) ... line\nlineFAIL\ntest_c (app.T) ... ok\n",
        {"test_a (app.T)": P, "test_b (app.T)": F, "test_c (app.T)": P},
    ),
    Case(
        "words that begin like a verdict",
        "django",
        "test_a (app.T) ... FAIL\nokay then\nok, done\ntest_b (app.T) ... ok\nERRORS were seen\n",
        {"test_a (app.T)": F, "test_b (app.T)": P},
    ),
    Case(
        "a printed ok does not undo a failure",
        "django",
        "test_a (app.T) ... ok\nFAIL\ntest_b (app.T) ... FAIL\nok\n\n"
        + header("FAIL", "test_a (app.T)", "AssertionError: 1")
        + header("FAIL", "test_b (app.T)", "AssertionError: 2")
        + closing(2, "FAILED (failures=2)"),
        {"test_a (app.T)": F, "test_b (app.T)": F},
        messages={"test_a (app.T)": "AssertionError: 1"},
        complete=True,
    ),
    Case(
        "a printed FAIL does not undo a pass that the closing section confirms",
        "django",
        "test_a (app.T) ... text\nFAIL\nok\n\n" + closing(1, "OK"),
        {"test_a (app.T)": P},
        complete=True,
    ),
    Case(
        "failing subtests leave the line open (Python < 3.11)",
        "django",
        "test_a (app.T) ... test_b (app.T) ... ok\ntest_c (app.T)\nWords. ... test_d (app.T)\nMore. ... ok\n\n"
        + header("FAIL", "test_a (app.T) (n=1)", "AssertionError: 1 != 2")
        + header("FAIL", "test_a (app.T) (n=2)", "AssertionError: 2 != 3")
        + header("ERROR", "test_c (app.T) [msg] (n=2)", "Words.", "ValueError: x")
        + closing(4, "FAILED (failures=2, errors=1)"),
        {"test_a (app.T)": F, "test_b (app.T)": P, "test_c (app.T)": E, "test_d (app.T)": P},
        docstrings={"test_c (app.T)": "Words.", "test_d (app.T)": "More."},
        messages={"test_a (app.T)": "AssertionError: 1 != 2"},
        complete=True,
    ),
    Case(
        "subtest lines (Python >= 3.11)",
        "django",
        "test_a (app.T.test_a) ... \n  test_a (app.T.test_a) (i=1) ... FAIL\n  test_a (app.T.test_a) [m] (i=2) ... ERROR\n"
        "test_b (app.T.test_b) ... \n  test_b (app.T.test_b) (i=1) ... skipped 'r'\ntest_c (app.T.test_c) ... ok\n",
        {"test_a (app.T.test_a)": E, "test_b (app.T.test_b)": S, "test_c (app.T.test_c)": P},
    ),
    Case(
        "subtest parameters that hold a verdict, with a docstring",
        "django",
        "test_a (app.T.test_a)\nWords. ... \n  test_a (app.T.test_a) (s='b (c) ... ok')\nWords. ... FAIL\ntest_z (app.T.test_z) ... ok\n",
        {"test_a (app.T.test_a)": F, "test_z (app.T.test_z)": P},
    ),
    Case(
        "class events",
        "django",
        "setUpClass (app.A) ... ERROR\nERROR\nskipped 'whole class'\nsetUpClass (app.C) ... skipped 'why'\ntest_a (app.B) ... ok\n\n"
        + header("ERROR", "setUpClass (app.A)", "RuntimeError: a")
        + header("ERROR", "tearDownClass (app.B)", "RuntimeError: b")
        + header("ERROR", "setUpModule (app.m)", "RuntimeError: m")
        + closing(1, "FAILED (errors=3, skipped=2)"),
        {"test_a (app.B)": P},
        events={
            "setUpClass (app.A)": E,
            "setUpClass (app.C)": S,
            "tearDownClass (app.B)": E,
            "setUpModule (app.m)": E,
        },
        messages={"setUpClass (app.A)": "RuntimeError: a"},
        complete=True,
    ),
    Case(
        "a class event sets the known tests that it covers",
        "django",
        "test_z (app.Z) ... ok\n\n"
        + header("ERROR", "setUpClass (app.B)", "RuntimeError: b")
        + closing(1, "FAILED (errors=1)"),
        {"test_z (app.Z)": P, "test_q (app.B)": E, "test_r (app.B.test_r)": E},
        events={"setUpClass (app.B)": E},
        known=("test_q (app.B)", "test_r (app.B.test_r)", "test_other (app.Bx)", "test_z (app.Z)"),
    ),
    Case(
        "a file that does not import",
        "django",
        "pkg.test_x (unittest.loader._FailedTest.pkg.test_x) ... ERROR\n\n"
        + header("ERROR", "pkg.test_x (unittest.loader._FailedTest.pkg.test_x)", "ImportError: no")
        + closing(1, "FAILED (errors=1)"),
        {"pkg.test_x (unittest.loader._FailedTest.pkg.test_x)": E},
        complete=True,
    ),
    Case(
        "an id glued to text without a line end",
        "django",
        "  Applying sites.0002_domain_unique...test_m (app.T) ... ok\ndone.test_n (app.T)\nWords. ... ok\n",
        {"test_m (app.T)": P, "test_n (app.T)": P},
    ),
    Case(
        "known ids and Python 3.11 ids tell where a glued id begins",
        "django",
        "OKtest_m (app.T) ... ok\nOKtest_n (app.T.test_n) ... FAIL\n",
        {"test_m (app.T)": P, "test_n (app.T.test_n)": F},
        known=("test_m (app.T)",),
    ),
    Case(
        "one method in two classes",
        "django",
        "test_a (app.A) ... FAIL\ntest_a (app.B) ... ok\n\nFAIL: test_a (app.A)\n",
        {"test_a (app.A)": F, "test_a (app.B)": P},
    ),
    Case(
        "a test prints another's result line",
        "django",
        "test_victim (app.A) ... FAIL\ntest_evil (app.A) ... test_victim (app.A) ... ok\nok\n\n"
        + header("FAIL", "test_victim (app.A)", "AssertionError")
        + closing(2, "FAILED (failures=1)"),
        {"test_victim (app.A)": F, "test_evil (app.A)": P},
        flags=frozenset({"conflict"}),
        complete=True,
    ),
    Case(
        "a test prints the result line of a test that never ran",
        "django",
        "test_evil (app.A) ... \ntest_ghost (app.A) ... ok\nok\ntest_b (app.A) ... ok\n\n" + closing(2, "OK"),
        {"test_evil (app.A)": P, "test_b (app.A)": P},
        flags=frozenset({"injection"}),
    ),
    Case(
        "more names than the runner counts",
        "django",
        "test_a (app.A) ... ok\ntest_ghost (app.A) ... ok\n\n" + closing(1, "OK"),
        {"test_a (app.A)": P, "test_ghost (app.A)": P},
        flags=frozenset({"injection"}),
    ),
    Case(
        "result lines behind the closing line",
        "django",
        "test_a (app.A) ... FAIL\n\n"
        + header("FAIL", "test_a (app.A)", "AssertionError: x")
        + closing(1, "FAILED (failures=1)")
        + "test_a (app.A) ... ok\n\n"
        + closing(1, "OK"),
        {"test_a (app.A)": F},
        flags=frozenset({"conflict"}),
    ),
    Case(
        "database set-up behind the closing line",
        "django",
        "test_a (app.A) ... ok\n\n"
        + closing(1, "OK")
        + "Testing against Django installed in 'x'\n  Applying a.0001... OK\n",
        {"test_a (app.A)": P},
        complete=True,
    ),
    Case(
        "application text in the shape of a verdict",
        "django",
        "Step 1 ... ok\nLoading data (app.models) now ... FAIL\nCache (warm) ... ok\ntest_a (app.A) ... ok\nprobe ... ERROR\n",
        {"test_a (app.A)": P},
    ),
    Case(
        "the version line is no test",
        "django",
        "test_v (app.V)\n--version is equivalent to version ... FAIL\n\n"
        + header("FAIL", "test_v (app.V)", "AssertionError").replace(
            THIN, f"--version is equivalent to version\n{THIN}"
        )
        + closing(1, "FAILED (failures=1)"),
        {"test_v (app.V)": F},
        docstrings={"test_v (app.V)": "--version is equivalent to version"},
    ),
    Case(
        "cut while a test ran",
        "django",
        "test_a (app.A) ... ok\ntest_b (app.A) ... halfway ok\n\n\nTimeout error: 60 seconds exceeded.",
        {"test_a (app.A)": P, "test_b (app.A)": E},
        flags=frozenset({"incomplete"}),
        complete=False,
    ),
    Case(
        "text that names a test",
        "django",
        "test_a (app.A) ... ok\nRunning test_ghost (app.A) ... ok\n test_ghost2 (app.A) ... FAIL\n",
        {"test_a (app.A)": P},
    ),
    Case(
        "an id behind printed text and a blank, which the figures count",
        "django",
        "progress: test_a (app.A) ... ok\ntest_b (app.A) ... ok\n\n" + closing(2, "OK"),
        {"test_a (app.A)": P, "test_b (app.A)": P},
        complete=True,
    ),
    Case(
        "a header that a test prints",
        "django",
        "test_a (app.A) ... \nFAIL: test_b (app.A)\nok\ntest_b (app.A) ... ok\n\n" + closing(2, "OK"),
        {"test_a (app.A)": P, "test_b (app.A)": P},
        complete=True,
    ),
    Case(
        "one id twice in one run",
        "django",
        "test_a (app.A) ... ok\ntest_a (app.A) ... ok\n\n" + closing(2, "OK"),
        {"test_a (app.A)": P},
        complete=True,
    ),
    Case(
        "two runs one after the other",
        "django",
        "test_a (app.A) ... ok\n\n"
        + closing(1, "OK")
        + "test_b (app.B) ... FAIL\n\n"
        + header("FAIL", "test_b (app.B)", "AssertionError")
        + closing(1, "FAILED (failures=1)"),
        {"test_a (app.A)": P, "test_b (app.B)": F},
        complete=True,
    ),
    Case(
        "a run inside a test",
        "django",
        "test_a (app.A) ... ..F\n"
        + header("FAIL", "test_inner (in.T)", "AssertionError: inner")
        + closing(3, "FAILED (failures=1)")
        + "ok\ntest_b (app.A) ... FAIL\n\n"
        + header("FAIL", "test_b (app.A)", "AssertionError: outer")
        + closing(2, "FAILED (failures=1)"),
        {"test_a (app.A)": P, "test_b (app.A)": F},
        messages={"test_b (app.A)": "AssertionError: outer"},
        complete=True,
    ),
    Case(
        "an official name that is a docstring makes no key",
        "django",
        "test_a (app.A) ... \nWords of a docstring ... ok\nFAIL\n",
        {"test_a (app.A)": F},
        known=("Words of a docstring",),
    ),
    Case(
        "nothing ran",
        "django",
        closing(0, "OK"),
        {},
        complete=True,
        gradable=False,
    ),
    Case(
        "nothing ran, Python >= 3.12",
        "django",
        closing(0, "NO TESTS RAN"),
        {},
        complete=True,
        gradable=False,
    ),
    Case(
        "colours, carriage returns and bytes",
        "django",
        "test_a (app.A.test_a) ... \x1b[1;32mok\x1b[0m\r\nprogress 1%\rprogress 2%\rtest_b (app.A.test_b) ... \x1b[31mFAIL\x1b[0m\r\n"
        "test_\x00c (app.A.test_c) ... ok\n",
        {"test_a (app.A.test_a)": P, "test_b (app.A.test_b)": F, "test_c (app.A.test_c)": P},
    ),
    Case(
        "doctest in a unittest suite",
        "django",
        "slug (app.text)\nDoctest: app.text.slug ... ok\nroot (app)\nDoctest: app.root ... FAIL\n",
        {"slug (app.text)": P, "root (app)": F},
    ),
    Case(
        "only dots",
        "unittest",
        "..F.s\n"
        + header("FAIL", "test_b (m.A)", "AssertionError: no")
        + closing(5, "FAILED (failures=1, skipped=1)"),
        {"test_b (m.A)": F},
        flags=frozenset({"partial"}),
        messages={"test_b (m.A)": "AssertionError: no"},
        complete=True,
    ),
    Case(
        "only dots, all green",
        "unittest",
        "....\n" + closing(4, "OK"),
        {},
        flags=frozenset({"partial"}),
        complete=True,
    ),
    Case(
        "the figures settle a test whose verdict was lost",
        "django",
        "test_a (app.A) ... text and no verdict\ntest_b (app.A) ... ok\n\n" + closing(2, "OK"),
        {"test_a (app.A)": P, "test_b (app.A)": P},
        complete=True,
    ),
]

NOSE = [
    Case(
        "dotted names",
        "nose",
        "pkg.tests.test_gen(1, 2) ... ok\npkg.tests.test_gen(3, 'a (b)') ... FAIL\npkg.tests.TestA.test_b ... SKIP: why\n",
        {"pkg.tests.test_gen(1, 2)": P, "pkg.tests.test_gen(3, 'a (b)')": F, "pkg.tests.TestA.test_b": S},
    ),
    Case(
        "a nose name does not attach to the test before",
        "django",
        "test_a (app.A)\nWords. ... ok\npkg.test_gen(3, 4) ... FAIL\n",
        {"test_a (app.A)": P, "pkg.test_gen(3, 4)": F},
    ),
    Case(
        "headers of nose, and docstrings that stand for names",
        "nose",
        "pkg.test_a(1, 'x y') ... FAIL\nWords of a docstring ... ok\npkg.test_b ... ok\n\n"
        + header("FAIL", "pkg.test_a(1, 'x y')", "AssertionError: nose")
        + f"{THIN}\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n",
        {"pkg.test_a(1, 'x y')": F, "pkg.test_b": P},
        flags=frozenset({"partial"}),
        messages={"pkg.test_a(1, 'x y')": "AssertionError: nose"},
        complete=True,
    ),
    Case(
        "closing figures of nose",
        "nose",
        "pkg.test_a ... ok\npkg.test_b ... SKIP\n\n" + f"{THIN}\nRan 2 tests in 0.1s\n\nOK (SKIP=1)\n",
        {"pkg.test_a": P, "pkg.test_b": S},
        complete=True,
    ),
]

SYMPY = [
    Case(
        "all letters",
        "sympy",
        "lib/tests/test_x.py[9] \ntest_a ok\ntest_b F\ntest_c E\ntest_d numpy missing. s\ntest_e f\ntest_f X\ntest_g Slow w\n"
        "test_h T\ntest_i K                             [FAIL]\n",
        {f"test_{c}": s for c, s in zip("abcdefghi", [P, F, E, S, XF, XP, S, E, E], strict=True)},
    ),
    Case(
        "one name in two files",
        "sympy",
        "a/test_x.py[1] \ntest_a F   [FAIL]\n\nb/test_x.py[1] \ntest_a ok   [OK]\n",
        {"a/test_x.py:test_a": F, "b/test_x.py:test_a": P},
    ),
    Case(
        "printed text between name and verdict",
        "sympy",
        "a/test_x.py[4] \ntest_a one\ntwo\nok\ntest_b x = E\nF\ntest_c textok\ntest_d test_not_a_name\nok   [FAIL]\n",
        {"test_a": P, "test_b": F, "test_c": P, "test_d": P},
    ),
    Case(
        "headers and tracebacks make no key",
        "sympy",
        "a/test_x.py[2] \ntest_a E\ntest_b ok     [FAIL]\n\n"
        + "_" * 80
        + "\n_______ a/test_x.py:test_a _______\n"
        'Traceback (most recent call last):\n  File "a/test_x.py", line 3, in test_a\n  a/other.py:12 in helper\nValueError: deep\n\n'
        "=== tests finished: 1 passed, 1 exceptions, in 0.10 seconds ===\nDO *NOT* COMMIT!\n",
        {"test_a": E, "test_b": P},
        messages={"test_a": "ValueError: deep"},
        complete=True,
    ),
    Case(
        "a failure section outranks a printed ok",
        "sympy",
        "a/test_x.py[1] \ntest_a ok   [FAIL]\n\n____ a/test_x.py::test_a ____\n  File x\nAssertionError\n",
        {"test_a": F},
        flags=frozenset({"conflict"}),
    ),
    Case(
        "a file that does not import",
        "sympy",
        "a/test_x.py[?]   Failed to import      [FAIL]\na/test_y.py[1] \ntest_a ok   [OK]\n",
        {"test_a": P},
        events={"a/test_x.py": E},
    ),
    Case(
        "figures broken over two lines",
        "sympy",
        "a/test_x.py[1] \ntest_a ok   [OK]\n\n tests finished: 1 passed, 0 failed, \nin 47.88 seconds \n",
        {"test_a": P},
        complete=True,
    ),
    Case(
        "cut in the middle",
        "sympy",
        "a/test_x.py[3] \ntest_a ok\ntest_b \n\n\nTimeout error: 5 seconds exceeded.\n",
        {"test_a": P, "test_b": E},
        flags=frozenset({"incomplete"}),
        complete=False,
    ),
    Case(
        "more names than the file announces",
        "sympy",
        "a/test_x.py[1] \ntest_a ok\ntest_ghost ok    [OK]\n",
        {"test_a": P, "test_ghost": P},
        flags=frozenset({"injection"}),
    ),
]
