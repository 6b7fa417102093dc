"""What a stopped command and a full disk say: one line, and exit code 1."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from utboost_action import cli

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/benchmark"
COMMON = ["--benchmark", EXAMPLES / "rows.jsonl", "--sandbox", "local", "--trees", EXAMPLES / "trees"]
STOPPED = "utboost-action: stopped by the user\n"


def stopped(kind: signal.Signals, until, *words: object) -> tuple[int, str]:
    """Start the command, stop it as soon as `until` says so; exit code and stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "utboost_action", *map(str, words)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while not until() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(kind)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, errors


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_confirm_stopped_by_the_user_says_so(tmp_path, kind):
    cache = tmp_path / "cache"
    words = ["confirm", "--bank", EXAMPLES / "bank", *COMMON, "--cache", cache]
    assert stopped(kind, lambda: cache.is_dir() and any(cache.iterdir()), *words) == (1, STOPPED)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_generate_stopped_by_the_user_says_so(tmp_path, kind):
    words = ["generate", "example__pocketknife-1", "--bank", tmp_path / "bank", *COMMON, "--model", "demo"]
    words += ["--profile", "custom", "--schedule", "0x1", "--replay", EXAMPLES / "transcript.jsonl"]
    begun = tmp_path / "bank"
    assert stopped(kind, begun.is_dir, *words, "--out", tmp_path / "out") == (1, STOPPED)


def test_stopped_during_the_imports_it_says_so(tmp_path):
    """A package that comes first on the path stops the process while it is imported."""
    (tmp_path / "typer.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "utboost_action", "--version"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, STOPPED)


def _stop(*_arguments, **_options):
    raise KeyboardInterrupt


def _trip_over_a_stop(*_arguments, **_options):
    try:
        raise KeyboardInterrupt
    finally:
        os.close(10**6)


@pytest.mark.parametrize("stop", [_stop, _trip_over_a_stop])
def test_a_stop_is_no_silent_exit_code(stop, monkeypatch, capsys):
    monkeypatch.setattr("utboost_action.commands.bank.read_bank", stop)
    monkeypatch.setattr(sys, "argv", ["utboost-action", "bank", "list", "--bank", "x"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert (ended.value.code, capsys.readouterr().err) == (1, STOPPED)


@pytest.mark.parametrize("name", [None, "/data/f"])
def test_a_full_disk_says_which_folders_to_look_at(monkeypatch, capsys, name):
    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, "No space left on device", name)

    monkeypatch.setattr("utboost_action.commands.bank.read_bank", full)
    monkeypatch.setattr(sys, "argv", ["utboost-action", "bank", "export", "--bank=b", "--out", "o"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert "--out o, --bank b, temporary files" in said
    assert ("/data/f" in said) == bool(name)
    assert said.count("\n") == 1
