"""A model server on loopback that speaks the OpenAI chat-completions protocol: well, or badly on demand.

A `Script` decides every answer: it is called with the request's body and the number of the call and
returns an `Answer`. `ModelServer` keeps every request it got, with its headers.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """One HTTP response. chunk, pause: send the body in pieces of `chunk` bytes with a pause (seconds)."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunk: int = 0
    pause: float = 0.0
    hang_up: bool = False  # close the connection before the body is whole


Script = Callable[[Body, int], Answer]


def completion(
    *texts: str | None, finish: str = "stop", usage: dict[str, int] | bool | None = True
) -> Answer:
    """A good response with these replies. usage: True for figures by a rule (4 characters a token)."""
    value: Body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "test-model",
        "choices": [
            {"index": n, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
            for n, text in enumerate(texts)
        ],
    }
    if usage is True:
        value["usage"] = {
            "prompt_tokens": 100,
            "completion_tokens": sum(len(t or "") // 4 + 1 for t in texts),
        }
    elif usage:
        value["usage"] = usage
    return Answer(body=json.dumps(value).encode(), headers={"content-type": "application/json"})


def refusal(
    status: int, message: str, *, param: str | None = None, code: str | None = None, **headers: str
) -> Answer:
    """An error response as OpenAI's API words it; header names with `_` for `-`."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, json.dumps(body).encode(), {"content-type": "application/json", **named})


def by_stage(replies: dict[str, str | list[str]]) -> Script:
    """Answer by what the prompt asks for: keys `files`, `places`, `lines`, `write`.

    A list gives sample k its k-th reply (over and over), by `n` or by `seed`.
    """

    def script(body: Body, _number: int) -> Answer:
        reply = replies[stage_of(body)]
        count = body.get("n", 1)
        first = body.get("seed", 0)
        texts = (
            [reply] * count
            if isinstance(reply, str)
            else [reply[(first + k) % len(reply)] for k in range(count)]
        )
        return completion(*texts)

    return script


def stage_of(body: Body) -> str:
    """Which stage's prompt a request is."""
    asked = next(message["content"] for message in reversed(body["messages"]) if message["role"] == "user")
    for stage, phrase in (("files", '{"files":'), ("places", '{"places":'), ("lines", '{"ranges":')):
        if phrase in asked.splitlines()[-1]:
            return stage
    return "repair" if "cannot be used" in asked else "write"


@dataclass
class ModelServer:
    """A running server. requests: bodies in order of arrival; headers: of each; peak: calls at once."""

    url: str
    script: Script
    requests: list[Body] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    peak: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: Body, headers: dict[str, str]) -> Answer:
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            number = len(self.requests) - 1
            self._now += 1
            self.peak = max(self.peak, self._now)
        try:
            return self.script(body, number)
        finally:
            with self._lock:
                self._now -= 1


@contextmanager
def model_server(script: Script) -> Iterator[ModelServer]:
    """Serve on a free port of loopback until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            assert self.path == "/v1/chat/completions", self.path
            answer = running.answer(body, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            try:
                self._send(answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _send(self, answer: Answer) -> None:
            size = answer.chunk or len(answer.body) or 1
            for start in range(0, len(answer.body), size):
                if answer.hang_up and start + size >= len(answer.body):
                    self.close_connection = True
                    return
                self.wfile.write(answer.body[start : start + size])
                self.wfile.flush()
                if answer.pause:
                    time.sleep(answer.pause)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            return

    server = Server(("127.0.0.1", 0), Handler)
    running = ModelServer(f"http://127.0.0.1:{server.server_address[1]}/v1", script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
