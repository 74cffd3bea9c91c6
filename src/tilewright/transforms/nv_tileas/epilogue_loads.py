"""Small loads of an epilogue, issued before the main loop.

An epilogue that scales or shifts accumulators would wait for the loads of its vectors as long as
for memory. What they load takes few registers, so that the loop can run in the meantime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.dialects.nv_tileas.types import register_bytes
from tilewright.dialects.scf import ForOp
from tilewright.ir.effects import is_pure
from tilewright.layout.linear import REGISTER
from tilewright.plans.scratch import scratch_bytes
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation

MOST_REGISTERS: Final = 4
"""The most registers of a thread that hold what is loaded while a loop runs."""


def hoist_over_loops(block: Block) -> None:
    """Issue the small loads after each loop of a block before that loop."""
    loop: Operation | None = None
    registers = 0
    for op in list(block):
        if isinstance(op, ForOp):
            loop, registers = op, 0
        elif loop is not None and isinstance(op, LoadOp | TiledLoadOp) and op.is_plain:
            count = loaded_registers(op)
            needed = needed_after(op, loop) if registers + count <= MOST_REGISTERS else None
            if needed is not None:
                registers += count
                for each in needed:
                    each.detach().insert_before(loop)


def loaded_registers(load: LoadOp | TiledLoadOp) -> int:
    """The registers of a thread that a load writes: each instruction has its own."""
    tile = load.results[0]
    layout = maybe_layout_of(tile)
    bytes = load.vector * register_bytes(element_of(tile.type))
    count = 1 if layout is None else layout.extent(REGISTER) // load.vector
    return count * -(-bytes // REGISTER_BYTES)


def needed_after(load: Operation, first: Operation) -> list[Operation] | None:
    """The load and what it needs of the operations after another one, in order.

    None if it needs a result of that one, another access, or an exchange between threads.
    """
    needed: set[Operation] = {load}
    ordered: list[Operation] = [load]
    op = load.prev
    while op is not None and op is not first:
        if any(user in needed for result in op.results for user in result.users):
            if op.regions or not is_pure(op) or scratch_bytes(op):
                return None
            needed.add(op)
            ordered.append(op)
        op = op.prev
    uses_first = any(value in first.results for each in ordered for value in each.operands)
    return None if uses_first else ordered[::-1]
