"""One thread's accesses to global memory: groups of registers at addresses, under predicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tilewright.analysis.targets import target_or_baseline
from tilewright.conversion.nv_tileas_to_nvgpu.addresses import global_pointer
from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import constant
from tilewright.conversion.nv_tileas_to_nvgpu.predication import conjunction
from tilewright.conversion.nv_tileas_to_nvgpu.register_packing import (
    from_words,
    join_access,
    split_access,
    to_words,
)
from tilewright.conversion.nv_tileas_to_nvgpu.vectors import elements
from tilewright.dialects.arith.casts import ExtUIOp, TruncIOp
from tilewright.dialects.elements import pointee_bytes, width_of
from tilewright.dialects.llvm.attributes import AtomicOrdering
from tilewright.dialects.llvm.memory import FenceOp
from tilewright.dialects.nv_tileaa.attributes import (
    CacheModifier,
    EvictionPolicy,
    MemScope,
    MemSemantic,
)
from tilewright.dialects.nvvm import access as nvvm
from tilewright.dialects.nvvm.attributes import AccessOrder, CacheHint, EvictionPriority
from tilewright.dialects.nvvm.attributes import MemScope as NvvmScope
from tilewright.dialects.vector.elements import FromElementsOp
from tilewright.ir.conversion import ConversionBuilder
from tilewright.ir.types import I4, I8, I16, I64, VectorType
from tilewright.support.diagnostics import Unsupported
from tilewright.target.features import Feature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.memory import AccessOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.values import Value

_ORDERS: Final = {
    MemSemantic.WEAK: AccessOrder.WEAK,
    MemSemantic.RELAXED: AccessOrder.RELAXED,
    MemSemantic.ACQUIRE: AccessOrder.ACQUIRE,
    MemSemantic.RELEASE: AccessOrder.RELEASE,
}


SYNC_SCOPES: Final[dict[MemScope | None, str | None]] = {
    MemScope.TL_BLK: "block",
    MemScope.CLUSTER: "cluster",
    MemScope.GPU: "device",
    MemScope.SYS: None,
    None: None,
}
"""What LLVM calls scopes."""


_SCOPES: Final = {
    MemScope.TL_BLK: NvvmScope.CTA,
    MemScope.CLUSTER: NvvmScope.CLUSTER,
    MemScope.GPU: NvvmScope.GPU,
    MemScope.SYS: NvvmScope.SYS,
}


class VectorAccess(NamedTuple):
    """Where one group of registers lies, and whether it is accessed at all."""

    address: Value
    offset: int
    """Bytes behind the address."""
    predicate: Value | None


def effective_scope(op: AccessOp) -> MemScope | None:
    """The threads that an access is ordered with; a GPU without clusters takes all of its own."""
    if op.scope is MemScope.CLUSTER and Feature.CLUSTER not in target_or_baseline(op):
        return MemScope.GPU
    return op.scope


class AccessEmitter:
    """How memory is accessed: order, scope, caches."""

    __slots__ = ("_fields", "_location", "_syncscope", "_total")

    def __init__(self, op: AccessOp) -> None:
        self._location = op.location
        scope = effective_scope(op)
        self._syncscope = SYNC_SCOPES[scope]
        self._total = op.semantic is MemSemantic.SEQ_CST and not op.volatile
        order = AccessOrder.VOLATILE if op.volatile else _ORDERS.get(op.semantic)
        weak = order is AccessOrder.WEAK
        self._fields: dict[str, Any] = {
            "order": order,
            "scope": None if scope is None or op.volatile else _SCOPES[scope],
            "cache": _same_name(op.cache, CacheHint) if weak else None,
            "eviction": _same_name(op.eviction, EvictionPriority) if weak else None,
        }

    def load(
        self, build: Builder, type: VectorType, places: Sequence[VectorAccess], other: Value | None
    ) -> Value:
        """All registers of a vector, those that are not accessed from another vector, or zero."""
        self._check(type)
        fields = self._ordered(build, AccessOrder.ACQUIRE)
        bytes = _access_bytes(type, places)
        words: list[Value] = []
        others = () if other is None else to_words(build, other, bytes)
        for number, place in enumerate(places):
            instead = self._instead(build, place, bytes, others, number)
            moved = build.create(
                nvvm.LoadGlobalOp,
                addr=global_pointer(build, place.address),
                predicate=place.predicate,
                other=instead,
                bytes=bytes,
                offset=place.offset,
                types=[_access_type(bytes)],
                **fields,
            ).res
            words += _split(build, moved, bytes)
        return from_words(build, words, type)

    def store(self, build: Builder, vector: Value, places: Sequence[VectorAccess]) -> None:
        """All registers of a vector."""
        type = vector.type
        assert isinstance(type, VectorType)
        self._check(type)
        fields = self._ordered(build, AccessOrder.RELEASE)
        bytes = _access_bytes(type, places)
        words = to_words(build, vector, bytes)
        for number, place in enumerate(places):
            build.create(
                nvvm.StoreGlobalOp,
                addr=global_pointer(build, place.address),
                value=_join(build, words, number, bytes),
                predicate=place.predicate,
                bytes=bytes,
                offset=place.offset,
                **fields,
            )

    def _ordered(self, build: Builder, strongest: AccessOrder) -> dict[str, Any]:
        """How to access memory; what has a place in one order of all stands behind a fence."""
        if not self._total:
            return self._fields
        build.create(FenceOp, ordering=AtomicOrdering.SEQ_CST, syncscope=self._syncscope)
        return {**self._fields, "order": strongest}

    def _check(self, type: VectorType) -> None:
        """Two elements in a byte of memory have no addresses of their own."""
        if width_of(type) == I4.width:
            raise Unsupported("addresses of single elements of 4 bits", self._location)

    def _instead(
        self, build: Builder, place: VectorAccess, bytes: int, others: Sequence[Value], number: int
    ) -> Value | None:
        if place.predicate is None:
            return None
        if others:
            return _join(build, others, number, bytes)
        if bytes == 16:
            zero = constant(build, 0, I64)
            return build.create(FromElementsOp, elements=[zero, zero], types=[nvvm.PAIR]).result
        width = I16 if bytes < 4 else _access_type(bytes)
        return constant(build, 0, width)  # pyright: ignore[reportArgumentType]


def _same_name(
    value: CacheModifier | EvictionPolicy | None, kind: type[CacheHint] | type[EvictionPriority]
) -> CacheHint | EvictionPriority | None:
    """The member of the same name; both levels name them as PTX does."""
    return None if value is None else kind.__members__[value.name]


def _access_bytes(type: VectorType, places: Sequence[VectorAccess]) -> int:
    return type.shape[0] * pointee_bytes(type.element) // len(places)


def _access_type(bytes: int) -> Type:
    return next(type for type, sizes in nvvm.SIZES.items() if bytes in sizes)


def _split(build: Builder, moved: Value, bytes: int) -> Sequence[Value]:
    """What one access brought, as words; a byte comes in a register of two."""
    if bytes == 1:
        return (build.create(TruncIOp, source=moved, types=[I8]).result,)
    return split_access(build, moved, bytes)


def _join(build: Builder, words: Sequence[Value], number: int, bytes: int) -> Value:
    """What one access takes along; a byte goes in a register of two."""
    if bytes == 1:
        return build.create(ExtUIOp, source=words[number], types=[I16]).result
    return join_access(build, words, number, bytes)


def pointer_accesses(
    build: ConversionBuilder,
    pointers: Value,
    mask: Value | None,
    vector: int,
    acting: Value | None = None,
) -> list[VectorAccess]:
    """The places that pointers lead to, so many registers at each."""
    addresses = elements(build, pointers)[::vector]
    masks: Sequence[Value | None] = [None] * len(addresses)
    if mask is not None:
        masks = elements(build, mask)[::vector]
    return [
        VectorAccess(address, 0, conjunction(build, acting, predicate))
        for address, predicate in zip(addresses, masks, strict=True)
    ]
