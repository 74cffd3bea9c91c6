"""The programs that the server of the playground compiles and runs, each in a child process."""

from __future__ import annotations

from threading import Condition
from typing import Any, Final

from tilewright.driver.playground.child import Child, Limits
from tilewright.driver.playground.protocol import ACTIONS, EXPLAIN, RUN

MOST: Final = 4
"""The child processes that work at the same time."""
PATIENCE: Final = 10.0
"""Seconds in which processes that are killed end."""


class Tasks:
    """Answers requests of pages. An edit of a page ends what works for its older text."""

    def __init__(self, limits: Limits, modules: str = "") -> None:
        self.limits = limits
        self._modules = modules
        self._changed = Condition()
        self._spare: Child | None = None
        """A process that has loaded the compiler, and waits for a request."""
        self._wanted: dict[tuple[str, str], Child] = {}
        """The process that answers the newest request of a page and action."""
        self._working: set[Child] = set()
        """Those that have not ended, with those whose answer is no longer wanted."""
        self._is_open = True

    def prepare(self) -> None:
        """Start a process for the next request, unless one waits."""
        with self._changed:
            if self._spare is None and self._is_open:
                self._spare = Child(self._modules)

    def answer(self, page: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request of a page."""
        key = page, request["action"]
        with self._changed:
            # Pages ask for an explanation on each edit, and for a run of the text as it is.
            for action in ACTIONS if request["action"] == EXPLAIN else (RUN,):
                older = self._wanted.pop((page, action), None)
                if older is not None:
                    older.cancel()
            if not self._is_open or len(self._wanted) >= MOST:
                text = f"the server compiles {MOST} programs already"
                return {"errors": [{"line": 0, "text": text}], "log": ""}
            child, self._spare = self._spare or Child(self._modules), None
            self._wanted[key] = child
            self._working.add(child)
        try:
            return child.ask(request, self.limits)
        finally:
            with self._changed:
                self._working.discard(child)
                if self._wanted.get(key) is child:
                    del self._wanted[key]
                self._changed.notify_all()
            # Not earlier: it would compete with the compiler.
            self.prepare()

    def close(self) -> None:
        """End all processes, and wait until their folders are removed."""
        with self._changed:
            self._is_open = False
            spare, self._spare = self._spare, None
            for child in self._working:
                child.cancel()
            self._changed.wait_for(lambda: not self._working, PATIENCE)
        if spare is not None:
            spare.close()
