"""How the tiles of pipelined loads are used: in which layout, and their placement in a stage.

A load is read from its stage in the layout of each use: a dot reads it in shared memory, where the
placement that the dot needs is that of the stage; fragments of `mma.sync` are loaded from there.
Shape operations between the load and such a use are repeated on what was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.shape import (
    ConvertLayoutOp,
    ExpandDimsOp,
    PermuteOp,
    Rearrangement,
    ViewOp,
)
from tilewright.layout.linear import LANE, OFFSET, REGISTER, WARP, Layout, log2
from tilewright.layout.matrices import matrix_memory
from tilewright.layout.vector_access import copied_registers
from tilewright.plans.scratch import scratch_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.dialects.nv_tileas.memory import TiledLoadOp
    from tilewright.ir.values import Value


class ConvertedUse(NamedTuple):
    """A conversion of a loaded tile, after shape operations that reorder nothing but names."""

    shape_ops: Sequence[Rearrangement]
    convert: ConvertLayoutOp

    @property
    def layout(self) -> Layout:
        """The layout of the conversion, for a tile in the shape of the load."""
        layout = layout_of(self.convert.result)
        for op in reversed(self.shape_ops):
            layout = op.led_back(layout)
        return layout


class StagePlan(NamedTuple):
    """How a stage holds the tile of a load."""

    placement: Layout
    uses: Sequence[ConvertedUse]
    """The uses that read the stage in their own layout; all others read it as the load had it."""
    vector: int
    """The elements that a thread copies at a time."""

    @property
    def is_private(self) -> bool:
        """Whether each thread reads only what it copied."""
        return not self.uses


def plan_stage(load: TiledLoadOp) -> StagePlan:
    """The placement of a loaded tile: as a dot needs it, else such that threads keep their own."""
    source = layout_of(load.tile)
    bytes = pointee_bytes(element_of(load.tile.type))
    uses = list(_converted_uses(load.tile, ()))
    shared_uses = [use for use in uses if in_shared_memory(use.convert.result)]
    if shared_uses:
        placement = shared_uses[0].layout
        vector = copied_registers(source.then(placement.inverse()), load.vector)
        if vector == load.vector:
            return StagePlan(placement, [u for u in shared_uses if u.layout == placement], vector)
    for use in uses:
        if use in shared_uses or not scratch_bytes(use.convert):
            continue
        memory = matrix_memory(source, use.layout, bytes)
        if memory is not None:
            vector = copied_registers(source.then(memory.inverse()), load.vector)
            if vector == load.vector:
                return StagePlan(memory, [u for u in uses if u.layout == use.layout], vector)
    return StagePlan(private_placement(source, load.vector), [], load.vector)


def _converted_uses(tile: Value, shape_ops: Sequence[Rearrangement]) -> Iterator[ConvertedUse]:
    for user in tile.users:
        if isinstance(user, ConvertLayoutOp):
            yield ConvertedUse(shape_ops, user)
        elif isinstance(user, ViewOp | ExpandDimsOp | PermuteOp):
            yield from _converted_uses(user.result, (*shape_ops, user))


def private_placement(layout: Layout, vector: int) -> Layout:
    """A placement in which the accesses of all threads with one number are contiguous."""
    bits = log2(vector)
    registers = layout.vectors(REGISTER)
    threads = (*layout.vectors(LANE), *layout.vectors(WARP))
    offsets = [*registers[:bits], *threads, *registers[bits:]]
    return Layout([(OFFSET, offsets)], layout.shape)
