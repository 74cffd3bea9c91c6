"""A bench in a process of its own: a kernel that faults or does not end takes only that along."""

from __future__ import annotations

import os
import signal
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final

from tilewright.driver.tuning.bench import Bench
from tilewright.driver.tuning.job import Trial
from tilewright.support.diagnostics import Diagnostic, Error, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

    from tilewright.driver.tuning.job import Job

    Serve = Callable[[Connection, Job], None]

PATIENCE: Final = 60.0
"""Seconds after which a kernel counts as endless."""
START_PATIENCE: Final = 600.0
"""The same for the start, which sends the arrays and runs the kernel for the first time."""
STARTED, DONE, FAILED = "started", "done", "failed"


class BenchProcess:
    """Has the interface of `Bench`; starts a new process after one has ended."""

    __slots__ = ("_job", "_patience", "_pipe", "_process", "_serve")

    def __init__(self, job: Job, patience: float = PATIENCE, serve: Serve | None = None) -> None:
        """Raises `Error` as `Bench` does. `serve` is what the process runs, in tests another."""
        self._job = job
        self._patience = patience
        self._serve = serve or serve_bench
        self._process: Any = None
        self._pipe: Any = None
        self._start()

    def trial(self, packed: bytes) -> Trial:
        """Run and measure a compiled kernel in the process."""
        if self._process is None:
            self._start()
        answer = self._ask("trial", packed)
        trial = answer if isinstance(answer, Trial) else Trial(problem=answer, is_bug=True)
        if trial.is_fatal:
            self.close()
        return trial

    def final(self, packed: Sequence[bytes]) -> list[float]:
        """Measure several compiled kernels in turn; none if the process ends meanwhile."""
        if self._process is None:
            self._start()
        answer = self._ask("final", list(packed))
        return [] if isinstance(answer, str) else answer

    def close(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=self._serve, args=(other, self._job), daemon=True)
        self._process.start()
        other.close()
        answer = self._receive(START_PATIENCE)
        if answer != STARTED:
            self.close()
            raise UserError([Diagnostic(str(answer))])

    def _ask(self, method: str, argument: Any) -> Any:
        """The answer of the process; a text if it has none."""
        try:
            self._pipe.send((method, argument))
        except BrokenPipeError:
            self.close()
            return "the process that measures has ended"
        return self._receive(self._patience)

    def _receive(self, patience: float) -> Any:
        try:
            if self._pipe.poll(patience):
                kind, answer = self._pipe.recv()
                return answer if kind == DONE else str(answer)
            problem = f"did not end within {patience:.0f} s"
        except (EOFError, ConnectionResetError):
            problem = "ended the process that measures"
        self.close()
        return f"the kernel {problem}"


def serve_bench(pipe: Connection, job: Job) -> None:
    """Answer requests until the pipe is closed. Runs in the process."""
    # Ctrl-C is handled by the parent process; the output of kernels is not that of the command.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        bench = Bench(job)
    except Error as error:
        pipe.send((FAILED, "\n".join(each.message for each in error.diagnostics)))
        return
    pipe.send((DONE, STARTED))
    while True:
        try:
            method, argument = pipe.recv()
        except EOFError:
            return
        try:
            answer = bench.trial(argument) if method == "trial" else bench.final(argument)
            pipe.send((DONE, answer))
        except Exception as error:
            pipe.send((FAILED, f"{type(error).__name__}: {error}"))
