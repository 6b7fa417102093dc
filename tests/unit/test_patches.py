import subprocess

import pytest
from builders import diff
from hypothesis import given
from hypothesis import strategies as st

from utboost_action.patches import created_paths, normalised, touched_paths, with_final_newline

NEW_FILE = (
    "diff --git a/x/new.py b/x/new.py\nnew file mode 100644\n"
    "--- /dev/null\n+++ b/x/new.py\n@@ -0,0 +1 @@\n+1\n"
)


def test_final_newline_is_added_once_and_never_to_nothing():
    assert with_final_newline("a") == "a\n"
    assert with_final_newline("a\n") == "a\n"
    assert with_final_newline("") == ""


@pytest.mark.parametrize(
    ("patch", "paths"),
    [
        (diff("a/b.py"), ("a/b.py",)),
        (diff("a.py") + diff("b.py") + diff("a.py"), ("a.py", "b.py")),
        (NEW_FILE, ("x/new.py",)),
        ("--- a/old.py\t2020-01-01\n+++ b/new.py\t2020-01-01\n@@ -1 +1 @@\n-a\n+b\n", ("old.py", "new.py")),
        (
            "diff --git a/m.py b/n.py\nsimilarity index 100%\nrename from m.py\nrename to n.py\n",
            ("m.py", "n.py"),
        ),
        ('diff --git "a/caf\\303\\251.py" "b/caf\\303\\251.py"\n', ("café.py",)),
        (
            "diff --git a/with space.py b/with space.py\nold mode 100644\nnew mode 100755\n",
            ("with space.py",),
        ),
        ("diff --git a/../../etc/x b/../../etc/x\n", ("../../etc/x",)),
        ("", ()),
        ("no patch at all", ()),
    ],
)
def test_touched_paths(patch, paths):
    assert touched_paths(patch) == paths


def test_a_removed_line_that_looks_like_a_header_names_nothing():
    patch = "--- a/real.py\n+++ b/real.py\n@@ -1,2 +1,2 @@\n--- a/fake.py\n+++ b/fake.py\n keep\n"
    assert touched_paths(patch) == ("real.py",)


def test_created_paths():
    assert created_paths(NEW_FILE + diff("old.py")) == ("x/new.py",)


def test_normalised_forgets_index_lines_hunk_text_and_blank_lines_at_the_end():
    plain = "diff --git a/m b/m\n--- a/m\n+++ b/m\n@@ -1,2 +1,2 @@\n-a\n+b\n \n"
    noisy = (
        plain.replace("--- a/m", "index 1..2 100644\n--- a/m").replace("@@\n-a", "@@ def f():\n-a") + "\n\n"
    )
    assert normalised(noisy) == normalised(plain)


def test_normalised_keeps_what_changes_the_effect():
    assert normalised(diff(new="two ")) != normalised(diff(new="two"))
    assert normalised(diff().replace("\n", "\r\n")) != normalised(diff())
    body = "--- a/m\n+++ b/m\n@@ -1,2 +1,2 @@\n-index 1\n+index 2\n keep\n"
    assert "index 2" in normalised(body)


@given(st.text())
def test_any_text_is_read_without_an_error(text):
    touched_paths(text)
    created_paths(text)
    assert normalised(normalised(text)) == normalised(text)


def test_paths_agree_with_git(tmp_path):
    names = ["plain.py", "with space.py", "ünïcode.py", 'quote".py', "tab\tname.py", "a b/c b/d.py"]

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        done = subprocess.run(["git", *identity, *arguments], cwd=tmp_path, capture_output=True, check=True)
        return done.stdout.decode()

    git("init", "-q")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("old\n")
    git("add", "-A")
    git("commit", "-qm", "base")
    for name in names:
        (tmp_path / name).write_text("new\n")
    assert set(touched_paths(git("diff"))) == set(names)
