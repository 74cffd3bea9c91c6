"""Matrix multiplication. The order of accumulation is unspecified; this one is BLAS's.

Terms of f16 and smaller types are exact in f32, so that only the accumulation is inexact.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tilewright.dialects.cuda_tile import mma as d
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.ir.attributes import Type
from tilewright.ir.operation import Operation
from tilewright.ir.types import F64
from tilewright.ir.values import Value
from tilewright.reference.batch import Batch
from tilewright.reference.errors import Fault
from tilewright.reference.evaluators import evaluator
from tilewright.reference.numerics.integer import read
from tilewright.reference.numerics.rounding import widen
from tilewright.reference.tile import Array, dtype, element

MAX_SINGLE_THREADED_SIZE: Final = 1 << 18
"""The largest M*N*K for which BLAS stays in one thread. For many small matrices its threads cost
more than they gain, and a hundred times as much on a busy machine."""


def matmul(lhs: Array, rhs: Array) -> Array:
    """`lhs @ rhs`, in row blocks."""
    *batch, m, k = lhs.shape
    n = rhs.shape[-1]
    rows = min(m, 1 << max(MAX_SINGLE_THREADED_SIZE // (k * n), 8).bit_length() - 1)
    row_blocks = lhs.reshape(*batch, m // rows, rows, k)
    result = np.matmul(row_blocks, rhs[..., np.newaxis, :, :])
    return result.reshape(*result.shape[:-3], m, n)


@evaluator(d.MmaFOp)
def mmaf(op: d.MmaFOp, at: Batch) -> Array:
    """`lhs @ rhs + acc`."""
    return multiply_floats(at[op.lhs], at[op.rhs], at[op.acc], element(op.acc))


def multiply_floats(lhs: Array, rhs: Array, acc: Array, type: Type) -> Array:
    """`lhs @ rhs + acc` in the accumulator's precision, but at least in single precision."""
    wide = np.float64 if type is F64 else np.float32
    lhs, rhs, acc = (array.astype(wide, copy=False) for array in (lhs, rhs, acc))
    return (matmul(lhs, rhs) + acc).astype(dtype(type), copy=False)


@evaluator(d.MmaIOp)
def mmai(op: d.MmaIOp, at: Batch) -> Array:
    """`lhs @ rhs + acc`, each side signed or not."""
    lhs = read(at[op.lhs], op.signedness_lhs is Signedness.SIGNED)
    rhs = read(at[op.rhs], op.signedness_rhs is Signedness.SIGNED)
    return multiply_integers(lhs, rhs, at[op.acc])


def multiply_integers(lhs: Array, rhs: Array, acc: Array) -> Array:
    """`lhs @ rhs + acc` modulo 2^32; accumulation in f64 is exact."""
    exact = matmul(lhs.astype(np.float64), rhs.astype(np.float64))
    return exact.astype(np.int64).astype(np.int32) + acc


@evaluator(d.MmaFScaledOp)
def mmaf_scaled(op: d.MmaFScaledOp, at: Batch) -> Array:
    """`(lhs * lhs_scale) @ (rhs * rhs_scale) + acc`, with block scales."""
    return multiply_scaled(op, at, (op.lhs, op.rhs), (op.lhs_scale, op.rhs_scale), op.acc)


def multiply_scaled(
    op: Operation, at: Batch, operands: tuple[Value, Value], scales: tuple[Value, Value], acc: Value
) -> Array:
    """The dot of scaled operands, accumulated in f64."""
    lhs, rhs = (widen(at[operand], element(operand)) for operand in operands)
    lhs_scale, rhs_scale = (widen(at[scale], element(scale)) for scale in scales)
    if at.machine.checker is not None:
        for scale in (lhs_scale, rhs_scale):
            at.require(op, ~(scale < 0), Fault.UNDEFINED, "expected no negative scale")
    block = lhs.shape[-1] // lhs_scale.shape[-1]
    lhs = lhs * lhs_scale.repeat(block, axis=-1)
    rhs = rhs * rhs_scale.repeat(block, axis=-2)
    return (matmul(lhs, rhs) + at[acc]).astype(dtype(element(acc)))
