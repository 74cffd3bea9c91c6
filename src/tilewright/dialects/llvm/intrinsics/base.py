"""The base of LLVM's intrinsics, and which of their values have one type."""

from __future__ import annotations

from tilewright.dialects.llvm.base import LLVMOp
from tilewright.ir.traits import SameType

UNARY = SameType("operand", "res")
BINARY = SameType("lhs", "rhs", "res")
TERNARY = SameType("a", "b", "c", "res")


class IntrinsicOp(LLVMOp):
    """Base of all of them."""

    @property
    def intrinsic(self) -> str:
        """What LLVM calls it, without the types that it is overloaded for."""
        return f"llvm.{self.name.removeprefix('llvm.intr.')}"
