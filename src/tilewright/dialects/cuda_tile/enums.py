"""The enumerations of Tile IR; a member's value is its number in bytecode.

NVIDIA's compiler also prints keywords that its public tools do not know (decision 0003). One that
means the same as a public keyword is a second name of that member; the others are members with a
negative value, which has no place in bytecode.
"""

from __future__ import annotations

from typing import Final

from tilewright.ir.attributes import EnumAttr
from tilewright.ir.declare import Version


class TileEnum(EnumAttr):
    """Base of the enumerations of Tile IR."""

    @property
    def has_number(self) -> bool:
        """Whether bytecode can hold this member."""
        return self.value >= 0


class Signedness(TileEnum, mnemonic="cuda_tile.signedness"):
    """How an operation reads the bits of integers."""

    UNSIGNED = 0
    SIGNED = 1


class Overflow(TileEnum, mnemonic="cuda_tile.overflow"):
    """Which overflows an integer operation promises not to have."""

    NONE = 0
    NO_SIGNED_WRAP = 1
    NO_UNSIGNED_WRAP = 2
    NO_WRAP = 3


class Rounding(TileEnum, mnemonic="cuda_tile.rounding"):
    """Which representable number a result becomes, or how precise it must be."""

    NEAREST_EVEN = 0
    ZERO = 1
    NEGATIVE_INF = 2
    POSITIVE_INF = 3
    APPROX = 4
    FULL = 5
    NEAREST_INT_TO_ZERO = 6
    NEAREST_AWAY = 7


class ComparisonPredicate(TileEnum, mnemonic="cuda_tile.comparison_predicate"):
    """What a comparison asks."""

    EQUAL = 0
    NOT_EQUAL = 1
    LESS_THAN = 2
    LESS_THAN_OR_EQUAL = 3
    GREATER_THAN = 4
    GREATER_THAN_OR_EQUAL = 5


class ComparisonOrdering(TileEnum, mnemonic="cuda_tile.comparison_ordering"):
    """What a comparison of floats says when one of them is NaN: unordered says yes."""

    UNORDERED = 0
    ORDERED = 1


class AtomicMode(TileEnum):
    """What an atomic operation does to memory."""

    AND = 0
    OR = 1
    XOR = 2
    ADD = 3
    ADDF = 4
    MAX = 5
    MIN = 6
    UMAX = 7
    UMIN = 8
    XCHG = 9
    ADDU = -1
    CMPXCHG = -2


class MemoryScope(TileEnum):
    """The threads among which an ordering holds."""

    TL_BLK = 0
    DEVICE = 1
    SYS = 2
    CLUSTER = -1
    GPU = DEVICE

    def keyword_in(self, style: str) -> str:
        if style == "tileiras" and self is MemoryScope.DEVICE:
            return "gpu"
        return self.keyword


class MemoryOrdering(TileEnum):
    """What a memory operation orders."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4
    SEQ_CST = -1


class PaddingValue(TileEnum):
    """What a view reads outside of its tensor."""

    ZERO = 0
    NEG_ZERO = 1
    NAN = 2
    POS_INF = 3
    NEG_INF = 4


class SymbolVisibility(TileEnum, mnemonic="cuda_tile.symbol_visibility"):
    """Whether other modules see a symbol."""

    PUBLIC = 0
    PRIVATE = 1


class PtrAttr(TileEnum, mnemonic="cuda_tile.ptr_attr"):
    """A property of the memory behind a pointer."""

    NONE = 0


ENUM_SINCE: Final[dict[type[EnumAttr] | EnumAttr, Version]] = {
    Rounding.NEAREST_AWAY: (13, 4),
    SymbolVisibility: (13, 3),
    PtrAttr: (13, 4),
}
"""The version that added an enumeration or a member, where that was not the first."""
