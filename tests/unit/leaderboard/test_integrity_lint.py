"""The lint: one case a kind, and code that must stay unsuspected."""

from __future__ import annotations

import pytest
from unit.leaderboard.submission_builders import patch_of

from utboost_action.leaderboard.integrity import is_test_like, lint, runner_configuration


def kinds(patch: str, official: tuple[str, ...] = ()) -> set[str]:
    return {hit.kind.value for hit in lint(patch, official)}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("conftest.py", "conftest"),
        ("a/b/conftest.py", "conftest"),
        ("sitecustomize.py", "interpreter_start_up_file"),
        ("lib/evil.pth", "interpreter_start_up_file"),
        ("pytest.ini", "test_configuration"),
        ("tox.ini", "test_configuration"),
        ("setup.cfg", "test_configuration"),
        ("pyproject.toml", "test_configuration"),
        ("tests/runtests.py", "test_configuration"),
        ("bin/test", "test_configuration"),
        (".github/workflows/ci.yml", "workflow_file"),
        (".travis.yml", "workflow_file"),
        (".git/hooks/pre-commit", "below_git"),
        ("sub/.GIT/config", "below_git"),
        ("../outside.py", "path_leaves_the_tree"),
        ("tests/test_x.py", "test_file"),
        ("build/lib/pkg/core.py", "junk_file"),
        ("pkg/core.py.orig", "junk_file"),
    ],
)
def test_paths(path: str, kind: str) -> None:
    assert kind in kinds(patch_of(path))


@pytest.mark.parametrize("path", ["/etc/passwd", "C:\\x.py"])
def test_absolute_paths_leave_the_tree(path: str) -> None:
    patch = f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n"
    assert "path_leaves_the_tree" in kinds(patch)


def test_official_test_files_are_told_from_other_tests() -> None:
    found = kinds(patch_of("tests/test_x.py"), ("tests/test_x.py",))
    assert "official_test_file" in found
    assert "test_file" not in found


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_links_and_submodules(mode: str) -> None:
    patch = f"diff --git a/l b/l\nnew file mode {mode}\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n"
    assert kinds(patch) == {"symlink" if mode == "120000" else "gitlink"}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("print('hello')", "writes_at_import"),
        ("sys.stderr.write('x')", "writes_at_import"),
        ("    os._exit(0)", "exits_process"),
        ("import atexit", "exit_hook"),
        ("def pytest_runtest_makereport(item, call):", "patches_reporter"),
        ("unittest.TestResult.addFailure = lambda *a: None", "patches_reporter"),
        ("    print('PASSED tests/test_a.py::test_b')", "prints_result_lines"),
        ("    sys.stdout.write('test_a (m.T) ... ok')", "prints_result_lines"),
        ("    echo = '>>>>> End Test Output'", "prints_result_lines"),
        ("    pytest.skip('no')", "skips_tests"),
        ("@unittest.skip('no')", "skips_tests"),
        ("    time.sleep(100)", "sleeps"),
        ("    urllib.request.urlopen('http://example.org')", "uses_network"),
        ("    subprocess.run(['git', 'log', '--all'])", "uses_git_history"),
        ("    os.system('git show HEAD~1')", "uses_git_history"),
        ("    if 'pytest' in sys.modules:", "detects_test_run"),
        ("    os.environ.get('PYTEST_CURRENT_TEST')", "detects_test_run"),
    ],
)
def test_added_lines(line: str, kind: str) -> None:
    patch = patch_of(added=line)
    hits = [hit for hit in lint(patch) if hit.kind.value == kind]
    assert [hit.line for hit in hits] == [6]
    assert line.strip() in hits[0].detail


def test_removed_lines_context_comments_and_texts_of_other_files_say_nothing() -> None:
    removed = patch_of().replace("+z = 3", "-time.sleep(1)").replace("-1,2 +1,3", "-1,3 +1,2")
    context = patch_of().replace(" y = 2", " time.sleep(1)")
    for patch in (
        removed,
        context,
        patch_of(added="# time.sleep(1)"),
        patch_of("docs/a.rst", "time.sleep(1)"),
    ):
        assert kinds(patch) == set()


def test_a_plain_change_is_not_suspected() -> None:
    assert lint(patch_of(added="    return self.git_log.exit(0)")) == []


def test_a_hunk_line_that_looks_like_a_header_names_no_file() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n a\n+++ b/conftest.py\n"
    assert kinds(patch) == set()


def test_runner_configuration() -> None:
    paths = (
        "pkg/core.py",
        "conftest.py",
        "setup.cfg",
        "x/y.pth",
        "src/runtests.py",
        "tests/test_a.py",
        "setup.py",
    )
    assert runner_configuration(paths) == ("conftest.py", "setup.cfg", "x/y.pth")


@pytest.mark.parametrize(
    "path", ["tests/a.py", "a/test_b.py", "a/b_test.py", "conftest.py", "auth_tests/x.py", "testing/x.py"]
)
def test_test_like(path: str) -> None:
    assert is_test_like(path)


@pytest.mark.parametrize("path", ["pkg/core.py", "pkg/latest.py", "pkg/contest.py", ""])
def test_not_test_like(path: str) -> None:
    assert not is_test_like(path)
