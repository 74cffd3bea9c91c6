"""The rounding modes of arithmetic, and how the text spells a mode."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.cuda_tile.enums import Rounding
from tilewright.dialects.rounding import ieee_roundings

IEEE: Final = ieee_roundings(Rounding)

ROUNDING_SYNTAX: Final = "` ` (`rounding` `<` $rounding_mode^ `>`)?"
"""`rounding<zero>`, or nothing for the default; the space in front is there in any case."""
