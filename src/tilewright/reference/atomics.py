"""Atomic operations: each element is read and written in one step, in some order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile import atomics as d
from tilewright.dialects.cuda_tile.enums import AtomicMode
from tilewright.reference.access import Token, Update
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import Array, unsigned
from tilewright.reference.tiling import Tile, located
from tilewright.reference.view import tiling_of

Combine = Callable[..., Array]
"""The new value of memory, from the old value and the operands."""


def _exchanged(before: Array, value: Array) -> Array:
    return value


def _as_unsigned(combine: Combine) -> Combine:
    def run(before: Array, value: Array) -> Array:
        return combine(unsigned(before), unsigned(value)).view(before.dtype)

    return run


COMBINE: Final[dict[AtomicMode, Combine]] = {
    AtomicMode.AND: np.bitwise_and,
    AtomicMode.OR: np.bitwise_or,
    AtomicMode.XOR: np.bitwise_xor,
    AtomicMode.ADD: np.add,
    AtomicMode.ADDU: np.add,
    AtomicMode.ADDF: np.add,
    AtomicMode.MAX: np.maximum,
    AtomicMode.MIN: np.minimum,
    AtomicMode.UMAX: _as_unsigned(np.maximum),
    AtomicMode.UMIN: _as_unsigned(np.minimum),
    AtomicMode.XCHG: _exchanged,
}


def one_by_one(combine: Combine) -> Update:
    """An update of elements, in the order of the indices.

    Indices may repeat: all first occurrences are updated together, then all second ones.
    """

    def update(elements: Array, indices: Array, operands: Sequence[Array]) -> Array:
        flat, values = indices.reshape(-1), [operand.reshape(-1) for operand in operands]
        before = np.empty(flat.shape, elements.dtype)
        for group in _without_repeats(flat):
            before[group] = elements[flat[group]]
            elements[flat[group]] = combine(before[group], *(value[group] for value in values))
        return before.reshape(indices.shape)

    return update


def _without_repeats(indices: Array) -> list[Array]:
    """Partition positions so that no part has an index twice."""
    if len(indices) == 1:  # a lock
        return [np.zeros(1, np.int64)]
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(ordered)])
    rank = np.arange(len(ordered)) - np.repeat(starts, lengths)
    by_rank = order[np.argsort(rank, kind="stable")]
    return np.split(by_rank, np.cumsum(np.bincount(rank))[:-1])


@evaluator(d.AtomicRMWTkoOp)
def atomic_rmw_tko(op: d.AtomicRMWTkoOp, at: Batch) -> tuple[Array, Token]:
    """Combine memory with the argument; return the old values."""
    access = at.machine.access(op, at, at.get(op.token))
    update, mask = one_by_one(COMBINE[op.mode]), at.get(op.mask)
    return access.update(at[op.pointers], (at[op.arg],), update, mask), access.token


@evaluator(d.AtomicCASTkoOp)
def atomic_cas_tko(op: d.AtomicCASTkoOp, at: Batch) -> tuple[Array, Token]:
    """Store `val` where memory has the bits of `cmp`; return the old values."""
    access = at.machine.access(op, at, at.get(op.token))
    operands, mask = (at[op.cmp], at[op.val]), at.get(op.mask)
    old = access.update(at[op.pointers], operands, one_by_one(swapped), mask, at[op.cmp])
    return old, access.token


def swapped(before: Array, cmp: Array, val: Array) -> Array:
    """Select the new value where memory has the expected bits."""
    return np.where(unsigned(before) == unsigned(cmp), val, before)


@evaluator(d.AtomicRedViewTkoOp)
def atomic_red_view_tko(op: d.AtomicRedViewTkoOp, at: Batch) -> Token:
    """Combine a tile of a view with values; out-of-bounds elements are ignored."""
    tile = Tile(op, tiling_of(op.view), op.view, op.indices, op.inbounds)
    return update_tile(tile, at, at.get(op.token), at[op.value], op.mode)


def update_tile(
    tile: Tile, at: Batch, token: Token | None, values: Array, mode: AtomicMode
) -> Token:
    """Combine a tile in memory with values."""
    access = at.machine.access(tile.op, at, token)
    addresses, inside = located(tile, at)
    access.update(addresses, (values,), one_by_one(COMBINE[mode]), inside)
    return access.token
