import base64
import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from material import FILES, TEST_PATCH, view

from utboost_action.errors import SandboxError
from utboost_action.generation import skeletons
from utboost_action.generation.mentioned import mentioned_in
from utboost_action.generation.official import official_places, read_official
from utboost_action.generation.repository import view_from_log, view_of, view_script
from utboost_action.generation.syntax import UnusableSourceError, definitions, parse
from utboost_action.generation.tokens import PromptTooLargeError, first_fitting, token_bound
from utboost_action.generation.tree import is_test_path, tree_versions

NONCE = "0123456789abcdef"


def printed(files, *, nonce=NONCE, before=b"noise\n"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            if data is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
                tar.addfile(entry)
            else:
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    mark = nonce.encode()
    return (
        before
        + b"\nutboost %s python 3.9.1\nutboost %s archive\n" % (mark, mark)
        + base64.encodebytes(buffer.getvalue())
        + b"\nutboost %s end\n" % mark
    )


def test_the_tree_comes_out_of_the_log():
    found = view_from_log(printed(FILES), NONCE)
    assert found == view_of(FILES, python="3.9.1")
    assert found.python == "3.9.1"
    assert "pkg/latin.py" in found.unusable
    assert "pkg/latin.py" in found.paths


def test_links_and_paths_out_of_the_tree_are_left_alone():
    log = printed(
        {"a.py": b"x = 1\n", "link.py": None, "../out.py": b"", "/abs.py": b"", "./b.py": b"y = 1\n"}
    )
    assert set(view_from_log(log, NONCE).paths) == {"a.py", "b.py"}


@pytest.mark.parametrize(
    "log",
    [b"", printed(FILES)[:-40], printed(FILES, nonce="f" * 16), printed(FILES).replace(b"H4sI", b"AAAA")],
)
def test_an_archive_that_is_not_whole_is_refused(log):
    with pytest.raises(SandboxError, match="tree could not be read"):
        view_from_log(log, NONCE)


@given(st.integers(0, 3000))
def test_a_cut_log_never_gives_another_tree(size):
    log = printed({"a.py": b"x = 1\n"})
    try:
        assert view_from_log(log[:size], NONCE) == view_from_log(log, NONCE)
    except SandboxError:
        assert size < len(log)


def test_the_script_takes_no_text_from_outside():
    with pytest.raises(ValueError, match="not hexadecimal"):
        view_script("/utboost", "$(id)")


def test_why_a_file_is_unusable_is_said():
    found = view_of(
        {
            "a.py": b"\xff\xfe",
            "b.py": b"# coding: latin-1\n\xe9\n",
            "c.py": b"x\r\n",
            "d.py": b" " * 3_000_000,
        }
    )
    assert [
        word in found.unusable[path]
        for path, word in (
            ("a.py", "undecodable"),
            ("b.py", "iso-8859-1"),
            ("c.py", "line ends"),
            ("d.py", "bytes"),
        )
    ] == [True] * 4


SOURCE = """
@decorate(
    1)
class A(Base):
    class Inner: pass
    @property
    def prop(self): return 1
    async def later(self, *, x: int = 3) -> None:
        def nested():
            pass
if True:
    def conditional(): pass
try:
    import fast
except ImportError:
    fast = None
async def top(): pass
VALUE: int = 3
"""


def test_definitions_have_their_spans():
    found = {one.name: (one.kind, one.first, one.header, one.last) for one in definitions(SOURCE)}
    assert found == {
        "A": ("class", 2, 4, 10),
        "A.Inner": ("class", 5, 5, 5),
        "A.prop": ("method", 6, 7, 7),
        "A.later": ("method", 8, 8, 10),
        "A.later.nested": ("function", 9, 9, 10),
        "conditional": ("function", 12, 12, 12),
        "top": ("function", 17, 17, 17),
    }


def test_a_skeleton_keeps_headers_imports_and_signatures_and_parses():
    text = skeletons.skeleton(SOURCE)
    parse(text)
    for kept in (
        "import fast",
        "class Inner: ...",
        "async def later(self, *, x: int=3) -> None: ...",
        "VALUE: int = 3",
    ):
        assert kept in text
    assert "nested" not in text
    assert "import" not in skeletons.headers(SOURCE)
    assert skeletons.names("class A: pass\ndef b(): pass") == "functions: b\nclass A"
    assert (
        skeletons.outline("class A:\n    def test_x(self): ...\ndef b(): ...")
        == "1 functions\nclass A: 1 tests"
    )


def _sources():
    names = st.sampled_from(["a", "test_b", "C"])
    leaf = st.one_of(
        names.map(lambda n: f"def {n}(x=1): pass"),
        names.map(lambda n: f"async def {n}(): return"),
        names.map(lambda n: f"{n} = {{'k': [1, 2, 3]}}"),
        names.map(lambda n: f"import {n}"),
        st.just("class K: pass"),
        st.just("if 1:\n    def inner(): pass\nelse:\n    import other"),
        st.just("'''text'''"),
    )
    klass = st.lists(leaf, min_size=1, max_size=3).map(
        lambda body: (
            "class Outer(Base):\n" + "\n".join("    " + line for part in body for line in part.split("\n"))
        )
    )
    return st.lists(st.one_of(leaf, klass), max_size=6).map("\n".join)


@given(_sources())
def test_skeletons_of_any_module_parse_and_keep_every_definition_outside_functions(source):
    for form in (skeletons.skeleton, skeletons.headers):
        text = form(source)
        assert {one.name for one in definitions(text)} == {one.name for one in definitions(source)}


def test_source_that_is_nested_too_deeply_is_unusable():
    chain = "if a:\n    pass\n" + "elif b:\n    pass\n" * 3000
    for form in (definitions, skeletons.skeleton, skeletons.headers):
        with pytest.raises(UnusableSourceError):
            form(chain)


def test_long_values_are_left_out_unread():
    assert skeletons.skeleton("x = " + "+".join("1" * 2000)) == "x = ..."


@pytest.mark.parametrize("source", ["print 'x'", "def f(:", "x\0", "(" * 5000])
def test_source_that_does_not_parse_is_an_error_of_ours(source):
    with pytest.raises(UnusableSourceError):
        parse(source)


def test_trees_shrink_step_by_step_and_keep_the_test_patch():
    versions = list(tree_versions(view().paths, ["tests/test_calc.py"]))
    assert "docs/: conf" in versions[0]
    assert "docs" not in versions[1]
    assert versions[-1] == "tests/: test_calc"
    assert all("test_calc" in version for version in versions)
    sizes = [token_bound(version) for version in versions]
    assert sizes == sorted(sizes, reverse=True)


def test_large_trees_keep_every_test_folder_as_a_count():
    paths = [f"lib/part{n}/tests/test_{k}.py" for n in range(3) for k in range(40)] + [
        "lib/tests/test_own.py"
    ]
    version = list(tree_versions(paths, ["lib/tests/test_own.py"]))[2]
    assert version.splitlines() == [
        "lib/tests/: test_own",
        *(f"lib/part{n}/tests/: 40 files" for n in range(3)),
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/a.py", True),
        ("tests/test_a.py", True),
        ("a_test.py", True),
        ("lib/tests.py", True),
        ("test.txt", False),
    ],
)
def test_test_paths(path, expected):
    assert is_test_path(path) is expected


def test_the_official_patch_is_read_as_changes_and_digests():
    official = read_official(TEST_PATCH)
    assert official.paths == ("tests/test_calc.py",)
    assert [(c.first, c.last) for c in official.changes] == [(24, 24)]
    assert official.digests[0] == "tests/test_calc.py\n@@ class TestOld:\n+    assert add(2, 2) == 4"
    assert official.digests[-1] == "tests/test_calc.py"
    places = official_places(official, view())
    assert [one.name for one in places["tests/test_calc.py"]] == ["test_two"]


def test_an_added_line_that_looks_like_a_header_is_no_file():
    patch = "--- a/t.py\n+++ b/t.py\n@@ -1 +1,3 @@\n a\n+++ x\n+-- y\n"
    official = read_official(patch)
    assert official.paths == ("t.py",)
    assert official.digests[0] == "t.py\n+++ x\n+-- y"


def test_a_test_patch_that_cannot_be_read_gives_its_names():
    assert read_official("--- a/t.py\n+++ b/t.py\n@@ -1,9 +1 @@\n x\n").paths == ("t.py",)


ISSUE_FILES = {
    "pkg/more.py": b"""
MAX_VALUE = 3

class Calc:
    '''A calculator.'''
    def __init__(self, size=2): pass
    def add_all(self, *xs):
        '''All of them.

        Twice.'''
    def do_it(self): pass
""",
    "tests/test_a.py": b"def add_all():\n    'Not this.'\n",
}


def test_code_that_the_issue_names_is_found_with_its_docstring():
    issue = "Calc() and MAX_VALUE, do_it() too; add_all() adds twice, add_all() is wrong."
    found = [one.text for one in mentioned_in(issue, "assert MAX_VALUE", view_of(ISSUE_FILES), 4)]
    assert found == [
        "MAX_VALUE = 3",
        'class Calc:\n    def add_all(self, *xs):\n        """All of them.\n\n        Twice."""',
        (
            'class Calc:\n    """A calculator."""\n'
            "    def __init__(self, size=2):\n    # methods: add_all, do_it"
        ),
    ]
    assert len(mentioned_in(issue, "", view_of(ISSUE_FILES), 2)) == 2
    assert mentioned_in("nothing is named here", "", view_of(ISSUE_FILES), 4) == ()


def test_the_fullest_version_that_fits_is_taken_whole():
    fitted = first_fitting(["x" * 3000, "y" * 300, "z"], 150)
    assert (fitted.text, fitted.step) == ("y" * 300, 1)
    with pytest.raises(PromptTooLargeError, match="takes up to"):
        first_fitting(["x" * 3000], 150)


@given(st.text())
def test_the_bound_counts_every_byte_beyond_ascii(text):
    beyond = len(text.encode("utf-8", "surrogatepass")) - sum(map(str.isascii, text))
    assert token_bound(text) >= max(beyond, len(text) / 2.5)
