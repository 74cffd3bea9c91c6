"""Reductions across warps after the dots that do not depend on them.

A reduction across warps waits for shuffles and then at a barrier of the block. Where a dot by
`mma.sync` follows in the loop that does not need the result, every thread would wait before it
issues the dot, although the next iteration is the first to read the result: the row sum of
P in attention. After the dot, the threads wait while the tensor cores still multiply.

Other dots are left alone: `wgmma` runs beside such work in any case, and threads do an FMA dot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.aggregate import ReduceOp
from tilewright.dialects.nv_tileas.attributes import Atom, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.types import register_bytes
from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass
from tilewright.layout.linear import REGISTER
from tilewright.plans.scratch import scratch_bytes
from tilewright.target.arch import REGISTER_BYTES

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.diagnostics import Sink

MOST_REGISTERS: Final = 32
"""The most registers per thread for a tile that is live during a dot in order to be reduced."""


class SinkReductions(Pass):
    """Reduce tiles across warps after the dots of a loop, if no dot depends on the result."""

    name = "sink-reductions"

    def run(self, op: Operation, sink: Sink) -> None:
        for loop in [inner for inner in op.walk() if inner.loop_body is not None]:
            for region in loop.regions:
                for block in region.blocks:
                    _sink_in(block)


def _sink_in(block: Block) -> None:
    """Move the reductions of a block, each with what depends on it, after the last dot."""
    dots = [op for op in block if isinstance(op, DotOp)]
    if not dots or any(dot.atom is not Atom.MMA_SYNC for dot in dots):
        return
    after = dots[-1]
    for reduce in [op for op in block if isinstance(op, ReduceOp)]:
        moved = _dependents(reduce, dots[-1]) if _is_exchanged(reduce) else None
        for op in moved or ():
            op.detach().insert_after(after)
            after = op


def _is_exchanged(reduce: ReduceOp) -> bool:
    """Whether warps exchange partial results of a tile that few registers of a thread hold."""
    registers = 0
    for source in reduce.sources:
        words = register_bytes(element_of(source.type)) / REGISTER_BYTES
        registers += max(1, words) * layout_of(source).extent(REGISTER)
    return scratch_bytes(reduce) > 0 and registers <= MOST_REGISTERS


def _dependents(reduce: ReduceOp, last: DotOp) -> list[Operation] | None:
    """The reduction and what depends on it up to the last dot, in order.

    None if a dot or an operation with an effect is among them, or the reduction follows the dot.
    """
    dependents: list[Operation] = [reduce]
    values = set(reduce.results)
    op = reduce.next
    while op is not None and op is not last:
        if any(operand in values for inner in op.walk() for operand in inner.operands):
            if isinstance(op, DotOp) or not is_pure(op):
                return None
            dependents.append(op)
            values.update(op.results)
        op = op.next
    return None if op is None or any(each in values for each in last.operands) else dependents
