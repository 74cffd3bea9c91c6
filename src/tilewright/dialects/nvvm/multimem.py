"""Accesses of multimem addresses, which stand for the memory of several GPUs.

They access 4 or 8 bytes in one register, or 8 or 16 in a vector of i32.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.llvm.constraints import BOOL
from tilewright.dialects.multimem import LOADED, UPDATED, reduction_problems
from tilewright.dialects.nvvm.access import GLOBAL
from tilewright.dialects.nvvm.attributes import ACCESS_ORDER, MEM_SCOPE, REDUX_KIND, AccessOrder
from tilewright.dialects.nvvm.base import NvvmOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import I64_ATTR, TYPE_ATTR
from tilewright.ir.attributes import Type
from tilewright.ir.constraints import TypeConstraint
from tilewright.ir.traits import SameType
from tilewright.ir.types import F64, I32, I64, IntegerType, VectorType

WORDS: Final[dict[Type, int]] = {
    I32: 1,
    I64: 1,
    VectorType((2,), I32): 2,
    VectorType((4,), I32): 4,
}
"""The registers of each type."""
ACCESSED: Final = TypeConstraint("i32, i64 or 2 or 4 of i32", lambda type: type in WORDS)


class MultimemOp(NvvmOp):
    """Base of the accesses; `offset` is added to the address, in bytes.

    If the predicate is false memory is not accessed.
    """

    order = d.attribute(ACCESS_ORDER, default=AccessOrder.WEAK)
    scope = d.optional_attribute(MEM_SCOPE)
    offset = d.attribute(I64_ATTR, default=0)

    def _order_problems(self, orders: tuple[AccessOrder, ...]) -> Iterator[str]:
        if self.order not in orders:
            keywords = ", ".join([order.keyword for order in orders])
            yield f"expected one of the orders {keywords}, got {self.order.keyword}"
        if (self.order is not AccessOrder.WEAK) != (self.scope is not None):
            yield f"expected a scope if and only if the order has one, got {self.order.keyword}"


def _register_problems(element: Type, accessed: Type) -> Iterator[str]:
    """Only floats are accessed in vectors, and 64 bits in one register."""
    expected = I64 if element in (I64, F64) else I32
    if accessed is expected or (
        isinstance(accessed, VectorType)
        and expected is I32
        and not isinstance(element, IntegerType)
    ):
        return
    yield f"expected registers of '{expected}' for elements of '{element}', got '{accessed}'"


class MultimemLoadReduceOp(MultimemOp):
    """Load from every GPU and combine what is loaded; `other` if the predicate is false."""

    name = "nvvm.multimem.ld_reduce"
    traits = (SameType("other", "res"),)
    syntax = "$kind $addr (`,` $predicate^ `,` $other)? attr-dict `:` type($addr) `->` type($res)"

    kind = d.attribute(REDUX_KIND)
    element = d.attribute(TYPE_ATTR)
    addr = d.operand(GLOBAL)
    predicate = d.optional_operand(BOOL)
    other = d.optional_operand(ACCESSED)
    res = d.result(ACCESSED)

    def verify(self) -> Iterator[str]:
        orders = (AccessOrder.WEAK, AccessOrder.RELAXED, AccessOrder.ACQUIRE)
        yield from self._order_problems(orders)
        yield from reduction_problems(self.kind.keyword, self.element, LOADED)
        yield from _register_problems(self.element, self.res.type)
        if (self.predicate is None) != (self.other is None):
            yield "expected a predicate and the value if it is false, or neither"


class MultimemReduceOp(MultimemOp):
    """Atomically combine memory of every GPU with a value."""

    name = "nvvm.multimem.red"
    syntax = "$kind $addr `,` $value (`,` $predicate^)? attr-dict `:` type($addr) `,` type($value)"

    kind = d.attribute(REDUX_KIND)
    element = d.attribute(TYPE_ATTR)
    addr = d.operand(GLOBAL)
    value = d.operand(ACCESSED)
    predicate = d.optional_operand(BOOL)

    def verify(self) -> Iterator[str]:
        yield from self._order_problems((AccessOrder.RELAXED, AccessOrder.RELEASE))
        yield from reduction_problems(self.kind.keyword, self.element, UPDATED)
        yield from _register_problems(self.element, self.value.type)


class MultimemStoreOp(MultimemOp):
    """Store to memory of every GPU."""

    name = "nvvm.multimem.st"
    syntax = "$addr `,` $value (`,` $predicate^)? attr-dict `:` type($addr) `,` type($value)"

    addr = d.operand(GLOBAL)
    value = d.operand(ACCESSED)
    predicate = d.optional_operand(BOOL)

    def verify(self) -> Iterator[str]:
        yield from self._order_problems(
            (AccessOrder.WEAK, AccessOrder.RELAXED, AccessOrder.RELEASE)
        )
