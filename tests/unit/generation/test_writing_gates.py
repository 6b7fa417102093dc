import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from material import TESTS, official, view

from utboost_action.generation.asking import Reply
from utboost_action.generation.assembly import files_of, groups_of, patch_of, with_unique_names
from utboost_action.generation.blocks import read_reply
from utboost_action.generation.edits import apply_reply, with_imports
from utboost_action.generation.gates import Gate, RejectedError, Tally
from utboost_action.generation.paths import editable_test_path
from utboost_action.generation.samples import Sample, merged, units_of_sample
from utboost_action.generation.syntax import parse
from utboost_action.generation.units import renamed

CALC = "tests/test_calc.py"


def reply(search, replace, path=CALC, extra=""):
    return f"FILE: {path}\n{extra}<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def added(code, path=CALC, extra=""):
    return reply("LIMIT = 10", f"LIMIT = 10\n\n\n{code}", path, extra)


def units(text, *, label="s0.0", finish="stop"):
    tally = Tally()
    found = units_of_sample(Sample(label, "hash", 0.0, Reply(text, finish)), view(), official(), tally)
    return found, [one.gate for one in tally.rejections]


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("", Gate.EMPTY_REPLY),
        ("  \n", Gate.EMPTY_REPLY),
        ("I would rather not.", Gate.NO_EDIT),
        ("```python\ndef test_x(): pass\n```", Gate.NO_EDIT),
        ("x" * 300_000, Gate.OVERSIZED_REPLY),
        ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", Gate.MALFORMED_EDIT),
        ("FILE: a.py\n<<<<<<< SEARCH\na\n=======\nb\n", Gate.MALFORMED_EDIT),
        ("FILE: a.py\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE", Gate.MALFORMED_EDIT),
        ("FILE: a.py\n<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE", Gate.MALFORMED_EDIT),
        ("FILE: a.py\n>>>>>>> REPLACE", Gate.MALFORMED_EDIT),
        (reply("nowhere", "x"), Gate.SEARCH_NOT_FOUND),
        (reply("", "def test_x(): pass"), Gate.SEARCH_AMBIGUOUS),
        (reply("    assert add", "x"), Gate.SEARCH_NOT_FOUND),  # part of a line is no match
        (reply("a", "b", "../../etc/passwd"), Gate.ESCAPING_PATH),
        (reply("", "x = 1", "../../etc/test_x.py"), Gate.ESCAPING_PATH),
        (reply("", "x = 1", "/etc/test_x.py"), Gate.ESCAPING_PATH),
        (reply("", "x = 1", "tests/../../test_x.py"), Gate.ESCAPING_PATH),
        (reply("", "x = 1", "__import__('os').system('id')"), Gate.ESCAPING_PATH),
        (reply("", "x = 1", "tests/.git/test_x.py"), Gate.ESCAPING_PATH),
        (reply("a", "b", "tests/test_invented.py"), Gate.INVENTED_PATH),
        (reply("", "x = 1", "nowhere/test_x.py"), Gate.FORBIDDEN_FILE),
        (reply("", "x = 1", "tests/conftest_new.py"), Gate.FORBIDDEN_FILE),
        (reply("x = 1", "x = 2", "tests/conftest.py"), Gate.RUNNER_CONFIGURATION),
        (reply("def add(a, b):", "def add(a, b, c):", "pkg/__init__.py"), Gate.RUNNER_CONFIGURATION),
        (reply("def helper_of_it():", "def x():", "pkg/other.py"), Gate.FORBIDDEN_FILE),
        (reply("project = 'p'", "x", "docs/conf.py"), Gate.FORBIDDEN_FILE),
        (added("def test_x(:"), Gate.UNPARSABLE),
        (added("def test_x():\n    assert " + "+".join("1" * 5000)), Gate.UNPARSABLE),
        (added("def test_x():\n    '\ud800'"), Gate.UNPARSABLE),
        (added("def test_x():\n    '\0'"), Gate.UNPARSABLE),
        (reply("        assert add(1, 1) == 2", "        assert add(1, 1)"), Gate.EXISTING_CHANGED),
        (reply("def test_two():", "def test_too():"), Gate.EXISTING_CHANGED),
        (reply("LIMIT = 10", "LIMIT = 11\ndef test_x(): pass"), Gate.EXISTING_CHANGED),
        (reply("class TestOld:", "class TestOld(object):"), Gate.EXISTING_CHANGED),
        (reply("import os", "import sys"), Gate.EXISTING_CHANGED),
        (added("print(1)\ndef test_x(): pass"), Gate.STRAY_STATEMENT),
        (added("if True:\n    def test_x(): pass"), Gate.STRAY_STATEMENT),
        (added("def test_two(): pass"), Gate.REDEFINES),
        (added("def make(value): return 2\ndef test_x(): pass"), Gate.REDEFINES),
        (added("from other import add\ndef test_x(): pass"), Gate.REDEFINES),
        (added("from pkg import *\ndef test_x(): pass"), Gate.REDEFINES),
        (added("def test_x(): pass\ndef test_x(): pass"), Gate.REDEFINES),
        (
            reply("        self.one = 1", "        self.one = 1\n\n    def tearDown(self): pass"),
            Gate.RUNNER_CONFIGURATION,
        ),
        (added("pytestmark = 1\ndef test_x(): pass"), Gate.RUNNER_CONFIGURATION),
        (added("def pytest_runtest_setup(item): pass\ndef test_x(): pass"), Gate.RUNNER_CONFIGURATION),
        (added("@fixture(autouse=True)\ndef f(): pass\ndef test_x(): pass"), Gate.RUNNER_CONFIGURATION),
        (added("def helper(): pass"), Gate.NO_NEW_TEST),
        (added("x = 1  # only this", extra="IMPORT: import json\n"), Gate.NO_NEW_TEST),
        (added("def test_x(): pass", extra="IMPORT: __import__('os').system('id')\n"), Gate.MALFORMED_EDIT),
        (added("def test_x():\n    import socket"), Gate.NETWORK),
        (added("def test_x():\n    from urllib import request"), Gate.NETWORK),
        (added("def test_x():\n    requests.get('http://example.org')"), Gate.NETWORK),
        (added("import time\ndef test_x():\n    time.sleep(1)"), Gate.SLEEP),
        (added("import random\ndef test_x():\n    assert random.random() < 1"), Gate.RANDOMNESS),
        (added("import uuid\ndef test_x():\n    uuid.uuid4()"), Gate.RANDOMNESS),
        (added("def test_x(np):\n    np.random.rand(3)"), Gate.RANDOMNESS),
        (added("def test_x():\n    open('/etc/passwd')"), Gate.ABSOLUTE_PATH),
        (added("def test_x():\n    open(r'C:\\x')"), Gate.ABSOLUTE_PATH),
        (added("import sys\ndef test_x():\n    sys.path.insert(0, 'x')"), Gate.RUNNER_CONFIGURATION),
        (added("import pytest\n@pytest.mark.skip\ndef test_x(): pass"), Gate.SKIPPED),
        (added("class TestX(Base):\n    def test_x(self):\n        self.skipTest('no')"), Gate.SKIPPED),
        (
            added(
                "@pytest.mark.parametrize('a', [pytest.param(1, marks=pytest.mark.skip)])\ndef test_x(a): 1"
            ),
            Gate.SKIPPED,
        ),
        (added("def test_x():\n    raise unittest.SkipTest"), Gate.SKIPPED),
        (added("import pytest as pt\ndef test_x():\n    pt.skip('no')"), Gate.SKIPPED),
        # by another name
        (added("from time import sleep as nap\ndef test_x():\n    nap(1)"), Gate.SLEEP),
        (added("import time\nnap = time.sleep\ndef test_x():\n    nap(1)"), Gate.SLEEP),
        (added("import random as r\ndef test_x():\n    assert r.random() < 1"), Gate.RANDOMNESS),
        (added("import random\ndef test_x():\n    assert random.Random().random() < 1"), Gate.RANDOMNESS),
        (added("import random\ndef test_x():\n    random.seed()\n    random.random()"), Gate.RANDOMNESS),
        (added("from uuid import uuid4\ndef test_x():\n    uuid4()"), Gate.RANDOMNESS),
        (added("from os import urandom\ndef test_x():\n    urandom(3)"), Gate.RANDOMNESS),
        (added("def test_x():\n    __import__('socket')"), Gate.NETWORK),
        (added("import importlib\ndef test_x():\n    importlib.import_module('ssl')"), Gate.NETWORK),
        # clock, files, interpreter
        (added("import datetime\ndef test_x():\n    datetime.datetime.now()"), Gate.CLOCK),
        (added("from datetime import date\ndef test_x():\n    date.today()"), Gate.CLOCK),
        (added("import time\ndef test_x():\n    time.time()"), Gate.CLOCK),
        (added("def test_x():\n    open('left.txt', 'a')"), Gate.WRITES),
        (added("import io\ndef test_x():\n    io.open('left.txt', mode='wb')"), Gate.WRITES),
        (added("import sys\ndef test_x():\n    sys.path[:0] = ['x']"), Gate.RUNNER_CONFIGURATION),
        (added("import sys\ndef test_x():\n    del sys.modules['a']"), Gate.RUNNER_CONFIGURATION),
        (added("def test_x():\n    os.environ['A'] = 'b'"), Gate.RUNNER_CONFIGURATION),
        (added("def test_x():\n    test_two.__code__ = None"), Gate.RUNNER_CONFIGURATION),
        # existing tests made weaker
        (
            added("@fixture(**{'autouse': True})\ndef f(): pass\ndef test_x(): pass"),
            Gate.RUNNER_CONFIGURATION,
        ),
        (added("pkg.add = lambda *a: 2\ndef test_x(): pass"), Gate.STRAY_STATEMENT),
        (added("X = test_two.__code__ = 1\ndef test_x(): pass"), Gate.STRAY_STATEMENT),
        (
            reply("        self.one = 1", "        self.one = 1\n\n    def assertEqual(self, *a): pass"),
            Gate.REDEFINES,
        ),
        (
            reply("        self.one = 1", "        self.one = 1\n\n    def __getattr__(self, a): pass"),
            Gate.REDEFINES,
        ),
        (added("def test_x(): pass", extra="IMPORT: from os import sep as os\n"), Gate.REDEFINES),
        (added("from operator import eq as make\ndef test_x(): pass"), Gate.REDEFINES),
        (added("from operator import eq as test_two\ndef test_x(): pass"), Gate.REDEFINES),
        (added("X = setattr(TestOld, 'test_one', 1)\ndef test_x(): pass"), Gate.STRAY_STATEMENT),
        (added("X = globals().update(test_two=1)\ndef test_x(): pass"), Gate.STRAY_STATEMENT),
        (added("auto = pytest.fixture(autouse=True)(make)\ndef test_x(): pass"), Gate.STRAY_STATEMENT),
        (added("def test_x(a=(test_two := None)): pass"), Gate.STRAY_STATEMENT),
        (added("@(lambda f: setattr(TestOld, 'a', f))\ndef test_x(): pass"), Gate.STRAY_STATEMENT),
        (added("class TestX:\n    TestOld.test_one = 1\n    def test_x(self): pass"), Gate.STRAY_STATEMENT),
        (added("import json; import socket\ndef test_x(): json"), Gate.STRAY_STATEMENT),
        (added("A = 1; B = print()\ndef test_x(): A"), Gate.STRAY_STATEMENT),
        (
            added("def test_x(): pass")
            + reply("", "x = 1", "tests/test_y.py")
            .replace("SEARCH\n\n", "SEARCH\ndef test_more():\n")
            .replace("x = 1", "X = 1\n\n\ndef test_more():")
            .replace("tests/test_y.py", "tests/test_more.py"),
            Gate.RUNNER_CONFIGURATION,
        ),
        (added("import requests\ndef test_x():\n    requests.get(url='http://a')"), Gate.NETWORK),
        (added("import time\ndef test_x():\n    getattr(time, 'sleep')(1)"), Gate.SLEEP),
        (added("def test_x():\n    open(b'/etc/passwd')"), Gate.ABSOLUTE_PATH),
    ],
    ids=lambda value: str(value)[:40].encode("unicode_escape").decode(),
)
def test_what_is_turned_away_and_why(text, gate):
    assert units(text) == ((), [gate])


@pytest.mark.parametrize(
    "code",
    [
        "import random\ndef test_x():\n    random.seed(1)\n    assert random.random() < 1",
        "import numpy as np\ndef test_x():\n    rng = np.random.default_rng(3)\n    assert rng.normal() < 99",
        "import numpy as np\ndef test_x():\n    rng = np.random.RandomState(3)",
        "def test_x(client):\n    client.get('/admin/')",
        "def test_x():\n    assert '/usrx' and {'a': 1}.get('a')",
        "async def test_x():\n    pass",
        "class TestX(Base):\n    @property\n    def one(self): return 1\n    def test_x(self): pass",
        "@pytest.mark.parametrize('a', [1, 2])\ndef test_x(a): pass",
        "A = [n for n in range(3)]\nB = [n for n in range(4)]\ndef test_x():\n    assert A < B",
        "from numpy.random import default_rng\ndef test_x():\n    default_rng(seed=0)",
        "from .random import thing\ndef test_x():\n    assert thing",
        "def test_x():\n    skip = 2\n    assert parse('a').skip == skip",
        "import asyncio\nasync def test_x():\n    await asyncio.sleep(0)",
        "def test_x(clock):\n    clock.sleep(3)",
        "def test_x():\n    assert self.client.get('/home/').status_code",
        "import datetime\ndef test_x():\n    datetime.datetime(2020, 1, 1)",
        "def test_x(tmp_path):\n    open(tmp_path / 'a', 'w')\n    open('data.txt')",
        "import random\ndef test_x():\n    assert random.Random(0).random() < 1",
        "def test_x():\n    assert 'sleep, skip and /no/path'",
        "class TestX(Base):\n    def _helper(self): return 1\n    def test_x(self): pass",
        "def test_x(lexer):\n    lexer.skip(2)",
        "@pytest.fixture\ndef mine(): return 1\n\n\ndef test_x(mine): pass",
    ],
)
def test_what_is_let_through(code):
    found, gates = units(added(code))
    assert (len(found), gates) == (1, [])


def test_a_cut_reply_is_turned_away_whole():
    assert units(added("def test_x(): pass"), finish="length") == ((), [Gate.CUT_REPLY])


def test_several_matches_are_refused():
    text = reply("    assert True", "    assert True", "tests/test_more.py")
    assert units(text)[1] == [Gate.NO_NEW_TEST]
    double = reply("", "a = 1\na = 1", "tests/test_new.py") + reply("a = 1", "b = 1", "tests/test_new.py")
    assert units(double)[1] == [Gate.SEARCH_AMBIGUOUS]


def test_formats_that_models_like_are_read_alike():
    plain = added("def test_x():\n    assert LIMIT")
    fenced = "Sure!\n\n```python\n" + plain.replace("FILE: ", "### ") + "```\nDone."
    inner = plain.replace("<<<<<<< SEARCH\n", "<<<<<<< SEARCH\n```python\n").replace(
        "\n=======", "\n```\n======="
    )
    windows = plain.replace("\n", "\r\n")
    keys = {units(text)[0][0].key for text in (plain, fenced, inner, windows)}
    assert len(keys) == 1


def test_headings_of_equals_signs_inside_a_test_are_ambiguous_only_at_seven():
    text = added("def test_x():\n    text = '''\nTitle\n=====\n'''")
    assert len(units(text)[0]) == 1


SEVERAL = """\
import json
import re

def helper():
    return json.dumps(1)

# why it is
def test_a():
    assert helper()

def test_b():
    assert re

class TestNew:
    def setUp(self):
        self.x = 1

    def test_c(self):
        assert self.x

    def test_d(self):
        '''Doc.'''
        assert 2
"""


def test_each_test_is_a_unit_with_what_it_needs():
    code = SEVERAL
    found, gates = units(added(code) + 'WHY: test_a: "since so"\nWHY: TestX.test_c: it does\n')
    assert gates == []
    assert {one.test: [name for add in one.support for name in add.names] for one in found} == {
        "test_a": ["json", "helper"],
        "test_b": ["re"],
        "test_c": [],
        "test_d": [],
    }
    assert [one.reason for one in found] == ['"since so"', "", "it does", ""]
    text = files_of([found[2]], view())[CALC]
    assert "test_c" in text
    assert "test_d" not in text
    assert "setUp" in text
    assert "# why it is" in files_of([found[0]], view())[CALC]


def test_imports_are_added_where_they_are_missing_and_only_there():
    found, _ = units(
        added("def test_x():\n    assert json and os", extra="IMPORT: import os\nIMPORT: import json\n")
    )
    text = files_of(found, view())[CALC]
    assert text.count("import os") == 1
    assert text.index("import json") < text.index("LIMIT")


def test_a_wider_import_counts_as_an_addition():
    found, gates = units(
        reply("from pkg import add", "from pkg import add, sub\ndef test_x():\n    assert sub")
    )
    assert gates == []
    assert "from pkg import add\nfrom pkg import sub\n" in files_of(found, view())[CALC]


def test_several_files_in_one_reply():
    text = added("def test_x():\n    assert LIMIT") + reply(
        "", "def test_y():\n    pass", "tests/test_new.py"
    )
    found, gates = units(text)
    assert gates == []
    assert [(one.path, one.new_file) for one in found] == [(CALC, False), ("tests/test_new.py", True)]
    patch = patch_of(found, view())
    assert "new file mode 100644\n--- /dev/null\n+++ b/tests/test_new.py" in patch


def test_one_bad_test_does_not_take_the_others_with_it():
    found, gates = units(added("def test_a():\n    import socket\ndef test_b():\n    pass"))
    assert ([one.test for one in found], gates) == (["test_b"], [Gate.NETWORK])


def test_equal_tests_are_merged_whatever_their_names_and_layout():
    tally = Tally()
    one, _ = units(added("def test_a():\n    value = add(1, 2)\n    assert value == 3"))
    same, _ = units(
        added("def test_b():\n    '''Doc.'''\n    # comment\n    result = add( 1,2 )\n    assert result == 3")
    )
    other, _ = units(added("def test_c():\n    value = add(1, 3)\n    assert value == 3"))
    assert [unit.test for unit in merged([*one, *same, *other], tally)] == ["test_a", "test_c"]
    assert tally.counters() == {"duplicate": 1}


def test_names_are_unique_in_the_order_of_the_samples():
    found = []
    for number in range(3):
        found += units(
            added(f"class TestN:\n    def test_n(self):\n        assert {number}"), label=f"s0.{number}"
        )[0]
        found += units(reply("", f"def test_n():\n    assert {number}", "tests/test_new.py"))[0]
    named = with_unique_names(found, view())
    assert [one.test for one in named] == [
        "test_n",
        "test_n_2",
        "test_n_3",
        "test_n_4",
        "test_n_5",
        "test_n_6",
    ]
    assert [one.new_class for one in named if one.new_class] == ["TestN", "TestN_2", "TestN_3"]
    assert len({one.path for one in named}) == 4
    texts = files_of(named, view())
    for text in texts.values():
        parse(text)


def test_two_helpers_of_one_name_keep_their_tests_apart():
    found = []
    for number in range(2):
        found += units(
            added(
                f"def helper():\n    return {number}\ndef test_h{number}():\n    assert helper() == {number}"
            )
        )[0]
    found += units(added("def helper():\n    return 0\ndef test_h2():\n    assert helper() < 1"))[0]
    assert [[one.test for one in group] for group in groups_of(found)] == [
        ["test_h0", "test_h2"],
        ["test_h1"],
    ]


def test_the_original_is_kept_to_the_letter():
    found, _ = units(added("def test_x():\n    assert LIMIT"))
    new = files_of(found, view())[CALC].split("\n")
    rest = iter(new)
    assert all(line in rest for line in TESTS.split("\n"))


@given(st.text(alphabet="FILE:./<=>SEARCHREPLACE \n`#a_'\"", max_size=200))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(RejectedError):
        apply_reply(read_reply(text), view(), official().paths)


@given(st.text(max_size=60))
def test_no_path_gets_out(path):
    text = reply("", "def test_x(): pass", path)
    found, gates = units(text)
    assert all(one.path.startswith("tests/test") for one in found)
    assert found or gates


@pytest.mark.parametrize(
    ("path", "editable"),
    [
        ("tests/model_fields/tests.py", True),
        ("tests/model_fields/models.py", True),
        ("sympy/core/tests/test_basic.py", True),
        ("testing/test_assertion.py", True),
        ("pkg/test_util.py", True),
        ("django/test/testcases.py", False),
        ("sympy/testing/pytest.py", False),
        ("xarray/testing.py", False),
        ("tests/settings.py", False),
    ],
)
def test_only_tests_may_be_edited(path, editable):
    if editable:
        assert editable_test_path(path, ()) == path
    else:
        with pytest.raises(RejectedError):
            editable_test_path(path, ())
    assert editable_test_path(path, (path,)) == path


def test_a_method_at_the_end_of_a_class_comes_before_what_follows_it():
    """One function and one method, both behind the last method of a class."""
    end = "    def test_one(self):\n        assert add(1, 1) == 2"
    method = f"{end}\n\n    def test_far(self):\n        assert far()"
    found, gates = units(reply(end, f"{method}\n\n\ndef far():\n    return FAR\n\n\nFAR = 50"))
    assert (len(found), gates) == (1, [])
    text = files_of(found, view())[CALC]
    assert (
        text.index("def test_far")
        < text.index("def far")
        < text.index("FAR = 50")
        < text.index("def test_two")
    )
    assert "    def test_far(self):\n        assert far()\n\n\n" in text


def test_different_surroundings_make_different_tests():
    def of(code, extra=""):
        found, gates = units(added(code, extra=extra))
        assert gates == []
        return [one.key for one in found]

    body = "    def test_n(self):\n        assert f(1)"
    one, other = (f"@override(MODE={mode})\nclass Test{mode}(Base):\n{body}" for mode in (1, 2))
    assert len(set(of(f"{one}\n{other}"))) == 2
    test = "def test_f():\n    assert f(1)"
    imports = ("from pkg.fast import g as f", "from pkg.slow import g as f")
    assert len({key for line in imports for key in of(test, f"IMPORT: {line}\n")}) == 2
    more = ("from pkg.fast import g as f", "from pkg.fast import h, g as f")
    assert len({key for line in more for key in of(test, f"IMPORT: {line}\n")}) == 1


def test_names_that_python_reads_otherwise_are_turned_away():
    """`\ufb01` is `fi` to Python; a line end may stand between def and the name."""
    assert units(added("def test_\ufb01t():\n    pass"))[1] == [Gate.UNPARSABLE]
    assert units(added("def \\\ntest_x():\n    pass"))[1] == [Gate.UNPARSABLE]


def test_a_comment_may_stand_at_the_margin():
    end = "        assert add(1, 1) == 2"
    method = (
        "    def test_far(self):\n        text = '''\nat the margin\n# and this\n'''\n        assert text"
    )
    (unit,), gates = units(reply(end, f"{end}\n\n# why it is\n{method}"))
    assert gates == []
    assert "# why it is\n    def test_y(self):" in "\n".join(renamed(unit, "test_y", "").addition.lines)


def test_an_import_line_above_the_file_line_counts():
    found, gates = units("IMPORT: import json\n" + added("def test_x():\n    assert json"))
    assert gates == []
    assert "import json" in files_of(found, view())[CALC]


def test_a_heading_is_no_path():
    found, gates = units(added("def test_x(): pass").replace("\n", "\n### The new tests\n", 1))
    assert (len(found), gates) == (1, [])


def test_an_import_goes_above_the_definitions():
    text = "import os\n\n\ndef test_a():\n    pass\n\n\nimport late\n"
    assert with_imports(text, ["import json"]).startswith("import os\nimport json\n\n")
    assert with_imports('"""Doc."""\n', ["import json"]) == '"""Doc."""\nimport json\n'


def test_a_name_is_changed_at_the_test_and_not_in_its_data():
    code = "@pytest.mark.parametrize('src', ['def test_x(): pass'])\ndef test_x(src):\n    assert src"
    (unit,), gates = units(added(code))
    assert gates == []
    assert renamed(unit, "test_y", "").addition.lines[:2] == (
        "@pytest.mark.parametrize('src', ['def test_x(): pass'])",
        "def test_y(src):",
    )
