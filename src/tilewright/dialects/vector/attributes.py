"""The kinds of vector reductions."""

from __future__ import annotations

from typing import Final

from tilewright.ir.attribute_kinds import EnumKind
from tilewright.ir.attributes import EnumAttr


class CombiningKind(EnumAttr, mnemonic="vector.kind"):
    """The operation of a reduction."""

    ADD = 0
    MUL = 1
    MINUI = 2
    MINSI = 3
    MINNUMF = 4
    MAXUI = 5
    MAXSI = 6
    MAXNUMF = 7
    AND = 8
    OR = 9
    XOR = 10
    MINIMUMF = 11
    MAXIMUMF = 12

    @property
    def takes_floats(self) -> bool:
        """Whether it applies to floats."""
        return self in (CombiningKind.ADD, CombiningKind.MUL) or self.name.endswith("F")

    @property
    def takes_integers(self) -> bool:
        """Whether it applies to integers."""
        return not self.name.endswith("F")


COMBINING_KIND: Final = EnumKind(CombiningKind)
