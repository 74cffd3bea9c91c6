"""Atomics: the owner of each element updates it, and broadcasts the result to replicas."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nv_tileas_to_nvgpu.addresses import global_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.memory.broadcast import broadcast_result
from tilewright.conversion.nv_tileas_to_nvgpu.memory.global_access import (
    SYNC_SCOPES,
    VectorAccess,
    effective_scope,
    pointer_accesses,
)
from tilewright.conversion.nv_tileas_to_nvgpu.memory.tile_addresses import tile_accesses
from tilewright.conversion.nv_tileas_to_nvgpu.predication import is_owner
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import (
    as_integers,
    as_vector,
    bitcast,
    elements,
    splat_constant,
)
from tilewright.dialects.elements import element_of
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.llvm.attributes import AtomicBinOp, AtomicOrdering
from tilewright.dialects.llvm.memory import AtomicRMWOp, CmpXchgOp, FenceOp
from tilewright.dialects.nv_tileaa.attributes import MemSemantic, RmwMode
from tilewright.dialects.nv_tileas import memory
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import FloatType, VectorType

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from tilewright.dialects.nv_tileaa.memory import AccessOp
    from tilewright.ir.values import Value

_KINDS: Final = {
    RmwMode.AND: AtomicBinOp.AND,
    RmwMode.OR: AtomicBinOp.OR,
    RmwMode.XOR: AtomicBinOp.XOR,
    RmwMode.ADD: AtomicBinOp.ADD,
    RmwMode.ADDF: AtomicBinOp.FADD,
    RmwMode.MAX: AtomicBinOp.MAX,
    RmwMode.MIN: AtomicBinOp.MIN,
    RmwMode.UMAX: AtomicBinOp.UMAX,
    RmwMode.UMIN: AtomicBinOp.UMIN,
    RmwMode.XCHG: AtomicBinOp.XCHG,
}
_ORDERS: Final = {
    MemSemantic.RELAXED: AtomicOrdering.MONOTONIC,
    MemSemantic.ACQUIRE: AtomicOrdering.ACQUIRE,
    MemSemantic.RELEASE: AtomicOrdering.RELEASE,
    MemSemantic.ACQ_REL: AtomicOrdering.ACQ_REL,
    MemSemantic.SEQ_CST: AtomicOrdering.SEQ_CST,
}
_FAILURES: Final = {
    AtomicOrdering.RELEASE: AtomicOrdering.MONOTONIC,
    AtomicOrdering.ACQ_REL: AtomicOrdering.ACQUIRE,
}
"""The order of a comparison that fails, and writes nothing."""


@contextmanager
def _order_of_each(op: AccessOp, build: ConversionBuilder, count: int) -> Generator[AtomicOrdering]:
    """The ordering of each of the atomics of a thread, between fences where there are several.

    A thread waits at each atomic that acquires or releases; at fences, once. The elements of a tile
    are not ordered among themselves.
    """
    if count == 1 or op.semantic is MemSemantic.RELAXED:
        yield _ORDERS[op.semantic]
        return
    scope = SYNC_SCOPES[effective_scope(op)]
    if op.semantic.releases:
        is_strongest = op.semantic is MemSemantic.SEQ_CST
        before = AtomicOrdering.SEQ_CST if is_strongest else AtomicOrdering.RELEASE
        build.create(FenceOp, ordering=before, syncscope=scope)
    yield AtomicOrdering.MONOTONIC
    if op.semantic.acquires:
        build.create(FenceOp, ordering=AtomicOrdering.ACQUIRE, syncscope=scope)


def _if_active(
    build: ConversionBuilder, predicate: Value | None, fallback: Value, action: Callable[[], Value]
) -> Value:
    """The result of an action under a predicate; `fallback` where it does not execute."""
    if predicate is None:
        return action()
    then_block, else_block = Block(), Block()
    branch = build.create(
        IfOp,
        condition=predicate,
        then_region=then_block,
        else_region=else_block,
        types=[fallback.type],
    )
    with build.at(InsertPoint.at_end(then_block)):
        result = action()
        build.create(YieldOp, values=[result])
    with build.at(InsertPoint.at_end(else_block)):
        build.create(YieldOp, values=[fallback])
    return branch.results[0]


def _update(
    op: AccessOp,
    build: ConversionBuilder,
    mode: RmwMode,
    accesses: Sequence[VectorAccess],
    values: Value,
) -> Value:
    """Emit a read-modify-write for each element; gives the previous values."""
    kind = _KINDS[mode]
    exchanges_bits = kind is AtomicBinOp.XCHG and isinstance(element_of(values.type), FloatType)
    operands = as_integers(build, values) if exchanges_bits else values
    zero = splat_constant(build, 0, element_of(operands.type))

    with _order_of_each(op, build, len(accesses)) as order:

        def update(access: VectorAccess, value: Value) -> Value:
            return build.create(
                AtomicRMWOp,
                bin_op=kind,
                ptr=global_pointer(build, access.address, access.offset),
                val=value,
                ordering=order,
                syncscope=SYNC_SCOPES[effective_scope(op)],
            ).res

        previous = [
            _if_active(build, access.predicate, zero, lambda p=access, v=value: update(p, v))
            for access, value in zip(accesses, elements(build, operands), strict=True)
        ]
    vector = build.create(FromElementsOp, elements=previous, types=[operands.type]).result
    return bitcast(build, vector, values.type)


@converts(memory.AtomicRmwOp)
def atomic_rmw(op: memory.AtomicRmwOp, new: memory.AtomicRmwOp, build: ConversionBuilder) -> Result:
    """The owner updates each element once, and broadcasts the result to replicas."""
    accesses = pointer_accesses(build, new.pointers, new.mask, 1, is_owner(op, build, op.value))
    previous = _update(op, build, op.mode, accesses, as_vector(build, new.value))
    return [broadcast_result(op, build, previous, op.result), ()]


@converts(memory.AtomicCasOp)
def atomic_cas(op: memory.AtomicCasOp, new: memory.AtomicCasOp, build: ConversionBuilder) -> Result:
    """Compare and swap bits; where the mask is false, the result is the expected value."""
    accesses = pointer_accesses(build, new.pointers, new.mask, 1, is_owner(op, build, op.value))
    expected, value = as_vector(build, new.compare), as_vector(build, new.value)
    assert isinstance(expected.type, VectorType)
    expected_bits, value_bits = (as_integers(build, vector) for vector in (expected, value))
    olds, news = elements(build, expected_bits), elements(build, value_bits)
    with _order_of_each(op, build, len(accesses)) as order:

        def swap(access: VectorAccess, old: Value, new_value: Value) -> Value:
            exchange = build.create(
                CmpXchgOp,
                ptr=global_pointer(build, access.address, access.offset),
                cmp=old,
                val=new_value,
                success_ordering=order,
                failure_ordering=_FAILURES.get(order, order),
                syncscope=SYNC_SCOPES[effective_scope(op)],
            )
            return build.create(
                ExtractValueOp, container=exchange.res, position=[0], types=[old.type]
            ).res

        previous = [
            _if_active(build, each.predicate, old, lambda a=each, o=old, n=new: swap(a, o, n))
            for each, old, new in zip(accesses, olds, news, strict=True)
        ]
    vector = build.create(FromElementsOp, elements=previous, types=[expected_bits.type]).result
    return [broadcast_result(op, build, bitcast(build, vector, expected.type), op.result), ()]


@converts(memory.TiledAtomicRmwOp)
def tiled_atomic_rmw(
    op: memory.TiledAtomicRmwOp, new: memory.TiledAtomicRmwOp, build: ConversionBuilder
) -> Result:
    """The owner updates each element of the tile that is in bounds once."""
    active = is_owner(op, build, op.tile)
    accesses = tile_accesses(op, build, op.view, op.indices, op.tile, 1, active)
    _update(op, build, op.mode, accesses, new.tile)
    return [()]


PATTERNS: Final[Patterns] = (
    atomic_rmw,
    atomic_cas,
    tiled_atomic_rmw,
)
