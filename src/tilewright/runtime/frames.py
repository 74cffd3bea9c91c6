"""Parameter buffers of launches, which the driver reads asynchronously."""

from __future__ import annotations

from collections.abc import Sequence
from threading import local

import numpy as np


class Frame:
    """A buffer for parameters of certain sizes, and the table of their addresses."""

    __slots__ = ("_bytes", "_table", "_view", "pointers")

    def __init__(self, sizes: Sequence[int]) -> None:
        memory = bytearray(sum(sizes) + 1)
        self._view = memoryview(memory)[:-1]
        self._bytes = np.frombuffer(memory, np.uint8)
        self._table = np.cumsum([self._bytes.ctypes.data, *sizes], dtype=np.uint64)
        self.pointers: int = self._table.ctypes.data
        """The address of the table."""

    def fill(self, arguments: Sequence[bytes]) -> int:
        """Store parameters; return the address of the table."""
        self._view[:] = b"".join(arguments)
        return self.pointers


class Frames(local):
    """The parameter buffers of a thread, reused because making one takes longer than a launch."""

    def __init__(self) -> None:
        self._by_sizes: dict[tuple[int, ...], Frame] = {}

    def hold(self, arguments: Sequence[bytes]) -> int:
        """Store parameters until the thread's next launch; return the address of their table."""
        sizes = tuple(map(len, arguments))
        frame = self._by_sizes.get(sizes)
        if frame is None:
            frame = self._by_sizes[sizes] = Frame(sizes)
        return frame.fill(arguments)
