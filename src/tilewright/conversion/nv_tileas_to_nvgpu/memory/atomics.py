"""Atomic operations: one holder of each element acts, and tells those that hold it too."""

from __future__ import annotations

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
from tilewright.dialects.llvm.memory import AtomicRMWOp, CmpXchgOp
from tilewright.dialects.nv_tileaa.attributes import MemSemantic, RmwMode
from tilewright.dialects.nv_tileas import memory
from tilewright.dialects.scf import IfOp, YieldOp
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import ConversionBuilder, Patterns, Result, converts
from tilewright.ir.operation import Block
from tilewright.ir.types import FloatType, VectorType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
"""What a comparison that fails may order: it writes nothing."""


def _if_active(
    build: ConversionBuilder, predicate: Value | None, instead: Value, act: Callable[[], Value]
) -> Value:
    """What an action gives where the predicate holds; elsewhere it does not happen."""
    if predicate is None:
        return act()
    then, other = Block(), Block()
    made = build.create(
        IfOp,
        condition=predicate,
        then_region=then,
        else_region=other,
        types=[instead.type],
    )
    with build.at(InsertPoint.at_end(then)):
        found = act()
        build.create(YieldOp, values=[found])
    with build.at(InsertPoint.at_end(other)):
        build.create(YieldOp, values=[instead])
    return made.results[0]


def _update(
    op: AccessOp,
    build: ConversionBuilder,
    mode: RmwMode,
    where: Sequence[VectorAccess],
    values: Value,
) -> Value:
    """What memory held, register by register, before it was combined with values."""
    kind = _KINDS[mode]
    exchanged = kind is AtomicBinOp.XCHG and isinstance(element_of(values.type), FloatType)
    given = as_integers(build, values) if exchanged else values
    nothing = splat_constant(build, 0, element_of(given.type))

    def update(place: VectorAccess, value: Value) -> Value:
        return build.create(
            AtomicRMWOp,
            bin_op=kind,
            ptr=global_pointer(build, place.address, place.offset),
            val=value,
            ordering=_ORDERS[op.semantic],
            syncscope=SYNC_SCOPES[effective_scope(op)],
        ).res

    found = [
        _if_active(build, place.predicate, nothing, lambda p=place, v=value: update(p, v))
        for place, value in zip(where, elements(build, given), strict=True)
    ]
    whole = build.create(FromElementsOp, elements=found, types=[given.type]).result
    return bitcast(build, whole, values.type)


@converts(memory.AtomicRmwOp)
def atomic_rmw(op: memory.AtomicRmwOp, new: memory.AtomicRmwOp, build: ConversionBuilder) -> Result:
    """Each element once; those who hold copies of it hear of the result."""
    where = pointer_accesses(build, new.pointers, new.mask, 1, is_owner(op, build, op.value))
    found = _update(op, build, op.mode, where, as_vector(build, new.value))
    return [broadcast_result(op, build, found, op.result), ()]


@converts(memory.AtomicCasOp)
def atomic_cas(op: memory.AtomicCasOp, new: memory.AtomicCasOp, build: ConversionBuilder) -> Result:
    """Bits are compared; where the mask is false the result is what was expected."""
    where = pointer_accesses(build, new.pointers, new.mask, 1, is_owner(op, build, op.value))
    expected, value = as_vector(build, new.compare), as_vector(build, new.value)
    assert isinstance(expected.type, VectorType)
    order = _ORDERS[op.semantic]

    def swap(place: VectorAccess, before: Value, after: Value) -> Value:
        made = build.create(
            CmpXchgOp,
            ptr=global_pointer(build, place.address, place.offset),
            cmp=before,
            val=after,
            success_ordering=order,
            failure_ordering=_FAILURES.get(order, order),
            syncscope=SYNC_SCOPES[effective_scope(op)],
        )
        return build.create(
            ExtractValueOp, container=made.res, position=[0], types=[before.type]
        ).res

    old, fresh = (as_integers(build, vector) for vector in (expected, value))
    found = [
        _if_active(build, place.predicate, before, lambda p=place, b=before, a=after: swap(p, b, a))
        for place, before, after in zip(
            where, elements(build, old), elements(build, fresh), strict=True
        )
    ]
    whole = build.create(FromElementsOp, elements=found, types=[old.type]).result
    return [broadcast_result(op, build, bitcast(build, whole, expected.type), op.result), ()]


@converts(memory.TiledAtomicRmwOp)
def tiled_atomic_rmw(
    op: memory.TiledAtomicRmwOp, new: memory.TiledAtomicRmwOp, build: ConversionBuilder
) -> Result:
    """Each element of the tile that lies in the tensor once."""
    acting = is_owner(op, build, op.tile)
    where = tile_accesses(op, build, op.view, op.indices, op.tile, 1, acting)
    _update(op, build, op.mode, where, new.tile)
    return [()]


PATTERNS: Final[Patterns] = (
    atomic_rmw,
    atomic_cas,
    tiled_atomic_rmw,
)
