"""Run a function with a time limit."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

from tilewright.support.thread_start import STARTING

T = TypeVar("T")


class OutOfTime(Exception):
    """The time limit was exceeded."""


class _GiveUp(BaseException):
    """Raised in the worker thread; not an `Exception`, so that it is not caught."""


def within(seconds: float | None, work: Callable[[], T]) -> T:
    """Return the result of `work` or raise its exception; `OutOfTime` after the limit."""
    if seconds is None:
        return work()
    worker = _Worker(work)
    worker.start()
    try:
        worker.join(seconds)
    except BaseException:
        worker.give_up()
        raise
    if worker.is_alive():
        worker.give_up()
        raise OutOfTime
    return worker.outcome()


class _Worker(Thread, Generic[T]):
    """A thread that stores the result of its work.

    After `give_up` it is not joined: it exits at its next bytecode, with any child process.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._result: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._result.append(self._work())
        except _GiveUp:
            pass
        except BaseException as error:
            self._error = error

    def give_up(self) -> None:
        """Interrupt the work."""
        assert self.ident is not None
        identity = ctypes.c_ulong(self.ident)
        with STARTING:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(_GiveUp))

    def outcome(self) -> T:
        """Return the result of the finished work, or raise its exception."""
        if self._error is not None:
            raise self._error
        return self._result[0]
