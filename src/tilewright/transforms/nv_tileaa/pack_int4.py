"""Packing of 4-bit elements: loads and stores of bytes that hold two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.axis import AxisFacts
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.nv_tileaa.attributes import Signedness
from tilewright.dialects.nv_tileaa.conversion import BitcastOp
from tilewright.dialects.nv_tileaa.integer import ShLIOp, ShRIOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import MemrefType, PtrType, TiledViewType
from tilewright.dialects.nv_tileaa.view import (
    GetDimSizeOp,
    MakeMemrefOp,
    TileLoadOp,
    TileStoreOp,
    tiled_view,
)
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.passes import Pass
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.types import DYNAMIC, I8
from tilewright.transforms.nv_tileaa.subbyte_checks import check_bytes, shares_bytes
from tilewright.transforms.nv_tileaa.subbyte_padding import padded
from tilewright.transforms.nv_tileaa.subbyte_tiles import pack_tile, unpack_tile
from tilewright.transforms.nv_tileaa.subbyte_types import PADDINGS, in_bytes, paired, paired_dim

if TYPE_CHECKING:
    from collections.abc import Iterator

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
            case TileLoadOp():
                _load(op, before[op.view])
            case TileStoreOp():
                _store(op, before[op.view])
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
    one = build.create(ConstantOp, value=literal([1], bytes.type), types=[bytes.type]).result
    build.replace(op, build.create(ShLIOp, lhs=bytes, rhs=one).result)


# Law: a tile of elements is unpacked from its bytes; bytes out of bounds hold the padding.
def _load(op: TileLoadOp, type: Type) -> None:
    if in_bytes(type) is None:
        return
    assert isinstance(type, TiledViewType)
    dim = paired_dim(type)
    assert dim is not None
    _halve_index(op, dim)
    op.tile.type = tiled_view(op.view).tile_type
    users = tuple(op.tile.users)
    if not users:
        return
    build = Builder(InsertPoint.after(op), op.location)
    padding = None if type.padding is None else PADDINGS[type.padding]
    bytes = padded(build, op, padding) if padding else op.tile
    tile = unpack_tile(build, bytes, type.tile, dim)
    for user in users:
        user.replace_operand(op.tile, tile)


# Law: the bytes of a tile are stored; a byte is in bounds as a whole or not at all.
def _store(op: TileStoreOp, type: Type) -> None:
    if in_bytes(type) is None:
        return
    assert isinstance(type, TiledViewType)
    dim = paired_dim(type)
    assert dim is not None
    _halve_index(op, dim)
    build = Rewriter.at(op)
    op.set_operands([pack_tile(build, op.tile, dim), *op.operands[1:]])


def _halve_index(op: TileLoadOp | TileStoreOp, dim: int) -> None:
    """In a gather or scatter, indices count elements."""
    if tiled_view(op.view).sparse is not None:
        position = op.operands.index(op.view) + 1 + dim
        operands = list(op.operands)
        operands[position] = _halved(Rewriter.at(op), operands[position])
        op.set_operands(operands)


def _halved(build: Builder, number: Value) -> Value:
    """Half of an unsigned number."""
    one = build.create(ConstantOp, value=literal([1], number.type), types=[number.type]).result
    return build.create(ShRIOp, lhs=number, rhs=one, signedness=Signedness.UNSIGNED).result
