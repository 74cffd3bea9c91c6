"""ub: poison and unreachable."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, Self

from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import InstanceKind
from tilewright.ir.attributes import Parametric
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.dialect import Dialect
from tilewright.ir.operation import Operation
from tilewright.ir.traits import CONSTANT_LIKE, TERMINATOR, Effects

if TYPE_CHECKING:
    from tilewright.text.attribute_printer import AttributePrinter


class PoisonAttr(Parametric):
    """`#ub.poison`: a poison value."""

    __slots__ = ()
    mnemonic = "ub.poison"

    def __new__(cls) -> Self:
        return cls.unique()

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic: none."""
        return ""


POISON: Final = PoisonAttr()


class PoisonOp(Operation):
    """Return a poison value."""

    name = "ub.poison"
    effects = Effects.PURE
    traits = (CONSTANT_LIKE,)
    syntax = "attr-dict `:` type($result)"

    value = d.attribute(InstanceKind(PoisonAttr, "poison"), default=POISON)
    result = d.result(ANY_TYPE)


class UnreachableOp(Operation):
    """Terminate a block that is never reached."""

    name = "ub.unreachable"
    traits = (TERMINATOR,)
    syntax = "attr-dict"


UB: Final = Dialect("ub", sys.modules[__name__])
