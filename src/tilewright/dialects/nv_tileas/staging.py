"""Tiles on their way through shared memory, where every thread has places of its own.

A thread copies what it is going to hold itself, and waits for its own copies alone; so there is
nothing to synchronize. The copies of one operation are a group: whoever takes a tile waits until
at most so many later groups are under way.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.elements import I1_TYPE
from tilewright.dialects.nv_tileaa.constraints import (
    ANY_TENSOR,
    INT_TILE,
    SCALAR_I32,
    TILED_VIEW,
    element_problems,
    shape_problems,
)
from tilewright.dialects.nv_tileaa.view import TileAccessOp, tiled_view
from tilewright.dialects.nv_tileas.async_copy import residency_problems
from tilewright.dialects.nv_tileas.memory import VECTOR
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.dialects.nv_tileas.types import BUFFER, buffer
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import TYPE_ATTR, IntegerKind
from tilewright.ir.operation import Operation
from tilewright.ir.types import I32

PENDING = IntegerKind(I32, minimum=0)


class StageLoadOp(TileAccessOp):
    """Starts to copy a tile of a view into a stage; what lies outside of the tensor is zero.

    Without the condition nothing is read. `tile` has the layout that the tile is taken in.
    """

    name = "nv_tileas.stage_load"
    syntax = (
        "$view `[` $indices `]` `,` $room `[` $stage `]` `if` $condition attr-dict "
        "`:` custom<Indexed>($view, $indices) `,` type($room)"
    )

    view = d.operand(TILED_VIEW)
    indices = d.operands(INT_TILE)
    room = d.operand(BUFFER)
    stage = d.operand(SCALAR_I32)
    condition = d.operand(I1_TYPE)
    tile = d.attribute(TYPE_ATTR)
    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        type = buffer(self.room)
        yield from residency_problems("a room", type)
        yield from shape_problems("a tile", type.shape, self.tile)
        yield from element_problems("a tile", type.element, self.tile)
        if len(self.indices) != tiled_view(self.view).rank:
            yield f"expected {tiled_view(self.view).rank} indices, got {len(self.indices)}"


class TakeStagedOp(Operation):
    """The tile in a stage, when at most so many later groups of copies are under way."""

    name = "nv_tileas.take_staged"
    traits = (LAID_OUT,)
    syntax = "$room `[` $stage `]` attr-dict `:` type($room) `->` type($result)"

    room = d.operand(BUFFER)
    stage = d.operand(SCALAR_I32)
    pending = d.attribute(PENDING)
    vector = d.attribute(VECTOR, default=1)
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        type = buffer(self.room)
        yield from residency_problems("a room", type)
        yield from shape_problems("a tile", type.shape, self.result.type)
        yield from element_problems("a tile", type.element, self.result.type)
