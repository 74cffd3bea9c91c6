"""Packing of 4-bit elements: tensors of them become tensors of bytes that hold two.

Along one dimension two neighbours share a byte, the first in its low bits. That dimension has an
even extent and the others have even strides, so that no row begins inside of a byte. Accesses that
would need a part of a byte are rejected.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from tilewright.analysis.axis import AxisFacts
from tilewright.dialects.nv_tileaa.attributes import PaddingValue
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
    memref,
    tiled_view,
)
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.types import DYNAMIC, F4E2M1FN, I8, I64, TensorType
from tilewright.support.diagnostics import Unsupported
from tilewright.transforms.nv_tileaa.scalars import Arithmetic, permuted, reshaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

PADDINGS: Final = {PaddingValue.ZERO: 0x00, PaddingValue.NEG_ZERO: 0x88}
"""Supported paddings, as bytes with two elements."""
NOT_EVEN: Final = "elements of 4 bits in memory with {} that is not known to be even"


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
    assert isinstance(type, MemrefType)
    along = paired(type)
    if along is None:
        return
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
    assert isinstance(type, TiledViewType)
    dim = paired_dim(type)
    if dim is not None:
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
        op.set_operand(position, _halved(Rewriter.at(op), op.operands[position]))


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


def paired(type: MemrefType) -> int | None:
    """The dimension along which neighbours share bytes, as far as the type is static.

    Dynamic extents and strides must be even. A stride along an extent of one is never used.
    """
    steps = [dim for dim in range(type.rank) if type.shape[dim] != 1]
    pairs = [dim for dim in steps if type.strides[dim] == 1]
    if type.element is not F4E2M1FN or len(pairs) != 1 or type.shape[pairs[0]] % 2:
        return None
    if any(type.strides[dim] % 2 for dim in steps if dim != pairs[0]):
        return None
    return pairs[0]


def paired_dim(type: TiledViewType) -> int | None:
    """The dimension of a tile along which neighbours share bytes."""
    along = paired(type.source)
    return None if along is None else type.dims.index(along)


def in_bytes(type: Type) -> Type | None:
    """The type in bytes; None if it does not change.

    Where neighbours share bytes a tensor has half the extent, and half the strides elsewhere. Its
    tiles have half the extent, half as far apart, and no padding but zero.
    """
    match type:
        case MemrefType() if (along := paired(type)) is not None:
            shape = [_half_extent(n) if dim == along else n for dim, n in enumerate(type.shape)]
            strides = [n if dim == along else _half_extent(n) for dim, n in enumerate(type.strides)]
            return MemrefType(tuple(shape), I8, tuple(strides), type.space, type.alias_scope)
        case TiledViewType() if tile_problem(type) is None:
            source, dim = in_bytes(type.source), paired_dim(type)
            assert isinstance(source, MemrefType)
            assert dim is not None
            tile, steps = list(type.tile), list(type.steps)
            tile[dim] //= 2
            steps[dim] //= 2
            padding = None if type.padding is None else PaddingValue.ZERO
            return TiledViewType(tuple(tile), source, tuple(steps), type.dims, type.sparse, padding)
        case _:
            return None


def tile_problem(type: TiledViewType) -> str | None:
    """The reason why tiles of a view are not supported, if there is one."""
    dim = paired_dim(type)
    if dim is None:
        return "elements of 4 bits in a tensor without a contiguous dimension of even extent"
    if dim == type.sparse:
        return "elements of 4 bits that are picked one by one"
    if type.tile[dim] == 1:
        return "tiles with one of two elements of 4 bits that share a byte"
    if type.steps[dim] % 2:
        return "tiles of elements of 4 bits that begin inside of a byte"
    return None


def _half_extent(number: int) -> int:
    return number if number == DYNAMIC else max(number // 2, 1)


def shares_bytes(op: Operation) -> bool:
    """Whether an operation accesses elements of which two share a byte."""
    return isinstance(op, TileLoadOp | TileStoreOp) and _has_pairs(tiled_view(op.view))


def _has_pairs(type: TiledViewType) -> bool:
    return type.source.element is F4E2M1FN


def check_bytes(op: Operation, facts: AxisFacts) -> None:
    """Reject an unsupported operation."""
    match op:
        case MakeMemrefOp() if paired(memref(op.result)) is not None:
            _check_tensor(op, facts)
        case BlockTileOp() if _has_pairs(tiled_view(op.result)):
            _check_view(op, tiled_view(op.result))
        case TileLoadOp() | TileStoreOp() if _has_pairs(tiled_view(op.view)):
            _check_access(op, facts)
        case FuncOp() if any(in_bytes(type) is not None for type in op.signature.inputs):
            raise Unsupported("tensors of elements of 4 bits as arguments", op.location)
        case _:
            pass


def _check_tensor(op: MakeMemrefOp, facts: AxisFacts) -> None:
    """Every extent and stride that is halved must be even."""
    type = memref(op.result)
    along, sizes, strides = paired(type), iter(op.sizes), iter(op.strides)
    for dim in range(type.rank):
        size = next(sizes) if type.shape[dim] == DYNAMIC else None
        stride = next(strides) if type.strides[dim] == DYNAMIC else None
        if dim == along:
            _require(op, size, "a contiguous extent", facts)
        if type.shape[dim] != 1:
            _require(op, stride, "a stride", facts)


def _check_view(op: Operation, type: TiledViewType) -> None:
    problem = tile_problem(type)
    if problem is not None:
        raise Unsupported(problem, op.location)


def _check_access(op: TileLoadOp | TileStoreOp, facts: AxisFacts) -> None:
    """The indices of gathered rows count elements, others count tiles."""
    type = tiled_view(op.view)
    _check_view(op, type)
    if type.padding not in (None, *PADDINGS) and isinstance(op, TileLoadOp):
        raise Unsupported("a padding that elements of 4 bits cannot hold", op.location)
    dim = paired_dim(type)
    if type.sparse is not None and dim is not None:
        _require(op, op.indices[dim], "an index", facts)


def _require(op: Operation, number: Value | None, what: str, facts: AxisFacts) -> None:
    if number is not None and facts.of(number).divisor % 2:
        raise Unsupported(NOT_EVEN.format(what), op.location)
