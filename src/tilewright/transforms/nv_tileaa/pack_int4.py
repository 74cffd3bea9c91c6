"""Packing of 4-bit elements: loads and stores of bytes that hold two of them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tilewright.analysis.axis import AxisFacts
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.conversion import BitcastOp
from tilewright.dialects.nv_tileaa.coordinates import across_tile, coordinates, in_bounds
from tilewright.dialects.nv_tileaa.integer import ShLIOp
from tilewright.dialects.nv_tileaa.shape import PackOp, SelectOp, UnpackOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import MemrefType, PtrType, TiledViewType
from tilewright.dialects.nv_tileaa.view import (
    BlockTileOp,
    GetDimSizeOp,
    MakeMemrefOp,
    TileLoadOp,
    TileStoreOp,
    tiled_view,
)
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.types import DYNAMIC, F4E2M1FN, I8, I64, TensorType
from tilewright.support.diagnostics import Unsupported
from tilewright.transforms.nv_tileaa.scalars import Arithmetic, permuted, reshaped
from tilewright.transforms.nv_tileaa.subbyte_types import (
    PADDINGS,
    check_bytes,
    in_bytes,
    paired,
    paired_dim,
    shares_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class PackInt4(Pass):
    """Replace views of 4-bit elements in memory by views of bytes."""

    name = "pack-int4"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if any(shares_bytes(inner) for inner in function.walk()):
                _pack(function)


def _pack(function: FuncOp) -> None:
    """Change all types first, then the operations on values of them."""
    ops, facts = list(function.walk()), AxisFacts(function)
    for op in ops:
        check_bytes(op, facts)
    before = {value: value.type for op in ops for value in _values(op)}
    for value, type in before.items():
        value.type = in_bytes(type) or type
    for op in ops:
        match op:
            case MakeMemrefOp():
                _make(op, before[op.result])
            case GetDimSizeOp():
                _measure(op, before[op.source])
            case TileLoadOp() | TileStoreOp():
                _access(op, before[op.view])
            case _:
                pass


def _values(op: Operation) -> Iterator[Value]:
    """The results of an operation, and the arguments of its blocks."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


# Law: a tensor of n elements in pairs is one of n / 2 bytes at the same address.
def _make(op: MakeMemrefOp, type: Type) -> None:
    along = paired(type) if isinstance(type, MemrefType) else None
    if along is None:
        return
    assert isinstance(type, MemrefType)
    build = Rewriter.at(op)
    base = build.create(BitcastOp, source=op.base, types=[PtrType(I8, type.space)]).result
    open_dims = [dim for dim, extent in enumerate(type.shape) if extent == DYNAMIC]
    sizes = [
        _halved(build, size) if dim == along else size
        for dim, size in zip(open_dims, op.sizes, strict=True)
    ]
    op.set_operands([base, *sizes, *[_halved(build, stride) for stride in op.strides]])


# Law: along the dimension of pairs there are twice as many elements as bytes; as many tiles.
def _measure(op: GetDimSizeOp, type: Type) -> None:
    if not isinstance(type, MemrefType) or paired(type) != op.dim:
        return
    build = Rewriter.at(op)
    bytes = build.create(GetDimSizeOp, source=op.source, dim=op.dim, types=[op.result.type]).result
    one = Arithmetic(build).constant(1, bytes.type)
    build.replace(op, build.create(ShLIOp, lhs=bytes, rhs=one).result)


def _access(op: TileLoadOp | TileStoreOp, type: Type) -> None:
    if in_bytes(type) is None:
        return
    assert isinstance(type, TiledViewType)
    dim = paired_dim(type)
    assert dim is not None
    _halve_index(op, dim)
    if isinstance(op, TileLoadOp):
        _load(op, type, dim)
    else:
        _store(op, dim)


# Law: a tile of elements is unpacked from its bytes; bytes out of bounds hold the padding.
def _load(op: TileLoadOp, type: TiledViewType, dim: int) -> None:
    op.tile.type = tiled_view(op.view).tile_type
    users = tuple(op.tile.users)
    if not users:
        return
    build = Builder(InsertPoint.after(op), op.location)
    padding = None if type.padding is None else PADDINGS[type.padding]
    bytes = _padded(build, op, padding) if padding else op.tile
    tile = _unpacked(build, bytes, type.tile, dim)
    for user in users:
        user.replace_operand(op.tile, tile)


# Law: the bytes of a tile are stored; a byte is in bounds as a whole or not at all.
def _store(op: TileStoreOp, dim: int) -> None:
    build = Rewriter.at(op)
    op.set_operands([_packed(build, op.tile, dim), *op.operands[1:]])


def _halve_index(op: TileLoadOp | TileStoreOp, dim: int) -> None:
    """In a gather or scatter, indices count elements."""
    if tiled_view(op.view).sparse is not None:
        position = op.operands.index(op.view) + 1 + dim
        operands = list(op.operands)
        operands[position] = _halved(Rewriter.at(op), operands[position])
        op.set_operands(operands)


def _halved(build: Builder, number: Value) -> Value:
    """Half of an unsigned number."""
    math = Arithmetic(build)
    return math.shift_right(number, math.constant(1, number.type))


def _padded(build: Builder, op: TileLoadOp, padding: int) -> Value:
    """A loaded tile of bytes, with a padding instead of zero out of bounds."""
    cut = op.view.defined_by(BlockTileOp)
    if cut is None:
        raise Unsupported("padding of elements of 4 bits in a view that varies", op.location)
    view, inside = tiled_view(op.view), None
    for dim, index in enumerate(op.indices):
        if not (op.in_bounds and op.in_bounds[dim]):
            size = build.create(
                GetDimSizeOp, source=cut.source, dim=view.dims[dim], types=[I64]
            ).result
            along = in_bounds(build, coordinates(build, view, dim, index), size)
            part = across_tile(build, view, dim, along)
            inside = part if inside is None else Arithmetic(build).conjunction(inside, part)
    if inside is None:
        return op.tile
    others = Arithmetic(build).constant(padding, op.tile.type)
    return build.create(SelectOp, condition=inside, true_value=op.tile, false_value=others).result


def _unpacked(build: Builder, bytes: Value, shape: Sequence[int], dim: int) -> Value:
    """Unpack the elements that a tile of bytes holds in pairs along a dimension."""
    last = _last(len(shape), dim)
    rows = permuted(build, bytes, last)
    elements = TensorType((prod(shape),), F4E2M1FN)
    flat = reshaped(build, rows, (prod(shape) // 2,))
    unpacked = build.create(UnpackOp, source=flat, types=[elements]).result
    tile = reshaped(build, unpacked, [shape[each] for each in last])
    return permuted(build, tile, [last.index(each) for each in range(len(shape))])


def _packed(build: Builder, tile: Value, dim: int) -> Value:
    """Pack the elements of a tile in pairs along a dimension into bytes."""
    shape = list(extents(tile.type))
    last = _last(len(shape), dim)
    flat = reshaped(build, permuted(build, tile, last), (prod(shape),))
    type = TensorType((prod(shape) // 2,), I8)
    packed = build.create(PackOp, source=flat, types=[type]).result
    shape[dim] //= 2
    rows = reshaped(build, packed, [shape[each] for each in last])
    return permuted(build, rows, [last.index(each) for each in range(len(shape))])


def _last(rank: int, dim: int) -> list[int]:
    """All dimensions in order, with one of them moved to the end."""
    return [*(each for each in range(rank) if each != dim), dim]
