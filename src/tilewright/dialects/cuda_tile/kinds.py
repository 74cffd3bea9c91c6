"""The kinds of attributes that operations of Tile IR declare."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cuda_tile.attributes import AssumePredicate, OptimizationHintsAttr
from tilewright.dialects.cuda_tile.enums import (
    AtomicMode,
    ComparisonOrdering,
    ComparisonPredicate,
    MemoryOrdering,
    MemoryScope,
    MultimemReduction,
    Overflow,
    Rounding,
    Signedness,
    SymbolVisibility,
)
from tilewright.ir.attribute_kinds import EnumKind, InstanceKind

SIGNEDNESS: Final = EnumKind(Signedness)
OVERFLOW: Final = EnumKind(Overflow)
ROUNDING: Final = EnumKind(Rounding)
ROUNDING_SYNTAX: Final = "` ` (`rounding` `<` $rounding_mode^ `>`)?"
"""`rounding<zero>`, elided for the default; the space before it is always printed."""
COMPARISON_PREDICATE: Final = EnumKind(ComparisonPredicate)
COMPARISON_ORDERING: Final = EnumKind(ComparisonOrdering)
ATOMIC_MODE: Final = EnumKind(AtomicMode)
MULTIMEM_REDUCTION: Final = EnumKind(MultimemReduction)
MEMORY_SCOPE: Final = EnumKind(MemoryScope)
MEMORY_ORDERING: Final = EnumKind(MemoryOrdering)
SYMBOL_VISIBILITY: Final = EnumKind(SymbolVisibility)
OPTIMIZATION_HINTS: Final = InstanceKind(OptimizationHintsAttr, "optimization hints attribute")
ASSUME_PREDICATE: Final = InstanceKind(AssumePredicate, "assume predicate attribute")
