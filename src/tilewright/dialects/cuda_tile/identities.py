"""Identity elements of the bodies of reductions and scans, where the text leaves them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.dialects.cuda_tile.tile_types import TileType
from tilewright.ir.attributes import FloatAttr, IntegerAttr
from tilewright.ir.types import I1, FloatType, IntegerType
from tilewright.support.bits import mask, sign_bit, to_signed
from tilewright.support.floats import FORMATS

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation, Region

_INTEGERS: Final = {"addi": 0, "ori": 0, "xori": 0, "muli": 1, "andi": -1}


def identity_of(body: Region) -> IntegerAttr | FloatAttr | None:
    """Return the identity of a body that is one operation on its two arguments, if it has one."""
    block = body.blocks[0]
    op, last = block.first, block.last
    if op is None or op.next is not last or last is None or last.operands != op.results:
        return None
    if len(block.args) != 2 or set(op.operands) != set(block.args):
        return None
    type = block.args[0].type
    element = type.element if isinstance(type, TileType) else None
    match element:
        case IntegerType(width=width):
            number = _integer(op, width)
            if number is None:
                return None
            return IntegerAttr(number & 1 if element is I1 else number, element)
        case FloatType():
            pattern = _float(op, element)
            return None if pattern is None else FloatAttr(pattern, element)
        case _:
            return None


def _integer(op: Operation, width: int) -> int | None:
    name = op.name.removeprefix("cuda_tile.")
    if name not in ("maxi", "mini"):
        return _INTEGERS.get(name)
    is_max = name == "maxi"
    if op.attributes.get("signedness") is Signedness.UNSIGNED:
        return 0 if is_max else to_signed(mask(width), width)
    return to_signed(sign_bit(width), width) if is_max else sign_bit(width) - 1


def _float(op: Operation, element: FloatType) -> int | None:
    format = FORMATS[element.format]
    match op.name.removeprefix("cuda_tile."):
        case "addf":
            return 0
        case "mulf":
            return format.bias << format.mantissa_bits
        case "maxf" | "minf" if format.infinity is not None:
            return format.signed_pattern(format.infinity, op.name.endswith("maxf"))
        case _:
            return None
