"""The enumerations of Tile IR; the value of a member is its bytecode encoding.

NVIDIA's compiler also prints keywords that its public tools do not know (decision 0003). One that
means the same as a public keyword is a second name of that member; the others are members with a
negative value, which has no bytecode encoding.
"""

from __future__ import annotations

from typing import Final

from tilewright.ir.attributes import EnumAttr
from tilewright.ir.declare import Version


class TileEnum(EnumAttr):
    """Base of the enumerations of Tile IR."""

    @property
    def has_number(self) -> bool:
        """Whether this member has a bytecode encoding."""
        return self.value >= 0


class Signedness(TileEnum, mnemonic="cuda_tile.signedness"):
    """Whether an operation interprets integers as signed or unsigned."""

    UNSIGNED = 0
    SIGNED = 1


class Overflow(TileEnum, mnemonic="cuda_tile.overflow"):
    """The no-wrap flags of an integer operation."""

    NONE = 0
    NO_SIGNED_WRAP = 1
    NO_UNSIGNED_WRAP = 2
    NO_WRAP = 3


class Rounding(TileEnum, mnemonic="cuda_tile.rounding"):
    """The rounding mode of an operation, or the accuracy of an approximation."""

    NEAREST_EVEN = 0
    ZERO = 1
    NEGATIVE_INF = 2
    POSITIVE_INF = 3
    APPROX = 4
    FULL = 5
    NEAREST_INT_TO_ZERO = 6
    NEAREST_AWAY = 7


class ComparisonPredicate(TileEnum, mnemonic="cuda_tile.comparison_predicate"):
    """The predicate of a comparison."""

    EQUAL = 0
    NOT_EQUAL = 1
    LESS_THAN = 2
    LESS_THAN_OR_EQUAL = 3
    GREATER_THAN = 4
    GREATER_THAN_OR_EQUAL = 5


class ComparisonOrdering(TileEnum, mnemonic="cuda_tile.comparison_ordering"):
    """The result of a float comparison with NaN: false if ordered, true if unordered."""

    UNORDERED = 0
    ORDERED = 1


class AtomicMode(TileEnum):
    """The operation of an atomic read-modify-write."""

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


class MultimemReduction(TileEnum):
    """How values are combined through a multimem address."""

    ADD = 0
    MIN = 1
    MAX = 2
    AND = 3
    OR = 4
    XOR = 5
    UMIN = 6
    UMAX = 7


class MemoryScope(TileEnum):
    """The memory scope: the set of threads that observe an ordering."""

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
    """The memory ordering of an access."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4
    SEQ_CST = -1


class PaddingValue(TileEnum):
    """The value that loads return for elements out of bounds."""

    ZERO = 0
    NEG_ZERO = 1
    NAN = 2
    POS_INF = 3
    NEG_INF = 4


class SymbolVisibility(TileEnum, mnemonic="cuda_tile.symbol_visibility"):
    """Whether a symbol is visible to other modules."""

    PUBLIC = 0
    PRIVATE = 1


class PtrAttr(TileEnum, mnemonic="cuda_tile.ptr_attr"):
    """A property of the memory that a pointer points to."""

    NONE = 0


ENUM_SINCE: Final[dict[type[EnumAttr] | EnumAttr, Version]] = {
    Rounding.NEAREST_AWAY: (13, 4),
    SymbolVisibility: (13, 3),
    PtrAttr: (13, 4),
}
"""The version that added an enumeration or a member, if not the first."""
