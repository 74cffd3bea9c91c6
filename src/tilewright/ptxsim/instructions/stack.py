"""Dynamic allocation on a thread's stack: `alloca`, `stacksave`, `stackrestore`."""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import Array
from tilewright.ptxsim.wave import Wave

_ALIGNMENT: Final = 16
_BLOCK: Final = 1024


class Stack:
    """The stack pointer of every thread; blocks of local memory are reserved on demand."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.top: Array = np.zeros(wave.thread_count, np.int64)
        self.grow(_BLOCK)
        self.top[:] = self.starts[0]
        wave.control_state.append(lambda: self.top)

    def grow(self, size: int) -> int:
        """Reserve a block of at least `size` bytes and return its address."""
        size = -(-size // _BLOCK) * _BLOCK
        start = self.wave.reserve_local(size)
        self.starts.append(start)
        self.ends.append(start + size)
        return start

    def take(self, lanes: Lanes, sizes: Array, alignment: int) -> Array:
        """Allocate bytes and return their addresses."""
        addresses = -(-self.top[lanes.select] // alignment) * alignment
        block = np.searchsorted(np.array(self.starts), self.top[lanes.select], side="right") - 1
        full = addresses + sizes > np.array(self.ends)[block]
        if full.any():
            start = self.grow(int(sizes[full].max()) + alignment)
            addresses = np.where(full, -(-start // alignment) * alignment, addresses)
        self.top[lanes.select] = addresses + sizes
        return addresses


@instruction("alloca")
def allocate(op: Operation) -> Run:
    """`alloca d, size, alignment`: an address in local memory."""
    type = op.type()
    write, size = op.write(0, type), op.read(1, type)
    alignment = op.constant(2) if op.operand_count > 2 else _ALIGNMENT
    op.needs(Stack)

    def run(lanes: Lanes) -> None:
        sizes = lanes.spread(size(lanes)).astype(np.int64)
        addresses = lanes.wave.state(Stack).take(lanes, sizes, max(alignment, 1))
        write(lanes, addresses.astype(type.dtype))

    return run


@instruction("stacksave")
def save(op: Operation) -> Run:
    """`stacksave d`: the stack pointer."""
    type = op.type()
    write = op.write(0, type)
    op.needs(Stack)
    return lambda lanes: write(lanes, lanes.wave.state(Stack).top[lanes.select].astype(type.dtype))


@instruction("stackrestore")
def restore(op: Operation) -> Run:
    """`stackrestore a`: free what was allocated since `stacksave` returned a."""
    type = op.type()
    read = op.read(0, type)
    op.needs(Stack)

    def run(lanes: Lanes) -> None:
        lanes.wave.state(Stack).top[lanes.select] = read(lanes).astype(np.int64)

    return run
