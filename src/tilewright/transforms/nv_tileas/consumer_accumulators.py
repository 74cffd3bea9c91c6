"""The tiles that consumers hold in registers: accumulators, and operands computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.slices import closure
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, async_instruction
from tilewright.dialects.scf import ForOp
from tilewright.ir.values import BlockArgument
from tilewright.layout.linear import WARP
from tilewright.layout.wgmma import instruction_columns
from tilewright.plans.mma import PROMOTED_COLUMNS, is_promoted
from tilewright.schedule.registers import ConsumerTiles
from tilewright.schedule.tile_words import tile_words
from tilewright.target.tensor_cores import WARPGROUP, WGMMA_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value


def consumer_tiles(dots: Sequence[DotOp]) -> ConsumerTiles:
    """The tiles that the consumers of dots hold."""
    return ConsumerTiles(
        accumulators=max(map(_accumulator_words, dots)),
        instruction=max(_instruction_words(op) for op in dots if op.atom.asynchronous),
        chained=max(map(_chain_words, dots)),
    )


def promotes(op: DotOp) -> bool:
    """Whether the accumulators of a dot are promoted."""
    instruction = async_instruction(op)
    return instruction is not None and is_promoted(op, instruction)


def _accumulator_words(op: DotOp) -> int:
    """The registers of a dot's accumulator over all threads, with those of its promotion.

    Accumulators are promoted those of one instruction at a time, from temporary ones.
    """
    accumulators = tile_words(op.result.type)
    return accumulators + (min(accumulators, _instruction_words(op)) if promotes(op) else 0)


def _chain_words(op: DotOp) -> int:
    """The registers over all threads of a dot whose A is computed from the results of others.

    Those of the other accumulators, of A and of its own accumulator are live together, and then
    those of its own promotion; 0 for a dot that is not chained.
    """
    if in_shared_memory(op.a):
        return 0
    sources = _source_dots(op.a)
    live: dict[Block | None, int] = {}
    for dot in sources:
        # Dots that accumulate one onto the other share an accumulator.
        if not any(dot.result is other.c for other in sources):
            live[dot.parent] = live.get(dot.parent, 0) + _accumulator_words(dot)
    if not live:
        return 0
    before, own = max(live.values()), tile_words(op.result.type)
    return max(before + own, _accumulator_words(op)) + tile_words(op.a.type)


def _source_dots(tile: Value) -> list[DotOp]:
    """The dots that a tile is computed from, maybe in the iteration before."""
    makers = [value.defining_op() for value in closure([tile], _sources)]
    return list(dict.fromkeys([op for op in makers if isinstance(op, DotOp)]))


def _sources(value: Value) -> Sequence[Value]:
    """What a value that is no result of a dot is computed from."""
    op = value.defining_op()
    if op is None:
        return _carried(value)
    return () if isinstance(op, DotOp) else op.operands


def _carried(value: Value) -> Sequence[Value]:
    """What a loop yields for an argument of its body."""
    loop = value.owner.parent_op if isinstance(value, BlockArgument) else None
    if not isinstance(loop, ForOp) or value not in loop.carried or loop.body.block.last is None:
        return ()
    return [loop.body.block.last.operands[value.index - 1]]


def _instruction_words(op: DotOp) -> int:
    """The 32-bit registers of the accumulators of one instruction, in all warpgroups."""
    layout = layout_of(op.c)
    columns = instruction_columns(layout) or PROMOTED_COLUMNS
    if promotes(op):
        columns = min(columns, PROMOTED_COLUMNS)
    elements = columns * WGMMA_ROWS * layout.extent(WARP) // WARPGROUP
    return elements * tile_words(op.c.type) // count(op.c.type)
