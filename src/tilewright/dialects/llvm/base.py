"""The base classes of operations and intrinsics of the LLVM dialect."""

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
        """The name of the intrinsic in LLVM, without overload suffixes."""
        return f"llvm.{self.name.removeprefix('llvm.intr.')}"
