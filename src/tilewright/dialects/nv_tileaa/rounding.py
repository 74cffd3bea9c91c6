"""Rounding modes of float arithmetic, and their assembly format."""

from __future__ import annotations

from typing import Final

from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.rounding import ieee_roundings

IEEE: Final = ieee_roundings(RoundingMode)

ROUNDING_SYNTAX: Final = "(`rounding` `<` $rounding_mode^ `>`)?"
