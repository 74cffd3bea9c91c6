"""Modes of nv_tileaa as those of Tile IR, which the numerics and the memory model use."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.arith.attributes import OverflowAttr
from tilewright.dialects.cuda_tile import enums as tile_ir
from tilewright.dialects.nv_tileaa.attributes import (
    PaddingValue,
    RmwMode,
    RoundingMode,
    Signedness,
)

ROUNDINGS: Final = {mode: tile_ir.Rounding[mode.name] for mode in RoundingMode}
PADDINGS: Final = {padding: tile_ir.PaddingValue[padding.name] for padding in PaddingValue}
RMW_MODES: Final = {mode: tile_ir.AtomicMode[mode.name] for mode in RmwMode}
OVERFLOW_FLAGS: Final = {
    OverflowAttr(): tile_ir.Overflow.NONE,
    OverflowAttr("nsw"): tile_ir.Overflow.NO_SIGNED_WRAP,
    OverflowAttr("nuw"): tile_ir.Overflow.NO_UNSIGNED_WRAP,
    OverflowAttr("nsw", "nuw"): tile_ir.Overflow.NO_WRAP,
}


def is_signed(signedness: Signedness | None) -> bool:
    """Whether integers are interpreted as signed."""
    return signedness is Signedness.SIGNED
