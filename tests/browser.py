"""A headless Chromium, driven over the pipe of its DevTools protocol: what a page becomes in a browser.

The messages are JSON that end with NUL, on file descriptors 3 (to the browser) and 4 (from it).
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    *("--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check"),
    *("--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--hide-scrollbars", "--force-color-profile=srgb"),
    # the machine's root needs it; the page under test is ours, and no host can be resolved
    *("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
)


def chromium() -> str | None:
    """The browser's path, None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Page:
    """One tab. requests: addresses that it asked for. said: dialogs, exceptions and console messages."""

    browser: Browser
    session: str
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> Any:
        return self.browser.call(method, parameters, self.session)

    def open(self, address: str, *, width: int, height: int = 900, scripts: bool) -> None:
        """Load a page in a window of this size (CSS pixels), and wait until it is whole."""
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.browser.loaded.discard(self.session)
        self.call("Page.navigate", url=address)
        self.browser.wait(lambda: self.session in self.browser.loaded)

    def value(self, expression: str) -> Any:
        """What an expression of ours comes to in the page; the tools' own scripts run also where the page's
        may not."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def screenshot(self, path: Path) -> None:
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))


class Browser:
    """A running browser; use `browser()`."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._next = 0
        self._replies: dict[int, Any] = {}
        self._pages: dict[str, Page] = {}
        self.loaded: set[str] = set()

    def page(self) -> Page:
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        made = self._pages[session] = Page(self, session)
        for domain in ("Page", "Network", "Runtime", "Log"):
            made.call(f"{domain}.enable")
        return made

    def call(self, method: str, parameters: dict[str, Any], session: str | None = None) -> Any:
        self._next += 1
        number = self._next
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        self.wait(lambda: number in self._replies)
        reply = self._replies.pop(number)
        assert "error" not in reply, f"{method}: {reply}"
        return reply["result"]

    def wait(self, done: Any, seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not done():
            ready, _, _ = select.select([self._from], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self._from, 1 << 20) if ready else b""
            assert data, "the browser ended" if ready else f"no answer from the browser within {seconds} s"
            *messages, self._rest = (self._rest + data).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._replies[message["id"]] = message
            return
        session, method, value = message.get("sessionId", ""), message["method"], message.get("params", {})
        page = self._pages.get(session)
        if page is None:
            return
        if method == "Page.loadEventFired":
            self.loaded.add(session)
        elif method == "Network.requestWillBeSent":
            page.requests.append(value["request"]["url"])
        elif method in (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Page.javascriptDialogOpening",
        ):
            page.said.append(f"{method}: {json.dumps(value)[:500]}")
        elif method == "Log.entryAdded":
            page.said.append(f"{method}: {value['entry'].get('text', '')}")


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Start a browser with its profile and home in `profile`; it ends with the block."""
    binary = chromium()
    assert binary, "no Chromium"
    read_by_browser, to_browser = os.pipe()
    from_browser, written_by_browser = os.pipe()

    def lay_down_pipes() -> None:
        # copies first, since an end may be 3 or 4 itself
        ends = [os.dup(read_by_browser), os.dup(written_by_browser)]
        os.dup2(ends[0], 3)
        os.dup2(ends[1], 4)

    profile.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [binary, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(profile), "LC_ALL": "C.UTF-8"},
        preexec_fn=lay_down_pipes,  # before the program starts, nothing else of ours runs
        close_fds=False,
        start_new_session=True,
    )
    os.close(read_by_browser)
    os.close(written_by_browser)
    try:
        yield Browser(to_browser, from_browser)
    finally:
        os.close(to_browser)
        os.close(from_browser)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
