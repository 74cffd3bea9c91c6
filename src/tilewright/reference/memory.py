"""Memory operations through pointers, tokens, and ordering of grids."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile import memory as d
from tilewright.ir.operation import Operation
from tilewright.ir.types import F4E2M1FN
from tilewright.reference.access import NO_TOKEN, Token, join_tokens
from tilewright.reference.batch import Batch
from tilewright.reference.evaluators import evaluator
from tilewright.reference.tile import ADDRESS, DTYPES, Array, pointee


@evaluator(d.MakeTokenOp)
def make_token(op: d.MakeTokenOp, at: Batch) -> Token:
    """Make a token without dependences."""
    return NO_TOKEN


@evaluator(d.JoinTokensOp)
def join(op: d.JoinTokensOp, at: Batch) -> Token:
    """Make a token that depends on several others."""
    return join_tokens([at[token] for token in op.tokens])


@evaluator(d.LoadPtrTkoOp)
def load_ptr_tko(op: d.LoadPtrTkoOp, at: Batch) -> tuple[Array, Token]:
    """Load through pointers, with a mask and padding."""
    access = at.machine.access(op, at, at.get(op.token))
    mask, padding = at.get(op.mask), at.get(op.padding)
    return access.load(at[op.source], pointee(op.source), mask, padding), access.token


@evaluator(d.StorePtrTkoOp)
def store_ptr_tko(op: d.StorePtrTkoOp, at: Batch) -> Token:
    """Store through pointers, with a mask."""
    access = at.machine.access(op, at, at.get(op.token))
    access.store(at[op.destination], pointee(op.destination), at[op.value], at.get(op.mask))
    return access.token


@evaluator(d.AllocaOp)
def alloca(op: d.AllocaOp, at: Batch) -> Array:
    """Allocate memory for each block, freed at the end of the region."""
    return allocated(op, at, op.num_elem, op.alignment, is_shared=op.is_global)


def allocated(op: Operation, at: Batch, count: int, alignment: int, *, is_shared: bool) -> Array:
    """The addresses of new memory for each block; `is_shared` allows access from other blocks."""
    type = pointee(op.results[0])
    size, scratch = count * DTYPES[type].itemsize, at.machine.scratch
    addresses = [scratch(op, at, lane, size, alignment, is_shared) for lane in range(at.count)]
    return np.array(addresses, ADDRESS) << np.uint64(type is F4E2M1FN)


@evaluator(d.MemoryFenceAliasTkoOp, d.GdcWaitTkoOp, d.GdcLaunchDependentsTkoOp)
def order(
    op: d.MemoryFenceAliasTkoOp | d.GdcWaitTkoOp | d.GdcLaunchDependentsTkoOp, at: Batch
) -> Token:
    """Only forward the token: addresses have no aliases and grids are serialized here."""
    return at.get(op.token) or NO_TOKEN
