"""Record the calls of a Python process that a test started, for `call_records.py`."""

from __future__ import annotations

import atexit
import importlib.util
import os
from pathlib import Path
from typing import NoReturn


def record_calls(folder: str, test: str) -> None:
    """Record this process until it ends, as calls of the test that started it."""
    path = Path(__file__).parents[1] / "called_functions.py"
    spec = importlib.util.spec_from_file_location("called_functions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    calls = module.Calls()
    calls.start()

    def write() -> None:
        calls.stop()
        module.write_records(Path(folder), {test: (0.0, sorted(calls.take()))})

    def write_and_exit(status: int) -> NoReturn:
        write()
        leave(status)

    atexit.register(write)
    # The entry points skip the interpreter's own way out.
    leave, os._exit = os._exit, write_and_exit


if "CALL_RECORDS" in os.environ and "PYTEST_CURRENT_TEST" in os.environ:
    # `tests/x.py::test_name (call)`
    record_calls(os.environ["CALL_RECORDS"], os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0])
