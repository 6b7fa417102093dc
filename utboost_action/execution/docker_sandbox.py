"""The Docker sandbox: no network, no privileges, every resource bounded, files in by archive only."""

from __future__ import annotations

import io
import os
import tarfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

import docker
import docker.errors
import docker.models.containers
import docker.types
import requests.exceptions

from utboost_action.errors import EngineUnavailableError, ImageMissingError, SandboxError
from utboost_action.execution.output import stream_to_file
from utboost_action.execution.ownership import is_orphan, owner
from utboost_action.execution.protocol import Execution, Limits
from utboost_action.model import RunState

LABEL = "utboost-action.owner"
_DIRECTORY = "/utboost"
_LIFETIME = 24 * 3600  # seconds; then PID 1 ends and the engine removes the container by itself
_DISK_POLL = 5.0  # seconds between looks at what a container has written
_LARGEST_TAKEN = 64 << 20  # bytes that are taken out of a container at once
_REMOVAL = 60.0  # seconds that a removal under way may take (large layers)
_ENGINE = (docker.errors.APIError, requests.exceptions.RequestException)  # what an engine's answer may be


def connect() -> docker.DockerClient:
    """The engine of the environment (DOCKER_HOST or the default socket). Raises EngineUnavailableError."""
    try:
        client = docker.from_env(timeout=120, max_pool_size=64)
        client.ping()
    except (docker.errors.DockerException, requests.exceptions.RequestException, OSError) as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise EngineUnavailableError(
            f"no Docker engine answers ({reason}); start one, set DOCKER_HOST, or use --sandbox local "
            "for patches that you trust"
        ) from None
    return client


@dataclass(slots=True)
class DockerSandbox:
    """Containers of one engine. pull: fetch absent images; remove_images: drop an image after its use."""

    client: docker.DockerClient
    limits: Limits = field(default_factory=Limits)
    pull: bool = True
    remove_images: bool = False
    trusted_only: bool = False
    _live: set[DockerBox] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopping: bool = False

    def image_id(self, image: str) -> str:
        """The image's content id (sha256:...); pulled when absent. Raises ImageMissingError, SandboxError."""
        try:
            return str(self.client.images.get(image).id)
        except docker.errors.ImageNotFound:
            pass
        except docker.errors.APIError as problem:
            raise ImageMissingError(f"image {image}: {_reason(problem)}") from None
        except requests.exceptions.RequestException as problem:
            raise SandboxError(f"image {image}: the engine does not answer: {_reason(problem)}") from None
        if not self.pull:
            raise ImageMissingError(f"image {image} is not here")
        try:
            return str(self.client.images.pull(image).id)
        except (docker.errors.APIError, requests.exceptions.RequestException) as problem:
            reason = str(getattr(problem, "explanation", None) or problem).strip().splitlines()[0]
            raise ImageMissingError(f"image {image} is not here and cannot be pulled: {reason}") from None

    def box(self, image: str) -> DockerBox:
        """A fresh container of the image, not started."""
        return DockerBox(self, image)

    def discard(self, image: str) -> None:
        """Remove the image, where the run asked for it; one in use elsewhere stays."""
        if self.remove_images:
            try:
                self.client.images.remove(image)
            except _ENGINE:
                return

    def stop_all(self) -> None:
        """Kill every running container of this process; none starts afterwards."""
        with self._lock:
            self._stopping = True
            live = list(self._live)
        for box in live:
            box.kill()

    def remove_leftovers(self) -> int:
        """Remove the containers that audits left that are no longer alive; how many there were.

        A container names the process that started it; where that process lives on, or belongs to another
        host or container that shares this engine, the container is somebody's and stays.
        """
        removed = 0
        try:
            own = self.client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
        except _ENGINE as problem:
            raise EngineUnavailableError(f"the engine lists no containers: {_reason(problem)}") from None
        for container in own:
            if is_orphan(container.labels.get(LABEL, "")):
                _remove(container)
                removed += 1
        return removed

    def _register(self, box: DockerBox) -> None:
        with self._lock:
            if self._stopping:
                raise SandboxError("the audit is being stopped")
            self._live.add(box)

    def _forget(self, box: DockerBox) -> None:
        with self._lock:
            self._live.discard(box)


class DockerBox:
    """One container, alive between `__enter__` and `__exit__`."""

    directory = _DIRECTORY

    def __init__(self, sandbox: DockerSandbox, image: str) -> None:
        self._sandbox = sandbox
        self._image = image
        self._container: docker.models.containers.Container | None = None
        self._verdict: RunState | None = None  # why we stopped it, if we did

    def __enter__(self) -> Self:
        limits = self._sandbox.limits
        self._sandbox._register(self)
        try:
            self._container = self._sandbox.client.containers.create(
                self._image,
                ["sleep", str(_LIFETIME)],
                entrypoint=[],
                auto_remove=True,
                network_mode="none",
                cap_drop=["ALL"],
                security_opt=["no-new-privileges:true"],
                ipc_mode="private",
                pids_limit=limits.pids,
                mem_limit=limits.memory,
                memswap_limit=limits.memory,
                nano_cpus=int(min(limits.cpus, os.cpu_count() or 1) * 1e9),
                ulimits=[
                    docker.types.Ulimit(name="fsize", soft=limits.file, hard=limits.file),
                    docker.types.Ulimit(name="core", soft=0, hard=0),
                ],
                labels={LABEL: owner()},
                user="root",
                stdin_open=False,
                tty=False,
            )
            self._container.start()
        except docker.errors.ImageNotFound as problem:
            self.__exit__(None, None, None)
            raise ImageMissingError(f"image {self._image} is not here: {problem.explanation}") from None
        except (docker.errors.DockerException, requests.exceptions.RequestException) as problem:
            self.__exit__(None, None, None)
            raise SandboxError(f"container of {self._image} does not start: {_reason(problem)}") from None
        if self._verdict is not None:  # it was to be stopped before there was anything to stop
            self.__exit__(None, None, None)
            raise SandboxError("the audit is being stopped")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sandbox._forget(self)
        if self._container is not None:
            _remove(self._container)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write files (name below the directory -> content) by one archive, owned by root, private."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            folder = tarfile.TarInfo(_DIRECTORY.lstrip("/"))
            folder.type, folder.mode = tarfile.DIRTYPE, 0o700
            archive.addfile(folder)
            for name, content in files.items():
                entry = tarfile.TarInfo(f"{_DIRECTORY.lstrip('/')}/{name}")
                entry.size, entry.mode, entry.mtime = len(content), 0o600, int(time.time())
                archive.addfile(entry, io.BytesIO(content))
        try:
            self._started().put_archive("/", buffer.getvalue())
        except (docker.errors.APIError, requests.exceptions.RequestException) as problem:
            raise SandboxError(f"files cannot be put into {self._image}: {_reason(problem)}") from None

    def get(self, folder: str) -> Mapping[str, bytes]:
        """The files of a folder below the directory, by one archive."""
        try:
            chunks, _ = self._started().get_archive(f"{_DIRECTORY}/{folder}")
            data = bytearray()
            for chunk in chunks:
                data += chunk
                if len(data) > _LARGEST_TAKEN:
                    raise SandboxError(f"{folder} in the container is larger than any such folder")
            with tarfile.open(fileobj=io.BytesIO(bytes(data))) as archive:
                files = {entry.name: archive.extractfile(entry) for entry in archive if entry.isfile()}
                return {PurePosixPath(name).name: file.read() for name, file in files.items() if file}
        except (docker.errors.APIError, requests.exceptions.RequestException, tarfile.TarError) as problem:
            raise SandboxError(f"{folder} cannot be taken out of the container: {_reason(problem)}") from None

    def run(self, script: str, *, log: Path) -> Execution:
        """`bash SCRIPT` in the image's work folder, until it ends or a limit is met."""
        container, api = self._started(), self._sandbox.client.api
        # one pipe for both streams, merged in the shell, so that their order is the script's own
        # what an earlier script left running in the container ends first
        launch = 'kill -9 -1 2>/dev/null; exec bash "$0" 2>&1 </dev/null'
        command = ["bash", "-c", launch, f"{_DIRECTORY}/{script}"]
        begin = time.monotonic()
        try:
            handle = api.exec_create(container.id, command, stdin=False, tty=False, user="root")["Id"]
            with (
                _output(api, handle) as chunks,
                _Watch(self, self._sandbox.limits) as watch,
            ):
                stream_to_file(chunks, log, self._sandbox.limits.log, watch.log_is_full)
            exit_code = None if self._verdict else api.exec_inspect(handle)["ExitCode"]
        except (docker.errors.APIError, requests.exceptions.RequestException, OSError) as problem:
            if self._verdict is None:
                raise SandboxError(f"a script in {self._image} cannot be run: {_reason(problem)}") from None
            exit_code = None
        seconds = time.monotonic() - begin
        if self._verdict is None and exit_code is None:
            self._verdict = RunState.KILLED  # the container died under the script
        return Execution(self._verdict or RunState.OK, exit_code, seconds)

    def kill(self) -> None:
        """Stop at once because the audit ends."""
        self._stop(RunState.KILLED)

    def _written(self) -> int:
        """Bytes written beside the image so far."""
        listed = self._sandbox.client.api.containers(filters={"id": self._started().id}, size=True)
        return int(listed[0].get("SizeRw") or 0) if listed else 0

    def _stop(self, why: RunState) -> None:
        if self._verdict is None:
            self._verdict = why
        if self._container is None:
            return  # `__enter__` looks at the verdict once it has started it
        try:
            self._container.kill()
        except _ENGINE:
            return

    def _started(self) -> docker.models.containers.Container:
        if self._container is None:
            raise SandboxError("the container was not started")
        return self._container


@contextmanager
def _output(api: docker.APIClient, handle: str) -> Iterator[Iterable[bytes]]:
    """Start an exec and yield its output; the connection is closed for good, which docker-py leaves open."""
    stream = api.exec_start(handle, stream=True)
    try:
        yield stream
    finally:
        stream.close()
        stream._response.close()  # type: ignore[attr-defined]  # the stream's own close() keeps the file object over the socket


class _Watch:
    """A thread that stops a box at its time limit, or when it has written or printed too much."""

    def __init__(self, box: DockerBox, limits: Limits) -> None:
        self._box, self._limits = box, limits
        self._wake = threading.Event()
        self._done = self._log_full = False
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._done = True
        self._wake.set()
        self._thread.join()

    def log_is_full(self) -> None:
        """Have the thread stop the box; the caller goes on reading meanwhile."""
        self._log_full = True
        self._wake.set()

    def _look(self) -> None:
        deadline = time.monotonic() + self._limits.timeout
        while True:
            self._wake.wait(max(0.0, min(_DISK_POLL, deadline - time.monotonic())))
            if self._log_full:
                self._box._stop(RunState.LOG_LIMIT)
                return
            if self._done:
                return
            if time.monotonic() >= deadline:
                self._box._stop(RunState.TIMEOUT)
                return
            try:
                written = self._box._written()
            except (docker.errors.APIError, requests.exceptions.RequestException, ValueError):
                continue
            if written > self._limits.disk:
                self._box._stop(RunState.DISK_LIMIT)
                return


def _remove(container: docker.models.containers.Container) -> None:
    """Kill and remove; back when the container is gone, also where the engine was removing it already.

    What an engine that does not answer leaves is labelled, and a later audit removes it.
    """
    deadline = time.monotonic() + _REMOVAL
    while True:
        try:
            container.remove(force=True)
        except docker.errors.NotFound:
            return
        except _ENGINE:
            if time.monotonic() > deadline:
                return
            time.sleep(0.1)
        else:
            return


def _reason(problem: Exception) -> str:
    text = str(getattr(problem, "explanation", None) or problem).strip()
    return text.splitlines()[0] if text else type(problem).__name__
