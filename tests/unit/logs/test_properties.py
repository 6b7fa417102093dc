"""A log built from known results is read back exactly, and no bytes make a reader raise."""

# ruff: noqa: E501  log lines stand whole

from __future__ import annotations

import string
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from unit.logs.log_cases import CAPTURED, DJANGO, NOSE, RULE, SUMMARY, SYMPY, THIN
from unit.logs.pytest_cases import PYTEST

from utboost_action.logs import parser_names, read_log
from utboost_action.model import LogFlag, ParsedLog

SUSPICIONS = {LogFlag.INJECTION, LogFlag.PARTIAL, LogFlag.INCOMPLETE, LogFlag.FLAKY}

WORDS = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL"]
NAMES = st.from_regex(r"test_[a-z0-9_]{1,8}", fullmatch=True)
TEXT = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20)
LOOKALIKES = st.sampled_from(
    [
        "Step 1 ... ok", "probe ... FAIL", "okay then", "ok, fine", "FAILED (x=1)", "=== title ===", "-----",
        "  Applying a.0001_x... OK", "see Model (app.models.Model) now", "PASSED [ 50%]", "PASSED", "1 of 2 ok",
        "ERROR    root:views.py:12 x", "WARNING: ... ok then", "...", "E", "F", "100% done", "[gw0] started",
    ]
)  # fmt: skip
NOISE = st.lists(st.one_of(TEXT, LOOKALIKES), max_size=3)


def words(log: ParsedLog) -> dict[str, str]:
    return {name: status.value for name, status in log.statuses.items()}


# ---- unittest


@st.composite
def django_log(draw: st.DrawFn) -> tuple[str, dict[str, str], dict[str, str]]:
    """A complete verbose log, old or new ids, with docstrings and output in every place."""
    names = draw(
        st.lists(
            st.tuples(NAMES, st.sampled_from(["app.tests.A", "b.C"])), min_size=1, max_size=6, unique=True
        )
    )
    new_ids = draw(st.booleans())
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    lines: list[str] = []
    sections: list[str] = []
    expected: dict[str, str] = {}
    docs: dict[str, str] = {}
    verdicts = {
        "PASSED": "ok",
        "FAILED": "FAIL",
        "ERROR": "ERROR",
        "SKIPPED": "skipped 'a ... (b)'",
        "XFAIL": "expected failure",
    }
    for name, owner in names:
        test = f"{name} ({owner}.{name})" if new_ids else f"{name} ({owner})"
        status = draw(st.sampled_from(WORDS))
        expected[test] = status
        head = test
        if draw(st.booleans()):
            doc = draw(TEXT).strip() or "Words."
            assume(not doc.endswith((")", "...")) and " (" not in doc)
            docs[test] = doc
            head = f"{test}\n{doc}"
        inner = draw(NOISE) if draw(st.booleans()) else []
        inner = [line for line in inner if line.strip() and "..." not in line and not line.endswith(")")]
        if status == "SKIPPED":
            inner = [
                line
                for line in inner
                if line not in ("ok", "FAIL", "ERROR", "expected failure", "unexpected success")
            ]
        glued = draw(st.sampled_from(["", "glued "])) if status in ("PASSED", "FAILED", "ERROR") else ""
        between = "".join(line + "\n" for line in inner)
        lines.append(f"{head} ... {between}{glued}{verdicts[status]}")
        lines += (
            [line for line in draw(NOISE) if line.strip() and not line.endswith(")")] if not glued else []
        )
        if status in ("FAILED", "ERROR"):
            kind = "FAIL" if status == "FAILED" else "ERROR"
            doc_line = f"{docs[test]}\n" if test in docs else ""
            sections.append(
                f'{RULE}\n{kind}: {test}\n{doc_line}{THIN}\nTraceback (most recent call last):\n  File "x.py", line 1, in t\n'
                f"    {draw(TEXT)}\nAssertionError: {len(sections)}\n- more\n\n"
            )
    count = Counter(expected.values())
    parts = [
        f"{word}={count[status]}"
        for status, word in (
            ("FAILED", "failures"),
            ("ERROR", "errors"),
            ("SKIPPED", "skipped"),
            ("XFAIL", "expected failures"),
        )
        if count[status]
    ]
    told = f" ({', '.join(parts)})" if parts else ""
    outcome = ("FAILED" if sections else "OK") + told
    text = (
        "\n".join(lines)
        + "\n\n"
        + "".join(sections)
        + f"{THIN}\nRan {len(names)} tests in 0.1s\n\n{outcome}\n"
    )
    return text.replace("\n", ending), expected, docs


@given(django_log())
def test_unittest_is_read_back(made: tuple[str, dict[str, str], dict[str, str]]) -> None:
    text, expected, docs = made
    log = read_log(text.encode(), "django")
    assert words(log) == expected
    assert dict(log.docstrings) == docs
    assert log.complete is True
    assert log.gradable
    assert not log.flags & SUSPICIONS
    count = Counter(expected.values())
    assert log.summary is not None
    assert (log.summary.ran, log.summary.passed, log.summary.failed, log.summary.errors, log.summary.skipped) == (
        len(expected), count["PASSED"], count["FAILED"], count["ERROR"], count["SKIPPED"],
    )  # fmt: skip
    failing = [name for name, status in expected.items() if status in ("FAILED", "ERROR")]
    assert [log.evidence[name].message for name in failing] == [
        f"AssertionError: {i}" for i in range(len(failing))
    ]


@given(
    st.lists(
        st.tuples(NAMES, st.sampled_from(["ok", "FAIL", "ERROR", "SKIP: why"])),
        max_size=6,
        unique_by=lambda x: x[0],
    ),
    NOISE,
)
def test_nose_is_read_back(tests: list[tuple[str, str]], noise: list[str]) -> None:
    status = {"ok": "PASSED", "FAIL": "FAILED", "ERROR": "ERROR", "SKIP: why": "SKIPPED"}
    noise = [line for line in noise if not line.endswith(")")]
    lines = [line for name, verdict in tests for line in (f"pkg.mod.{name}(1, 'a b') ... {verdict}", *noise)]
    log = read_log("\n".join(lines).encode(), "nose")
    assert words(log) == {f"pkg.mod.{name}(1, 'a b')": status[verdict] for name, verdict in tests}


# ---- pytest

PARAMETERS = st.text(st.sampled_from(string.ascii_letters + " -[]():.,'=%"), min_size=1, max_size=12)


@st.composite
def pytest_log(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A complete -rA log: captured output that imitates the runner, ids with anything in brackets."""
    names = draw(st.lists(st.tuples(NAMES, st.none() | PARAMETERS), min_size=1, max_size=6, unique=True))
    colour = draw(st.booleans())
    verbose = draw(st.booleans())
    expected: dict[str, str] = {}
    for name, parameter in names:
        test = f"t/test_x.py::{draw(st.sampled_from(['', 'C::']))}{name}" + (
            f"[{parameter}]" if parameter is not None else ""
        )
        expected[test] = draw(st.sampled_from([*(word for word in WORDS if word != "SKIPPED"), "XPASS"]))
    lines = ["=== test session starts ===", f"collected {len(expected)} items", ""]
    if verbose:
        lines += [f"{test} {word}    [ 50%]" for test, word in expected.items()]
    lines.append("=== FAILURES ===")
    for test, word in expected.items():
        title = test.partition("::")[2].partition("[")
        shown = title[0].replace("::", ".") + title[1] + title[2]
        if word in ("FAILED", "ERROR"):
            lines += [
                f"____ {shown} ____",
                *draw(NOISE),
                "E   AssertionError: x",
                "E     more",
                CAPTURED,
                *draw(NOISE),
            ]
        if draw(st.booleans()):
            lines += [
                CAPTURED,
                SUMMARY,
                f"PASSED {draw(st.sampled_from(list(expected)))}",
                "PASSED t::ghost",
                "=== 1 passed in 0.1s ===",
            ]
    lines.append(SUMMARY)
    for word in ("PASSED", "XFAIL", "XPASS", "ERROR", "FAILED"):
        for test, status in expected.items():
            if status == word:
                reason = (
                    draw(st.sampled_from(["", " - AssertionError: x", " - a - b"]))
                    if word != "PASSED"
                    else ""
                )
                lines.append(f"\x1b[31m{word}\x1b[0m {test}{reason}" if colour else f"{word} {test}{reason}")
    count = Counter(expected.values())
    parts = [
        f"{count[status]} {word}"
        for status, word in (
            ("FAILED", "failed"),
            ("PASSED", "passed"),
            ("XFAIL", "xfailed"),
            ("XPASS", "xpassed"),
            ("ERROR", "errors"),
        )
        if count[status]
    ]
    lines.append(f"=== {', '.join(parts)} in 0.10s ===")
    return "\n".join(lines) + "\n", expected


@given(pytest_log())
def test_pytest_is_read_back(made: tuple[str, dict[str, str]]) -> None:
    text, expected = made
    prefixes = [
        one for one in expected for other in expected if one != other and other.startswith(one + " - ")
    ]
    assume(not prefixes)
    log = read_log(text.encode(), "pytest")
    assert words(log) == expected
    assert log.complete is True
    assert not log.flags & SUSPICIONS
    for name, status in expected.items():
        if status in ("FAILED", "ERROR"):
            assert log.evidence[name].message == "AssertionError: x"


# ---- sympy


@st.composite
def sympy_log(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """One or two files, printed text before verdicts, failure sections, closing figures."""
    letters = {"PASSED": "ok", "FAILED": "F", "ERROR": "E", "SKIPPED": "s", "XFAIL": "f", "XPASS": "X"}
    files = draw(
        st.lists(st.sampled_from(["a/test_x.py", "b/test_y.py"]), min_size=1, max_size=2, unique=True)
    )
    lines, sections = ["=== test process starts ===", ""], []
    expected: dict[str, str] = {}
    for path in files:
        names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
        lines.append(f"{path}[{len(names)}] ")
        for index, name in enumerate(names):
            status = draw(st.sampled_from(sorted(letters)))
            expected[f"{path}:{name}" if len(files) > 1 else name] = status
            text = draw(TEXT).replace("[", "").strip()
            inner = draw(NOISE) if status != "SKIPPED" else []
            inner = [
                line
                for line in inner
                if not line.lstrip().startswith(("test", "_", "="))
                and "tests finished" not in line
                and ".py[" not in line
            ]
            between = "\n".join(["", *inner, ""]) if inner else ""
            last = index + 1 == len(names)
            lines.append(f"{name} {text}{between} {letters[status]}" + ("          [FAIL]" if last else ""))
            if status in ("FAILED", "ERROR"):
                error = "AssertionError" if status == "FAILED" else "ValueError: x"
                sections.append(
                    f'{"_" * 80}\n______ {path}:{name} ______\nTraceback (most recent call last):\n  File "x"\n{error}'
                )
    count = Counter(expected.values())
    lines += sections
    lines.append(
        f" tests finished: {count['PASSED']} passed, {count['FAILED']} failed, {count['SKIPPED']} skipped, "
        f"{count['XFAIL']} expected to fail, {count['XPASS']} expected to fail but passed, {count['ERROR']} exceptions, \nin 1.00 seconds "
    )
    return "\n".join(lines) + "\n", expected


@given(sympy_log())
def test_sympy_is_read_back(made: tuple[str, dict[str, str]]) -> None:
    text, expected = made
    log = read_log(text.encode(), "sympy")
    assert words(log) == expected
    assert log.complete is True
    assert log.summary is not None
    count = Counter(expected.values())
    assert (log.summary.ran, log.summary.passed, log.summary.xpassed) == (
        len(expected),
        count["PASSED"],
        count["XPASS"],
    )
    assert not log.flags & SUSPICIONS


# ---- anything

FRAGMENTS = [
    line for case in (*DJANGO, *NOSE, *SYMPY, *PYTEST) for line in case.log.splitlines(keepends=True)
]


@given(st.binary(max_size=500), st.sampled_from(parser_names()))
@example(b"\x1b" * 50 + b"\x1b]" * 50 + b"\r" * 50, "pytest")
@example(b'"\\n', "pytest")
def test_any_bytes_are_read(data: bytes, parser: str) -> None:
    read_log(data, parser)


@given(
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), TEXT), max_size=25),
    st.sampled_from(["django", "pytest", "sympy"]),
)
def test_any_order_of_lines_is_read(pieces: list[str], parser: str) -> None:
    data = "".join(pieces).encode()
    log = read_log(data, parser, known_ids=["t.py::test_a", "test_a (app.A)"])
    for name in (*log.statuses, *log.events):
        assert name.isprintable() or not any(ord(character) < 32 for character in name)
        evidence = log.evidence[name]
        assert 1 <= evidence.first_line <= evidence.last_line <= data.count(b"\n") + 1


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25), st.sampled_from(["django", "pytest", "sympy"]))
def test_a_green_line_never_undoes_a_closing_failure(pieces: list[str], parser: str) -> None:
    """Whatever stands before the runner's own section, a failure listed there stays one."""
    tail = {
        "django": f"test_zz (zz.Z) ... FAIL\n\n{RULE}\nFAIL: test_zz (zz.Z)\n{THIN}\nAssertionError\n\n{THIN}\nRan 1 test in 1s\n\nFAILED (failures=1)\n",
        "pytest": f"=== test session starts ===\n=== FAILURES ===\n{SUMMARY}\nFAILED zz.py::test_zz - x\n=== 1 failed in 0.1s ===\n",
        "sympy": "zz.py[1] \ntest_zz F    [FAIL]\n\n____ zz.py:test_zz ____\nAssertionError\n\n tests finished: 0 passed, 1 failed, in 1.0 seconds \n",
    }[parser]
    green = {
        "django": "test_zz (zz.Z) ... ok\n",
        "pytest": "PASSED zz.py::test_zz\n",
        "sympy": "test_zz ok\n",
    }[parser]
    assume(not any("tests finished" in piece for piece in pieces))
    log = read_log(("".join(pieces) + "\n" + green + tail).encode(), parser)
    zz = [status for name, status in log.statuses.items() if name.endswith(("test_zz", "test_zz (zz.Z)"))]
    assert any(status.fails for status in zz)


# ---- linear work


def _calls(data: bytes, parser: str) -> int:
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read_log(data, parser)
    finally:
        sys.setprofile(before)
    return count


GROWING: list[tuple[str, str, Callable[[int], str]]] = [
    ("noise that looks back", "django", lambda n: "\n" + "".join(f"Step {i} ... ok\n" for i in range(n))),
    ("subtests", "django", lambda n: "test_a (m.A.test_a) ... \n" + "".join(f"  test_a (m.A.test_a) (i={i}) ... FAIL\n" for i in range(n))),
    ("glued output", "django", lambda n: "t ... Testing against Django installed in x\n" * n),
    ("interrupted tests", "django", lambda n: "".join(f"test_{i} (m.A) ... test_x{i} (m.A) ... ok\nok\n" for i in range(n))),
    ("closing sections", "django", lambda n: "".join(f"{RULE}\nFAIL: test_{i} (m.A)\n{THIN}\nx\n" for i in range(n))),
    ("rules without a closing line", "django", lambda n: f"{RULE}\nFAIL: test_a (m.A)\n" + f"{RULE}\n\nRan \n" * n),
    ("ids in one line", "django", lambda n: "x (a.b) ... " * n),
    ("separators in one line", "django", lambda n: "test_a (a.b)\n" + "x ... " * n),
    ("underscores", "sympy", lambda n: "x.py[1] \ntest_a ok\n" + "_" * n),
    ("one long line", "sympy", lambda n: "x.py[1] \ntest_a " + "a " * n),
    ("dashes in one line", "pytest", lambda n: "FAILED t.py::a[" + "[ - ]" * n),
    ("summaries", "pytest", lambda n: f"{SUMMARY}\nPASSED t::a\n=== 1 passed in 0.1s ===\n" * n),
    ("sections behind summaries", "pytest", lambda n: f"{CAPTURED}\n{SUMMARY}\nPASSED t::a\n=== PASSES ===\n=== 1 passed in 0.1s ===\n" * n),
    ("closing lines", "pytest", lambda n: "=== 1 passed in 0.1s ===\n" + "1 passed in 0.1s\n" * n),
    ("escapes", "pytest", lambda n: "\x1b]" * n + "\x1b[" * n),
    ("carriage returns", "pytest", lambda n: "a\r" * n),
    ("markers", "pytest", lambda n: "+ : '>>>>> Start Test Output'\n" * n + "+ : '>>>>> End Test Output'\n" * n),
    ("apply markers", "pytest", lambda n: "Task Metadata:\n" + ">>>>> Applied Patch (pred)\nTest Script: x\n" * n),
]  # fmt: skip


@pytest.mark.parametrize(("parser", "make"), [row[1:] for row in GROWING], ids=[row[0] for row in GROWING])
def test_work_grows_with_the_log(parser: str, make: Callable[[int], str]) -> None:
    small, large = _calls(make(400).encode(), parser), _calls(make(1600).encode(), parser)
    assert large <= 5 * small + 500
