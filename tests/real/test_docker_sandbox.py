"""What a hostile script can and cannot do in a container."""

import subprocess
import sys
import textwrap
from pathlib import Path

import docker
import docker.errors
import pytest

from utboost_action.errors import ImageMissingError
from utboost_action.execution.docker_sandbox import LABEL, DockerSandbox, connect
from utboost_action.execution.ownership import is_orphan, owner
from utboost_action.execution.protocol import MIB, Limits
from utboost_action.model import RunState

pytestmark = [pytest.mark.docker, pytest.mark.shared, pytest.mark.xdist_group("docker")]
INSTANCE = "mwaskom__seaborn-3010"
IMAGE = "swebench/sweb.eval.x86_64.mwaskom_1776_seaborn-3010:latest"
LIMITS = Limits(timeout=8, memory=256 * MIB, pids=64, file=64 * MIB, disk=150 * MIB, log=2 * MIB)


@pytest.fixture(scope="module")
def client(built):
    built(INSTANCE)
    client = connect()
    yield client
    client.close()


@pytest.fixture
def run(client: docker.DockerClient, tmp_path: Path, no_container_left):
    """Run a script in a fresh box; the execution and what it printed."""

    def run(script: str, limits: Limits = LIMITS):
        log = tmp_path / "log"
        with DockerSandbox(client, limits).box(IMAGE) as box:
            box.put({"deep/folder/script.sh": textwrap.dedent(script).encode()})
            execution = box.run("deep/folder/script.sh", log=log)
        return execution, log.read_text(errors="replace")

    return run


def test_a_script_ends_with_its_own_code_and_ordered_output(run):
    execution, output = run("echo one; echo two >&2; echo three; exit 3")
    assert (execution.state, execution.exit_code) == (RunState.OK, 3)
    assert output.split() == ["one", "two", "three"]


def test_there_is_no_network_no_capability_and_no_new_privilege(run):
    _, output = run(
        """
        grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status
        ls /sys/class/net
        ls /var/run/docker.sock 2>&1 | tail -n 1
        """
    )
    lines = output.split("\n")
    assert "CapEff:\t0000000000000000" in lines
    assert "CapBnd:\t0000000000000000" in lines
    assert "NoNewPrivs:\t1" in lines
    assert "Seccomp:\t2" in lines
    assert "lo" in lines
    assert "eth0" not in lines
    assert "No such file" in output


def test_the_environment_holds_nothing_of_ours(run, monkeypatch):
    monkeypatch.setenv("UTBOOST_SECRET_FOR_TEST", "hunter2")
    _, output = run("env")
    assert "hunter2" not in output


def test_what_sleeps_for_ever_is_stopped(run):
    execution, _ = run("sleep 1000", Limits(timeout=1))
    assert (execution.state, execution.exit_code) == (RunState.TIMEOUT, None)


def test_what_stays_in_the_background_does_not_hold_the_script(run):
    execution, _ = run("sleep 1000 & exit 4")
    assert (execution.state, execution.exit_code) == (RunState.OK, 4)


def test_a_flood_of_output_is_cut_and_stopped(run):
    execution, output = run("yes 0123456789")
    assert execution.state is RunState.LOG_LIMIT
    assert len(output) == LIMITS.log


def test_forks_without_end_are_bounded(run):
    execution, _ = run(":(){ :|:& };: 2>/dev/null; sleep 2; exit 5")
    assert execution.state in (RunState.OK, RunState.TIMEOUT)


def test_many_files_meet_the_disk_limit(run):
    script = "for i in $(seq 60); do head -c 30000000 /dev/zero > /testbed/f$i; sleep 0.2; done"
    execution, _ = run(script, Limits(timeout=60, disk=150 * MIB))
    assert execution.state is RunState.DISK_LIMIT


def test_one_large_file_meets_the_file_limit(run):
    _, output = run("head -c 300000000 /dev/zero > /tmp/f; stat -c %s /tmp/f")
    assert int(output.split()[-1]) == LIMITS.file


def test_memory_is_bounded(run):
    execution, _ = run("/opt/miniconda3/envs/testbed/bin/python -c 'x = bytearray(1 << 30)'")
    assert execution.exit_code == 137


def test_a_missing_image_is_named_and_not_pulled_when_told_so(client):
    with pytest.raises(ImageMissingError, match="nobody/has-this"):
        DockerSandbox(client, pull=False).image_id("nobody/has-this:latest")
    with pytest.raises(ImageMissingError, match="cannot be pulled"):
        DockerSandbox(client).image_id("localhost:1/nobody/has-this:latest")


def test_an_image_is_removed_after_use_only_when_asked_to(client):
    name = "utboost-action-test/removed-after-use"
    client.images.get(IMAGE).tag(name)
    DockerSandbox(client).discard(f"{name}:latest")
    assert client.images.get(name)
    DockerSandbox(client, remove_images=True).discard(f"{name}:latest")
    with pytest.raises(docker.errors.ImageNotFound):
        client.images.get(name)


def test_only_a_dead_process_of_this_namespace_leaves_orphans():
    ours = owner()
    here, pid, start = ours.split(":")
    assert not is_orphan(ours)
    assert is_orphan(f"{here}:999999999:{start}")
    assert is_orphan(f"{here}:{pid}:0")  # the number was given away
    for foreign in (f"elsewhere:999999999:{start}", "", "nonsense", f"{here}:x:1"):
        assert not is_orphan(foreign)


def test_a_later_run_removes_what_a_killed_one_left(client):
    code = (
        "import os, signal\n"
        "from utboost_action.execution.docker_sandbox import DockerSandbox, connect\n"
        f"box = DockerSandbox(connect()).box({IMAGE!r})\n"
        "box.__enter__()\n"
        "print(box._container.id, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.PIPE, text=True)
    left = killed.stdout.strip()
    assert client.containers.get(left).status == "running"
    with DockerSandbox(client).box(IMAGE) as living:
        assert DockerSandbox(client).remove_leftovers() >= 1
        ids = {container.id for container in client.containers.list(filters={"label": LABEL})}
        assert left not in ids
        assert living._container is not None
        assert living._container.id in ids
