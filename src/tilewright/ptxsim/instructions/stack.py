"""Memory on the stack of a thread, as much as the thread asks for."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.wave import Wave

_ALIGNMENT: Final = 16
_PIECE: Final = 1024


class Stack:
    """Where the stack of every thread ends; pieces of local memory are taken as they are needed."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.top: Array = np.zeros(wave.thread_count, np.int64)
        self.grow(_PIECE)
        self.top[:] = self.starts[0]
        wave.deciding.append(lambda: self.top)

    def grow(self, size: int) -> int:
        """A new piece of at least so many bytes."""
        size = -(-size // _PIECE) * _PIECE
        start = self.wave.reserve_local(size)
        self.starts.append(start)
        self.ends.append(start + size)
        return start

    def take(self, lanes: Lanes, sizes: Array, alignment: int) -> Array:
        """The addresses of new bytes."""
        found = -(-self.top[lanes.select] // alignment) * alignment
        piece = np.searchsorted(np.array(self.starts), self.top[lanes.select], side="right") - 1
        full = found + sizes > np.array(self.ends)[piece]
        if full.any():
            start = self.grow(int(sizes[full].max()) + alignment)
            found = np.where(full, -(-start // alignment) * alignment, found)
        self.top[lanes.select] = found + sizes
        return found


@instruction("alloca")
def allocate(op: Operation) -> Run:
    """`alloca d, size, alignment`: an address in local memory."""
    type = op.type()
    write, size = op.write(0, type), op.read(1, type)
    alignment = op.constant(2) if op.operand_count > 2 else _ALIGNMENT
    op.needs(Stack)

    def run(lanes: Lanes) -> None:
        sizes = lanes.spread(size(lanes)).astype(np.int64)
        found = lanes.wave.state(Stack).take(lanes, sizes, max(alignment, 1))
        write(lanes, found.astype(type.dtype))

    return run


@instruction("stacksave")
def save(op: Operation) -> Run:
    """`stacksave d`: where the stack ends now."""
    type = op.type()
    write = op.write(0, type)
    op.needs(Stack)
    return lambda lanes: write(lanes, lanes.wave.state(Stack).top[lanes.select].astype(type.dtype))


@instruction("stackrestore")
def restore(op: Operation) -> Run:
    """`stackrestore a`: give back what was allocated since `stacksave` gave a."""
    type = op.type()
    read = op.read(0, type)
    op.needs(Stack)

    def run(lanes: Lanes) -> None:
        lanes.wave.state(Stack).top[lanes.select] = read(lanes).astype(np.int64)

    return run
