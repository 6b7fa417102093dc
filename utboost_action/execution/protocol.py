"""What a sandbox is: three small protocols, with Docker and local implementations beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from utboost_action.model import RunState

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """What one container may use; times in seconds, sizes in bytes.

    timeout: for each script. log: output kept of one script, beyond which it is stopped.
    file: largest single file. disk: all that is written beside the image.
    """

    timeout: float = 1800.0
    memory: int = 8 * GIB
    cpus: float = 2.0
    pids: int = 1024
    file: int = 2 * GIB
    disk: int = 6 * GIB
    log: int = 64 * MIB


@dataclass(frozen=True, slots=True)
class Execution:
    """How one script ended. exit_code is None when it was stopped; state is OK when it ended by itself."""

    state: RunState
    exit_code: int | None
    seconds: float


class Box(Protocol):
    """One started sandbox: a copy of the image's tree that nobody else sees.

    directory: the absolute path, inside, of a folder outside the tree for scripts and records.
    """

    directory: str

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write files below `directory`, whole folders included, by archive."""

    def get(self, folder: str) -> Mapping[str, bytes]:
        """The files of a folder below `directory`, by name there. Raises SandboxError: none, or too large."""

    def run(self, script: str, *, log: Path) -> Execution:
        """Run `bash SCRIPT` (a name below `directory`) in the tree; both streams go, merged, to `log`."""

    def __enter__(self) -> Self:
        """Start."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop and remove, whatever happened."""


class Sandbox(Protocol):
    """A place where boxes come from. trusted_only: it isolates nothing, so it is for trusted patches."""

    trusted_only: bool

    def image_id(self, image: str) -> str:
        """The content id of an image, fetched when absent. Raises ImageMissingError."""

    def box(self, image: str) -> Box:
        """A fresh box, not started."""

    def discard(self, image: str) -> None:
        """Free what the image takes, when the run was asked to."""

    def remove_leftovers(self) -> int:
        """Remove what runs left that were killed (of this host, their process gone); how many there were."""

    def stop_all(self) -> None:
        """Kill every running box of this process; their scripts end as KILLED."""
