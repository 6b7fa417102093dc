"""Git as a subprocess that trusts nothing: no system or user configuration, no hooks, one transport, limits.

The token travels in an environment variable of git's own (GIT_CONFIG_VALUE_0), never in an argument or
an address, and is taken out of every message.
"""

from __future__ import annotations

import base64
import os
import resource
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from utboost_action.errors import InputError
from utboost_action.github.problems import GitHubError, Obstacle, one_line

_SCHEMES = frozenset({"https", "http", "file"})
_PASSED_ON = (
    "PATH",
    "https_proxy",
    "HTTPS_PROXY",
    "http_proxy",
    "no_proxy",
    "NO_PROXY",
    "all_proxy",
    "ALL_PROXY",
)
_SIGNS: tuple[tuple[str, Obstacle], ...] = (
    ("protected branch", Obstacle.MISSING_PERMISSION),
    ("hook declined", Obstacle.MISSING_PERMISSION),
    ("[rejected]", Obstacle.CONTENDED),
    ("cannot lock ref", Obstacle.CONTENDED),
    ("failed to update ref", Obstacle.CONTENDED),
    ("incorrect old value", Obstacle.CONTENDED),
    ("couldn't find remote ref", Obstacle.NOT_FOUND),
    ("not our ref", Obstacle.NOT_FOUND),
    ("Repository not found", Obstacle.NOT_FOUND),
    ("error: 404", Obstacle.NOT_FOUND),
    ("error: 401", Obstacle.BAD_CREDENTIALS),
    ("Authentication failed", Obstacle.BAD_CREDENTIALS),
    ("could not read Username", Obstacle.BAD_CREDENTIALS),
    ("error: 403", Obstacle.MISSING_PERMISSION),
    ("error: 429", Obstacle.RATE_LIMITED),
    ("error: 5", Obstacle.SERVER_FAULT),
    ("Could not resolve host", Obstacle.UNREACHABLE),
    ("Failed to connect", Obstacle.UNREACHABLE),
    ("unexpected disconnect", Obstacle.UNREACHABLE),
    ("early EOF", Obstacle.UNREACHABLE),
    ("SSL", Obstacle.UNREACHABLE),
)


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository to talk to: address without credentials, token, and a CA bundle where one is needed."""

    url: str
    token: str = field(default="", repr=False)
    ca_bundle: Path | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        plain = self.url.isascii() and self.url.isprintable() and not set(self.url) & set('"\\ ')
        if parts.scheme not in _SCHEMES or parts.username or parts.password or not plain:
            raise InputError(f"remote {one_line(self.url)!r}: expected an https address without credentials")


class Git:
    """One bare repository in `directory` (made by `init`) and its one remote, `origin`.

    timeout: seconds for one command. max_bytes: the largest file that git may write, a pack included,
    and the largest output. environ: only PATH and the proxy variables of it are passed on.
    """

    def __init__(
        self,
        directory: Path,
        remote: Remote,
        environ: Mapping[str, str],
        *,
        timeout: float = 600.0,
        max_bytes: int = 4 << 30,
    ) -> None:
        self.directory = directory
        self.remote = remote
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._environment = _environment(directory, remote, environ)
        scheme = urlsplit(remote.url).scheme
        self._options = ("-c", "protocol.allow=never", "-c", f"protocol.{scheme}.allow=always")

    def init(self, *, partial: bool) -> None:
        """Make the repository; `partial` marks its remote as a promisor, so that blobs may be missing."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.run("init", "--quiet", "--bare", "--template=", ".")
        lines = ["[core]", "bare = true", "repositoryFormatVersion = 1"]
        if partial:
            lines += ["[extensions]", "partialClone = origin"]
        lines += ['[remote "origin"]', f'url = "{self.remote.url}"']
        if partial:
            lines += ["promisor = true", "partialCloneFilter = blob:none"]
        text = "".join(f"{line}\n" for line in lines)
        (self.directory / "config").write_text(text, encoding="ascii")

    def run(
        self, *arguments: str, stdin: bytes = b"", offline: bool = False, index: Path | None = None
    ) -> bytes:
        """The standard output of one command. Raises GitHubError that says what git said.

        offline: no transport at all, so that a missing object is an error instead of a request.
        """
        with tempfile.TemporaryFile() as output:
            self.run_to(output, *arguments, stdin=stdin, offline=offline, index=index)
            output.seek(0)
            return output.read()

    def run_to(
        self,
        output: IO[bytes],
        *arguments: str,
        stdin: bytes = b"",
        offline: bool = False,
        index: Path | None = None,
    ) -> None:
        """The same, into a file."""
        options = ("-c", "protocol.allow=never") if offline else self._options
        environment = {**self._environment, **({"GIT_INDEX_FILE": str(index)} if index else {})}
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
            given.write(stdin)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    ["git", *options, *arguments],
                    cwd=self.directory,
                    env=environment,
                    stdin=given,
                    stdout=output,
                    stderr=said,
                )
            except OSError as problem:
                raise GitHubError(Obstacle.NO_GIT, f"git cannot be started ({problem.strerror})") from None
            with process:
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (self._max_bytes, self._max_bytes))
                try:
                    code = _wait(process, self._timeout)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise GitHubError(
                        Obstacle.UNREACHABLE, f"git {arguments[0]} was stopped after {self._timeout:.0f} s"
                    ) from None
            if code != 0:
                said.seek(0)
                raise self._failure(arguments[0], code, said.read(100_000).decode("utf-8", "replace"))

    def _failure(self, command: str, code: int, said: str) -> GitHubError:
        for secret in (self.remote.token, _basic(self.remote.token)):
            said = said.replace(secret, "***") if secret else said
        if "File size limit" in said or "died of signal 25" in said or code == -signal.SIGXFSZ:
            return GitHubError(
                Obstacle.TOO_LARGE,
                f"git {command}: more than the {self._max_bytes:,} bytes that one read may take",
            )
        obstacle = next((kind for sign, kind in _SIGNS if sign in said), Obstacle.UNEXPECTED)
        lines = [line for line in said.splitlines() if line.strip()]
        telling = [line for line in lines if line.startswith(("fatal:", "error:", " !", "remote:"))] or lines
        return GitHubError(obstacle, f"git {command} failed: {obstacle} ({one_line(' '.join(telling[-3:]))})")


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int:
    """The exit code as soon as there is one; `Popen.wait` with a limit only looks every 50 ms.

    Raises TimeoutExpired.
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # an old kernel, or a sandbox that does not know the call
        return process.wait(seconds)
    try:
        if not select.select([descriptor], [], [], seconds)[0]:
            raise subprocess.TimeoutExpired("git", seconds)
    finally:
        os.close(descriptor)
    return process.wait()


def git_available(environ: Mapping[str, str]) -> bool:
    """Whether there is a git to start."""
    return shutil.which("git", path=environ.get("PATH")) is not None


def _environment(directory: Path, remote: Remote, environ: Mapping[str, str]) -> dict[str, str]:
    settings: list[tuple[str, str]] = [
        ("core.hooksPath", "/dev/null"),
        ("fetch.negotiationAlgorithm", "noop"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
        ("credential.helper", ""),
        ("core.askPass", ""),
    ]
    if remote.token:
        parts = urlsplit(remote.url)
        origin = f"{parts.scheme}://{parts.netloc}/"
        header = f"Authorization: Basic {_basic(remote.token)}"
        settings.append((f"http.{origin}.extraHeader", header))
    if remote.ca_bundle:
        settings.append(("http.sslCAInfo", str(remote.ca_bundle)))
    result = {name: environ[name] for name in _PASSED_ON if name in environ}
    result |= {
        "HOME": str(directory),
        "GIT_DIR": str(directory),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for place, (key, value) in enumerate(settings):
        result[f"GIT_CONFIG_KEY_{place}"] = key
        result[f"GIT_CONFIG_VALUE_{place}"] = value
    return result


def _basic(token: str) -> str:
    return base64.b64encode(f"x-access-token:{token}".encode()).decode("ascii") if token else ""
