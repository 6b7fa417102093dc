"""The HTTP side of the double: tokens, faults, Link headers, gzip, byte counts, git's own HTTP backend."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.github_double.routes import Reply, Request, Routes
from tests.github_double.shapes import Shapes
from tests.github_double.state import Exchange, Fault, Identity, Repository


class GitHubDouble:
    """A server on a free port of loopback; use it as a context manager.

    prefix: "" as api.github.com, "/api/v3" as an Enterprise Server (GraphQL then at /api/graphql).
    received: bytes that clients were sent, headers included, since the last `reset_counters`.
    """

    def __init__(self, root: Path, *, prefix: str = "", host: str = "127.0.0.1") -> None:
        self.root = root
        self.prefix = prefix
        self.repositories: dict[str, Repository] = {}
        self.tokens: dict[str, Identity] = {}
        self.faults: list[Fault] = []
        self.exchanges: list[Exchange] = []
        self.git_requests: list[str] = []
        self.sent = 0
        self.lock = threading.RLock()
        self._server = ThreadingHTTPServer((host, 0), type("Handler", (_Handler,), {"double": self}))
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://{host}:{self.port}"
        self.routes = Routes(self.repositories, Shapes(self.api_url, self.url))

    @property
    def api_url(self) -> str:
        return self.url + self.prefix

    @property
    def graphql_path(self) -> str:
        return self.prefix.removesuffix("/v3") + "/graphql"

    @property
    def environ(self) -> dict[str, str]:
        """What a runner would set."""
        return {
            "GITHUB_API_URL": self.api_url,
            "GITHUB_GRAPHQL_URL": self.url + self.graphql_path,
            "GITHUB_SERVER_URL": self.url,
        }

    def add_repository(self, full_name: str, files: dict[str, bytes] | None = None) -> Repository:
        """A repository whose default branch holds `files`."""
        made = Repository.create(full_name, self.root / f"{full_name}.git")
        made.commit("refs/heads/main", dict(files or {"README.md": b"A board.\n"}))
        self.repositories[full_name] = made
        return made

    def comment(self, full_name: str, number: int, login: str, body: str, kind: str = "User") -> int:
        """Somebody comments; returns the comment's id."""
        return self.routes.new_comment(self.repositories[full_name], number, login, kind, body).id

    def reset_counters(self) -> None:
        self.sent = 0
        self.exchanges.clear()
        self.git_requests.clear()

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    double: GitHubDouble
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet for head and body, so that no reply waits for an acknowledgement

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Silence."""

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET  # noqa: N815

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        body = self._read_body()
        if ".git/" in parts.path:
            self._git(parts.path, parts.query, body)
            return
        path = unquote(parts.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        with self.double.lock:
            self._api(path, query, body)

    def _api(self, path: str, query: dict[str, str], body: bytes) -> None:
        double = self.double
        identity = double.tokens.get(self._token())
        below = path.removeprefix(double.prefix) if path.startswith(double.prefix + "/") else path
        value = json.loads(body) if body else None
        fault = next((fault for fault in double.faults if fault.matches(self.command, below)), None)
        headers: dict[str, str] = {}
        if fault is not None:
            fault.times -= 1
            if fault.carried_out and identity:
                self._answer(path, below, query, value, identity)
            reply = Reply(
                fault.status, {"message": fault.message, "documentation_url": "https://docs.github.com"}
            )
            headers.update(fault.headers)
        elif identity is None:
            reply = Reply(
                401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"}
            )
        else:
            reply = self._answer(path, below, query, value, identity)
        if reply.needs:
            headers["X-Accepted-GitHub-Permissions"] = reply.needs
        if links := self._links(below, query, reply.pages):
            headers["Link"] = links
        double.exchanges.append(
            Exchange(
                self.command,
                below if path != double.graphql_path else "/graphql",
                query,
                value,
                reply.status,
                reply.value,
                self.headers.get("Authorization", ""),
                fault is not None,
            )
        )
        self._send(reply.status, json.dumps(reply.value).encode(), "application/json; charset=utf-8", headers)

    def _answer(self, path: str, below: str, query: dict[str, str], value: Any, identity: Identity) -> Reply:
        if path == self.double.graphql_path:
            return self.double.routes.graphql(Request(self.command, path, query, value, identity))
        return self.double.routes.answer(Request(self.command, below, query, value, identity))

    def _links(self, below: str, query: dict[str, str], pages: int) -> str:
        page = int(query.get("page", "1"))
        wanted = {"first": 1, "prev": page - 1} if page > 1 else {}
        if page < pages:
            wanted |= {"next": page + 1, "last": pages}
        base = f"{self.double.api_url}{below}"
        return ", ".join(
            f'<{base}?{urlencode({**query, "page": number})}>; rel="{name}"'
            for name, number in wanted.items()
        )

    def _git(self, path: str, query: str, body: bytes) -> None:
        """One request to `git http-backend`; a push needs `contents: write`."""
        double = self.double
        with double.lock:
            double.git_requests.append(f"{self.command} {path}?{query}")
            fault = next((fault for fault in double.faults if fault.matches(self.command, path)), None)
            if fault is not None:
                fault.times -= 1
        if fault is not None:
            self._send(fault.status, fault.message.encode(), "text/plain", dict(fault.headers))
            return
        identity = double.tokens.get(self._token())
        if identity is None:
            self._send(401, b"no", "text/plain", {"WWW-Authenticate": 'Basic realm="GitHub"'})
            return
        if "git-receive-pack" in f"{path}?{query}" and "contents" not in identity.may_write:
            self._send(403, b"Permission denied.", "text/plain", {})
            return
        environment = {
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "HOME": str(double.root),
            "GIT_PROJECT_ROOT": str(double.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": identity.login,
            "REMOTE_ADDR": "127.0.0.1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        done = subprocess.run(
            ["git", "http-backend"], env=environment, input=body, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(headers.pop("Status", "200").split()[0])
        self._send(status, content, headers.pop("Content-Type", "text/plain"), headers)

    def _token(self) -> str:
        scheme, _, rest = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "basic":
            return base64.b64decode(rest).decode().partition(":")[2]
        return rest

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _send(self, status: int, content: bytes, kind: str, headers: dict[str, str]) -> None:
        if len(content) > 500 and "gzip" in self.headers.get("Accept-Encoding", "") and "json" in kind:
            content = gzip.compress(content, 6, mtime=0)
            headers["Content-Encoding"] = "gzip"
        headers.setdefault("X-RateLimit-Limit", "5000")
        headers.setdefault("X-RateLimit-Remaining", "4999")
        headers.setdefault("X-RateLimit-Reset", "1893456000")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        sent = sum(len(line) for line in self._headers_buffer) + len(content)  # type: ignore[attr-defined]
        with self.double.lock:
            self.double.sent += sent
        self.end_headers()
        self.wfile.write(content)
