"""Memory through pointers, atomics, tokens, and what orders grids."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa import atomics as a
from tilewright.dialects.nv_tileaa import memory as d
from tilewright.reference.access import NO_TOKEN, Token, join_tokens
from tilewright.reference.atomics import COMBINE, one_by_one, swapped
from tilewright.reference.batch import Batch
from tilewright.reference.core import moved
from tilewright.reference.meanings import meaning
from tilewright.reference.memory import allocated
from tilewright.reference.nv_tileaa.enums import RMW_MODES
from tilewright.reference.tile import Array, pointee, stride_in_memory


@meaning(d.CreateMemTokenOp)
def create_mem_token(op: d.CreateMemTokenOp, at: Batch) -> Token:
    """A token that depends on nothing."""
    return NO_TOKEN


@meaning(d.JoinMemTokenOp)
def join_mem_token(op: d.JoinMemTokenOp, at: Batch) -> Token:
    """A token that depends on all of several others."""
    return join_tokens([at[token] for token in op.tokens])


@meaning(d.AddPtrOp)
def addptr(op: d.AddPtrOp, at: Batch) -> Array:
    """Addresses, a signed number of elements or bytes further."""
    size = 1 if op.in_bytes else stride_in_memory(pointee(op.pointers))
    return moved(op, at, at[op.pointers], at[op.offsets], size)


@meaning(d.LoadOp)
def load(op: d.LoadOp, at: Batch) -> tuple[Array, Token]:
    """One element through each pointer, or that of `other` where the mask is false."""
    access = at.machine.access(op, at, at.get(op.token))
    where, other = at.get(op.mask), at.get(op.other)
    return access.load(at[op.pointers], pointee(op.pointers), where, other), access.token


@meaning(d.StoreOp)
def store(op: d.StoreOp, at: Batch) -> Token:
    """One element through each pointer, where the mask is true."""
    access = at.machine.access(op, at, at.get(op.token))
    access.store(at[op.pointers], pointee(op.pointers), at[op.value], at.get(op.mask))
    return access.token


@meaning(a.AtomicRmwOp)
def atomic_rmw(op: a.AtomicRmwOp, at: Batch) -> tuple[Array, Token]:
    """Combines memory with a value; gives what was there before."""
    access = at.machine.access(op, at, at.get(op.token))
    update, where = one_by_one(COMBINE[RMW_MODES[op.mode]]), at.get(op.mask)
    return access.update(at[op.pointers], (at[op.value],), update, where), access.token


@meaning(a.AtomicCasOp)
def atomic_cas(op: a.AtomicCasOp, at: Batch) -> tuple[Array, Token]:
    """Stores a value where memory has the bits of `compare`; gives what was there before."""
    access = at.machine.access(op, at, at.get(op.token))
    operands, where = (at[op.compare], at[op.value]), at.get(op.mask)
    update = one_by_one(swapped)
    return access.update(at[op.pointers], operands, update, where, operands[0]), access.token


@meaning(d.AllocaOp)
def alloca(op: d.AllocaOp, at: Batch) -> Array:
    """Memory for each block, until the region ends that asked for it."""
    return allocated(op, at, op.count, op.alignment, is_shared=op.shared_by_grid)


@meaning(d.FenceAliasOp, d.LaunchDependentsOp, d.WaitOnDependenciesOp)
def order(op: d.TokenOp, at: Batch) -> Token:
    """Addresses have no aliases here and grids run one after the other: only the order stays."""
    return at.get(op.token) or NO_TOKEN
