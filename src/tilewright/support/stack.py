"""Raise the recursion limit of Python for deeply nested input."""

from __future__ import annotations

import sys
from _thread import allocate_lock  # importing `threading` takes longer than parsing most files
from typing import ClassVar, Final

_LOCK: Final = allocate_lock()


class DeepRecursion:
    """A context in which the recursion limit may grow; it is restored at the end.

    The limit is global to the process, so the last thread to leave restores it. Frames of Python
    functions do not use the machine stack.
    """

    __slots__ = ()

    _users: ClassVar[int] = 0
    _usual: ClassVar[int] = 0
    """The original limit; 0 if unchanged."""

    def __enter__(self) -> None:
        with _LOCK:
            DeepRecursion._users += 1

    def __exit__(self, *exception: object) -> None:
        with _LOCK:
            DeepRecursion._users -= 1
            if DeepRecursion._usual and not DeepRecursion._users:
                sys.setrecursionlimit(DeepRecursion._usual)
                DeepRecursion._usual = 0

    @classmethod
    def need(cls, frames: int) -> None:
        """Reserve `frames` more frames until the last context is left."""
        with _LOCK:
            limit = sys.getrecursionlimit()
            if limit < frames:
                cls._usual = cls._usual or limit
                sys.setrecursionlimit(frames)
