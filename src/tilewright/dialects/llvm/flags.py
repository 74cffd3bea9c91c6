"""Fast-math and overflow flags."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from tilewright.dialects.flags import FlagsAttr
from tilewright.ir.attribute_kinds import InstanceKind
from tilewright.ir.attributes import Attribute, IntegerAttr

FlagsT = TypeVar("FlagsT", bound=FlagsAttr)


class FlagsKind(InstanceKind[FlagsT]):
    """A set of flags, which the generic form may print as an integer."""

    __slots__ = ()

    def coerce(self, attribute: Attribute) -> Attribute:
        if isinstance(attribute, IntegerAttr):
            return self.kind.of_bits(attribute.value)
        return attribute


class FastMathFlags(FlagsAttr):
    """Fast-math flags."""

    __slots__ = ("bits",)
    mnemonic = "llvm.fastmath"
    flags: ClassVar[tuple[str, ...]] = (
        "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc",
    )  # fmt: skip
    everything = "fast"


class OverflowFlags(FlagsAttr):
    """Overflow flags `nsw` and `nuw`."""

    __slots__ = ("bits",)
    mnemonic = "llvm.overflow"
    flags: ClassVar[tuple[str, ...]] = ("nsw", "nuw")
