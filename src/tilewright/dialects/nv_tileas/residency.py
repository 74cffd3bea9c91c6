"""Verification of layouts: which tiles must have one, and conversions that must be free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileas.attributes import in_shared_memory, maybe_layout_of
from tilewright.ir.traits import Trait
from tilewright.ir.types import TensorType
from tilewright.layout.linear import LANE, OFFSET, WARP
from tilewright.layout.transfer import Move, transfer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout


class _LaidOut(Trait):
    """Every tile of the operation has a layout of its own shape, all over the same threads.

    Tiles in shared memory are not distributed over threads.
    """

    __slots__ = ()

    def verify(self, op: Operation) -> Iterator[str]:
        threads: tuple[int, int] | None = None
        for value in (*op.operands, *op.results):
            if not isinstance(value.type, TensorType):
                continue
            layout = maybe_layout_of(value)
            if layout is None or layout.shape != value.type.shape:
                yield f"expected a tile with a layout of its shape, got '{value.type}'"
                continue
            if in_shared_memory(value):
                continue
            extents = (layout.extent(LANE), layout.extent(WARP))
            threads = threads or extents
            if extents != threads:
                yield f"expected all tiles on {threads[1]} warps, got '{value.type}'"


LAID_OUT: Final = _LaidOut("laid out")


def movement(name: str, source: Value, wanted: Layout) -> Iterator[str]:
    """Check that every thread already holds the elements that the wanted layout assigns to it."""
    layout = maybe_layout_of(source)
    if layout is None or layout.shape != wanted.shape:
        return
    if in_shared_memory(source) or wanted.names == (OFFSET,):
        if layout != wanted:
            yield f"expected {name} in shared memory as <{wanted}>, got <{layout}>"
        return
    move = transfer(layout, wanted).move
    if move > Move.REGISTERS:
        yield (
            f"expected {name} of which every thread holds what it needs, "
            f"got <{layout}>, where <{wanted}> is needed"
        )
