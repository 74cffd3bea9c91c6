"""Constants, shape operations, pointer arithmetic, and the grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.base import TileOp
from tilewright.dialects.cuda_tile.constant_names import constant_name
from tilewright.dialects.cuda_tile.constraints import (
    ANY_TILE,
    BOOL_TILE,
    I8_VECTOR,
    INT_TILE,
    INT_VECTOR,
    NUMBER4_VECTOR,
    NUMBER_TILE,
    PTR_TILE,
    SCALAR_I32,
)
from tilewright.dialects.cuda_tile.traits import (
    same_element,
    same_shape,
    shape_problems,
    spell_extents,
    tile,
)
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import ELEMENTS_ATTR, I32_ARRAY_ATTR, I64_ATTR
from tilewright.ir.attributes import element_bytes
from tilewright.ir.traits import CONSTANT_LIKE, Effects, SameType
from tilewright.ir.types import F4E2M1FN, FloatType, IntegerType, memory_bits
from tilewright.support.bits import to_signed
from tilewright.support.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class ConstantOp(TileOp):
    """Materialize a constant tile: a splat, or dense elements."""

    name = "cuda_tile.constant"
    since = (13, 1)
    effects = Effects.PURE
    traits = (CONSTANT_LIKE,)
    syntax = "custom<DenseElements>($value, type($result)) attr-dict"

    value = d.attribute(ELEMENTS_ATTR)
    result = d.result(NUMBER_TILE)

    @property
    def integer(self) -> int | None:
        """The signed value of an integer splat, or `None`."""
        element = tile(self.result).element
        if not isinstance(element, IntegerType) or not self.value.is_splat:
            return None
        return to_signed(self.value.elements()[0], element.width)

    def verify(self) -> Iterator[str]:
        result = tile(self.result)
        if self.value.type is not result:
            yield f"expected a value of type '{result}', got '{self.value.type}'"
            return
        stored = len(self.value.data) // element_bytes(result.element)
        if stored not in (1, result.count):
            yield f"expected 1 or {result.count} elements, got {stored}"

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, constant_name(self.value, style)),)


class IotaOp(TileOp):
    """Return the unsigned integers from zero on: `result[i] = i`."""

    name = "cuda_tile.iota"
    since = (13, 1)
    effects = Effects.PURE
    syntax = "attr-dict `:` type($result)"

    result = d.result(INT_VECTOR)

    def verify(self) -> Iterator[str]:
        result = tile(self.result)
        assert isinstance(result.element, IntegerType)
        if result.count > 1 << result.element.width:
            most = 1 << result.element.width
            yield f"expected at most {most} elements of {result.element}, got {result.count}"


class Rearrangement(TileOp):
    """Base of the operations that rearrange the elements of one tile into another shape."""

    since = (13, 1)
    effects = Effects.PURE
    traits = (same_element("source", "result"),)
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(ANY_TILE)
    result = d.result(ANY_TILE)


class BroadcastOp(Rearrangement):
    """Broadcast along the dimensions of extent one."""

    name = "cuda_tile.broadcast"

    def verify(self) -> Iterator[str]:
        source, result = tile(self.source), tile(self.result)
        if source.rank != result.rank:
            yield f"expected a result of rank {source.rank} like the source, got {result.rank}"
            return
        extents = zip(source.shape, result.shape, strict=True)
        if any(before not in (1, after) for before, after in extents):
            yield (
                f"expected a source of shape {spell_extents(result.shape)} or with ones in it, "
                f"got {spell_extents(source.shape)}"
            )

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "bcast"),)


class ReshapeOp(Rearrangement):
    """Reshape, keeping the row-major order of the elements."""

    name = "cuda_tile.reshape"

    def verify(self) -> Iterator[str]:
        source, result = tile(self.source), tile(self.result)
        if source.count != result.count:
            yield f"expected a result of {source.count} elements, got {result.count}"

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "reshape"),)


class PermuteOp(Rearrangement):
    """Permute dimensions: dimension `i` of the result is `permutation[i]` of the source."""

    name = "cuda_tile.permute"
    syntax = "$source $permutation attr-dict `:` type($source) `->` type($result)"

    permutation = d.attribute(I32_ARRAY_ATTR)

    def verify(self) -> Iterator[str]:
        source, result = tile(self.source), tile(self.result)
        if source.rank < 2:
            yield f"expected a source of rank 2 or more, got {source.rank}"
        elif sorted(self.permutation) != list(range(source.rank)):
            order = ", ".join(map(str, self.permutation))
            yield f"expected a permutation of 0 to {source.rank - 1}, got [{order}]"
        else:
            expected = tuple(source.shape[dim] for dim in self.permutation)
            yield from shape_problems("result", expected, result)


class CatOp(TileOp):
    """Concatenate two tiles along a dimension."""

    name = "cuda_tile.cat"
    since = (13, 1)
    effects = Effects.PURE
    traits = (same_element("lhs", "rhs", "result"),)
    syntax = (
        "$lhs `,` $rhs `dim` `=` $dim attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"
    )

    lhs = d.operand(ANY_TILE)
    rhs = d.operand(ANY_TILE)
    dim = d.attribute(I64_ATTR)
    result = d.result(ANY_TILE)

    def verify(self) -> Iterator[str]:
        lhs, rhs, dim = tile(self.lhs), tile(self.rhs), self.dim
        if lhs.rank == 0:
            yield "expected tiles of rank 1 or more, got scalars"
            return
        if not 0 <= dim < lhs.rank:
            yield f"expected dim in 0 to {lhs.rank - 1}, got {dim}"
            return
        before, after = lhs.shape[:dim], lhs.shape[dim + 1 :]
        if rhs.rank != lhs.rank or (rhs.shape[:dim], rhs.shape[dim + 1 :]) != (before, after):
            shapes = spell_extents(lhs.shape), spell_extents(rhs.shape)
            yield (
                f"expected rhs of the same shape as lhs, {shapes[0]}, "
                f"in all dimensions but {dim}, got {shapes[1]}"
            )
            return
        expected = (*before, lhs.shape[dim] + rhs.shape[dim], *after)
        yield from shape_problems("result", expected, tile(self.result))


class ExtractOp(Rearrangement):
    """Extract a slice: `indices` selects one of the slices of the result's shape in the source.

    An index out of bounds is undefined.
    """

    name = "cuda_tile.extract"
    syntax = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)"

    indices = d.operands(SCALAR_I32)

    def verify(self) -> Iterator[str]:
        yield from _slice_problems(
            ("source", tile(self.source)), ("result", tile(self.result)), self.indices
        )

    def verify_context(self) -> Iterator[Diagnostic]:
        yield from _index_warnings(self, tile(self.source), tile(self.result), self.indices)


class InsertOp(TileOp):
    """Copy the destination, replacing one slice by the source; `indices` selects the slice.

    An index out of bounds is undefined.
    """

    name = "cuda_tile.insert"
    since = (13, 4)
    effects = Effects.PURE
    traits = (SameType("destination", "result"), same_element("source", "destination"))
    syntax = (
        "$source `,` $destination `[` $indices `]` attr-dict "
        "`:` type($source) `,` type($destination)"
    )

    source = d.operand(ANY_TILE)
    destination = d.operand(ANY_TILE)
    indices = d.operands(SCALAR_I32)
    result = d.result(ANY_TILE)

    def verify(self) -> Iterator[str]:
        yield from _slice_problems(
            ("destination", tile(self.destination)), ("source", tile(self.source)), self.indices
        )

    def verify_context(self) -> Iterator[Diagnostic]:
        yield from _index_warnings(self, tile(self.destination), tile(self.source), self.indices)


class SelectOp(TileOp):
    """Elementwise select: `result[i] = cond[i] ? val_if_true[i] : val_if_false[i]`."""

    name = "cuda_tile.select"
    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("val_if_true", "val_if_false", "result"), same_shape("cond", "result"))
    syntax = "$cond `,` $val_if_true `,` $val_if_false attr-dict `:` type($cond) `,` type($result)"

    cond = d.operand(BOOL_TILE)
    val_if_true = d.operand(ANY_TILE)
    val_if_false = d.operand(ANY_TILE)
    result = d.result(ANY_TILE)

    def verify(self) -> Iterator[str]:
        if tile(self.result).element is F4E2M1FN:
            yield "expected elements of a byte or more, got f4E2M1FN"


class OffsetOp(TileOp):
    """Offset pointers by a signed number of elements: `result[i] = &ptr[i][offset[i]]`."""

    name = "cuda_tile.offset"
    since = (13, 1)
    effects = Effects.PURE
    traits = (SameType("ptr", "result"), same_shape("ptr", "offset"))
    syntax = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset) `->` type($result)"

    ptr = d.operand(PTR_TILE)
    offset = d.operand(INT_TILE)
    result = d.result(PTR_TILE)


class PackOp(TileOp):
    """Reinterpret a tile as i8, little-endian, in element order."""

    name = "cuda_tile.pack"
    since = (13, 3)
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(NUMBER4_VECTOR)
    result = d.result(I8_VECTOR)

    def verify(self) -> Iterator[str]:
        yield from _packing_problems("source", tile(self.source), "result", tile(self.result))


class UnpackOp(TileOp):
    """Reinterpret i8 as a tile: the inverse of `pack`."""

    name = "cuda_tile.unpack"
    since = (13, 3)
    effects = Effects.PURE
    syntax = "$source attr-dict `:` type($source) `->` type($result)"

    source = d.operand(I8_VECTOR)
    result = d.result(NUMBER4_VECTOR)

    def verify(self) -> Iterator[str]:
        yield from _packing_problems("result", tile(self.result), "source", tile(self.source))


class GridOp(TileOp):
    """Base of the operations with a result per dimension of the grid."""

    since = (13, 1)
    effects = Effects.PURE
    syntax = "attr-dict `:` type($x)"

    x = d.result(SCALAR_I32)
    y = d.result(SCALAR_I32)
    z = d.result(SCALAR_I32)


class GetTileBlockIdOp(GridOp):
    """Return the coordinates of this tile block in the grid."""

    name = "cuda_tile.get_tile_block_id"

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return enumerate(("blockId_x", "blockId_y", "blockId_z"))


class GetNumTileBlocksOp(GridOp):
    """Return the size of the grid in tile blocks."""

    name = "cuda_tile.get_num_tile_blocks"

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return enumerate(("gridSize_x", "gridSize_y", "gridSize_z"))


def _slice_problems(
    outer: tuple[str, TileType], inner: tuple[str, TileType], indices: Sequence[Value]
) -> Iterator[str]:
    """Check the shape of a slice of a tile, and its indices."""
    (whole_name, whole), (part_name, part) = outer, inner
    if whole.rank != part.rank:
        yield f"expected {part_name} of rank {whole.rank} like the {whole_name}, got {part.rank}"
        return
    if any(a % b for a, b in zip(whole.shape, part.shape, strict=True)):
        shapes = spell_extents(whole.shape), spell_extents(part.shape)
        yield f"expected {part_name} of a shape that divides {shapes[0]}, got {shapes[1]}"
    if len(indices) != whole.rank:
        yield f"expected {whole.rank} indices, one for each dimension, got {len(indices)}"


def _index_warnings(
    op: Operation, whole: TileType, part: TileType, indices: Sequence[Value]
) -> Iterator[Diagnostic]:
    for position, index in enumerate(indices):
        constant = index.defined_by(ConstantOp)
        value = constant.integer if constant is not None else None
        parts = whole.shape[position] // part.shape[position]
        if value is not None and not 0 <= value < parts:
            message = f"'{op.name}' op expected index {position} in 0 to {parts - 1}, got {value}"
            yield Diagnostic(message, op.location, Severity.WARNING)


def _packing_problems(
    name: str, unpacked: TileType, bytes_name: str, packed: TileType
) -> Iterator[str]:
    element = unpacked.element
    assert isinstance(element, IntegerType | FloatType)
    if element.width == 8:
        yield f"expected {name} elements of another width than 8 bits, got {element}"
        return
    bits = unpacked.count * memory_bits(element)
    if bits != packed.count * 8:
        yield f"expected {bytes_name} of {bits} bits like {name}, got {packed.count * 8}"
