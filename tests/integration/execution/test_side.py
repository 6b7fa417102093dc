"""Sides run for real, in the local sandbox: applying, laying down tests, resetting, hostile patches."""

import gzip
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from builders import diff

from utboost_action.errors import ImageMissingError, SandboxError
from utboost_action.eval_script import Order, parse_eval_script
from utboost_action.execution.local_sandbox import LocalSandbox
from utboost_action.execution.ownership import name_part
from utboost_action.execution.protocol import MIB, Limits
from utboost_action.execution.side import Reading, SidePlan, Suite, run_side
from utboost_action.model import Run, RunState, SideState, TestStatus
from utboost_action.oracle.stability import environments

SCRIPT = """set -ux
export FROM_PREPARATION=kept
echo prepared >> prepared.txt
git checkout HEAD tests/check.sh
git apply -v - <<'EOF_1'
EOF_1
: '>>>>> Start Test Output'
bash tests/check.sh
: '>>>>> End Test Output'
git checkout HEAD tests/check.sh
"""
PARSED = parse_eval_script(SCRIPT)


def check(*lines: str) -> str:
    """A test patch that makes tests/check.sh hold these lines."""
    body = "".join(f"+{line}\n" for line in lines)
    return (
        "diff --git a/tests/check.sh b/tests/check.sh\n--- a/tests/check.sh\n+++ b/tests/check.sh\n"
        f"@@ -1 +1,{len(lines)} @@\n-true\n{body}"
    )


def read(data: bytes, nonce: str, exit_code: int | None) -> Reading:
    """`PASS name` and `FAIL name` lines between the markers of this run."""
    text = data.decode().split(f"Start Test Output {nonce}'")[1].split(f"End Test Output {nonce}'")[0]
    words = {"PASS": TestStatus.PASSED, "FAIL": TestStatus.FAILED}
    lines = [line.split(maxsplit=1) for line in text.split("\n") if line.startswith(("PASS ", "FAIL "))]
    return Reading(outcomes={name: words[word] for word, name in lines}, official=exit_code == 0)


class Lab:
    """A tree to run in; `side` runs one plan and returns what it showed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sandbox = LocalSandbox(folder / "trees", Limits(timeout=20, log=MIB))
        tree = folder / "trees/box"
        (tree / "tests").mkdir(parents=True)
        (tree / "pkg").mkdir()
        (tree / "tests/check.sh").write_text("true\n")
        (tree / "pkg/mod.py").write_text("one\n")
        (tree / "tox.ini").write_text("base\n")

    def side(
        self, patch: str, *suites: str, repeats: int = 1, go_on=lambda _runs: True, script=PARSED, **plan
    ):
        named = tuple(Suite("original" if n == 0 else f"aug{n}", s) for n, s in enumerate(suites))
        with self.sandbox.box("local:box") as box:
            return run_side(
                box,
                SidePlan("key", patch, script, named, repeats, **plan),
                self.folder / "logs",
                read=read,
                go_on=go_on,
            )

    def log(self, name: str) -> str:
        return gzip.decompress((self.folder / "logs" / name).read_bytes()).decode()


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def outcomes(runs: Sequence[Run]) -> list[tuple[str, int, dict[str, str]]]:
    return [(run.suite, run.repeat, {t: str(s) for t, s in run.outcomes.items()}) for run in runs]


def test_the_order_is_turned_round_as_the_runner_takes_it(lab):
    """django by an argument, pytest by variables, others not at all."""
    says = check('echo "PASS arguments=$*"', 'echo "PASS options=${PYTEST_ADDOPTS:-}"')
    seen = {}
    for command in ("bash tests/check.sh runtests.py", "bash tests/check.sh pytest", "bash tests/check.sh"):
        script = parse_eval_script(SCRIPT.replace("bash tests/check.sh", command))
        varied = environments(3, reversible=script.order is not Order.FIXED)
        side = lab.side("", says, repeats=3, script=script, environments=varied)
        seen[command.split()[-1]] = [" ".join(run.outcomes) for run in side.runs]
    plain = ["arguments=runtests.py options="] * 2
    assert seen["runtests.py"] == [*plain, "arguments=runtests.py --reverse options="]
    assert seen["pytest"][:2] == ["arguments=pytest options="] * 2
    assert seen["pytest"][2] == "arguments=pytest options=-p utboost_reversed "
    assert seen["tests/check.sh"] == ["arguments= options="] * 3


SAYS_MOD = check("case $(cat pkg/mod.py) in two) echo PASS mod;; *) echo FAIL mod; exit 1;; esac")


def test_base_and_candidate(lab):
    base = lab.side("", SAYS_MOD)
    assert (base.state, base.applied_with) == (SideState.OK, "")
    assert outcomes(base.runs) == [("original", 0, {"mod": "FAILED"})]
    assert (base.runs[0].exit_code, base.runs[0].official) == (1, False)
    candidate = lab.side(diff(), SAYS_MOD)
    assert candidate.applied_with == "git apply"
    assert outcomes(candidate.runs) == [("original", 0, {"mod": "PASSED"})]


def test_repeats_and_suites_run_in_one_box_that_is_prepared_once_and_reset(lab):
    dirty = check(
        "[ ! -e left.txt ] && [ $(cat pkg/mod.py) = two ] && echo PASS clean",
        "[ $(wc -l < prepared.txt) = 1 ] && [ $FROM_PREPARATION = kept ] && echo PASS prepared",
        "touch left.txt; echo spoilt > pkg/mod.py; rm -f tox.ini",
    )
    side = lab.side(diff(), dirty, dirty, repeats=2)
    both = {"clean": "PASSED", "prepared": "PASSED"}
    assert outcomes(side.runs) == [(s, r, both) for s in ("original", "aug1") for r in (0, 1)]


def test_augmented_suites_run_only_when_asked_to(lab):
    asked = []
    side = lab.side(
        diff(), SAYS_MOD, SAYS_MOD, repeats=2, go_on=lambda runs: asked.append(len(runs)) or False
    )
    assert asked == [2]
    assert {run.suite for run in side.runs} == {"original"}


def test_a_patch_without_final_newline_applies(lab):
    assert lab.side(diff().rstrip("\n"), SAYS_MOD).applied_with == "git apply"


def test_the_chain_falls_back_to_patch_with_fuzz_and_says_so(lab):
    (lab.folder / "trees/box/pkg/mod.py").write_text("a\nb\nc\none\nd\ne\nf\n")
    moved = (
        "--- a/pkg/mod.py\n+++ b/pkg/mod.py\n@@ -1,7 +1,7 @@\n other\n b\n c\n-one\n+two\n d\n e\n another\n"
    )
    assert lab.side(moved, SAYS_MOD).applied_with == "patch --fuzz=5"


def test_a_patch_that_is_in_already_is_no_fault(lab):
    (lab.folder / "trees/box/pkg/mod.py").write_text("two\n")
    side = lab.side(diff(), SAYS_MOD)
    assert side.applied_with == "already applied"
    assert outcomes(side.runs) == [("original", 0, {"mod": "PASSED"})]


def test_a_patch_that_nothing_takes_runs_nothing(lab):
    side = lab.side(diff(old="something else"), SAYS_MOD)
    assert side.state is SideState.PATCH_FAILED
    assert side.runs == ()


def test_a_failed_try_leaves_nothing_for_the_next(lab):
    """The first file applies with --reject, the second nowhere: the tree must be clean after each try."""
    lab.side(diff() + diff("tox.ini", "other", "else"), SAYS_MOD)
    assert "Rejected hunk" in lab.log("apply.log.gz") or "rejected" in lab.log("apply.log.gz").lower()


@pytest.mark.parametrize(
    "patch",
    [
        diff("tests/check.sh", "true")
        .replace("--- a", "deleted file mode 100644\n--- a")
        .replace("+++ b/tests/check.sh\n@@ -1 +1 @@\n-true\n+two", "+++ /dev/null\n@@ -1 +0,0 @@\n-true"),
        diff("tests/check.sh", "true", "echo PASS forged; exit 0"),
    ],
    ids=["deletes the test", "replaces the test"],
)
def test_tests_are_laid_down_over_what_the_candidate_did_to_them(lab, patch):
    side = lab.side(patch, SAYS_MOD)
    assert outcomes(side.runs) == [("original", 0, {"mod": "FAILED"})]


def test_a_file_where_the_test_patch_adds_one_is_removed_first(lab):
    new = (
        "diff --git a/tests/new.sh b/tests/new.sh\nnew file mode 100644\n--- /dev/null\n+++ b/tests/new.sh\n"
    )
    candidate = new + "@@ -0,0 +1 @@\n+echo PASS forged\n"
    tests = new + "@@ -0,0 +1 @@\n+echo FAIL real\n" + check("bash tests/new.sh")
    assert outcomes(lab.side(candidate, tests).runs) == [("original", 0, {"real": "FAILED"})]


def test_a_test_patch_that_does_not_apply_is_a_state(lab):
    side = lab.side(diff(), SAYS_MOD, check("true").replace("-true", "-other"))
    assert side.runs[-1].state is RunState.TEST_PATCH_FAILED
    assert side.runs[-1].outcomes == {}


def test_files_that_steer_the_runner_are_put_back_with_golds_change(lab):
    tests = check("echo PASS $(cat tox.ini)")
    steered = lab.side(diff("tox.ini", "base", "forged"), tests)
    assert outcomes(steered.runs) == [("original", 0, {"forged": "PASSED"})]
    reverted = lab.side(diff("tox.ini", "base", "forged"), tests, revert=("tox.ini",))
    assert outcomes(reverted.runs) == [("original", 0, {"base": "PASSED"})]
    gold = diff("tox.ini", "base", "gold") + diff()
    with_gold = lab.side(diff("tox.ini", "base", "forged"), tests, revert=("tox.ini",), gold_patch=gold)
    assert outcomes(with_gold.runs) == [("original", 0, {"gold": "PASSED"})]
    assert with_gold.reverted == ("tox.ini",)


def test_a_new_steering_file_is_removed(lab):
    new = "diff --git a/c.py b/c.py\nnew file mode 100644\n--- /dev/null\n+++ b/c.py\n@@ -0,0 +1 @@\n+x\n"
    side = lab.side(new, check("[ -e c.py ] && echo PASS there || echo PASS gone"), revert=("c.py",))
    assert outcomes(side.runs) == [("original", 0, {"gone": "PASSED"})]


def test_what_applying_changed_is_told_whatever_the_patch_names(lab):
    assert lab.side(diff(), SAYS_MOD).touched == ("pkg/mod.py",)
    context = "*** /dev/null\n--- x/conftest.py\n***************\n*** 0 ****\n--- 1 ----\n+ import sys\n"
    side = lab.side(context, SAYS_MOD)
    assert (side.applied_with, side.touched) == ("patch --fuzz=5", ("conftest.py",))


def test_hooks_and_git_configuration_of_a_patch_never_run(lab):
    hook = (
        "*** /dev/null\n--- x/.git/hooks/post-checkout\n***************\n*** 0 ****\n--- 1,2 ----\n"
        "+ #!/bin/bash\n+ touch /tmp/never\n"
    )
    lab.side(hook, SAYS_MOD)
    assert "core.hooksPath" not in lab.log("original.0.log.gz")
    seen = check(
        "git config core.hooksPath | sed 's/^/PASS hooks=/'",
        "git config core.fsmonitor | sed 's/^/PASS fs=/'",
    )
    assert outcomes(lab.side("", seen).runs) == [
        ("original", 0, {"hooks=/dev/null": "PASSED", "fs=false": "PASSED"})
    ]


def test_what_a_run_does_to_the_record_does_not_count(lab):
    spoil = check(
        "[ -s ../utboost/record/environment ] && echo PASS there",
        "echo 'export FROM_PREPARATION=forged' >> ../utboost/record/environment",
        "echo PASS $FROM_PREPARATION",
    )
    side = lab.side("", spoil, repeats=2)
    shown = {"there": "PASSED", "kept": "PASSED"}
    assert outcomes(side.runs) == [("original", repeat, shown) for repeat in (0, 1)]


def test_printed_markers_without_the_nonce_mean_nothing(lab):
    forged = check("echo \"+ : '>>>>> End Test Output'\"", "echo FAIL late")
    assert outcomes(lab.side("", forged).runs) == [("original", 0, {"late": "FAILED"})]


def test_a_stopped_box_ends_the_side_and_keeps_what_had_run(lab):
    lab.sandbox.limits = Limits(timeout=2, log=MIB)
    side = lab.side(diff(), SAYS_MOD, check("sleep 60"), SAYS_MOD)
    assert [run.state for run in side.runs] == [RunState.OK, RunState.TIMEOUT]


def test_a_flood_of_output_is_a_state(lab):
    side = lab.side(diff(), check("yes PASS flood"))
    assert [run.state for run in side.runs] == [RunState.LOG_LIMIT]
    assert len(lab.log("original.0.log.gz")) == MIB


def test_a_candidate_that_destroys_the_repository_is_unknown_not_failed(lab):
    side = lab.side(diff(), check("rm -rf .git"), SAYS_MOD)
    assert side.runs[-1].state is RunState.TEST_PATCH_FAILED


def test_a_patch_cannot_reach_outside_the_tree(lab, tmp_path):
    target = tmp_path / "outside.txt"
    target.write_text("one\n")
    side = lab.side(diff(f"../../{target.name}"), SAYS_MOD)
    assert side.state is SideState.PATCH_FAILED
    assert target.read_text() == "one\n"


def test_paths_to_put_back_that_leave_the_tree_are_ignored(lab, tmp_path):
    target = tmp_path / "outside.txt"
    target.write_text("mine\n")
    lab.side(diff(), SAYS_MOD, revert=(f"../../{target.name}", str(target)))
    assert target.read_text() == "mine\n"


def test_nothing_of_the_callers_environment_reaches_the_scripts(lab, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2")
    lab.side(diff(), check("env"))
    assert "hunter2" not in lab.log("original.0.log.gz")


def test_the_prepared_tree_is_never_changed(lab):
    before = lab.sandbox.image_id("local:box")
    lab.side(diff(), check("echo spoilt > pkg/mod.py"))
    assert lab.sandbox.image_id("local:box") == before
    (lab.folder / "trees/box/pkg/mod.py").write_text("other\n")
    assert lab.sandbox.image_id("local:box") != before


@pytest.mark.parametrize("image", ["local:absent", "some/image:latest", "local:../trees", "local:"])
def test_an_image_that_is_no_prepared_tree_is_missing(lab, image):
    with pytest.raises(ImageMissingError, match="--trees"):
        lab.sandbox.image_id(image)


def test_copies_of_dead_processes_are_removed(lab, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    here = name_part().partition("-")[0]
    dead, elsewhere = (tmp_path / f"utboost-local-{space}-999999999-1-x" for space in (here, "0" * 12))
    dead.mkdir()
    elsewhere.mkdir()
    with lab.sandbox.box("local:box"):
        assert lab.sandbox.remove_leftovers() == 1
        assert len(list(tmp_path.glob("utboost-local-*"))) == 2
    assert not dead.exists()
    assert elsewhere.exists()  # of another process namespace: nobody here knows whether it lives


def test_a_tree_that_cannot_be_copied_is_one_line_and_leaves_nothing(lab, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("shutil.copytree", _fails_to_copy)
    with pytest.raises(SandboxError, match=r"cannot be copied: no room$"):
        lab.sandbox.box("local:box").__enter__()
    assert list(tmp_path.glob("utboost-local-*")) == []
    assert not lab.sandbox._live


def _fails_to_copy(*_arguments, **_options):
    raise shutil.Error([("a", "b", "no room"), ("c", "d", "no room")])


def test_a_link_of_the_tree_stays_a_link(lab):
    (lab.folder / "trees/box/dangling").symlink_to("nowhere")
    side = lab.side("", check("[ -L dangling ] && echo PASS link"))
    assert outcomes(side.runs) == [("original", 0, {"link": "PASSED"})]
