"""Casts: from one type of number, vector or pointer to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of
from tilewright.dialects.llvm.attributes import OVERFLOW
from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.constraints import FLOAT, INTEGER, POINTERS
from tilewright.dialects.llvm.flags import OverflowFlags
from tilewright.dialects.llvm.types import PointerType
from tilewright.ir import declare as d
from tilewright.ir.traits import Effects
from tilewright.ir.types import FloatType, IntegerType, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type


def _extent(type: Type) -> int | None:
    return type.shape[0] if isinstance(type, VectorType) else None


def _width(type: Type) -> int:
    element = element_of(type)
    return element.width if isinstance(element, IntegerType | FloatType) else 64


class Cast(LLVMOp):
    """Base of the casts, which keep the number of elements."""

    effects = Effects.PURE
    syntax = "$arg attr-dict `:` type($arg) `to` type($res)"

    def verify(self) -> Iterator[str]:
        before, after = self.operands[0].type, self.results[0].type
        if _extent(before) != _extent(after):
            yield f"expected as many elements in the result as in '{before}', got '{after}'"
            return
        problem = self.width_problem(_width(before), _width(after))
        if problem is not None:
            yield f"expected {problem}, got '{before}' and '{after}'"

    def width_problem(self, before: int, after: int) -> str | None:
        """What is wrong with the widths of the elements."""
        return None


class Widening(Cast):
    """Base of the casts to a wider type of the same kind."""

    def width_problem(self, before: int, after: int) -> str | None:
        return None if before < after else "a result wider than the operand"


class Narrowing(Cast):
    """Base of the casts to a narrower type of the same kind."""

    def width_problem(self, before: int, after: int) -> str | None:
        return None if before > after else "a result narrower than the operand"


class BitcastOp(LLVMOp):
    """The same bits as a value of another type."""

    name = "llvm.bitcast"
    effects = Effects.PURE
    syntax = "$arg attr-dict `:` type($arg) `to` type($res)"

    arg = d.operand(INTEGER | FLOAT | POINTERS)
    res = d.result(INTEGER | FLOAT | POINTERS)

    def verify(self) -> Iterator[str]:
        before, after = self.arg.type, self.res.type
        pointers = [isinstance(element_of(t), PointerType) for t in (before, after)]
        if pointers[0] != pointers[1]:
            yield f"cannot cast '{before}' to '{after}': one of them is a pointer"
        elif _bits(before) != _bits(after):
            yield f"expected a result of {_bits(before)} bits, got '{after}'"


def _bits(type: Type) -> int:
    return _width(type) * (_extent(type) or 1)


class AddrSpaceCastOp(Cast):
    """The same address in another address space."""

    name = "llvm.addrspacecast"

    arg = d.operand(POINTERS)
    res = d.result(POINTERS)


class IntToPtrOp(Cast):
    """An integer as an address."""

    name = "llvm.inttoptr"

    arg = d.operand(INTEGER)
    res = d.result(POINTERS)


class PtrToIntOp(Cast):
    """An address as an integer."""

    name = "llvm.ptrtoint"

    arg = d.operand(POINTERS)
    res = d.result(INTEGER)


class SExtOp(Widening):
    """The same signed integer in more bits."""

    name = "llvm.sext"

    arg = d.operand(INTEGER)
    res = d.result(INTEGER)


class ZExtOp(Widening):
    """The same integer without a sign in more bits; `nneg` promises that none is set on top."""

    name = "llvm.zext"
    syntax = "(`nneg` $nneg^)? $arg attr-dict `:` type($arg) `to` type($res)"

    arg = d.operand(INTEGER)
    nneg = d.flag(spelling="nonNeg")
    res = d.result(INTEGER)


class TruncOp(Narrowing):
    """The low bits."""

    name = "llvm.trunc"
    syntax = "$arg (`overflow` `` $overflow^)? attr-dict `:` type($arg) `to` type($res)"

    arg = d.operand(INTEGER)
    overflow = d.attribute(OVERFLOW, default=OverflowFlags(), spelling="overflowFlags")
    res = d.result(INTEGER)


class SIToFPOp(Cast):
    """A signed integer as a float."""

    name = "llvm.sitofp"

    arg = d.operand(INTEGER)
    res = d.result(FLOAT)


class UIToFPOp(Cast):
    """An integer without a sign as a float."""

    name = "llvm.uitofp"
    syntax = "(`nneg` $nneg^)? $arg attr-dict `:` type($arg) `to` type($res)"

    arg = d.operand(INTEGER)
    nneg = d.flag(spelling="nonNeg")
    res = d.result(FLOAT)


class FPToSIOp(Cast):
    """A float as a signed integer, toward zero; undefined where it does not fit."""

    name = "llvm.fptosi"

    arg = d.operand(FLOAT)
    res = d.result(INTEGER)


class FPToUIOp(Cast):
    """A float as an integer without a sign, toward zero; undefined where it does not fit."""

    name = "llvm.fptoui"

    arg = d.operand(FLOAT)
    res = d.result(INTEGER)


class FPExtOp(Widening):
    """The same float in a wider type."""

    name = "llvm.fpext"

    arg = d.operand(FLOAT)
    res = d.result(FLOAT)


class FPTruncOp(Narrowing):
    """The nearest float of a narrower type."""

    name = "llvm.fptrunc"

    arg = d.operand(FLOAT)
    res = d.result(FLOAT)
