"""Processes that run LLVM for this one, so that an abort of LLVM is an error here and no more.

A process is started for the first module and kept for the next ones. Threads that compile at the
same time get one each, up to the number of processors, and wait beyond it.
"""

from __future__ import annotations

import atexit
import os
import subprocess
from contextlib import suppress
from tempfile import TemporaryFile
from threading import BoundedSemaphore, Lock, Timer
from typing import Final

from tilewright.emit.waiting import await_output
from tilewright.emit.worker import Answer, reply
from tilewright.support.interpreter import command_of

MOST: Final = max(2, os.cpu_count() or 1)


class Ended(Exception):
    """The process has ended without an answer; says why."""


class TooLong(Exception):
    """There was no answer in time."""


def gist(output: str) -> str:
    """The line that says why LLVM gave up; the rest is the state of LLVM."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line.lower()]
    return (errors or lines or [""])[0]


class Worker:
    """One process, which answers one request after the other."""

    __slots__ = ("_errors", "_process")

    def __init__(self) -> None:
        self._errors = TemporaryFile()
        self._process = subprocess.Popen(
            command_of("tilewright.emit.worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # A signal from the terminal is for whoever waits for the answer.
            start_new_session=True,
        )

    def ask(self, data: bytes, timeout: float) -> Answer:
        """The answer to a request; whoever raises has ended the process."""
        late: list[bool] = []

        def stop() -> None:
            late.append(True)
            self._process.kill()

        timer = Timer(timeout, stop)
        timer.daemon = True
        timer.start()
        try:
            answer = self._exchange(data)
        except BaseException:
            self.end()
            raise
        finally:
            timer.cancel()
        if answer is None:
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
        """End the process, which holds nothing that could be lost; gives its last words."""
        process = self._process
        process.kill()
        process.wait()
        self._errors.seek(0)
        words = gist(self._errors.read().decode(errors="replace"))
        for file in (process.stdin, process.stdout, self._errors):
            assert file is not None
            # What was not sent before the process ended is still in the pipe's buffer.
            with suppress(BrokenPipeError):
                file.close()
        return words or f"exit code {process.returncode}"


class Pool:
    """The processes that nobody is using."""

    def __init__(self, most: int) -> None:
        self._owner = os.getpid()
        self._lock = Lock()
        self._idle: list[Worker] = []
        self._room = BoundedSemaphore(most)

    def ask(self, data: bytes, timeout: float) -> Answer:
        """The answer of a process that is free, or of a new one."""
        with self._room:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            worker = worker or Worker()
            answer = worker.ask(data, timeout)
            with self._lock:
                self._idle.append(worker)
            return answer

    def warm(self) -> None:
        """Start a process if there is none, to be ready when there is something to ask."""
        # Whoever asks is told why there is none.
        with self._lock, suppress(OSError):
            if not self._idle:
                self._idle.append(Worker())

    def close(self) -> None:
        """End all processes that nobody is using; those of a parent are not ours to end."""
        if self._owner != os.getpid():
            return
        with self._lock:
            while self._idle:
                self._idle.pop().end()


_pools: dict[int, Pool] = {}


def pool() -> Pool:
    """The processes of this one: after a fork, those of the parent answer the parent."""
    own = os.getpid()
    found = _pools.get(own)
    if found is None:
        found = _pools.setdefault(own, Pool(MOST))
        atexit.register(found.close)
    return found
