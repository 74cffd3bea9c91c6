"""Copies and fills of memory."""

from __future__ import annotations

from tilewright.dialects.llvm.constraints import INT8, POINTER, SCALAR_INTEGER
from tilewright.dialects.llvm.intrinsics.base import IntrinsicOp
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import BOOL_ATTR


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
