"""Images of real instances, built once a machine from the tool beside the project."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import docker
import docker.errors
import pytest
from filelock import FileLock

from utboost_action.execution.docker_sandbox import LABEL
from utboost_action.execution.ownership import is_orphan

# one of each runner family; `make real` (UTBOOST_REAL=all) takes all of instances.json
IN_CI = ("django__django-14787", "mwaskom__seaborn-3010", "sympy__sympy-23117")


def _image(instance_id: str) -> str:
    return f"swebench/sweb.eval.x86_64.{instance_id.lower().replace('__', '_1776_')}:latest"


@pytest.fixture(scope="session")
def instance_ids(shared: Path) -> tuple[str, ...]:
    """The real instances that this run is about."""
    known = json.loads((shared / "real/instances/instances.json").read_text())
    return tuple(known) if os.environ.get("UTBOOST_REAL") == "all" else IN_CI


@pytest.fixture(scope="session")
def built(shared: Path) -> Callable[..., None]:
    """Build the images of these instances, unless they are there."""

    def build(*wanted: str) -> None:
        client = docker.from_env()
        try:
            with FileLock(Path(tempfile.gettempdir()) / "utboost-images.lock"):
                missing = [name for name in wanted if not _is_there(client, _image(name))]
                if missing:
                    tool = shared / "tools/build_images.py"
                    subprocess.run([sys.executable, str(tool), *missing], check=True, timeout=3000)
                assert all(_is_there(client, _image(name)) for name in wanted)
        finally:
            client.close()

    return build


def _is_there(client: docker.DockerClient, image: str) -> bool:
    """Whether it is here, by its name or by the name that keeps it when an audit removes images."""
    kept = f"utboost-kept/{image.rpartition('/')[2]}"
    for name in (image, kept):
        try:
            found = client.images.get(name)
        except docker.errors.ImageNotFound:
            continue
        return all(found.tag(other.removesuffix(":latest"), "latest") for other in (image, kept))
    return False


@pytest.fixture
def no_container_left():
    """After the test, no container exists whose audit is over."""
    yield
    client = docker.from_env()
    try:
        found = client.containers.list(all=True, filters={"label": LABEL})
        left = [container for container in found if is_orphan(container.labels.get(LABEL, ""))]
        assert not left, [container.name for container in left]
    finally:
        client.close()
