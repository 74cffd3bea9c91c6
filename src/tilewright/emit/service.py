"""A pool of worker processes that run LLVM, so that an abort of LLVM is an error here.

A process is started for the first module and reused, until it has compiled `RETIREMENT` bytes.
Concurrent threads get one each, up to the number of processors.
"""

from __future__ import annotations

import atexit
import os
import subprocess
from contextlib import suppress
from threading import BoundedSemaphore, Lock, Timer
from typing import Final

from tilewright.emit.waiting import await_output
from tilewright.emit.worker import Answer, reply
from tilewright.support.diagnostics import Unsupported
from tilewright.support.interpreter import command_of
from tilewright.support.temporary import temporary_file
from tilewright.support.thread_start import STARTING

MOST: Final = max(2, os.cpu_count() or 1)
RETIREMENT: Final = 8 << 20
"""Bytes of requests after which a worker is replaced: each run of LLVM's pass manager by llvmlite
leaves about eight times the size of its module allocated."""


class Ended(Exception):
    """The worker exited without an answer."""


class TooLong(Exception):
    """The worker exceeded the time limit."""


def gist(output: str) -> str:
    """Extract LLVM's error message from its crash output."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line.lower()]
    return (errors or lines or [""])[0]


class Worker:
    """One worker process."""

    __slots__ = ("_errors", "_process", "_received")

    def __init__(self) -> None:
        self._received = 0
        self._errors = temporary_file("PTX")
        self._process = subprocess.Popen(
            command_of("tilewright.emit.worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Signals from the terminal are handled by the parent process.
            start_new_session=True,
        )

    @property
    def is_spent(self) -> bool:
        """Whether the process has compiled as much as one may."""
        return self._received >= RETIREMENT

    def ask(self, data: bytes, timeout: float) -> Answer:
        """Send a request and return the answer; the process is ended before raising."""
        self._received += len(data)
        late: list[bool] = []

        def stop() -> None:
            late.append(True)
            self._process.kill()

        timer = Timer(timeout, stop)
        timer.daemon = True
        with STARTING:
            timer.start()
        try:
            answer = self._exchange(data)
        except BaseException:
            self.end()
            raise
        finally:
            timer.cancel()
            timer.join()
        if answer is None or late:
            # Even if it has answered: a process that was killed must not be asked again.
            reason = self.end()
            raise TooLong if late else Ended(reason)
        return answer

    def _exchange(self, data: bytes) -> Answer | None:
        source, target = self._process.stdout, self._process.stdin
        assert source is not None
        assert target is not None
        try:
            target.write(data)
            target.flush()
        except BrokenPipeError:
            return None
        await_output(source)
        return reply(source)

    def end(self) -> str:
        """Kill the stateless process and return its error output."""
        process = self._process
        process.kill()
        process.wait()
        self._errors.seek(0)
        words = gist(self._errors.read().decode(errors="replace"))
        for file in (process.stdin, process.stdout, self._errors):
            assert file is not None
            # Unsent data is still in the buffer of the pipe.
            with suppress(BrokenPipeError):
                file.close()
        return words or f"exit code {process.returncode}"


class Pool:
    """A pool of idle workers."""

    def __init__(self, most: int) -> None:
        self._owner = os.getpid()
        self._lock = Lock()
        self._idle: list[Worker] = []
        self._slots = BoundedSemaphore(most)

    def ask(self, data: bytes, timeout: float) -> Answer:
        """Send a request to an idle worker, or to a new one."""
        with self._slots:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            worker = worker or Worker()
            answer = worker.ask(data, timeout)
            if worker.is_spent:
                worker.end()
                return answer
            with self._lock:
                self._idle.append(worker)
            return answer

    def warm(self) -> None:
        """Start a worker if there is none, so that LLVM loads early."""
        # `ask` reports the failure.
        with self._lock, suppress(OSError, Unsupported):
            if not self._idle:
                self._idle.append(Worker())

    def close(self) -> None:
        """End all idle workers, but not those inherited from a parent process."""
        if self._owner != os.getpid():
            return
        with self._lock:
            while self._idle:
                self._idle.pop().end()


_pools: dict[int, Pool] = {}


def pool() -> Pool:
    """Return the pool of this process; a forked child has its own."""
    own = os.getpid()
    current = _pools.get(own)
    if current is None:
        current = _pools.setdefault(own, Pool(MOST))
        atexit.register(current.close)
    return current
