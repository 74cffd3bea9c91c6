"""Software-pipelined loads through thread-private slots of shared memory.

A thread copies the elements that its registers will hold, and waits only for its own copies; so
no synchronization is needed. The copies of one operation are a commit group: `take_staged` waits
until at most `pending` later groups are in flight.
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
    """Start to copy a tile of a view into a stage; out-of-bounds elements are zero.

    Without the condition nothing is read. `tile` has the layout that the tile is taken in.
    """

    name = "nv_tileas.stage_load"
    syntax = (
        "$view `[` $indices `]` `,` $buffer `[` $stage `]` `if` $condition attr-dict "
        "`:` custom<Indexed>($view, $indices) `,` type($buffer)"
    )

    view = d.operand(TILED_VIEW)
    indices = d.operands(INT_TILE)
    buffer = d.operand(BUFFER)
    stage = d.operand(SCALAR_I32)
    condition = d.operand(I1_TYPE)
    tile = d.attribute(TYPE_ATTR)
    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        type = buffer(self.buffer)
        yield from residency_problems("a buffer", type)
        yield from shape_problems("a tile", type.shape, self.tile)
        yield from element_problems("a tile", type.element, self.tile)
        if len(self.indices) != tiled_view(self.view).rank:
            yield f"expected {tiled_view(self.view).rank} indices, got {len(self.indices)}"


class TakeStagedOp(Operation):
    """Take the tile of a stage once at most `pending` later copy groups are in flight."""

    name = "nv_tileas.take_staged"
    traits = (LAID_OUT,)
    syntax = "$buffer `[` $stage `]` attr-dict `:` type($buffer) `->` type($result)"

    buffer = d.operand(BUFFER)
    stage = d.operand(SCALAR_I32)
    pending = d.attribute(PENDING)
    vector = d.attribute(VECTOR, default=1)
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        type = buffer(self.buffer)
        yield from residency_problems("a buffer", type)
        yield from shape_problems("a tile", type.shape, self.result.type)
        yield from element_problems("a tile", type.element, self.result.type)
