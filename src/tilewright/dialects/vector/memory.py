"""Vector loads and stores of contiguous elements of a memref, optionally masked."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.elements import (
    ANY_VECTOR,
    INDEX_TYPE,
    RANKED_MEMREF,
    memref,
    vector,
)
from tilewright.dialects.memref.access import index_count_problems
from tilewright.dialects.memref.allocation import alignment_problems
from tilewright.dialects.memref.layout import is_unit_stride
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR, I64_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import I1, MemRefType, VectorType


def _access_problems(base: MemRefType, type: VectorType) -> Iterator[str]:
    if base.element is not type.element and base.element is not type:
        yield f"expected vectors of '{base.element}', got '{type}'"
    if not is_unit_stride(base):
        yield f"expected a memref whose last stride is 1, got '{base}'"


class LoadOp(Operation):
    """Load contiguous elements."""

    name = "vector.load"
    effects = Effects.READ
    syntax = "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)"

    base = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    nontemporal = d.attribute(BOOL_ATTR, default=False)
    alignment = d.optional_attribute(I64_ATTR)
    result = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        yield from _access_problems(memref(self.base), vector(self.result))
        yield from index_count_problems(self.base.type, self.indices)
        yield from alignment_problems(self.alignment)


class StoreOp(Operation):
    """Store contiguous elements."""

    name = "vector.store"
    effects = Effects.WRITE
    syntax = "$value `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($value)"

    value = d.operand(ANY_VECTOR)
    base = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    nontemporal = d.attribute(BOOL_ATTR, default=False)
    alignment = d.optional_attribute(I64_ATTR)

    def verify(self) -> Iterator[str]:
        yield from _access_problems(memref(self.base), vector(self.value))
        yield from index_count_problems(self.base.type, self.indices)
        yield from alignment_problems(self.alignment)


def _mask_problems(mask: VectorType, type: VectorType) -> Iterator[str]:
    if mask.element is not I1 or mask.shape != type.shape:
        yield f"expected a mask of i1 for each element of '{type}', got '{mask}'"


class MaskedLoadOp(Operation):
    """Load contiguous elements under a mask; masked-off elements are not accessed."""

    name = "vector.maskedload"
    effects = Effects.READ
    traits = (SameType("pass_thru", "result"),)
    syntax = (
        "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict "
        "`:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    base = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    mask = d.operand(ANY_VECTOR)
    pass_thru = d.operand(ANY_VECTOR)
    alignment = d.optional_attribute(I64_ATTR)
    result = d.result(ANY_VECTOR)

    def verify(self) -> Iterator[str]:
        yield from _access_problems(memref(self.base), vector(self.result))
        yield from _mask_problems(vector(self.mask), vector(self.result))
        yield from index_count_problems(self.base.type, self.indices)
        yield from alignment_problems(self.alignment)


class MaskedStoreOp(Operation):
    """Store contiguous elements under a mask; masked-off elements are not accessed."""

    name = "vector.maskedstore"
    effects = Effects.WRITE
    syntax = (
        "$base `[` $indices `]` `,` $mask `,` $value attr-dict "
        "`:` type($base) `,` type($mask) `,` type($value)"
    )

    base = d.operand(RANKED_MEMREF)
    indices = d.operands(INDEX_TYPE)
    mask = d.operand(ANY_VECTOR)
    value = d.operand(ANY_VECTOR)
    alignment = d.optional_attribute(I64_ATTR)

    def verify(self) -> Iterator[str]:
        yield from _access_problems(memref(self.base), vector(self.value))
        yield from _mask_problems(vector(self.mask), vector(self.value))
        yield from index_count_problems(self.base.type, self.indices)
        yield from alignment_problems(self.alignment)
