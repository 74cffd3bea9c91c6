"""Memory through pointers and through views, on tiles with layouts.

Pointers, mask and values of one access share one layout. `vector` is how many neighbouring
registers go as one access, which the layout and what is known of the addresses allow.
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
    """What is wrong with the number of registers that go at once."""
    layout = maybe_layout_of(tile)
    registers = 1 if layout is None else layout.extent(REGISTER)
    if vector & (vector - 1) or vector > registers:
        yield f"expected a power of two of the {registers} registers at once, got {vector}"


class LoadOp(tileaa.LoadOp):
    """Loads one element through each pointer."""

    name = "nv_tileas.load"
    traits = (*tileaa.LoadOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)
    scratch = d.optional_attribute(I64_ATTR)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.result)


class StoreOp(tileaa.StoreOp):
    """Stores one element through each pointer, each by one thread."""

    name = "nv_tileas.store"
    traits = (*tileaa.StoreOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.value)


class AtomicRmwOp(tileaa_atomics.AtomicRmwOp):
    """Combines each element in memory with one of a tile, each by one thread."""

    name = "nv_tileas.atomic_rmw"
    traits = (*tileaa_atomics.AtomicRmwOp.traits, LAID_OUT)

    scratch = d.optional_attribute(I64_ATTR)


class AtomicCasOp(tileaa_atomics.AtomicCasOp):
    """Exchanges each element in memory that is as expected, each by one thread."""

    name = "nv_tileas.atomic_cas"
    traits = (*tileaa_atomics.AtomicCasOp.traits, LAID_OUT)

    scratch = d.optional_attribute(I64_ATTR)


def index_problems(indices: Sequence[Value], tile: Value) -> Iterator[str]:
    """Complaints unless each thread holds the indices of its own rows."""
    layout = maybe_layout_of(tile)
    for dimension, index in enumerate(indices):
        if layout is None or not shape(index.type):
            continue
        wanted = layout
        for other in range(len(layout.shape) - 1, -1, -1):
            wanted = wanted if other == dimension else wanted.drop(other)
        yield from movement(f"index #{dimension}", index, wanted)


class TiledLoadOp(tileaa_view.TiledLoadOp):
    """Loads one tile of a view."""

    name = "nv_tileas.tiled_load"
    traits = (*tileaa_view.TiledLoadOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)


class GatherLoadOp(tileaa_view.GatherLoadOp):
    """Loads one tile of a view whose rows along the sparse dimension are picked one by one."""

    name = "nv_tileas.gather_load"
    traits = (*tileaa_view.GatherLoadOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)
        yield from index_problems(self.indices, self.tile)


class TiledStoreOp(tileaa_view.TiledStoreOp):
    """Stores one tile of a view, each element by one thread."""

    name = "nv_tileas.tiled_store"
    traits = (*tileaa_view.TiledStoreOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)


class ScatterStoreOp(tileaa_view.ScatterStoreOp):
    """Stores one tile of a view whose rows along the sparse dimension are picked one by one."""

    name = "nv_tileas.scatter_store"
    traits = (*tileaa_view.ScatterStoreOp.traits, LAID_OUT)

    vector = d.attribute(VECTOR, default=1)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        yield from vector_problems(self.vector, self.tile)
        yield from index_problems(self.indices, self.tile)


class TiledAtomicRmwOp(tileaa_view.TiledAtomicRmwOp):
    """Combines a tile of a view with a tile of values, each element by one thread."""

    name = "nv_tileas.tiled_atomic_rmw"
    traits = (*tileaa_view.TiledAtomicRmwOp.traits, LAID_OUT)
