"""Memory operations through pointers, atomics, tokens, and ordering of grids."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa import atomics as a
from tilewright.dialects.nv_tileaa import memory as d
from tilewright.reference.access import NO_TOKEN, Token, join_tokens
from tilewright.reference.atomics import COMBINE, one_by_one, swapped
from tilewright.reference.batch import Batch
from tilewright.reference.core import advanced
from tilewright.reference.evaluators import evaluator
from tilewright.reference.memory import allocated
from tilewright.reference.nv_tileaa.enums import RMW_MODES
from tilewright.reference.tile import Array, pointee, stride_in_memory


@evaluator(d.CreateMemTokenOp)
def create_mem_token(op: d.CreateMemTokenOp, at: Batch) -> Token:
    """Make a token without dependences."""
    return NO_TOKEN


@evaluator(d.JoinMemTokenOp)
def join_mem_token(op: d.JoinMemTokenOp, at: Batch) -> Token:
    """Make a token that depends on several others."""
    return join_tokens([at[token] for token in op.tokens])


@evaluator(d.AddPtrOp)
def addptr(op: d.AddPtrOp, at: Batch) -> Array:
    """Advance addresses by a signed number of elements or bytes."""
    size = 1 if op.in_bytes else stride_in_memory(pointee(op.pointers))
    return advanced(op, at, at[op.pointers], at[op.offsets], size)


@evaluator(d.LoadOp)
def load(op: d.LoadOp, at: Batch) -> tuple[Array, Token]:
    """Load through pointers, with `other` where the mask is false."""
    access = at.machine.access(op, at, at.get(op.token))
    mask, other = at.get(op.mask), at.get(op.other)
    return access.load(at[op.pointers], pointee(op.pointers), mask, other), access.token


@evaluator(d.StoreOp)
def store(op: d.StoreOp, at: Batch) -> Token:
    """Store through pointers, with a mask."""
    access = at.machine.access(op, at, at.get(op.token))
    access.store(at[op.pointers], pointee(op.pointers), at[op.value], at.get(op.mask))
    return access.token


@evaluator(a.AtomicRmwOp)
def atomic_rmw(op: a.AtomicRmwOp, at: Batch) -> tuple[Array, Token]:
    """Combine memory with a value; return the old values."""
    access = at.machine.access(op, at, at.get(op.token))
    update, mask = one_by_one(COMBINE[RMW_MODES[op.mode]]), at.get(op.mask)
    return access.update(at[op.pointers], (at[op.value],), update, mask), access.token


@evaluator(a.AtomicCasOp)
def atomic_cas(op: a.AtomicCasOp, at: Batch) -> tuple[Array, Token]:
    """Store a value where memory has the bits of `compare`; return the old values."""
    access = at.machine.access(op, at, at.get(op.token))
    operands, mask = (at[op.compare], at[op.value]), at.get(op.mask)
    update = one_by_one(swapped)
    return access.update(at[op.pointers], operands, update, mask, operands[0]), access.token


@evaluator(d.AllocaOp)
def alloca(op: d.AllocaOp, at: Batch) -> Array:
    """Allocate memory for each block, freed at the end of the region."""
    return allocated(op, at, op.count, op.alignment, is_shared=op.shared_by_grid)


@evaluator(d.FenceAliasOp, d.LaunchDependentsOp, d.WaitOnDependenciesOp)
def order(op: d.TokenOp, at: Batch) -> Token:
    """Only forward the token: addresses have no aliases and grids are serialized here."""
    return at.get(op.token) or NO_TOKEN
