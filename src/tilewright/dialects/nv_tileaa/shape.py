"""Shape operations: splats, ranges, reshapes, slices, selects and packing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.elements import SameShape, element_of
from tilewright.dialects.nv_tileaa.constraints import (
    ANY_SCALAR,
    ANY_TENSOR,
    ANY_TILE,
    BOOL_TILE,
    INT_TILE,
    NUMBER_TILE,
    SCALAR_I32,
    count,
    element_problems,
    shape,
    shape_problems,
    spell_extents,
    tile_of,
)
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I32_ARRAY_ATTR, I64_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.tiling import Way, alike
from tilewright.ir.traits import ELEMENTWISE, SPLAT_LIKE, Effects, SameType
from tilewright.ir.types import I8, I32, IntegerType, memory_bits

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value


class SplatOp(Operation):
    """Broadcast a scalar to all elements of a tile."""

    name = "nv_tileaa.splat"
    effects = Effects.PURE
    traits = (SPLAT_LIKE,)
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(ANY_SCALAR)
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        yield from element_problems("result", self.source.type, self.result.type)

    def ways(self) -> Iterator[Way]:
        return alike(self)


class MakeRangeOp(Operation):
    """Return the unsigned integers from `start` on: `result[i] = start + i`."""

    name = "nv_tileaa.make_range"
    effects = Effects.PURE
    syntax = "attr-dict `:` type($result)"

    start = d.attribute(I64_ATTR, default=0)
    result = d.result(INT_TILE)

    def verify(self) -> Iterator[str]:
        element, extents = element_of(self.result.type), shape(self.result.type)
        if len(extents) != 1:
            yield f"expected a result of rank 1, got '{self.result.type}'"
            return
        assert isinstance(element, IntegerType)
        end = self.start + extents[0]
        if self.start < 0 or end > 1 << element.width:
            yield f"expected numbers that fit {element}, got {self.start} to {end - 1}"

    def ways(self) -> Iterator[Way]:
        return alike(self)


class Rearrangement(Operation):
    """Base of the operations that rearrange the elements of one tile into another shape."""

    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(ANY_TENSOR)
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        element = element_of(self.source.type)
        problems = list(element_problems("result", element, self.result.type))
        yield from problems or self.shape_problems(shape(self.source.type), shape(self.result.type))

    def shape_problems(self, source: tuple[int, ...], result: tuple[int, ...]) -> Iterator[str]:
        """Check the shapes of source and result."""
        raise NotImplementedError


class ViewOp(Rearrangement):
    """Reshape, keeping the row-major order of the elements."""

    name = "nv_tileaa.view"

    def shape_problems(self, source: tuple[int, ...], result: tuple[int, ...]) -> Iterator[str]:
        expected, actual = count(self.source.type), count(self.result.type)
        if expected != actual:
            yield f"expected a result of {expected} elements, got {actual}"

    def ways(self) -> Iterator[Way]:
        return _same_bits(self)


class BroadcastOp(Rearrangement):
    """Broadcast along the dimensions of extent one."""

    name = "nv_tileaa.broadcast"

    def shape_problems(self, source: tuple[int, ...], result: tuple[int, ...]) -> Iterator[str]:
        if len(source) != len(result):
            yield f"expected a result of rank {len(source)} like the source, got {len(result)}"
        elif any(before not in (1, after) for before, after in zip(source, result, strict=True)):
            yield (
                f"expected a source of shape {spell_extents(result)} or with ones in it, "
                f"got {spell_extents(source)}"
            )

    def ways(self) -> Iterator[Way]:
        for dim, extent in enumerate(shape(self.source.type)):
            yield Way({self.result: dim} if extent == 1 else {self.source: dim, self.result: dim})


class ExpandDimsOp(Rearrangement):
    """Insert a dimension of extent one at `axis`."""

    name = "nv_tileaa.expand_dims"

    axis = d.attribute(I64_ATTR)

    def shape_problems(self, source: tuple[int, ...], result: tuple[int, ...]) -> Iterator[str]:
        if not 0 <= self.axis <= len(source):
            yield f"expected axis in 0 to {len(source)}, got {self.axis}"
            return
        expected = (*source[: self.axis], 1, *source[self.axis :])
        yield from shape_problems("result", expected, self.result.type)

    def ways(self) -> Iterator[Way]:
        return _same_bits(self)


class PermuteOp(Rearrangement):
    """Permute dimensions: dimension `i` of the result is `order[i]` of the source."""

    name = "nv_tileaa.permute"
    syntax = "$source $order attr-dict `:` type($source) `->` type($result)"

    order = d.attribute(I32_ARRAY_ATTR)

    def shape_problems(self, source: tuple[int, ...], result: tuple[int, ...]) -> Iterator[str]:
        if sorted(self.order) != list(range(len(source))):
            order = ", ".join(map(str, self.order))
            yield f"expected a permutation of 0 to {len(source) - 1}, got [{order}]"
            return
        expected = tuple([source[dim] for dim in self.order])
        yield from shape_problems("result", expected, self.result.type)

    def ways(self) -> Iterator[Way]:
        for dim, order in enumerate(self.order):
            yield Way({self.source: order, self.result: dim})


def _same_bits(op: Rearrangement) -> Iterator[Way]:
    """Parts correspond if the same bits of the row-major index select them on both sides."""
    tops = dict(_tops(op.source))
    for top, dim in _tops(op.result):
        if top in tops:
            yield Way({op.source: tops[top], op.result: dim})


def _tops(tile: Value) -> Iterator[tuple[int, int]]:
    """The end of each dimension of several elements, in elements of the row-major order."""
    top = 1
    for dim, extent in reversed(list(enumerate(shape(tile.type)))):
        top *= extent
        if extent > 1:
            yield top, dim


class CatOp(Operation):
    """Concatenate two tiles along a dimension."""

    name = "nv_tileaa.cat"
    effects = Effects.PURE
    needs_whole = "tiles are concatenated along the dimension"
    syntax = (
        "$lhs `,` $rhs `axis` `=` $axis attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"
    )

    lhs = d.operand(ANY_TENSOR)
    rhs = d.operand(ANY_TENSOR)
    axis = d.attribute(I64_ATTR)
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        lhs, rhs, axis = shape(self.lhs.type), shape(self.rhs.type), self.axis
        for name, value in (("rhs", self.rhs), ("result", self.result)):
            yield from element_problems(name, element_of(self.lhs.type), value.type)
        if not 0 <= axis < len(lhs):
            yield f"expected axis in 0 to {len(lhs) - 1}, got {axis}"
            return
        before, after = lhs[:axis], lhs[axis + 1 :]
        if len(rhs) != len(lhs) or (rhs[:axis], rhs[axis + 1 :]) != (before, after):
            yield (
                f"expected rhs of the same shape as lhs, {spell_extents(lhs)}, "
                f"in all dimensions but {axis}, got {spell_extents(rhs)}"
            )
            return
        yield from shape_problems(
            "result", (*before, lhs[axis] + rhs[axis], *after), self.result.type
        )

    def ways(self) -> Iterator[Way]:
        return alike(self, whole_dims=(self.axis,))


class ExtractOp(Operation):
    """Extract one element of a tile; an index out of bounds is undefined."""

    name = "nv_tileaa.extract"
    effects = Effects.PURE
    needs_whole = "an element is extracted by its index in the whole tile"
    syntax = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)"

    source = d.operand(ANY_TENSOR)
    indices = d.operands(SCALAR_I32)
    result = d.result(ANY_SCALAR)

    def verify(self) -> Iterator[str]:
        rank = len(shape(self.source.type))
        if len(self.indices) != rank:
            yield f"expected {rank} indices, one for each dimension, got {len(self.indices)}"
        yield from element_problems("result", element_of(self.source.type), self.result.type)


class ExtractSliceOp(Operation):
    """Extract a slice: `indices` selects one of the slices of the result's shape in the source.

    An index out of bounds is undefined.
    """

    name = "nv_tileaa.extract_slice"
    effects = Effects.PURE
    needs_whole = "a slice is extracted along the dimension"
    syntax = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)"

    source = d.operand(ANY_TENSOR)
    indices = d.operands(SCALAR_I32)
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        yield from element_problems("result", element_of(self.source.type), self.result.type)
        yield from _slice_problems(self.source.type, "result", self.result.type, self.indices)

    def ways(self) -> Iterator[Way]:
        return alike(self, _shorter_dims(self.result, self.source))


class InsertSliceOp(Operation):
    """Copy the destination, replacing one slice by the source; `indices` selects the slice.

    An index out of bounds is undefined.
    """

    name = "nv_tileaa.insert_slice"
    effects = Effects.PURE
    needs_whole = "a slice is inserted along the dimension"
    traits = (SameType("destination", "result"),)
    syntax = (
        "$source `,` $destination `[` $indices `]` attr-dict "
        "`:` type($source) `,` type($destination)"
    )

    source = d.operand(ANY_TENSOR)
    destination = d.operand(ANY_TENSOR)
    indices = d.operands(SCALAR_I32)
    result = d.result(ANY_TENSOR)

    def verify(self) -> Iterator[str]:
        yield from element_problems("source", element_of(self.result.type), self.source.type)
        yield from _slice_problems(self.result.type, "source", self.source.type, self.indices)

    def ways(self) -> Iterator[Way]:
        return alike(self, _shorter_dims(self.source, self.destination))


def _slice_problems(whole: Type, name: str, part: Type, indices: Sequence[Value]) -> Iterator[str]:
    """Check the shape of a slice of a tile, and its indices."""
    outer, inner = shape(whole), shape(part)
    if len(outer) != len(inner):
        yield f"expected {name} of rank {len(outer)}, got {len(inner)}"
        return
    if any(a % b for a, b in zip(outer, inner, strict=True)):
        shapes = spell_extents(outer), spell_extents(inner)
        yield f"expected {name} of a shape that divides {shapes[0]}, got {shapes[1]}"
    if len(indices) != len(outer):
        yield f"expected {len(outer)} indices, one for each dimension, got {len(indices)}"


def _shorter_dims(part: Value, whole: Value) -> list[int]:
    """The dimensions along which a slice is shorter than the tile."""
    pairs = zip(shape(part.type), shape(whole.type), strict=True)
    return [dim for dim, (inner, outer) in enumerate(pairs) if inner != outer]


class SelectOp(Operation):
    """Elementwise select: `result[i] = condition[i] ? true_value[i] : false_value[i]`."""

    name = "nv_tileaa.select"
    effects = Effects.PURE
    traits = (
        SameType("true_value", "false_value", "result"),
        SameShape("condition", "result"),
        ELEMENTWISE,
    )
    syntax = (
        "$condition `,` $true_value `,` $false_value attr-dict "
        "`:` type($condition) `,` type($result)"
    )

    condition = d.operand(BOOL_TILE)
    true_value = d.operand(ANY_TILE)
    false_value = d.operand(ANY_TILE)
    result = d.result(ANY_TILE)


class PackOp(Operation):
    """Reinterpret a tile as i8, little-endian, in element order."""

    name = "nv_tileaa.pack"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(NUMBER_TILE)
    result = d.result(tile_of(I8))

    def verify(self) -> Iterator[str]:
        yield from _packing_problems(self.source.type, "result", self.result.type)

    def ways(self) -> Iterator[Way]:
        return alike(self)


class UnpackOp(Operation):
    """Reinterpret i8 as a tile: the inverse of `pack`."""

    name = "nv_tileaa.unpack"
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(tile_of(I8))
    result = d.result(NUMBER_TILE)

    def verify(self) -> Iterator[str]:
        yield from _packing_problems(self.result.type, "source", self.source.type)

    def ways(self) -> Iterator[Way]:
        return alike(self)


def _packing_problems(unpacked: Type, name: str, packed: Type) -> Iterator[str]:
    bits = count(unpacked) * memory_bits(element_of(unpacked))
    if len(shape(unpacked)) != 1 or len(shape(packed)) != 1:
        yield f"expected tensors of rank 1, got '{unpacked}' and '{packed}'"
    elif bits != count(packed) * 8:
        yield f"expected {name} of {bits} bits, got {count(packed) * 8}"


class HistogramOp(Operation):
    """Compute a histogram: `result[i]` counts the elements equal to `i`; others are ignored."""

    name = "nv_tileaa.histogram"
    effects = Effects.PURE
    needs_whole = "a histogram counts the elements of the whole tile"
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(INT_TILE)
    result = d.result(tile_of(I32))

    def verify(self) -> Iterator[str]:
        if len(shape(self.result.type)) != 1:
            yield f"expected a result of rank 1, got '{self.result.type}'"
