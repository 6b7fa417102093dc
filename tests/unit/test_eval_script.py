import subprocess

import pytest
from builders import EVAL_SCRIPT, diff

from utboost_action.errors import InputError
from utboost_action.eval_script import Order, directives_of, parse_eval_script

NONCE = "0123456789abcdef"


def test_the_parts_of_an_official_script():
    script = parse_eval_script(EVAL_SCRIPT)
    assert script.options == ("set -uxo pipefail",)
    assert script.preparation[-1] == "python -m pip install -e ."
    assert script.checkout == ("git checkout abc123 tests/test_a.py",)
    assert script.test_command == ("pytest -rA tests/test_a.py",)
    assert script.after == ("git checkout abc123 tests/test_a.py",)


def test_only_the_three_edits_are_made():
    script = parse_eval_script(EVAL_SCRIPT)
    text = script.test_text("the patch\n", NONCE, ("tests/more.py",))
    assert text.split("\n") == [
        "set -uxo pipefail",
        "git checkout abc123 tests/test_a.py",
        f"git apply -v - <<'EOF_{NONCE}'",
        "the patch",
        f"EOF_{NONCE}",
        f": '>>>>> Start Test Output {NONCE}'",
        "pytest -rA tests/test_a.py tests/more.py",
        "{ UTBOOST_STATUS=$?; } 2>/dev/null",
        f": '>>>>> End Test Output {NONCE}'",
        "git checkout abc123 tests/test_a.py",
        "{ exit $UTBOOST_STATUS; } 2>/dev/null",
        "",
    ]


def test_the_official_script_comes_back_whole():
    script = parse_eval_script(EVAL_SCRIPT)
    patch = EVAL_SCRIPT.split("EOF_114329324912'\n")[1].split("EOF_114329324912")[0]
    assert script.official_text(patch, (), ()) == EVAL_SCRIPT


def test_more_files_are_tested_and_restored():
    text = parse_eval_script(EVAL_SCRIPT).official_text("p\n", ("tests/b.py",), ("tests/b.py",))
    assert "pytest -rA tests/test_a.py tests/b.py\n" in text
    assert text.count("git checkout abc123 tests/test_a.py tests/b.py\n") == 2


def test_the_exit_code_is_that_of_the_test_command(tmp_path):
    script = parse_eval_script(
        "set -ux\ntrue\ngit apply -v - <<'EOF_1'\nEOF_1\n"
        ": '>>>>> Start Test Output'\n(exit 7)\n: '>>>>> End Test Output'\ntrue\n"
    )
    done = subprocess.run(
        ["bash", "-c", script.test_text("", NONCE)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 7
    assert f"+ : '>>>>> End Test Output {NONCE}'" in done.stderr
    assert "UTBOOST_STATUS" not in done.stderr


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("git apply -v - <<'EOF_114329324912'", "lays down the test patch"),
        ("EOF_114329324912", "end of the test patch"),
        (": '>>>>> Start Test Output'", "Start marker"),
        (": '>>>>> End Test Output'", "End marker"),
        ("pytest -rA tests/test_a.py", "no test command"),
    ],
)
def test_a_script_without_a_part_is_refused_by_name(line, says):
    with pytest.raises(InputError, match=says):
        parse_eval_script(EVAL_SCRIPT.replace(line + "\n", ""))


def test_a_patch_that_guesses_the_delimiter_is_refused():
    with pytest.raises(InputError, match="delimiter"):
        parse_eval_script(EVAL_SCRIPT).test_text(f"EOF_{NONCE}\nrm -rf x\n", NONCE)


def test_directives():
    patch = diff("tests/a/tests.py") + diff("tests/a/data.json") + diff("tests/b/models.py")
    assert directives_of("django/django", patch) == ("a.tests", "b.models")
    assert directives_of("sympy/sympy", patch) == ("tests/a/tests.py", "tests/b/models.py")


def test_new_directives_leave_out_what_the_row_names():
    script = parse_eval_script(EVAL_SCRIPT)
    patch = diff("tests/test_a.py") + diff("tests/test_b.py")
    assert script.new_directives("pallets/flask", patch) == ("tests/test_b.py",)


@pytest.mark.parametrize(
    ("command", "order"),
    [
        ("./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 auth", Order.ARGUMENT),
        ("pytest -rA tests/test_a.py", Order.PLUGIN),
        ("tox --current-env -epy39 -v -- tests/test_a.py", Order.PLUGIN),
        ("PYTHONWARNINGS='ignore' bin/test -C --verbose sympy/core/tests/test_a.py", Order.FIXED),
    ],
)
def test_whose_order_can_be_turned_round(command: str, order: Order):
    script = EVAL_SCRIPT.replace("pytest -rA tests/test_a.py", command)
    assert parse_eval_script(script).order is order
