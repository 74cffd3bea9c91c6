"""A pytest plugin that records which functions each test calls and which files it opens.

`tools/check.py` runs the tests with it: `-p call_records --call-records FOLDER`. Each process
writes one file there.
"""

from __future__ import annotations

import functools
import gc
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest
from called_functions import FOLDER_VARIABLE, ROOT, Calls, Records, write_records

CHILDREN: Final = ROOT / "tests" / "shared" / "child_processes"
"""On the module search path of child processes: its `sitecustomize` records their calls."""


class Recorder:
    """Attributes calls to tests; those of a shared fixture to all tests that use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = Calls()
        self.nodes: set[str] = set()
        """What the current test reached so far."""
        self.fixtures: dict[str, set[str]] = {}
        self.tests: Records = {}
        self.caches: list[Any] = []

    def pytest_collection_finish(self) -> None:
        self.caches = [each for each in gc.get_objects() if is_test_cache(each)]
        self.calls.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        for each in self.caches:
            each.cache_clear()
        self.nodes.clear()
        self.calls.take()
        started = time.perf_counter()
        result = yield
        self.nodes |= self.calls.take()
        for name in getattr(item, "fixturenames", ()):
            self.nodes |= self.fixtures.get(name, set())
        self.tests[item.nodeid] = (time.perf_counter() - started, sorted(self.nodes))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        self.nodes |= self.calls.take()
        try:
            return (yield)
        finally:
            own = self.calls.take()
            self.fixtures.setdefault(fixturedef.argname, set()).update(own)
            self.nodes |= own

    def pytest_sessionfinish(self) -> None:
        self.calls.stop()
        write_records(self.folder, self.tests)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--call-records", type=Path, help="write what each test calls to this folder")


def pytest_configure(config: pytest.Config) -> None:
    folder: Path | None = config.getoption("--call-records")
    # Under xdist the tests run in the workers.
    if folder is None or (
        config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    ):
        return
    config.pluginmanager.register(Recorder(folder))
    os.environ[FOLDER_VARIABLE] = str(folder)
    search_path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{CHILDREN}:{search_path}" if search_path else str(CHILDREN)


def is_test_cache(candidate: object) -> bool:
    """Whether this is a `functools.cache` of the tests, which would hide calls of later tests."""
    if not isinstance(candidate, functools._lru_cache_wrapper):
        return False
    code = getattr(candidate.__wrapped__, "__code__", None)
    return code is not None and code.co_filename.startswith(str(ROOT / "tests"))
