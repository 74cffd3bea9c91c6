"""Casts between integers, floats, vectors and pointers."""

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
    """Base of the elementwise casts."""

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
        """Check the widths of the elements."""
        return None


class Extension(Cast):
    """Base of the extensions."""

    def width_problem(self, before: int, after: int) -> str | None:
        return None if before < after else "a result wider than the operand"


class Truncation(Cast):
    """Base of the truncations."""

    def width_problem(self, before: int, after: int) -> str | None:
        return None if before > after else "a result narrower than the operand"


class BitcastOp(LLVMOp):
    """Reinterpret the bits of a value as another type."""

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
    """Cast a pointer to another address space."""

    name = "llvm.addrspacecast"

    arg = d.operand(POINTERS)
    res = d.result(POINTERS)


class IntToPtrOp(Cast):
    """Cast an integer to a pointer."""

    name = "llvm.inttoptr"

    arg = d.operand(INTEGER)
    res = d.result(POINTERS)


class PtrToIntOp(Cast):
    """Cast a pointer to an integer."""

    name = "llvm.ptrtoint"

    arg = d.operand(POINTERS)
    res = d.result(INTEGER)


class SExtOp(Extension):
    """Sign extension."""

    name = "llvm.sext"

    arg = d.operand(INTEGER)
    res = d.result(INTEGER)


class ZExtOp(Extension):
    """Zero extension; `nneg` asserts that the sign bit is zero."""

    name = "llvm.zext"
    syntax = "(`nneg` $nneg^)? $arg attr-dict `:` type($arg) `to` type($res)"

    arg = d.operand(INTEGER)
    nneg = d.flag(spelling="nonNeg")
    res = d.result(INTEGER)


class TruncOp(Truncation):
    """Truncation to the low bits."""

    name = "llvm.trunc"
    syntax = "$arg (`overflow` `` $overflow^)? attr-dict `:` type($arg) `to` type($res)"

    arg = d.operand(INTEGER)
    overflow = d.attribute(OVERFLOW, default=OverflowFlags(), spelling="overflowFlags")
    res = d.result(INTEGER)


class SIToFPOp(Cast):
    """Convert a signed integer to a float."""

    name = "llvm.sitofp"

    arg = d.operand(INTEGER)
    res = d.result(FLOAT)


class UIToFPOp(Cast):
    """Convert an unsigned integer to a float."""

    name = "llvm.uitofp"
    syntax = "(`nneg` $nneg^)? $arg attr-dict `:` type($arg) `to` type($res)"

    arg = d.operand(INTEGER)
    nneg = d.flag(spelling="nonNeg")
    res = d.result(FLOAT)


class FPToSIOp(Cast):
    """Convert a float to a signed integer, toward zero; poison if out of range."""

    name = "llvm.fptosi"

    arg = d.operand(FLOAT)
    res = d.result(INTEGER)


class FPToUIOp(Cast):
    """Convert a float to an unsigned integer, toward zero; poison if out of range."""

    name = "llvm.fptoui"

    arg = d.operand(FLOAT)
    res = d.result(INTEGER)


class FPExtOp(Extension):
    """Extend a float to a wider type."""

    name = "llvm.fpext"

    arg = d.operand(FLOAT)
    res = d.result(FLOAT)


class FPTruncOp(Truncation):
    """Round a float to a narrower type."""

    name = "llvm.fptrunc"

    arg = d.operand(FLOAT)
    res = d.result(FLOAT)
