"""Global loads and stores with predicate, memory order, cache operator and eviction priority.

They access one or two registers: 1 or 2 bytes in an i16, 4 in an i32, 8 in an i64, 16 in two i64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.llvm.constraints import BOOL, pointer
from tilewright.dialects.nvvm.attributes import (
    ACCESS_ORDER,
    CACHE_HINT,
    EVICTION_PRIORITY,
    MEM_SCOPE,
    AccessOrder,
    CacheHint,
)
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR, IntegerKind
from tilewright.ir.attributes import Type
from tilewright.ir.constraints import TypeConstraint
from tilewright.ir.traits import SameType
from tilewright.ir.types import I16, I32, I64, VectorType

PAIR: Final = VectorType((2,), I64)
SIZES: Final[dict[Type, tuple[int, ...]]] = {I16: (1, 2), I32: (4,), I64: (8,), PAIR: (16,)}
"""The access sizes in bytes of each type."""
ACCESSED: Final = TypeConstraint("i16, i32, i64 or vector<2xi64>", lambda type: type in SIZES)
GLOBAL: Final = pointer(1)
BYTES: Final = IntegerKind(I32, 1)

READ_CACHES: Final = frozenset(
    (CacheHint.CA, CacheHint.CG, CacheHint.CS, CacheHint.LU, CacheHint.CV)
)
WRITE_CACHES: Final = frozenset((CacheHint.WB, CacheHint.CG, CacheHint.CS, CacheHint.WT))


class AccessOp(NvvmOp):
    """Base of global loads and stores; `offset` is added to the address, in bytes.

    A weak access must not race with other threads; the other orders hold among the threads of
    `scope`. If the predicate is false memory is not accessed.
    """

    order = d.attribute(ACCESS_ORDER, default=AccessOrder.WEAK)
    scope = d.optional_attribute(MEM_SCOPE)
    cache = d.optional_attribute(CACHE_HINT)
    eviction = d.optional_attribute(EVICTION_PRIORITY)
    bytes = d.attribute(BYTES)
    offset = d.attribute(I64_ATTR, default=0)

    def _problems(
        self, type: Type, orders: tuple[AccessOrder, ...], caches: frozenset[CacheHint]
    ) -> Iterator[str]:
        if self.bytes not in SIZES[type]:
            sizes = " or ".join(map(str, SIZES[type]))
            yield f"expected {sizes} bytes in '{type}', got {self.bytes}"
        if self.order not in orders:
            keywords = ", ".join([order.keyword for order in orders])
            yield f"expected one of the orders {keywords}, got {self.order.keyword}"
        ordered = self.order not in (AccessOrder.WEAK, AccessOrder.VOLATILE)
        if ordered != (self.scope is not None):
            yield f"expected a scope if and only if the order has one, got {self.order.keyword}"
        if self.cache is not None and self.order is not AccessOrder.WEAK:
            yield f"expected no cache hint with the order {self.order.keyword}"
        elif self.cache is not None and self.cache not in caches:
            keywords = ", ".join([hint.keyword for hint in CacheHint if hint in caches])
            yield f"expected one of the cache hints {keywords}, got {self.cache.keyword}"


class LoadGlobalOp(AccessOp):
    """Load from global memory; if the predicate is false the result is `other`."""

    name = "nvvm.ld.global"
    traits = (SameType("other", "res"),)
    syntax = "$addr (`,` $predicate^ `,` $other)? attr-dict `:` type($addr) `->` type($res)"

    addr = d.operand(GLOBAL)
    predicate = d.optional_operand(BOOL)
    other = d.optional_operand(ACCESSED)
    res = d.result(ACCESSED)

    def verify(self) -> Iterator[str]:
        orders = (AccessOrder.WEAK, AccessOrder.RELAXED, AccessOrder.ACQUIRE, AccessOrder.VOLATILE)
        yield from self._problems(self.res.type, orders, READ_CACHES)
        if (self.predicate is None) != (self.other is None):
            yield "expected a predicate and the value if it is false, or neither"


class StoreGlobalOp(AccessOp):
    """Store to global memory."""

    name = "nvvm.st.global"
    syntax = "$addr `,` $value (`,` $predicate^)? attr-dict `:` type($addr) `,` type($value)"

    addr = d.operand(GLOBAL)
    value = d.operand(ACCESSED)
    predicate = d.optional_operand(BOOL)

    def verify(self) -> Iterator[str]:
        orders = (AccessOrder.WEAK, AccessOrder.RELAXED, AccessOrder.RELEASE, AccessOrder.VOLATILE)
        yield from self._problems(self.value.type, orders, WRITE_CACHES)
