"""The local sandbox: a copy of a prepared tree and a process group with resource limits.

It keeps no secret and shuts out nothing: only patches that are trusted may run in it (the demo, tests,
one's own patches on one's own machine).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from utboost_action.errors import ImageMissingError, SandboxError
from utboost_action.execution.output import stream_to_file
from utboost_action.execution.ownership import is_orphans, name_part
from utboost_action.execution.protocol import Execution, Limits
from utboost_action.model import RunState

SCHEME = "local:"
_PREFIX = "utboost-local-"
# the limits are set by the shell that becomes the script's: kilobytes for -f and -v, no core file
_LAUNCH = (
    'ulimit -c 0; ulimit -f "$1" || exit 126; ulimit -v "$2" || exit 126; exec bash "$0" 2>&1 </dev/null'
)


@dataclass(slots=True)
class LocalSandbox:
    """Copies of the trees below `trees`: image `local:NAME` is the folder `trees/NAME`."""

    trees: Path
    limits: Limits = field(default_factory=Limits)
    trusted_only: bool = True
    _live: set[LocalBox] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopping: bool = False

    def image_id(self, image: str) -> str:
        """A digest over the names, modes and bytes of the prepared tree. Raises ImageMissingError."""
        tree = self.tree(image)
        digest = hashlib.sha256()
        for path in sorted(tree.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(tree)}\0{os.access(path, os.X_OK)}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
        return f"local-sha256:{digest.hexdigest()}"

    def tree(self, image: str) -> Path:
        """The folder behind an image name. Raises ImageMissingError."""
        name = image.removeprefix(SCHEME)
        tree = self.trees / name
        if not image.startswith(SCHEME) or "/" in name or name in ("", ".", "..") or not tree.is_dir():
            raise ImageMissingError(
                f"image {image}: no prepared tree below {self.trees} (--trees); local:NAME is its folder NAME"
            )
        return tree

    def box(self, image: str) -> LocalBox:
        """A fresh copy of the tree, not made yet."""
        return LocalBox(self, self.tree(image))

    def discard(self, image: str) -> None:
        """Nothing to free: the trees belong to the user."""

    def remove_leftovers(self) -> int:
        """Remove the copies that audits left that are no longer alive; how many there were."""
        removed = 0
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            if is_orphans(folder.name.removeprefix(_PREFIX)):
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        return removed

    def stop_all(self) -> None:
        """Kill the process groups of all boxes; none starts afterwards."""
        with self._lock:
            self._stopping = True
            live = list(self._live)
        for box in live:
            box.kill()

    def _register(self, box: LocalBox) -> None:
        with self._lock:
            if self._stopping:
                raise SandboxError("the audit is being stopped")
            self._live.add(box)

    def _forget(self, box: LocalBox) -> None:
        with self._lock:
            self._live.discard(box)


class LocalBox:
    """One copy of a tree, a git repository whose HEAD is the base, alive between enter and exit."""

    def __init__(self, sandbox: LocalSandbox, tree: Path) -> None:
        self._sandbox = sandbox
        self._source = tree
        self._root = Path()
        self._process: subprocess.Popen[bytes] | None = None
        self._verdict: RunState | None = None
        self.directory = ""

    def __enter__(self) -> Self:
        self._sandbox._register(self)
        try:
            self._root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name_part()}-"))
            self.directory = str(self._root / "utboost")
            for name in ("utboost", "home", "tmp"):
                (self._root / name).mkdir()
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(self._source, self._root / "testbed", symlinks=True, ignore=ignored)
            if not (self._root / "testbed" / ".git").exists():
                self._make_repository()
        except (OSError, shutil.Error) as problem:
            self.__exit__(None, None, None)
            raise SandboxError(f"tree {self._source} cannot be copied: {_first_line(problem)}") from None
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sandbox._forget(self)
        self._kill_group()
        if self.directory:  # else there is no copy yet
            shutil.rmtree(self._root, ignore_errors=True)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write files below the directory."""
        for name, content in files.items():
            target = Path(self.directory) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def get(self, folder: str) -> Mapping[str, bytes]:
        """The files of a folder below the directory."""
        try:
            place = Path(self.directory) / folder
            return {file.name: file.read_bytes() for file in sorted(place.iterdir()) if file.is_file()}
        except OSError as problem:
            raise SandboxError(f"{folder} cannot be taken out of the sandbox: {problem.strerror}") from None

    def run(self, script: str, *, log: Path) -> Execution:
        """`bash SCRIPT` in the copied tree, in a process group of its own."""
        if self._verdict is not None:
            return Execution(self._verdict, None, 0.0)
        limits = self._sandbox.limits
        begin = time.monotonic()
        file_blocks, memory_blocks = str(limits.file // 1024), str(limits.memory // 1024)
        self._process = subprocess.Popen(
            ["bash", "-c", _LAUNCH, f"{self.directory}/{script}", file_blocks, memory_blocks],
            cwd=self._root / "testbed",
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        if self._verdict is not None:  # stopped while it was being started
            self._kill_group()
        timer = threading.Timer(limits.timeout, self._stop, (RunState.TIMEOUT,))
        timer.start()
        # what the script leaves running in the background would hold the pipe open
        reaper = threading.Thread(target=self._kill_when_over, args=(self._process,), daemon=True)
        reaper.start()
        try:
            assert self._process.stdout is not None
            with self._process.stdout as pipe:
                stream_to_file(_chunks(pipe), log, limits.log, lambda: self._stop(RunState.LOG_LIMIT))
            code = self._process.wait()
            reaper.join()
        finally:
            timer.cancel()
            self._kill_group()
        seconds = time.monotonic() - begin
        if self._verdict is None and code < 0:
            self._verdict = RunState.KILLED
        return Execution(self._verdict or RunState.OK, None if self._verdict else code, seconds)

    def kill(self) -> None:
        """Stop at once because the audit ends."""
        self._stop(RunState.KILLED)

    def _stop(self, why: RunState) -> None:
        if self._verdict is None:
            self._verdict = why
        self._kill_group()

    def _kill_group(self) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return

    def _kill_when_over(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self._kill_group()

    def _environment(self) -> dict[str, str]:
        """Nothing of the caller's environment but where programs are; the tool's own Python comes first."""
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self._root / "home"),
            "TMPDIR": str(self._root / "tmp"),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(self._root),
        }

    def _make_repository(self) -> None:
        identity = ["-c", "user.name=utboost", "-c", "user.email=utboost@localhost"]
        for arguments in (["init", "-q"], ["add", "-A", "-f"], [*identity, "commit", "-q", "-m", "base"]):
            subprocess.run(
                ["git", *arguments],
                cwd=self._root / "testbed",
                env=self._environment(),
                check=True,
                capture_output=True,
            )


def _chunks(pipe: IO[bytes]) -> Iterator[bytes]:
    while chunk := pipe.read1(1 << 16):  # type: ignore[attr-defined]
        yield chunk


def _first_line(problem: OSError) -> str:
    """One line of an error, also where copying gathered a list of them."""
    told = problem.args[0] if isinstance(problem, shutil.Error) and problem.args else str(problem)
    if isinstance(told, list) and told:
        told = told[0][-1]
    return str(told).splitlines()[0] if str(told) else type(problem).__name__
