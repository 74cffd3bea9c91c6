"""The attributes of arith: flags, rounding modes, predicates and constants."""

from __future__ import annotations

from typing import Final, TypeAlias

from tilewright.dialects.flags import FlagsAttr
from tilewright.ir.attribute_kinds import AttributeKind, EnumKind, InstanceKind
from tilewright.ir.attributes import (
    Attribute,
    DenseElementsAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
)


class FastMathAttr(FlagsAttr):
    """Fast-math flags: value-changing optimizations that are permitted."""

    __slots__ = ("bits",)
    mnemonic = "arith.fastmath"
    flags = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")
    everything = "fast"
    separator = ","


class OverflowAttr(FlagsAttr):
    """Overflow flags: `nsw` and `nuw`."""

    __slots__ = ("bits",)
    mnemonic = "arith.overflow"
    flags = ("nsw", "nuw")


class RoundingMode(EnumAttr):
    """The rounding mode of a float operation."""

    TO_NEAREST_EVEN = 0
    DOWNWARD = 1
    UPWARD = 2
    TOWARD_ZERO = 3
    TO_NEAREST_AWAY = 4


class CmpIPredicate(EnumAttr, width=64):
    """The predicate of an integer comparison; `s` for signed, `u` for unsigned."""

    EQ = 0
    NE = 1
    SLT = 2
    SLE = 3
    SGT = 4
    SGE = 5
    ULT = 6
    ULE = 7
    UGT = 8
    UGE = 9


class CmpFPredicate(EnumAttr, width=64):
    """The predicate of a float comparison; with NaN, `o` is false and `u` is true."""

    FALSE = 0
    OEQ = 1
    OGT = 2
    OGE = 3
    OLT = 4
    OLE = 5
    ONE = 6
    ORD = 7
    UEQ = 8
    UGT = 9
    UGE = 10
    ULT = 11
    ULE = 12
    UNE = 13
    UNO = 14
    TRUE = 15


class AtomicRMWKind(EnumAttr, width=64):
    """The operation of an atomic read-modify-write."""

    ADDF = 0
    ADDI = 1
    ASSIGN = 2
    MAXIMUMF = 3
    MAXS = 4
    MAXU = 5
    MINIMUMF = 6
    MINS = 7
    MINU = 8
    MULF = 9
    MULI = 10
    ORI = 11
    ANDI = 12
    MAXNUMF = 13
    MINNUMF = 14
    XORI = 15


Literal: TypeAlias = IntegerAttr | FloatAttr | DenseElementsAttr
"""The attributes of constants."""


class LiteralKind(AttributeKind[Literal]):
    """A scalar or dense constant."""

    __slots__ = ()

    def accepts(self, attribute: Attribute) -> bool:
        return isinstance(attribute, Literal)

    def unwrap(self, attribute: Attribute) -> Literal:
        assert isinstance(attribute, Literal)
        return attribute

    def wrap(self, value: Literal) -> Attribute:
        return value


NO_FAST_MATH: Final = FastMathAttr()
NO_OVERFLOW: Final = OverflowAttr()

LITERAL: Final = LiteralKind("a number or dense elements")
FAST_MATH: Final = InstanceKind(FastMathAttr, "fast math flags")
OVERFLOW: Final = InstanceKind(OverflowAttr, "overflow flags")
ROUNDING: Final = EnumKind(RoundingMode)
CMPI_PREDICATE: Final = EnumKind(CmpIPredicate)
CMPF_PREDICATE: Final = EnumKind(CmpFPredicate)

ATOMIC_KIND: Final = EnumKind(AtomicRMWKind)

FAST_MATH_SYNTAX: Final = "(`fastmath` `` $fastmath^)?"
OVERFLOW_SYNTAX: Final = "(`overflow` `` $overflow^)?"
