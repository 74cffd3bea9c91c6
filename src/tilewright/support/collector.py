"""Keeps the garbage collector away while a program is being built."""

from __future__ import annotations

import gc


class CollectorPause:
    """A program under construction is a growing graph without garbage.

    The collector would walk all of it again and again, and find nothing: a third of the time that
    it takes to read a text.
    """

    __slots__ = ("_enabled",)

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *exception: object) -> None:
        if self._enabled:
            gc.enable()
