"""Address arithmetic, loads, stores, atomics and fences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.inference import InferringOp
from tilewright.dialects.llvm.attributes import (
    ATOMIC_BIN_OP,
    ATOMIC_ORDERING,
    AtomicBinOp,
    AtomicOrdering,
)
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.constraints import (
    ANY,
    FLOAT,
    INTEGER,
    POINTER,
    POINTERS,
    SCALAR_INTEGER,
    STRUCT,
)
from tilewright.dialects.llvm.directives import DYNAMIC_INDEX
from tilewright.dialects.llvm.types import (
    ArrayType,
    StructType,
    is_float,
    is_integer,
)
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import (
    I32_ARRAY_ATTR,
    I32_ATTR,
    I64_ATTR,
    STRING_ATTR,
    TYPE_ATTR,
)
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import I1, VectorType
from tilewright.support.bits import is_power_of_two

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type

_ATOMIC = "(`atomic` (`syncscope` `(` $syncscope^ `)`)? $ordering^)?"


MAX_ALIGNMENT: Final = 1 << 30
"""A little below the maximum of LLVM."""


def alignment_problems(alignment: int | None) -> Iterator[str]:
    """Check an alignment."""
    if alignment is None:
        return
    if not is_power_of_two(alignment) or alignment > MAX_ALIGNMENT:
        yield f"expected an alignment that is a power of two up to 2**30, got {alignment}"


class GEPOp(LLVMOp):
    """Compute the address of a subobject; the first index is in units of the element type."""

    name = "llvm.getelementptr"
    effects = Effects.PURE
    syntax = (
        "custom<NoWrap>($no_wrap) $base `[` custom<Indices>($indices, $constants) `]` attr-dict "
        "`:` custom<FunctionalType>($base, $indices, $res) `,` $element"
    )

    base = d.operand(POINTERS)
    indices = d.operands(INTEGER)
    constants = d.attribute(I32_ARRAY_ATTR, spelling="rawConstantIndices")
    """Every index; `DYNAMIC_INDEX` stands for the next operand."""
    element = d.attribute(TYPE_ATTR, spelling="elem_type")
    no_wrap = d.attribute(I32_ATTR, default=0, spelling="noWrapFlags")
    res = d.result(POINTERS)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        """Infer the type of the base; vectors of indices need an explicit type."""
        return (types["base"][0],)

    def verify(self) -> Iterator[str]:
        expected = sum(number == DYNAMIC_INDEX for number in self.constants)
        if expected != len(self.indices):
            yield f"expected {expected} dynamic indices, got {len(self.indices)}"
        elif not self.constants:
            yield "expected at least one index"
        else:
            yield from self._path_problems()

    def _path_problems(self) -> Iterator[str]:
        inside: Type = self.element
        for position, index in enumerate(self.constants[1:], 1):
            if isinstance(inside, ArrayType | VectorType):
                inside = inside.element
            elif not isinstance(inside, StructType):
                yield f"index #{position} does not apply to '{inside}'"
                return
            elif index == DYNAMIC_INDEX or not 0 <= index < len(inside.elements):
                yield f"index #{position} must be a constant in the range of '{inside}'"
                return
            else:
                inside = inside.elements[index]


class AllocaOp(LLVMOp):
    """Allocate local memory until the function returns."""

    name = "llvm.alloca"
    syntax = (
        "(`inalloca` $inalloca^)? $size `x` $element attr-dict "
        "`:` custom<FunctionalType>($size, $res)"
    )

    size = d.operand(SCALAR_INTEGER)
    alignment = d.optional_attribute(I64_ATTR)
    element = d.attribute(TYPE_ATTR, spelling="elem_type")
    inalloca = d.flag()
    res = d.result(POINTER)

    def verify(self) -> Iterator[str]:
        yield from alignment_problems(self.alignment)


class LoadOp(LLVMOp):
    """Load a value from memory."""

    name = "llvm.load"
    effects = Effects.READ
    syntax = (
        f"(`volatile` $volatile^)? $addr {_ATOMIC} (`invariant` $invariant^)? "
        "attr-dict `:` type($addr) `->` type($res)"
    )

    addr = d.operand(POINTER)
    alignment = d.optional_attribute(I64_ATTR)
    volatile = d.flag(spelling="volatile_")
    nontemporal = d.flag()
    invariant = d.flag()
    ordering = d.attribute(ATOMIC_ORDERING, default=AtomicOrdering.NOT_ATOMIC)
    syncscope = d.optional_attribute(STRING_ATTR)
    res = d.result(ANY)

    def verify(self) -> Iterator[str]:
        yield from alignment_problems(self.alignment)
        forbidden = (AtomicOrdering.RELEASE, AtomicOrdering.ACQ_REL)
        yield from _atomic_problems(self, self.res.type, forbidden)


class StoreOp(LLVMOp):
    """Store a value to memory."""

    name = "llvm.store"
    effects = Effects.WRITE
    syntax = (
        f"(`volatile` $volatile^)? $value `,` $addr {_ATOMIC} "
        "attr-dict `:` type($value) `,` type($addr)"
    )

    value = d.operand(ANY)
    addr = d.operand(POINTER)
    alignment = d.optional_attribute(I64_ATTR)
    volatile = d.flag(spelling="volatile_")
    nontemporal = d.flag()
    ordering = d.attribute(ATOMIC_ORDERING, default=AtomicOrdering.NOT_ATOMIC)
    syncscope = d.optional_attribute(STRING_ATTR)

    def verify(self) -> Iterator[str]:
        yield from alignment_problems(self.alignment)
        forbidden = (AtomicOrdering.ACQUIRE, AtomicOrdering.ACQ_REL)
        yield from _atomic_problems(self, self.value.type, forbidden)


def _atomic_problems(
    op: LoadOp | StoreOp, type: Type, forbidden: tuple[AtomicOrdering, ...]
) -> Iterator[str]:
    if op.ordering is AtomicOrdering.NOT_ATOMIC:
        if op.syncscope is not None:
            yield "expected a syncscope only on atomic accesses"
        return
    if op.ordering in forbidden:
        yield f"cannot have the ordering '{op.ordering.keyword}'"
    if isinstance(type, StructType | ArrayType):
        yield f"expected an atomic access to a number or a pointer, got '{type}'"
    if op.alignment is None:
        yield "expected an alignment on an atomic access"


class CmpXchgOp(LLVMOp, InferringOp):
    """Store `val` if memory holds `cmp`; return the old value and whether it was equal."""

    name = "llvm.cmpxchg"
    traits = (SameType("cmp", "val"),)
    syntax = (
        "(`weak` $weak^)? (`volatile` $volatile^)? $ptr `,` $cmp `,` $val "
        "(`syncscope` `(` $syncscope^ `)`)? $success_ordering $failure_ordering "
        "attr-dict `:` type($ptr) `,` type($val)"
    )

    ptr = d.operand(POINTER)
    cmp = d.operand(ANY)
    val = d.operand(ANY)
    success_ordering = d.attribute(ATOMIC_ORDERING)
    failure_ordering = d.attribute(ATOMIC_ORDERING)
    syncscope = d.optional_attribute(STRING_ATTR)
    alignment = d.optional_attribute(I64_ATTR)
    weak = d.flag()
    volatile = d.flag(spelling="volatile_")
    res = d.result(STRUCT)

    @classmethod
    def infer_results(
        cls, types: Mapping[str, Sequence[Type]], attributes: Mapping[str, Attribute]
    ) -> Sequence[Type]:
        return (StructType((types["val"][0], I1)),)

    def verify(self) -> Iterator[str]:
        yield from super().verify()
        for ordering in (self.success_ordering, self.failure_ordering):
            if ordering.value < AtomicOrdering.MONOTONIC.value:
                yield f"expected an ordering of at least 'monotonic', got '{ordering.keyword}'"
        if self.failure_ordering in (AtomicOrdering.RELEASE, AtomicOrdering.ACQ_REL):
            yield f"cannot have the failure ordering '{self.failure_ordering.keyword}'"


_ON_FLOATS: Final = (AtomicBinOp.FADD, AtomicBinOp.FSUB, AtomicBinOp.FMAX, AtomicBinOp.FMIN)


class AtomicRMWOp(LLVMOp):
    """Atomically combine memory with a value; return the old value."""

    name = "llvm.atomicrmw"
    traits = (SameType("val", "res"),)
    syntax = (
        "(`volatile` $volatile^)? $bin_op $ptr `,` $val (`syncscope` `(` $syncscope^ `)`)? "
        "$ordering attr-dict `:` type($ptr) `,` type($val)"
    )

    bin_op = d.attribute(ATOMIC_BIN_OP)
    ptr = d.operand(POINTER)
    val = d.operand(INTEGER | FLOAT | POINTER)
    ordering = d.attribute(ATOMIC_ORDERING)
    syncscope = d.optional_attribute(STRING_ATTR)
    alignment = d.optional_attribute(I64_ATTR)
    volatile = d.flag(spelling="volatile_")
    res = d.result(INTEGER | FLOAT | POINTER)

    def verify(self) -> Iterator[str]:
        element = element_of(self.val.type)
        if self.bin_op in _ON_FLOATS and not is_float(element):
            yield f"'{self.bin_op.keyword}' expects a float, got '{self.val.type}'"
        elif self.bin_op not in (*_ON_FLOATS, AtomicBinOp.XCHG) and not is_integer(self.val.type):
            yield f"'{self.bin_op.keyword}' expects an integer, got '{self.val.type}'"
        if self.ordering.value < AtomicOrdering.MONOTONIC.value:
            yield f"expected an ordering of at least 'monotonic', got '{self.ordering.keyword}'"


class FenceOp(LLVMOp):
    """Order memory accesses before and after the fence."""

    name = "llvm.fence"
    syntax = "(`syncscope` `(` $syncscope^ `)`)? $ordering attr-dict"

    ordering = d.attribute(ATOMIC_ORDERING)
    syncscope = d.optional_attribute(STRING_ATTR)

    def verify(self) -> Iterator[str]:
        if self.ordering.value < AtomicOrdering.ACQUIRE.value:
            yield f"cannot have the ordering '{self.ordering.keyword}'"
