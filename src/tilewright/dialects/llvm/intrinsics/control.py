"""Promises about values, and the ends of programs."""

from __future__ import annotations

from tilewright.dialects.llvm.constraints import BOOL, SCALAR_INTEGER
from tilewright.dialects.llvm.intrinsics.base import IntrinsicOp
from tilewright.ir import declare as d
from tilewright.ir.traits import Effects, SameType


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
