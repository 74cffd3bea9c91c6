"""A pytest plugin that records which functions each test calls and which files it opens.

`tools/check.py` runs the tests with it: `-p call_records --call-records FOLDER`. Each process
writes one file there.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from called_functions import FOLDER_VARIABLE, ROOT, Calls, Records, write_records

CHILDREN: Final = ROOT / "tests" / "shared" / "child_processes"
"""On the module search path of child processes: its `sitecustomize` records their calls."""
OTHERS: Final = (f"{ROOT / 'src'}{os.sep}", sys.prefix, sys.base_prefix)
"""Where caches are not those of tests and of the tools that they import."""


class Recorder:
    """Attributes calls to tests; those of shared fixtures and caches to all tests that use them."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        """Where to write the record; without one, nothing is recorded."""
        self.calls = Calls()
        self.open: list[set[str]] = []
        """What the current test reached so far, then what the fixtures and cached functions did
        that it waits for."""
        self.fixtures: dict[str, set[str]] = {}
        self.tests: Records = {}

    def flush(self) -> None:
        """Attribute the calls so far."""
        self.add(self.calls.take())

    def add(self, nodes: set[str]) -> None:
        """Attribute nodes to the current test, and to all that it waits for."""
        for each in self.open:
            each |= nodes

    @contextmanager
    def section(self) -> Generator[set[str]]:
        """Collect what is reached in a section of the test as well."""
        self.flush()
        nodes = set[str]()
        self.open.append(nodes)
        try:
            yield nodes
        finally:
            self.flush()
            self.open.pop()

    def pytest_collection_finish(self) -> None:
        self.calls.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        started = time.perf_counter()
        with self.section() as nodes:
            result = yield
        for name in getattr(item, "fixturenames", ()):
            nodes |= self.fixtures.get(name, set())
        self.tests[item.nodeid] = (time.perf_counter() - started, sorted(nodes))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        nodes = set[str]()
        try:
            with self.section() as nodes:
                return (yield)
        finally:
            self.fixtures.setdefault(fixturedef.argname, set()).update(nodes)

    def pytest_sessionfinish(self) -> None:
        self.calls.stop()
        assert self.folder is not None
        write_records(self.folder, self.tests)


RECORDER: Final = Recorder()


def record_hits(cached: Any) -> Any:
    """Let a `functools.cache` of the tests attribute what a call reached to later ones, too."""
    code = getattr(cached.__wrapped__, "__code__", None)
    if code is None or code.co_filename.startswith(OTHERS):
        return cached
    reached: dict[object, set[str]] = {}

    @functools.wraps(cached)
    def call(*arguments: Any, **named: Any) -> Any:
        if not RECORDER.open or threading.current_thread() is not threading.main_thread():
            return cached(*arguments, **named)
        key = (arguments, *sorted(named.items()))
        with RECORDER.section() as nodes:
            result = cached(*arguments, **named)
        RECORDER.add(reached.setdefault(key, nodes))
        return result

    vars(call)["cache_clear"] = cached.cache_clear
    return call


def watch_caches() -> None:
    """Wrap caches of modules that are imported from now on."""
    cache, lru_cache = functools.cache, functools.lru_cache

    def watched_lru_cache(maxsize: Any = 128, typed: bool = False) -> Callable[[Any], Any]:
        made: Any = lru_cache(maxsize, typed)
        return record_hits(made) if callable(maxsize) else lambda each: record_hits(made(each))

    vars(functools).update(cache=lambda each: record_hits(cache(each)), lru_cache=watched_lru_cache)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--call-records", type=Path, help="write what each test calls to this folder")


def pytest_configure(config: pytest.Config) -> None:
    folder: Path | None = config.getoption("--call-records")
    # Under xdist the tests run in the workers.
    if folder is None or (
        config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    ):
        return
    RECORDER.folder = folder
    config.pluginmanager.register(RECORDER)
    os.environ[FOLDER_VARIABLE] = str(folder)
    search_path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{CHILDREN}:{search_path}" if search_path else str(CHILDREN)


# `conftest.py` is imported after this module, and before pytest is configured.
watch_caches()
