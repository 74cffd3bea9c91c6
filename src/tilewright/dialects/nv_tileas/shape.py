"""Shape operations, which exchange no data between threads.

The layout of a result, mapped back to the shape of the source, assigns to each thread only
elements that it already holds; a `convert_layout` before the operation establishes this.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa import shape as tileaa
from tilewright.dialects.nv_tileaa.constraints import ANY_TENSOR, shape
from tilewright.dialects.nv_tileas.attributes import layout_of
from tilewright.dialects.nv_tileas.residency import LAID_OUT, movement
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects
from tilewright.layout.linear import Layout
from tilewright.layout.parts import beside, inside


class ConvertLayoutOp(Operation):
    """Convert a tile to another layout; `scratch` is the shared memory used for it."""

    name = "nv_tileas.convert_layout"
    effects = Effects.PURE
    traits = (LAID_OUT,)
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(ANY_TENSOR)
    scratch = d.optional_attribute(I64_ATTR)
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        before, after = self.source.type, self.result.type
        if shape(before) != shape(after) or element_of(before) is not element_of(after):
            yield f"expected tiles that differ in their layouts alone, got '{before}' and '{after}'"


class SplatOp(tileaa.SplatOp):
    """Broadcast a scalar to every element of a tile."""

    name = "nv_tileas.splat"
    traits = (*tileaa.SplatOp.traits, LAID_OUT)


class MakeRangeOp(tileaa.MakeRangeOp):
    """`start`, `start + 1`, `start + 2` and so on.

    A `repeated` range is computed where it is, in each iteration of a loop: what is computed from
    it is not hoisted, and takes no registers elsewhere.
    """

    name = "nv_tileas.make_range"
    traits = (*tileaa.MakeRangeOp.traits, LAID_OUT)

    repeated = d.flag()


class Rearrangement(tileaa.Rearrangement):
    """Base of the operations that rearrange the elements of one tile."""

    traits = (LAID_OUT,)

    def verify(self) -> Iterator[str]:
        wrong = list(super().verify())
        yield from wrong or movement("a source", self.source, self.led_back(layout_of(self.result)))

    def led_back(self, layout: Layout) -> Layout:
        """The source layout that makes a result in this layout free."""
        return layout.reshape(shape(self.source.type))


class ViewOp(Rearrangement, tileaa.ViewOp):
    """Reshape in row-major order."""

    name = "nv_tileas.view"


class ExpandDimsOp(Rearrangement, tileaa.ExpandDimsOp):
    """Insert a dimension of extent one."""

    name = "nv_tileas.expand_dims"


class BroadcastOp(Rearrangement, tileaa.BroadcastOp):
    """Broadcast along the dimensions of extent one."""

    name = "nv_tileas.broadcast"

    def led_back(self, layout: Layout) -> Layout:
        return layout.resize(shape(self.source.type))


class PermuteOp(Rearrangement, tileaa.PermuteOp):
    """Permute dimensions: dimension `i` of the result is `order[i]` of the source."""

    name = "nv_tileas.permute"

    def led_back(self, layout: Layout) -> Layout:
        return layout.permute([self.order.index(dim) for dim in range(len(self.order))])


class CatOp(tileaa.CatOp):
    """Concatenate two tiles: a register bit selects between them."""

    name = "nv_tileas.cat"
    traits = (*tileaa.CatOp.traits, LAID_OUT)

    def verify(self) -> Iterator[str]:
        wrong = list(super().verify())
        yield from wrong or self._layout_problems()

    def _layout_problems(self) -> Iterator[str]:
        part = inside(layout_of(self.result), shape(self.lhs.type))
        if part is None:
            yield "expected a result whose registers say which tile an element is from"
            return
        yield from movement("lhs", self.lhs, part)
        yield from movement("rhs", self.rhs, part)


class ExtractOp(tileaa.ExtractOp):
    """Extract one element of a tile, for every thread."""

    name = "nv_tileas.extract"
    traits = (*tileaa.ExtractOp.traits, LAID_OUT)

    scratch = d.optional_attribute(I64_ATTR)


class ExtractSliceOp(tileaa.ExtractSliceOp):
    """Extract a slice of a tile: registers of each thread, selected by the indices."""

    name = "nv_tileas.extract_slice"
    traits = (*tileaa.ExtractSliceOp.traits, LAID_OUT)

    def verify(self) -> Iterator[str]:
        wrong = list(super().verify())
        whole = beside(layout_of(self.result), shape(self.source.type))
        yield from wrong or movement("a source", self.source, whole)


class InsertSliceOp(tileaa.InsertSliceOp):
    """Insert a slice into a tile: registers of each thread, selected by the indices."""

    name = "nv_tileas.insert_slice"
    traits = (*tileaa.InsertSliceOp.traits, LAID_OUT)

    def verify(self) -> Iterator[str]:
        wrong = list(super().verify())
        whole = beside(layout_of(self.source), shape(self.result.type))
        yield from wrong or movement("a destination", self.destination, whole)


class HistogramOp(tileaa.HistogramOp):
    """Histogram in shared memory; each element is counted by its owning thread."""

    name = "nv_tileas.histogram"
    traits = (*tileaa.HistogramOp.traits, LAID_OUT)

    scratch = d.optional_attribute(I64_ATTR)


class PackOp(tileaa.PackOp):
    """Reinterpret a tile as packed bytes."""

    name = "nv_tileas.pack"
    traits = (*tileaa.PackOp.traits, LAID_OUT)


class UnpackOp(tileaa.UnpackOp):
    """Reinterpret packed bytes as a tile."""

    name = "nv_tileas.unpack"
    traits = (*tileaa.UnpackOp.traits, LAID_OUT)
