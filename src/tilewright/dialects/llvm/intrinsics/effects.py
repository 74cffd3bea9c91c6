"""What has effects, or speaks to the optimizer: copies of memory, promises, traps."""

from __future__ import annotations

from tilewright.dialects.llvm.base import IntrinsicOp
from tilewright.dialects.llvm.constraints import BOOL, INT8, POINTER, SCALAR_INTEGER
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR
from tilewright.ir.traits import Effects, SameType


class Transfer(IntrinsicOp):
    """Base of the copies of bytes."""

    dst = d.operand(POINTER)
    src = d.operand(POINTER)
    len = d.operand(SCALAR_INTEGER)
    is_volatile = d.attribute(BOOL_ATTR, spelling="isVolatile")


class MemcpyOp(Transfer):
    """Copies bytes between places that do not overlap."""

    name = "llvm.intr.memcpy"


class MemmoveOp(Transfer):
    """Copies bytes between places that may overlap."""

    name = "llvm.intr.memmove"


class MemsetOp(IntrinsicOp):
    """Fills memory with one byte."""

    name = "llvm.intr.memset"

    dst = d.operand(POINTER)
    val = d.operand(INT8)
    len = d.operand(SCALAR_INTEGER)
    is_volatile = d.attribute(BOOL_ATTR, spelling="isVolatile")


class AssumeOp(IntrinsicOp):
    """Promises that a condition holds."""

    name = "llvm.intr.assume"
    syntax = "$cond attr-dict `:` type($cond)"

    cond = d.operand(BOOL)


class ExpectOp(IntrinsicOp):
    """The value, which is mostly the other one."""

    name = "llvm.intr.expect"
    effects = Effects.PURE
    traits = (SameType("val", "expected", "res"),)
    syntax = "$val `,` $expected attr-dict `:` type($val)"

    val = d.operand(SCALAR_INTEGER)
    expected = d.operand(SCALAR_INTEGER)
    res = d.result(SCALAR_INTEGER)


class TrapOp(IntrinsicOp):
    """Ends the program with an error."""

    name = "llvm.intr.trap"
    syntax = "attr-dict"


class DebugTrapOp(IntrinsicOp):
    """Stops for the debugger."""

    name = "llvm.intr.debugtrap"
    syntax = "attr-dict"
