"""Constants, the shape of tiles, parts of tiles, addresses, and the position in the grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.dialects.cuda_tile import core as d
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import F4E2M1FN, I1, I4, TF32
from tilewright.ir.values import Value
from tilewright.reference import tile
from tilewright.reference.batch import Batch
from tilewright.reference.errors import Fault
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import (
    Array,
    element,
    per_block,
    pointee,
    shape,
    stride_in_memory,
    unsigned,
)


@meaning(d.ConstantOp)
def constant(op: d.ConstantOp, at: Batch) -> Array:
    """The literal."""
    return tile.constant(op.value.data, element(op.result), shape(op.result))


def count_up(result: Value, start: int = 0) -> Array:
    """The integers from a start on, in a tile of one dimension."""
    (extent,) = shape(result)
    return tile.wrap(np.arange(start, start + extent), element(result))[np.newaxis]


@meaning(d.IotaOp)
def iota(op: d.IotaOp, at: Batch) -> Array:
    """Zero, one, two and so on."""
    return count_up(op.result)


@meaning(d.BroadcastOp)
def broadcast(op: d.BroadcastOp, at: Batch) -> Array:
    """Repetition along the dimensions of extent one."""
    source = at[op.source]
    return np.broadcast_to(source, (len(source), *shape(op.result)))


@meaning(d.ReshapeOp)
def reshape(op: d.ReshapeOp, at: Batch) -> Array:
    """The same elements in another shape."""
    source = at[op.source]
    return source.reshape(len(source), *shape(op.result))


@meaning(d.PermuteOp)
def permute(op: d.PermuteOp, at: Batch) -> Array:
    """Dimension `i` of the result is `permutation[i]` of the source."""
    return at[op.source].transpose(0, *(dim + 1 for dim in op.permutation))


@meaning(d.CatOp)
def cat(op: d.CatOp, at: Batch) -> Array:
    """Two tiles one after the other along a dimension."""
    return joined(at[op.lhs], at[op.rhs], op.dim)


def joined(lhs: Array, rhs: Array, dim: int) -> Array:
    """Two tiles one after the other along a dimension."""
    blocks = max(len(lhs), len(rhs))
    return np.concatenate([per_block(lhs, blocks), per_block(rhs, blocks)], axis=dim + 1)


@meaning(d.ExtractOp)
def extract(op: d.ExtractOp, at: Batch) -> Array:
    """One of the parts that the source is cut into."""
    return taken_part(op, at, op.source, op.indices, shape(op.result))


def taken_part(
    op: Operation, at: Batch, whole: Value, where: Sequence[Value], part: tuple[int, ...]
) -> Array:
    """The part of a tile that indices count."""
    source = at[whole]
    indices = _part_indices(op, at, where, source.shape[1:], part)
    blocks = max(len(source), *map(len, indices)) if indices else len(source)
    return _parts(per_block(source, blocks), part)[(np.arange(blocks), *indices)]


@meaning(d.InsertOp)
def insert(op: d.InsertOp, at: Batch) -> Array:
    """A copy of the destination, one part of which is the source."""
    return replaced_part(op, at, op.source, op.destination, op.indices)


def replaced_part(
    op: Operation, at: Batch, new: Value, old: Value, where: Sequence[Value]
) -> Array:
    """A copy of a tile in which the part that indices count is another."""
    source, destination, part = at[new], at[old], shape(new)
    indices = _part_indices(op, at, where, destination.shape[1:], part)
    blocks = max(map(len, (source, destination, *indices)))
    result = np.array(per_block(destination, blocks))
    _parts(result, part)[(np.arange(blocks), *indices)] = source
    return result


def _parts(whole: Array, part: tuple[int, ...]) -> Array:
    """A tile as a grid of parts: the block, the number of the part, the place in it."""
    cut = [
        extent for dim, size in enumerate(part) for extent in (whole.shape[dim + 1] // size, size)
    ]
    rank = len(part)
    order = (0, *range(1, 2 * rank, 2), *range(2, 2 * rank + 1, 2))
    return whole.reshape(len(whole), *cut).transpose(order)


def _part_indices(
    op: Operation,
    at: Batch,
    values: Sequence[Value],
    whole: tuple[int, ...],
    part: tuple[int, ...],
) -> list[Array]:
    indices = [unsigned(at[value]) for value in values]
    for dim, index in enumerate(indices):
        parts = whole[dim] // part[dim]
        at.require(op, index < parts, Fault.INDEX, f"expected index {dim} below {parts}")
    return indices


@meaning(d.SelectOp)
def select(op: d.SelectOp, at: Batch) -> Array:
    """One of two values for each element."""
    values: tuple[Array, Array] = at[op.val_if_true], at[op.val_if_false]
    return np.where(at[op.cond], *values)


@meaning(d.OffsetOp)
def offset(op: d.OffsetOp, at: Batch) -> Array:
    """Addresses, a signed number of elements further."""
    return moved(op, at, at[op.ptr], at[op.offset], stride_in_memory(pointee(op.ptr)))


def moved(op: Operation, at: Batch, start: Array, offset: Array, size: int) -> Array:
    """Addresses, a signed number of steps of some size further."""
    count = tile.signed(offset).astype(np.int64)
    found = start + (count * size).view(tile.ADDRESS)
    if at.machine.checker is None:
        return found
    fits = (count * size // size == count) & ((found >= start) == (count >= 0))
    return at.machine.checker.defined(op, at, found, fits, "the address overflows")


@meaning(d.PackOp)
def pack(op: d.PackOp, at: Batch) -> Array:
    """The bytes that hold a tile."""
    return packed(at[op.source], element(op.source))


def packed(elements: Array, type: Type) -> Array:
    """The bytes that hold elements."""
    source = np.ascontiguousarray(elements)
    if type is I1:
        return np.packbits(source, axis=1, bitorder="little").view(np.int8)
    if type in (I4, F4E2M1FN):
        halves = tile.to_patterns(source, type) & np.uint8(15)
        return (halves[:, 0::2] | halves[:, 1::2] << np.uint8(4)).view(np.int8)
    return source.view(np.int8)


@meaning(d.UnpackOp)
def unpack(op: d.UnpackOp, at: Batch) -> Array:
    """The tile that bytes hold."""
    return unpacked(at[op.source], element(op.result))


def unpacked(bytes: Array, type: Type) -> Array:
    """The elements that bytes hold."""
    source = np.ascontiguousarray(bytes).view(np.uint8)
    if type is I1:
        return np.unpackbits(source, axis=1, bitorder="little") != 0
    if type in (I4, F4E2M1FN):
        halves = np.stack([source & np.uint8(15), source >> np.uint8(4)], axis=2)
        return tile.from_patterns(halves.reshape(len(source), -1), type)
    if type is TF32:
        return tile.from_memory(source.view(np.float32), TF32)
    return source.view(tile.dtype(type))


@meaning(d.GetTileBlockIdOp)
def get_tile_block_id(op: d.GetTileBlockIdOp, at: Batch) -> tuple[Array, ...]:
    """Where in the grid each block is."""
    return tuple(at.blocks[:, dim] for dim in range(3))


@meaning(d.GetNumTileBlocksOp)
def get_num_tile_blocks(op: d.GetNumTileBlocksOp, at: Batch) -> tuple[Array, ...]:
    """How many blocks the grid has."""
    return tuple(np.array([extent], np.int32) for extent in at.machine.grid)
