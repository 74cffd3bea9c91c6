"""Memory accesses through pointers and through views, on tiles with layouts.

Pointers, mask and values of one access share one layout. `vector` is the number of consecutive
registers per access, as the layout and the alignment of the addresses allow. With `partial`, only
the first ones of them may be in bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileaa import atomics as tileaa_atomics
from tilewright.dialects.nv_tileaa import memory as tileaa
from tilewright.dialects.nv_tileaa import view as tileaa_view
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.nv_tileas.residency import LAID_OUT, movement
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR, IntegerKind
from tilewright.ir.types import I32
from tilewright.layout.linear import REGISTER

if TYPE_CHECKING:
    from tilewright.ir.values import Value

VECTOR: Final = IntegerKind(I32, minimum=1)


def vector_problems(vector: int, tile: Value) -> Iterator[str]:
    """Check the number of registers per access."""
    layout = maybe_layout_of(tile)
    registers = 1 if layout is None else layout.extent(REGISTER)
    if vector & (vector - 1) or vector > registers:
        yield f"expected a power of two of the {registers} registers at once, got {vector}"


class LoadOp(tileaa.LoadOp):
    """Load one element through each pointer."""

    name = "nv_tileas.load"
    traits = (*tileaa.LoadOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)
    scratch = d.optional_attribute(I64_ATTR)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.result)


class StoreOp(tileaa.StoreOp):
    """Store one element through each pointer, once per element."""

    name = "nv_tileas.store"
    traits = (*tileaa.StoreOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.value)


class AtomicRmwOp(tileaa_atomics.AtomicRmwOp):
    """Atomically combine each element in memory with one of a tile, once per element."""

    name = "nv_tileas.atomic_rmw"
    traits = (*tileaa_atomics.AtomicRmwOp.traits, LAID_OUT)

    scratch = d.optional_attribute(I64_ATTR)


class AtomicCasOp(tileaa_atomics.AtomicCasOp):
    """Atomically compare and exchange elements in memory, once per element."""

    name = "nv_tileas.atomic_cas"
    traits = (*tileaa_atomics.AtomicCasOp.traits, LAID_OUT)

    scratch = d.optional_attribute(I64_ATTR)


def index_problems(indices: Sequence[Value], tile: Value) -> Iterator[str]:
    """Check that each thread holds the indices of its own rows."""
    layout = maybe_layout_of(tile)
    for dimension, index in enumerate(indices):
        if layout is None or not shape(index.type):
            continue
        wanted = layout
        for other in range(len(layout.shape) - 1, -1, -1):
            wanted = wanted if other == dimension else wanted.drop(other)
        yield from movement(f"index #{dimension}", index, wanted)


class TiledLoadOp(tileaa_view.TiledLoadOp):
    """Load one tile of a view."""

    name = "nv_tileas.tiled_load"
    traits = (*tileaa_view.TiledLoadOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)
    partial = d.flag()

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)


class GatherLoadOp(tileaa_view.GatherLoadOp):
    """Gather one tile of a view by indices along the sparse dimension."""

    name = "nv_tileas.gather_load"
    traits = (*tileaa_view.GatherLoadOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)
    partial = d.flag()

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)
        yield from index_problems(self.indices, self.tile)


class TiledStoreOp(tileaa_view.TiledStoreOp):
    """Store one tile of a view, once per element."""

    name = "nv_tileas.tiled_store"
    traits = (*tileaa_view.TiledStoreOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)
    partial = d.flag()

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)


class ScatterStoreOp(tileaa_view.ScatterStoreOp):
    """Scatter one tile of a view by indices along the sparse dimension."""

    name = "nv_tileas.scatter_store"
    traits = (*tileaa_view.ScatterStoreOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)
    partial = d.flag()

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)
        yield from index_problems(self.indices, self.tile)


class TiledAtomicRmwOp(tileaa_view.TiledAtomicRmwOp):
    """Atomically combine a tile of a view with a tile of values, once per element."""

    name = "nv_tileas.tiled_atomic_rmw"
    traits = (*tileaa_view.TiledAtomicRmwOp.traits, LAID_OUT)
