"""Memory through pointers, tokens, and what orders grids."""

from __future__ import annotations

import numpy as np

from tilewright.dialects.cuda_tile import memory as d
from tilewright.ir.operation import Operation
from tilewright.ir.types import F4E2M1FN
from tilewright.reference.access import NO_TOKEN, Token, join_tokens
from tilewright.reference.batch import Batch
from tilewright.reference.meanings import meaning
from tilewright.reference.tile import ADDRESS, DTYPES, Array, pointee


@meaning(d.MakeTokenOp)
def make_token(op: d.MakeTokenOp, at: Batch) -> Token:
    """A token that depends on nothing."""
    return NO_TOKEN


@meaning(d.JoinTokensOp)
def join(op: d.JoinTokensOp, at: Batch) -> Token:
    """A token that depends on all of several others."""
    return join_tokens([at[token] for token in op.tokens])


@meaning(d.LoadPtrTkoOp)
def load_ptr_tko(op: d.LoadPtrTkoOp, at: Batch) -> tuple[Array, Token]:
    """One element through each pointer, or the padding where the mask is false."""
    access = at.machine.access(op, at, at.get(op.token))
    where, padding = at.get(op.mask), at.get(op.padding)
    return access.load(at[op.source], pointee(op.source), where, padding), access.token


@meaning(d.StorePtrTkoOp)
def store_ptr_tko(op: d.StorePtrTkoOp, at: Batch) -> Token:
    """One element through each pointer, where the mask is true."""
    access = at.machine.access(op, at, at.get(op.token))
    access.store(at[op.destination], pointee(op.destination), at[op.value], at.get(op.mask))
    return access.token


@meaning(d.AllocaOp)
def alloca(op: d.AllocaOp, at: Batch) -> Array:
    """Memory for each block, until the region ends that asked for it."""
    return allocated(op, at, op.num_elem, op.alignment, is_shared=op.is_global)


def allocated(op: Operation, at: Batch, count: int, alignment: int, *, is_shared: bool) -> Array:
    """The addresses of new memory for each block; others may use what is shared."""
    type = pointee(op.results[0])
    size, scratch = count * DTYPES[type].itemsize, at.machine.scratch
    addresses = [scratch(op, at, lane, size, alignment, is_shared) for lane in range(at.count)]
    return np.array(addresses, ADDRESS) << np.uint64(type is F4E2M1FN)


@meaning(d.MemoryFenceAliasTkoOp, d.GdcWaitTkoOp, d.GdcLaunchDependentsTkoOp)
def order(
    op: d.MemoryFenceAliasTkoOp | d.GdcWaitTkoOp | d.GdcLaunchDependentsTkoOp, at: Batch
) -> Token:
    """Addresses have no aliases here and grids run one after the other: only the order stays."""
    return at.get(op.token) or NO_TOKEN
