"""Chromium without a window, driven over a pipe in its own protocol; nothing but the standard library."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

SECONDS = 60
"""The time that an answer may take."""


def chromium() -> str | None:
    """Return the path of a Chromium or Chrome, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """A browser with one tab; ``events`` holds all that it told unasked."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        taken, self.write = os.pipe()
        self.read, given = os.pipe()
        flags = (
            "--headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --remote-debugging-pipe"
        )
        self.process = subprocess.Popen(
            [
                *("bash", "-c", f'exec "$0" "$@" 3<&{taken} 4>&{given}', chromium() or "chromium"),
                *flags.split(),
                f"--user-data-dir={self.folder.name}",
                "about:blank",
            ],
            pass_fds=(taken, given),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(taken)
        os.close(given)
        self.number, self.rest, self.session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        target = pages[0]["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        self.process.kill()
        self.process.wait()
        os.close(self.read)
        os.close(self.write)
        self.folder.cleanup()

    def call(self, method: str, **params: Any) -> Any:
        """Return the answer to a call of the protocol; raises RuntimeError if it is refused."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") != self.number:
                self.events.append(told)
            elif "error" in told:
                raise RuntimeError(f"{method}: {told['error']['message']}")
            else:
                return told["result"]

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + SECONDS
        while b"\0" not in self.rest:
            if not select.select([self.read], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            if not (more := os.read(self.read, 1 << 20)):
                raise RuntimeError("the browser has ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return dict(json.loads(message))

    def screen(self, wide: int, high: int, dark: bool) -> None:
        """Take the size and the colours of a screen; a narrow one is a telephone's."""
        phone = wide < 700
        self.call(
            "Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=phone
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, page: Path, hash: str = "") -> None:
        """Open a file anew and wait until it is loaded."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=f"{page.resolve().as_uri()}{hash}")
        self.wait(f"document.readyState == 'complete' && location.href.startsWith({page.as_uri()!r})")

    def run(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript; raises RuntimeError if it throws."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise RuntimeError(told["exceptionDetails"].get("exception", {}).get("description"))
        return told["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression of JavaScript is true."""
        until = time.monotonic() + SECONDS
        while not self.run(condition):
            if time.monotonic() > until:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)

    def swipe(self, start: tuple[int, int], end: tuple[int, int], meanwhile: str = "0") -> None:
        """Move a finger over the screen; an expression of JavaScript is run while it is down."""
        point = [{"x": start[0], "y": start[1]}]
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=point)
        self.run(meanwhile)
        self.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": end[0], "y": end[1]}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def told(self, *methods: str) -> list[dict[str, Any]]:
        """Return the events of those names since the page was opened."""
        self.run("0")
        return [event["params"] for event in self.events if event.get("method") in methods]

    def screenshot(self, to: Path) -> None:
        """Write what the screen shows as a PNG."""
        to.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
