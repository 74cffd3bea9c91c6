"""Intrinsics with effects or optimizer hints: memory copies, assumptions, traps."""

from __future__ import annotations

from tilewright.dialects.llvm.base import IntrinsicOp
from tilewright.dialects.llvm.constraints import BOOL, INT8, POINTER, SCALAR_INTEGER
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR
from tilewright.ir.traits import Effects, SameType


class Transfer(IntrinsicOp):
    """Base of the memory copies."""

    dst = d.operand(POINTER)
    src = d.operand(POINTER)
    len = d.operand(SCALAR_INTEGER)
    is_volatile = d.attribute(BOOL_ATTR, spelling="isVolatile")


class MemcpyOp(Transfer):
    """Copy bytes between ranges that do not overlap."""

    name = "llvm.intr.memcpy"


class MemmoveOp(Transfer):
    """Copy bytes between ranges that may overlap."""

    name = "llvm.intr.memmove"


class MemsetOp(IntrinsicOp):
    """Fill memory with a byte."""

    name = "llvm.intr.memset"

    dst = d.operand(POINTER)
    val = d.operand(INT8)
    len = d.operand(SCALAR_INTEGER)
    is_volatile = d.attribute(BOOL_ATTR, spelling="isVolatile")


class AssumeOp(IntrinsicOp):
    """Assume that a condition is true."""

    name = "llvm.intr.assume"
    syntax = "$cond attr-dict `:` type($cond)"

    cond = d.operand(BOOL)


class ExpectOp(IntrinsicOp):
    """Return a value, with a hint of the expected value."""

    name = "llvm.intr.expect"
    effects = Effects.PURE
    traits = (SameType("val", "expected", "res"),)
    syntax = "$val `,` $expected attr-dict `:` type($val)"

    val = d.operand(SCALAR_INTEGER)
    expected = d.operand(SCALAR_INTEGER)
    res = d.result(SCALAR_INTEGER)


class TrapOp(IntrinsicOp):
    """Abort the program."""

    name = "llvm.intr.trap"
    syntax = "attr-dict"


class DebugTrapOp(IntrinsicOp):
    """Trap to the debugger."""

    name = "llvm.intr.debugtrap"
    syntax = "attr-dict"
