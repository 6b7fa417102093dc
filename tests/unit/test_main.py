import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.github_double.runner import commands_in, outputs_in
from utboost_action import main
from utboost_action.errors import InputError
from utboost_action.settings import FailOn, Mode, SandboxKind, Settings, input_variable

ROOT = Path(__file__).resolve().parents[2]


def environ(**inputs: str) -> dict[str, str]:
    return {input_variable(name.replace("_", "-")): value for name, value in inputs.items()}


def step(tmp_path: Path, variables: dict[str, str]) -> tuple[int, str, dict[str, str]]:
    log, output = io.StringIO(), tmp_path / "output"
    code = main.run({"GITHUB_OUTPUT": str(output), **variables}, log, tmp_path)
    return code, log.getvalue(), outputs_in(output.read_text())


def test_inputs_become_settings():
    settings = Settings.from_environ(
        environ(
            benchmark=" lite ", instances="a__b-1, a__b-1,\na__b-2", fail_on="wrong", repeats="2",
            pull="False", mode="execute", shard="3", timeout="12.5", sandbox="docker",
            submissions="evaluation/*/*",
        )
    )  # fmt: skip
    assert (settings.benchmark, settings.instances, settings.repeats) == ("lite", ("a__b-1", "a__b-2"), 2)
    assert (settings.fail_on, settings.sandbox, settings.pull) == (FailOn.WRONG, SandboxKind.DOCKER, False)
    assert (settings.action.mode, settings.action.shard) == (Mode.EXECUTE, 3)
    assert settings.timeout == 12.5
    assert settings.action.submissions == ("evaluation/*/*",)


def test_secrets_are_in_no_representation():
    settings = Settings.from_environ(environ(github_token="t0ken-t0ken", model_key="k3y-k3y-k3y"))
    assert "t0ken" not in repr(settings)
    assert "k3y" not in repr(settings)


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"mode": "all"}, "input mode: 'all' is none of auto, collect"),
        ({"repeats": "0"}, "input repeats 0"),
        ({"repeats": "1.5"}, "input repeats: '1.5' is no whole number; for example 3"),
        ({"timeout": "soon"}, "input timeout: 'soon' is no number; for example 1800"),
        ({"timeout": "nan"}, "input timeout"),
        ({"timeout": "inf"}, "input timeout"),
        ({"pull": "yes"}, "input pull: 'yes' is neither true nor false"),
        ({"shards": "257"}, "input shards"),
        ({"mode": "execute"}, "input shard"),
        ({"sandbox": "local"}, "input trees"),
        ({"image_template": "x"}, "input image-template"),
        ({"fail_on": "\x1b[31m"}, r"input fail-on: '\x1b[31m'"),
    ],
)
def test_every_error_names_the_input(inputs, says):
    with pytest.raises(InputError) as problem:
        Settings.from_environ(environ(**inputs))
    assert says in str(problem.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "GITHUB_EVENT_PATH"),
        ("{", "cannot be read"),
        ("[]", "holds no event"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_an_event_that_is_none_is_loud(tmp_path, content, says):
    variables = {"GITHUB_EVENT_NAME": "pull_request", **environ(github_token="t" * 20)}
    if content is not None:
        path = tmp_path / "event.json"
        path.write_text(content)
        variables["GITHUB_EVENT_PATH"] = str(path)
    code, log, outputs = step(tmp_path, variables)
    assert (code, outputs["outcome"]) == (2, "wrong input")
    assert says in log


def test_masks_come_first_and_nothing_else_shows_the_token(tmp_path):
    token = "ghs_0123456789abcdef"
    variables = {"GITHUB_EVENT_NAME": "x::error::y\n::error::z", "GITHUB_EVENT_PATH": "/nowhere"}
    _, log, _ = step(tmp_path, variables | environ(github_token=token))
    commands = commands_in(log)
    assert commands[0].name == "add-mask"
    assert commands[0].data == token
    assert [command.name for command in commands].count("error") == 1
    assert token not in "\n".join(line for line in log.splitlines() if "add-mask" not in line)


def test_inputs_and_the_runners_tokens_leave_the_environment():
    variables = {"INPUT_MODEL-KEY": "a", "ACTIONS_RUNTIME_TOKEN": "b", "GITHUB_TOKEN_X": "c", "PATH": "d"}
    main.drop_secrets(variables)
    assert variables == {"GITHUB_TOKEN_X": "c", "PATH": "d"}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files to another user")
def test_what_root_wrote_goes_to_the_workspaces_owner(tmp_path):
    workspace = tmp_path / "workspace"
    (workspace / "out").mkdir(parents=True)
    (workspace / "out" / "report.json").write_text("{}")
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (workspace / "out" / "link").symlink_to(outside)
    os.chown(workspace, 1001, 1001)
    main.give_back({"GITHUB_WORKSPACE": str(workspace)})
    assert {path.lstat().st_uid for path in workspace.rglob("*")} == {1001}
    assert outside.stat().st_uid == 0


def test_the_entrypoint_forgets_what_earlier_steps_left(tmp_path):
    code = (
        "import os, runpy; e = runpy.run_path('entrypoint.py')['prepare']; "
        "v = {'PATH': '/nowhere', 'PYTHONPATH': 'x', 'LD_LIBRARY_PATH': 'y', 'GIT_DIR': 'z', "
        "'HOME': '/root', 'K': 'k'}; "
        "e(v); print(sorted(v), v['PATH'].split(':')[0])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "['HOME', 'K', 'PATH'] /usr/local/sbin"


def test_a_cancelled_step_says_so(tmp_path, monkeypatch):
    def cancelled(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("utboost_action.activities.zones.perform", cancelled)
    code, log, outputs = step(tmp_path, environ(github_token="t" * 20))
    assert (code, outputs["outcome"]) == (1, "failed")
    assert "cancelled" in log
