"""Room on Python's stack for what nests deeply."""

from __future__ import annotations

import sys
from _thread import allocate_lock  # `threading` would take longer to load than most texts to read
from typing import ClassVar, Final

_LOCK: Final = allocate_lock()


class StackRoom:
    """Inside of it the limit of frames may grow; behind it the limit is what it was.

    The limit is one for the whole process, and another thread may be deep inside of a program of
    its own: whoever comes out last puts the limit back. The frames of Python functions do not use
    the stack of the machine.
    """

    __slots__ = ()

    _users: ClassVar[int] = 0
    _usual: ClassVar[int] = 0
    """The limit before it grew; 0 where it did not."""

    def __enter__(self) -> None:
        with _LOCK:
            StackRoom._users += 1

    def __exit__(self, *exception: object) -> None:
        with _LOCK:
            StackRoom._users -= 1
            if StackRoom._usual and not StackRoom._users:
                sys.setrecursionlimit(StackRoom._usual)
                StackRoom._usual = 0

    @classmethod
    def need(cls, frames: int) -> None:
        """Let the stack hold so many frames until the last one is out."""
        with _LOCK:
            limit = sys.getrecursionlimit()
            if limit < frames:
                cls._usual = cls._usual or limit
                sys.setrecursionlimit(frames)
