"""What an edited file adds to the original, and what it may not take from it."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utboost_action.generation.additions import Addition, additions_of
from utboost_action.generation.assembly import composed
from utboost_action.generation.gates import Gate, RejectedError

STATEMENTS = st.sampled_from(
    [
        "import a",
        "x = 1",
        "def f():\n    return 1",
        "class K:\n    y = 2\n\n    def m(self):\n        pass",
        "# note",
        "",
    ]
)
NEW = st.sampled_from(
    ["def test_n():\n    assert 1", "class TestM:\n    def test_m(self):\n        pass", "import b", "Z = 3"]
)


@given(st.lists(STATEMENTS, max_size=6), st.integers(0, 6), NEW, st.booleans())
def test_an_insertion_anywhere_is_found_and_put_back_without_touching_the_rest(
    parts, place, new, final_newline
):
    original = "\n".join(parts) + ("\n" if final_newline else "")
    place = min(place, len(parts))
    edited = "\n".join([*parts[:place], new, *parts[place:]]) + "\n"
    found: tuple[Addition, ...] = ()
    with contextlib.suppress(RejectedError):  # a name that exists already
        found = additions_of("t.py", original, edited)
    again = additions_of("t.py", original, composed(original, found))
    assert [one.names for one in again] == [one.names for one in found]
    lines = iter(composed(original, found).split("\n"))
    assert all(line in lines for line in original.split("\n") if line.strip())


FIXTURES = """\
import pytest
from pkg.tools import *


@pytest.mark.usefixtures("db")
def test_old(tmp_path):
    assert_equal(len([1]), 1)
    data = 1
    assert data
"""


@pytest.mark.parametrize(
    ("code", "gate"),
    [
        ("def len(x): return 1", Gate.REDEFINES),  # a builtin that existing tests call
        ("def assert_equal(*a): pass", Gate.REDEFINES),  # of a star import
        ("@pytest.fixture\ndef tmp_path(): return 1", Gate.REDEFINES),  # a fixture that they ask for
        ("@pytest.fixture(name='tmp_path')\ndef mine(): return 1", Gate.REDEFINES),
        ("@pytest.fixture\ndef db(): return 1", Gate.REDEFINES),  # by usefixtures
        ("def tmp_path(): return 1", None),  # no fixture
        ("data = 2", None),  # a local name of an existing test
        ("input = 3", None),  # a builtin that nobody uses
    ],
)
def test_a_new_name_takes_nothing_from_existing_code(code, gate):
    new = f"{FIXTURES}\n\n{code}\n\n\ndef test_new():\n    pass\n"
    if gate is None:
        assert len(additions_of("t.py", FIXTURES, new)) == 2
        return
    with pytest.raises(RejectedError) as refused:
        additions_of("t.py", FIXTURES, new)
    assert refused.value.gate is gate


@pytest.mark.parametrize("old", ["def f(a, a): pass", "nonlocal x", "def f():\n    x = 1\n    global x"])
def test_a_file_that_parses_and_does_not_compile_is_turned_away(old):
    with pytest.raises(RejectedError) as refused:
        additions_of("t.py", f"{old}\n", f"{old}\n\n\ndef test_x():\n    pass\n")
    assert refused.value.gate is Gate.UNPARSABLE
