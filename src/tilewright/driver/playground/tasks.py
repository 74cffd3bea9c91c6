"""The programs that the server of the playground compiles and runs, each in a child process."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import Any, Final

from tilewright.driver.playground.child import Child, Limits

MOST: Final = 4
"""The child processes that work at the same time."""


class Tasks:
    """Answers requests. A newer one of the same page and action ends an older one."""

    def __init__(self, limits: Limits, modules: str = "") -> None:
        self.limits = limits
        self._modules = modules
        self._lock = Lock()
        self._spare: Child | None = None
        """A process that has loaded the compiler, and waits for a request."""
        self._running: dict[tuple[str, str], Child] = {}
        self._is_open = True

    def prepare(self) -> None:
        """Start a process for the next request, unless one waits."""
        with self._lock:
            if self._spare is None and self._is_open:
                self._spare = Child(self._modules)

    def answer(self, page: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request of a page."""
        key = page, request["action"]
        with self._lock:
            older = self._running.pop(key, None)
            if older is not None:
                older.cancel()
            if not self._is_open or len(self._running) >= MOST:
                text = f"the server compiles {MOST} programs already"
                return {"errors": [{"line": 0, "text": text}], "log": ""}
            child, self._spare = self._spare or Child(self._modules), None
            self._running[key] = child
        try:
            return child.ask(request, self.limits)
        finally:
            with self._lock:
                if self._running.get(key) is child:
                    del self._running[key]
            # Not earlier: it would compete with the compiler.
            self.prepare()

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._is_open = False
            for child in self._running.values():
                child.cancel()
            spare, self._spare = self._spare, None
        if spare is not None:
            with suppress(OSError):
                spare.close()
