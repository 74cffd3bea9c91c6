"""A headless Chromium that is driven by its DevTools protocol, over pipes."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from time import monotonic, sleep
from typing import Any, Final

from browser import find_browser

DEADLINE: Final = 300
"""Seconds after which a browser is killed."""
OPTIONS: Final = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
)  # fmt: skip
_INPUT: Final = 3
_OUTPUT: Final = 4


class Tab:
    """A tab of a browser."""

    def __init__(self, source: Any, target: Any) -> None:
        self._source = source
        self._target = target
        self._count = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        made = self.call("Target.createTarget", url="about:blank")
        attached = self.call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return its result; keeps the events before it."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._target.write(json.dumps(message).encode() + b"\0")
        self._target.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        text = bytearray()
        while not text.endswith(b"\0"):
            piece = self._source.read(1)
            assert piece, "the browser has ended"
            text += piece
        return json.loads(text[:-1])

    def evaluate(self, script: str, context: int | None = None) -> Any:
        """Run the body of a function in the page, or in one of its frames."""
        chosen = {} if context is None else {"contextId": context}
        result = self.call("Runtime.evaluate", expression=f"(() => {{ {script} }})()",
                           returnByValue=True, userGesture=True, **chosen)  # fmt: skip
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def open(self, url: str) -> None:
        """Go to an address, and wait until the page is loaded."""
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def wait_for(self, condition: str, context: int | None = None, seconds: float = 120) -> None:
        """Wait until an expression is true."""
        end = monotonic() + seconds
        while not self.evaluate(f"return Boolean({condition})", context):
            assert monotonic() < end, (condition, self.evaluate("return document.body.innerText"))
            self.pause()

    def pause(self) -> None:
        """Let the browser work."""
        sleep(0.05)

    def frame_context(self) -> int:
        """The context in which scripts of the newest frame with a page run."""
        self.call("Page.getFrameTree")
        contexts = [
            event["params"]["context"]
            for event in self.events
            if event.get("method") == "Runtime.executionContextCreated"
        ]
        return [each["id"] for each in contexts if each["origin"] in ("", "://", "null")][-1]

    def show(self, width: int, height: int, scheme: str) -> None:
        """Set the size of the window, and whether it is light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, picture: Path) -> None:
        """Write what the window shows."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        picture.write_bytes(base64.b64decode(data))


@contextmanager
def open_tab(profile: Path) -> Generator[Tab]:
    """Start a browser with a new profile, and end it afterwards."""
    browser = find_browser()
    assert browser is not None
    to_browser, from_browser = os.pipe(), os.pipe()

    def connect() -> None:
        # Numbers above both first: one pipe may have the number of another.
        ends = os.dup(to_browser[0]), os.dup(from_browser[1])
        os.dup2(ends[0], _INPUT)
        os.dup2(ends[1], _OUTPUT)

    # Frames in the process of their page have contexts of the page's session.
    options = [*OPTIONS, "--disable-features=IsolateSandboxedIframes"]
    process = subprocess.Popen(
        [browser, *options, f"--user-data-dir={profile}"],
        close_fds=False, preexec_fn=connect, stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_browser[0])
    os.close(from_browser[1])
    timer = Timer(DEADLINE, process.kill)
    timer.start()
    try:
        with os.fdopen(from_browser[0], "rb") as source, os.fdopen(to_browser[1], "wb") as target:
            yield Tab(source, target)
    finally:
        timer.cancel()
        process.kill()
        process.wait()
