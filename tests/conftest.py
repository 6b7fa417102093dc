"""Shared fixtures: what a machine lacks is skipped with its reason, or fails when it is required.

`UTBOOST_REQUIRE=docker,shared,browser` names what must be there; a test that needs it and would be skipped
then fails instead.
"""

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@cache
def _docker_problem() -> str:
    import docker
    import docker.errors

    try:
        client = docker.from_env()
        client.ping()
        client.close()
    except (docker.errors.DockerException, OSError) as problem:
        return f"no Docker engine answers: {problem}"
    return ""


def _shared_problem() -> str:
    return "" if (SHARED / "real").is_dir() else "the real data is not beside the project (../shared/real)"


def _browser_problem() -> str:
    from tests.browser import chromium

    return "" if chromium() else "no Chromium on this machine (Debian's package chromium)"


NEEDS = {"docker": _docker_problem, "shared": _shared_problem, "browser": _browser_problem}


def pytest_runtest_setup(item: pytest.Item) -> None:
    required = set(filter(None, os.environ.get("UTBOOST_REQUIRE", "").split(",")))
    if unknown := required - set(NEEDS):
        pytest.fail(f"UTBOOST_REQUIRE names {', '.join(sorted(unknown))}; known: {', '.join(NEEDS)}")
    for name, problem_of in NEEDS.items():
        if item.get_closest_marker(name) and (problem := problem_of()):
            if name in required:
                pytest.fail(f"required by UTBOOST_REQUIRE: {problem}")
            pytest.skip(problem)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the real data; the test must carry the mark `shared`."""
    return SHARED


@pytest.fixture(scope="session")
def cli() -> Path:
    """The command as users start it."""
    import sys

    return Path(sys.executable).parent / "utboost-action"


@pytest.fixture
def run_cli(cli: Path, tmp_path: Path):
    """Run the command; stdout and stderr as text. Nothing of the user's cache is touched."""

    def run(*arguments: object, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(cli), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "200", **environment},
        )

    return run
