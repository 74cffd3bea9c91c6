"""The base of all operations of the LLVM dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tilewright.dialects.llvm.directives import DIRECTIVES
from tilewright.ir.operation import Operation
from tilewright.text.syntax import Directive


class LLVMOp(Operation):
    """An operation of the LLVM dialect, with the custom parts of its syntax."""

    directives: ClassVar[Mapping[str, Directive]] = DIRECTIVES
