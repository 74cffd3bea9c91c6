"""The text that `print_tko` prints: C's `printf`, where each conversion takes a whole tile.

A conversion is applied to every element: a scalar prints as such, `[[0, 1], [2, 3]]` is a tile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tilewright.dialects.print_format import Conversion, parse_format
from tilewright.ir.attributes import Type
from tilewright.ir.types import F4E2M1FN, FloatType
from tilewright.reference.numerics.rounding import widen
from tilewright.reference.tile import Array, Pointer, signed, to_patterns

TRAILING_ZEROS: Final = re.compile(r"\.?0+(p)")


def format_tiles(format: str, tiles: Sequence[Array], types: Sequence[Type]) -> str:
    """Format tiles of one block, one per conversion. A NUL ends the format, as in C."""
    format, _, _ = format.partition("\0")
    operands = iter(zip(tiles, types, strict=True))
    text: list[str] = []
    for piece in parse_format(format):
        if isinstance(piece, Conversion):
            tile, type = next(operands)
            piece = _nested(_numbers(tile, type, piece.kind), piece.flags, piece.kind)
        text.append(piece)
    return "".join(text)


def _numbers(tile: Array, type: Type, kind: str) -> Any:
    """The elements as nested lists of Python numbers."""
    if isinstance(type, FloatType):
        return widen(tile, type).tolist()
    if isinstance(type, Pointer):
        return (tile >> np.uint64(type.pointee is F4E2M1FN)).tolist()
    if kind in "uoxXp" or tile.dtype == np.bool_:
        return to_patterns(tile, type).tolist()
    return signed(tile).tolist()


def _nested(value: Any, flags: str, kind: str) -> str:
    if isinstance(value, list):
        parts: list[Any] = value
        return f"[{', '.join(_nested(part, flags, kind) for part in parts)}]"
    return _converted(value, flags, kind)


def _converted(value: Any, flags: str, kind: str) -> str:
    if kind in "aA":
        text = TRAILING_ZEROS.sub(r"\1", float(value).hex())
        return f"%{flags}s" % (text if kind == "a" else text.upper())
    if kind == "p":
        return f"0x{value:x}"
    if kind in "diuoxX":
        value = int(value) if value == value and abs(value) != float("inf") else 0
        return _integer(value, flags, "d" if kind in "iu" else kind)
    if kind == "c":
        value = chr(int(value) & 0xFF)
    return f"%{flags}{kind}" % value


def _integer(value: int, flags: str, kind: str) -> str:
    """Format as C does: the alternate form of zero has no prefix, that of octal is a zero."""
    if "#" in flags and (value == 0 or kind == "o"):
        flags = flags.replace("#", "")
        if kind == "o" and value:
            return f"%{flags}s" % f"0{value:o}"
    return f"%{flags}{kind}" % value
