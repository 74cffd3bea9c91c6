"""A thread's accesses to global memory: vectors at addresses, under predicates."""

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
from tilewright.ir.types import I4, I8, I16, I64, IntegerType, VectorType
from tilewright.support.diagnostics import Unsupported

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
"""LLVM's names of synchronization scopes."""
_SCOPES: Final = {
    MemScope.TL_BLK: NvvmScope.CTA,
    MemScope.CLUSTER: NvvmScope.CLUSTER,
    MemScope.GPU: NvvmScope.GPU,
    MemScope.SYS: NvvmScope.SYS,
}


class VectorAccess(NamedTuple):
    """One access of a thread to contiguous elements."""

    address: Value
    offset: int
    """Added to the address, in bytes."""
    predicate: Value | None
    elements: Value | None = None
    """How many elements are in bounds, as i32, if the first one is; None: all."""


def effective_scope(op: AccessOp) -> MemScope | None:
    """The scope that an access is ordered in: without clusters, the device stands in for one."""
    if op.scope is MemScope.CLUSTER and target_or_baseline(op).cluster_problem is not None:
        return MemScope.GPU
    return op.scope


def ordering_attributes(op: AccessOp) -> dict[str, Any]:
    """The order and scope of an access that is not sequentially consistent."""
    scope = effective_scope(op)
    order = AccessOrder.VOLATILE if op.volatile else _ORDERS.get(op.semantic)
    return {"order": order, "scope": None if scope is None or op.volatile else _SCOPES[scope]}


class AccessEmitter:
    """Emits loads and stores with the order, scope and cache hints of an operation."""

    __slots__ = ("_attributes", "_location", "_sequentially_consistent", "_syncscope")

    def __init__(self, op: AccessOp) -> None:
        self._location = op.location
        self._syncscope = SYNC_SCOPES[effective_scope(op)]
        self._sequentially_consistent = op.semantic is MemSemantic.SEQ_CST and not op.volatile
        ordering = ordering_attributes(op)
        weak = ordering["order"] is AccessOrder.WEAK
        self._attributes: dict[str, Any] = {
            **ordering,
            "cache": _same_name(op.cache, CacheHint) if weak else None,
            "eviction": _same_name(op.eviction, EvictionPriority) if weak else None,
        }

    def load(
        self,
        build: Builder,
        type: VectorType,
        accesses: Sequence[VectorAccess],
        other: Value | None,
    ) -> Value:
        """Load a vector; elements that are not accessed come from `other`, or are zero."""
        self._check(type)
        attributes = self._ordered(build, AccessOrder.ACQUIRE)
        bytes = _access_bytes(type, accesses)
        words: list[Value] = []
        other_words = () if other is None else to_words(build, other, bytes)
        for number, access in enumerate(accesses):
            fallback = self._fallback(build, access, bytes, other_words, number)
            loaded = build.create(
                nvvm.LoadGlobalOp,
                addr=global_pointer(build, access.address),
                predicate=access.predicate,
                other=fallback,
                bytes=bytes,
                offset=access.offset,
                types=[_access_type(bytes)],
                **attributes,
            ).res
            words += _split(build, loaded, bytes)
        return from_words(build, words, type)

    def store(self, build: Builder, vector: Value, accesses: Sequence[VectorAccess]) -> None:
        """Store a vector."""
        type = vector.type
        assert isinstance(type, VectorType)
        self._check(type)
        attributes = self._ordered(build, AccessOrder.RELEASE)
        bytes = _access_bytes(type, accesses)
        words = to_words(build, vector, bytes)
        for number, access in enumerate(accesses):
            build.create(
                nvvm.StoreGlobalOp,
                addr=global_pointer(build, access.address),
                value=_join(build, words, number, bytes),
                predicate=access.predicate,
                bytes=bytes,
                offset=access.offset,
                **attributes,
            )

    def _ordered(self, build: Builder, strongest: AccessOrder) -> dict[str, Any]:
        """The attributes of the accesses; sequentially consistent ones follow a fence."""
        if not self._sequentially_consistent:
            return self._attributes
        build.create(FenceOp, ordering=AtomicOrdering.SEQ_CST, syncscope=self._syncscope)
        return {**self._attributes, "order": strongest}

    def _check(self, type: VectorType) -> None:
        """Reject elements that share a byte, which have no addresses of their own."""
        if width_of(type) == I4.width:
            raise Unsupported("addresses of single elements of 4 bits", self._location)

    def _fallback(
        self,
        build: Builder,
        access: VectorAccess,
        bytes: int,
        other_words: Sequence[Value],
        number: int,
    ) -> Value | None:
        if access.predicate is None:
            return None
        if other_words:
            return _join(build, other_words, number, bytes)
        if bytes == 16:
            zero = constant(build, 0, I64)
            return build.create(FromElementsOp, elements=[zero, zero], types=[nvvm.PAIR]).result
        width = _access_type(bytes)
        assert isinstance(width, IntegerType)
        return constant(build, 0, width)


def _same_name(
    value: CacheModifier | EvictionPolicy | None, kind: type[CacheHint] | type[EvictionPriority]
) -> CacheHint | EvictionPriority | None:
    """The member of the same name: the enums of nv_tileaa and nvvm both use those of PTX."""
    return None if value is None else kind.__members__[value.name]


def _access_bytes(type: VectorType, accesses: Sequence[VectorAccess]) -> int:
    return type.shape[0] * pointee_bytes(type.element) // len(accesses)


def _access_type(bytes: int) -> Type:
    return next(type for type, sizes in nvvm.SIZES.items() if bytes in sizes)


def _split(build: Builder, loaded: Value, bytes: int) -> Sequence[Value]:
    """The words of a loaded value; a single byte is loaded as an i16."""
    if bytes == 1:
        return (build.create(TruncIOp, source=loaded, types=[I8]).result,)
    return split_access(build, loaded, bytes)


def _join(build: Builder, words: Sequence[Value], number: int, bytes: int) -> Value:
    """The value of one access; a single byte is stored as an i16."""
    if bytes == 1:
        return build.create(ExtUIOp, source=words[number], types=[I16]).result
    return join_access(build, words, number, bytes)


def pointer_accesses(
    build: ConversionBuilder,
    pointers: Value,
    mask: Value | None,
    vector: int,
    active: Value | None = None,
) -> list[VectorAccess]:
    """The accesses through pointers to `vector` contiguous elements each."""
    addresses = elements(build, pointers)[::vector]
    masks: Sequence[Value | None] = [None] * len(addresses)
    if mask is not None:
        masks = elements(build, mask)[::vector]
    return [
        VectorAccess(address, 0, conjunction(build, active, predicate))
        for address, predicate in zip(addresses, masks, strict=True)
    ]
