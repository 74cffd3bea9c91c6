"""Memory through pointers: addptr, load, store."""

from __future__ import annotations

from typing import Final

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.memory.broadcast import broadcast_result
from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import (
    AccessEmitter,
    pointer_accesses,
)
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import as_vector
from tilewright.dialects.arith.casts import ExtSIOp
from tilewright.dialects.arith.integer import AddIOp, MulIOp
from tilewright.dialects.elements import pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import pointer
from tilewright.dialects.nv_tileaa.memory import AddPtrOp
from tilewright.dialects.nv_tileas import memory
from tilewright.dialects.vector.shapes import BroadcastOp
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.types import F4E2M1FN, I1, I4, I64, VectorType
from tilewright.plans.scratch import is_broadcast
from tilewright.support.diagnostics import Unsupported

SUB_BYTE_ELEMENTS: Final = (I4, F4E2M1FN)
"""Elements that share a byte with others, and so have no addresses of their own."""


@converts(AddPtrOp)
def addptr(op: AddPtrOp, new: AddPtrOp, build: ConversionBuilder) -> Result:
    """Integer addition; offsets are scaled by the element size unless they are in bytes."""
    if not op.in_bytes and pointer(op.pointers).pointee in SUB_BYTE_ELEMENTS:
        raise Unsupported("addresses of single elements of 4 bits", op.location)
    type = new.pointers.type
    offsets = new.offsets
    if offsets.type is not type:
        offsets = build.create(ExtSIOp, source=offsets, types=[type]).result
    size = 1 if op.in_bytes else pointee_bytes(pointer(op.pointers).pointee)
    if size > 1:
        scale = constant(build, size, I64)
        if isinstance(type, VectorType):
            scale = build.create(BroadcastOp, source=scale, types=[type]).result
        offsets = build.create(MulIOp, lhs=offsets, rhs=scale).result
    return build.create(AddIOp, lhs=new.pointers, rhs=offsets)


@converts(memory.LoadOp)
def load(op: memory.LoadOp, new: memory.LoadOp, build: ConversionBuilder) -> Result:
    """Every thread loads its registers.

    Where replicas must agree although memory may change, the owner loads and broadcasts.
    """
    (type,) = build.types.convert(op.result.type) or (I1,)
    active = is_owner(op, build, op.result) if is_broadcast(op) else None
    accesses = pointer_accesses(build, new.pointers, new.mask, op.vector, active)
    vector = type if isinstance(type, VectorType) else VectorType((1,), type)
    other = None if new.other is None else as_vector(build, new.other)
    loaded = AccessEmitter(op).load(build, vector, accesses, other)
    return [broadcast_result(op, build, loaded, op.result), ()]


@converts(memory.StoreOp)
def store(op: memory.StoreOp, new: memory.StoreOp, build: ConversionBuilder) -> Result:
    """The owner of each element stores it."""
    active = is_owner(op, build, op.value)
    accesses = pointer_accesses(build, new.pointers, new.mask, op.vector, active)
    AccessEmitter(op).store(build, as_vector(build, new.value), accesses)
    return [()]


PATTERNS: Final[Patterns] = (
    addptr,
    load,
    store,
)
