"""What an audit is told, from the command line or from a workflow's inputs: one frozen value, checked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from utboost_action.errors import InputError


class SandboxKind(StrEnum):
    """Where patches run."""

    DOCKER = "docker"
    LOCAL = "local"


class FailOn(StrEnum):
    """Which verdicts make the audit end with exit code 3. Each includes the ones before it."""

    NEVER = "never"
    WRONG = "wrong"
    MISGRADED = "misgraded"
    SUSPECT = "suspect"


@dataclass(frozen=True)  # no slots: the defaults are read off the class by the command line
class Settings:
    """Everything that decides an audit.

    timeout: seconds for each script in a sandbox. repeats: runs of every suite on gold and candidate.
    trees: the folder with prepared trees, for the local sandbox. cache: where gold and base runs are
    kept for later audits. template: a folder whose `report.md.j2` extends our own.
    """

    submission: Path
    benchmark: str
    bank: Path | None = None
    instances: tuple[str, ...] = ()
    out: Path = Path("utboost-out")
    sandbox: SandboxKind = SandboxKind.DOCKER
    trees: Path | None = None
    image_template: str | None = None
    pull: bool = True
    remove_images: bool = False
    repeats: int = 3
    timeout: float = 1800.0
    jobs: int = 1
    resume: bool = True
    cache: Path | None = None
    fail_on: FailOn = FailOn.NEVER
    template: Path | None = None

    def checked(self) -> Settings:
        """The same settings. Raises InputError naming the first that is wrong, and a value that is right."""
        if self.repeats < 1:
            raise InputError(f"--repeats {self.repeats}: give a whole number from 1, for example 3")
        if self.timeout <= 0:
            raise InputError(f"--timeout {self.timeout:g}: give seconds above 0, for example 1800")
        if self.jobs < 1:
            raise InputError(f"--jobs {self.jobs}: give a whole number from 1, for example 2")
        if self.image_template is not None and "{instance_id}" not in self.image_template:
            raise InputError(
                f"--image-template {self.image_template!r}: it must hold {{instance_id}}, for example "
                "ghcr.io/epoch-research/swe-bench.eval.x86_64.{instance_id}"
            )
        if self.sandbox is SandboxKind.LOCAL and self.trees is None:
            raise InputError("--sandbox local needs --trees, the folder with the prepared trees")
        if self.out.exists() and not self.out.is_dir():
            raise InputError(f"--out {self.out}: there is a file of that name; name a folder")
        return self


def default_cache() -> Path:
    """`$XDG_CACHE_HOME/utboost-action/runs`, or the same below `~/.cache`."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "utboost-action" / "runs"
