"""Matrix multiplication. The order of the sum is open; this one is BLAS's.

Products of the small types are exact in single precision, so that only the sum rounds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile import mma as d
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.ir.types import F64
from tilewright.reference.batch import Batch
from tilewright.reference.errors import Fault
from tilewright.reference.meanings import meaning
from tilewright.reference.numerics.integer import read
from tilewright.reference.numerics.rounding import widen
from tilewright.reference.tile import Array, dtype, element

SLAB: Final = 1 << 18
"""Up to so many products, BLAS stays in one thread. Its threads cost more than they give where
many small matrices are multiplied, and a hundred times as much on a busy machine."""


def product(lhs: Array, rhs: Array) -> Array:
    """`lhs @ rhs`, a few rows at a time."""
    *batch, m, k = lhs.shape
    n = rhs.shape[-1]
    rows = min(m, 1 << max(SLAB // (k * n), 8).bit_length() - 1)
    slabs = lhs.reshape(*batch, m // rows, rows, k)
    found = np.matmul(slabs, rhs[..., np.newaxis, :, :])
    return found.reshape(*found.shape[:-3], m, n)


@meaning(d.MmaFOp)
def mmaf(op: d.MmaFOp, at: Batch) -> Array:
    """`lhs @ rhs + acc` in the accumulator's precision, but at least in single precision."""
    type = element(op.acc)
    wide = np.float64 if type is F64 else np.float32
    lhs, rhs, acc = (at[value].astype(wide, copy=False) for value in (op.lhs, op.rhs, op.acc))
    return (product(lhs, rhs) + acc).astype(dtype(type), copy=False)


@meaning(d.MmaIOp)
def mmai(op: d.MmaIOp, at: Batch) -> Array:
    """`lhs @ rhs + acc` modulo 2^32; double precision holds every sum of products exactly."""
    lhs = read(at[op.lhs], op.signedness_lhs is Signedness.SIGNED).astype(np.float64)
    rhs = read(at[op.rhs], op.signedness_rhs is Signedness.SIGNED).astype(np.float64)
    return product(lhs, rhs).astype(np.int64).astype(np.int32) + at[op.acc]


@meaning(d.MmaFScaledOp)
def mmaf_scaled(op: d.MmaFScaledOp, at: Batch) -> Array:
    """`(lhs * lhs_scale) @ (rhs * rhs_scale) + acc`, a scale for each block of elements."""
    lhs, rhs = widen(at[op.lhs], element(op.lhs)), widen(at[op.rhs], element(op.rhs))
    lhs_scale = widen(at[op.lhs_scale], element(op.lhs_scale))
    rhs_scale = widen(at[op.rhs_scale], element(op.rhs_scale))
    if at.machine.checker is not None:
        for scale in (lhs_scale, rhs_scale):
            at.require(op, ~(scale < 0), Fault.UNDEFINED, "expected no negative scale")
    block = lhs.shape[-1] // lhs_scale.shape[-1]
    lhs = lhs * lhs_scale.repeat(block, axis=-1)
    rhs = rhs * rhs_scale.repeat(block, axis=-2)
    return (product(lhs, rhs) + at[op.acc]).astype(np.float32)
