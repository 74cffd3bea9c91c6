"""The functions that a process calls, and the files of the project that it opens.

Functions are recorded rather than lines, so that a record stays valid while functions are edited
and moved within a module.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from cProfile import Profile as Profiler
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
RECORDED: Final = tuple(
    f"{ROOT / name}{os.sep}" for name in ("src", "tests", "tools", "benchmarks")
)
FOLDER_VARIABLE: Final = "CALL_RECORDS"
"""The folder to which child processes write theirs."""
Records = dict[str, tuple[float, list[str]]]
"""The seconds of each test, and what it reached."""


def node_of(code: CodeType) -> str | None:
    """Name a function as `path:qualified name`; nested functions count as the outer one."""
    if not code.co_filename.startswith(RECORDED) or code.co_name == "<module>":
        return None
    path = code.co_filename[len(str(ROOT)) + 1 :]
    return f"{path}:{code.co_qualname.partition('.<locals>')[0]}"


class Calls:
    """The functions that were called, and the files of the project that were opened."""

    def __init__(self) -> None:
        # The profiler is written in C: a trace function in Python takes three times as long.
        self.profiler = Profiler(subcalls=False, builtins=False)
        self.others: list[tuple[threading.Thread, Profiler]] = []
        """Those of other threads."""
        self.files: set[str] = set()

    def start(self) -> None:
        """Record the calls of this thread, and of threads that start later."""
        self.profiler.enable()
        threading.setprofile(self._start_thread)
        sys.addaudithook(self._audit)

    def stop(self) -> None:
        """Record no more calls of this thread."""
        self.profiler.disable()

    def take(self) -> set[str]:
        """The nodes since the last time; `file:path` for a file that was opened."""
        nodes = {f"file:{path[len(str(ROOT)) + 1 :]}" for path in self.files.copy()}
        self.files.clear()
        ended = [each for each in self.others if not each[0].is_alive()]
        for profiler in (self.profiler, *(each for _, each in self.others)):
            for entry in profiler.getstats():
                if isinstance(entry.code, CodeType) and (node := node_of(entry.code)) is not None:
                    nodes.add(node)
        for each in ended:
            self.others.remove(each)
        self.profiler.clear()
        # A test may have used another profiler.
        self.profiler.enable()
        return nodes

    def _start_thread(self, frame: FrameType, event: str, argument: object) -> None:
        profiler = Profiler(subcalls=False, builtins=False)
        self.others.append((threading.current_thread(), profiler))
        profiler.enable()

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str):
            path = os.path.abspath(arguments[0])
            if path.startswith(RECORDED) and not path.endswith((".py", ".pyc")):
                self.files.add(path)


def write_records(folder: Path, tests: Records) -> None:
    """Write the tests of one process, with the seconds and the nodes of each."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{os.getpid()}-{time.monotonic_ns()}.json"
    # A test may kill the process while it writes.
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(tests))
    unfinished.replace(path)
