"""The bases of operations of the LLVM dialect: of all, and of those that are intrinsics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tilewright.dialects.llvm.directives import DIRECTIVES
from tilewright.ir.operation import Operation
from tilewright.ir.traits import SameType
from tilewright.text.syntax import Directive

UNARY = SameType("operand", "res")
BINARY = SameType("lhs", "rhs", "res")
TERNARY = SameType("a", "b", "c", "res")


class LLVMOp(Operation):
    """An operation of the LLVM dialect, with the custom parts of its syntax."""

    directives: ClassVar[Mapping[str, Directive]] = DIRECTIVES


class IntrinsicOp(LLVMOp):
    """Base of LLVM's own intrinsics."""

    @property
    def intrinsic(self) -> str:
        """What LLVM calls it, without the types that it is overloaded for."""
        return f"llvm.{self.name.removeprefix('llvm.intr.')}"
