"""Work that is given up when it takes too long."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class OutOfTime(Exception):
    """The work took too long."""


class _GiveUp(BaseException):
    """Thrown into the work; not an `Exception`, which the work may well catch."""


def within(seconds: float | None, work: Callable[[], T]) -> T:
    """What the work gives or raises; `OutOfTime` where that takes longer."""
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
    """A thread that keeps what came of its work.

    Nobody waits for it once it is given up: it ends at its next step, and the program that it
    waits for with it.
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
        """Stop the work."""
        assert self.ident is not None
        identity = ctypes.c_ulong(self.ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(_GiveUp))

    def outcome(self) -> T:
        """What came of the work that has ended."""
        if self._error is not None:
            raise self._error
        return self._result[0]
