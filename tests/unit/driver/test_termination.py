"""Signals while a child process is started."""

from __future__ import annotations

import signal
import subprocess
from typing import Any

import pytest

from tilewright.driver.nvcc.launch import run_tool
from tilewright.driver.termination import signals_held, unwinding_on_termination

NUMBERS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_while_a_process_is_started_ends_it(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    started: list[subprocess.Popen[Any]] = []

    class Interrupted(subprocess.Popen[Any]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)
            signal.raise_signal(number)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    expected = KeyboardInterrupt if number == signal.SIGINT else SystemExit
    with pytest.raises(expected), unwinding_on_termination():
        run_tool(["sleep", "600"])
    [process] = started
    assert process.returncode is not None


@pytest.mark.parametrize("number", NUMBERS)
def test_handlers_are_those_of_before(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with signals_held():
        pass
    assert signal.getsignal(number) is before
