"""Constants, tile shapes, slices of tiles, address arithmetic, and the position in the grid."""

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
from tilewright.reference.evaluators import Run, decoder, evaluator
from tilewright.reference.tile import (
    Array,
    element,
    per_block,
    pointee,
    shape,
    stride_in_memory,
    unsigned,
)


@decoder(d.ConstantOp)
def constant(op: d.ConstantOp) -> Run:
    """The literal."""
    array = tile.constant(op.value.data, element(op.result), shape(op.result))
    return lambda at: array


def count_up(result: Value, start: int = 0) -> Array:
    """Consecutive integers from a start in a one-dimensional tile."""
    (extent,) = shape(result)
    return tile.wrap(np.arange(start, start + extent), element(result))[np.newaxis]


@evaluator(d.IotaOp)
def iota(op: d.IotaOp, at: Batch) -> Array:
    """0, 1, 2, ..."""
    return count_up(op.result)


@evaluator(d.BroadcastOp)
def broadcast(op: d.BroadcastOp, at: Batch) -> Array:
    """Broadcast along dimensions of extent one."""
    source = at[op.source]
    return np.broadcast_to(source, (len(source), *shape(op.result)))


@evaluator(d.ReshapeOp)
def reshape(op: d.ReshapeOp, at: Batch) -> Array:
    """Reshape a tile."""
    source = at[op.source]
    return source.reshape(len(source), *shape(op.result))


@evaluator(d.PermuteOp)
def permute(op: d.PermuteOp, at: Batch) -> Array:
    """Dimension `i` of the result is `permutation[i]` of the source."""
    return at[op.source].transpose(0, *(dim + 1 for dim in op.permutation))


@evaluator(d.CatOp)
def cat(op: d.CatOp, at: Batch) -> Array:
    """Concatenate two tiles along a dimension."""
    return joined(at[op.lhs], at[op.rhs], op.dim)


def joined(lhs: Array, rhs: Array, dim: int) -> Array:
    """Concatenate two tiles along a dimension."""
    blocks = max(len(lhs), len(rhs))
    return np.concatenate([per_block(lhs, blocks), per_block(rhs, blocks)], axis=dim + 1)


@evaluator(d.ExtractOp)
def extract(op: d.ExtractOp, at: Batch) -> Array:
    """Extract a slice at an index in units of slices."""
    return extract_part(op, at, op.source, op.indices, shape(op.result))


def extract_part(
    op: Operation, at: Batch, whole: Value, positions: Sequence[Value], part: tuple[int, ...]
) -> Array:
    """Extract a slice at indices in units of slices."""
    source = at[whole]
    indices = _part_indices(op, at, positions, source.shape[1:], part)
    blocks = max(len(source), *map(len, indices)) if indices else len(source)
    return _parts(per_block(source, blocks), part)[(np.arange(blocks), *indices)]


@evaluator(d.InsertOp)
def insert(op: d.InsertOp, at: Batch) -> Array:
    """Insert the source into a copy of the destination."""
    return insert_part(op, at, op.source, op.destination, op.indices)


def insert_part(
    op: Operation, at: Batch, new: Value, old: Value, positions: Sequence[Value]
) -> Array:
    """Insert a slice into a copy of a tile at indices in units of slices."""
    source, destination, part = at[new], at[old], shape(new)
    indices = _part_indices(op, at, positions, destination.shape[1:], part)
    blocks = max(map(len, (source, destination, *indices)))
    result = np.array(per_block(destination, blocks))
    _parts(result, part)[(np.arange(blocks), *indices)] = source
    return result


def _parts(whole: Array, part: tuple[int, ...]) -> Array:
    """Reshape a tile to a grid of slices: block, slice indices, indices in the slice."""
    split = [
        extent for dim, size in enumerate(part) for extent in (whole.shape[dim + 1] // size, size)
    ]
    rank = len(part)
    order = (0, *range(1, 2 * rank, 2), *range(2, 2 * rank + 1, 2))
    return whole.reshape(len(whole), *split).transpose(order)


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
        message = f"expected index {dim} below {parts}"
        at.require(op, index < parts, Fault.INDEX, message, lambda at, i=index: f", got {i[at[0]]}")
    return indices


@decoder(d.SelectOp)
def select(op: d.SelectOp) -> Run:
    """Select elementwise."""
    condition, if_true, if_false = op.cond, op.val_if_true, op.val_if_false

    def run(at: Batch) -> Array:
        values = at.values
        return np.where(values[condition], values[if_true], values[if_false])

    return run


@evaluator(d.OffsetOp)
def offset(op: d.OffsetOp, at: Batch) -> Array:
    """Advance addresses by a signed number of elements."""
    return advanced(op, at, at[op.ptr], at[op.offset], stride_in_memory(pointee(op.ptr)))


def advanced(op: Operation, at: Batch, start: Array, offset: Array, size: int) -> Array:
    """Advance addresses by a signed number of steps."""
    count = tile.signed(offset).astype(np.int64)
    result = start + (count * size).view(tile.ADDRESS)
    if at.machine.checker is None:
        return result
    fits = (count * size // size == count) & ((result >= start) == (count >= 0))
    return at.machine.checker.defined(op, at, result, fits, "the address overflows")


@evaluator(d.PackOp)
def pack(op: d.PackOp, at: Batch) -> Array:
    """Pack a tile into bytes."""
    return packed(at[op.source], element(op.source))


def packed(elements: Array, type: Type) -> Array:
    """Pack elements into bytes."""
    source = np.ascontiguousarray(elements)
    if type is I1:
        return np.packbits(source, axis=1, bitorder="little").view(np.int8)
    if type in (I4, F4E2M1FN):
        nibbles = tile.to_patterns(source, type) & np.uint8(15)
        return (nibbles[:, 0::2] | nibbles[:, 1::2] << np.uint8(4)).view(np.int8)
    return source.view(np.int8)


@evaluator(d.UnpackOp)
def unpack(op: d.UnpackOp, at: Batch) -> Array:
    """Unpack a tile from bytes."""
    return unpacked(at[op.source], element(op.result))


def unpacked(bytes: Array, type: Type) -> Array:
    """Unpack elements from bytes."""
    source = np.ascontiguousarray(bytes).view(np.uint8)
    if type is I1:
        return np.unpackbits(source, axis=1, bitorder="little") != 0
    if type in (I4, F4E2M1FN):
        nibbles = np.stack([source & np.uint8(15), source >> np.uint8(4)], axis=2)
        return tile.from_patterns(nibbles.reshape(len(source), -1), type)
    if type is TF32:
        return tile.from_memory(source.view(np.float32), TF32)
    return source.view(tile.dtype(type))


@evaluator(d.GetTileBlockIdOp)
def get_tile_block_id(op: d.GetTileBlockIdOp, at: Batch) -> tuple[Array, ...]:
    """The coordinates of each block in the grid."""
    return tuple(at.blocks[:, dim] for dim in range(3))


@evaluator(d.GetNumTileBlocksOp)
def get_num_tile_blocks(op: d.GetNumTileBlocksOp, at: Batch) -> tuple[Array, ...]:
    """The extents of the grid."""
    return tuple(np.array([extent], np.int32) for extent in at.machine.grid)
