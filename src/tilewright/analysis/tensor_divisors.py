"""What divides the address, the extents and the strides of a tensor in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.runs import power
from tilewright.dialects.nv_tileaa import view
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.ir.types import DYNAMIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.analysis.axis import AxisFacts
    from tilewright.ir.values import Value


class TensorDivisors:
    """Powers of two that divide the address, the extents and the strides of a view's tensor."""

    __slots__ = ("alignment", "sizes", "strides")

    def __init__(self, tiles: Value, facts: AxisFacts) -> None:
        type = tiled_view(tiles).source
        block = tiles.defined_by(view.BlockTileOp)
        source = None if block is None else block.source
        self.alignment = 1 if source is None else facts.of(source).divisor
        """Of the address, in bytes."""
        made = None if source is None else origin_of(source)
        sizes = () if made is None else made.sizes
        strides = () if made is None else made.strides
        self.sizes = _divisors(type.shape, sizes, facts)
        self.strides = _divisors(type.strides, strides, facts)


def origin_of(source: Value) -> view.MakeMemrefOp | None:
    """The operation that defines a tensor in memory, through the assumptions about it."""
    op = source.defining_op()
    while op is not None and op.name == "nv_tileaa.assume":
        op = op.operands[0].defining_op()
    return op if isinstance(op, view.MakeMemrefOp) else None


def _divisors(numbers: Sequence[int], operands: Sequence[Value], facts: AxisFacts) -> list[int]:
    """The divisor of each number: dynamic ones are operands, in order."""
    rest = iter(operands)
    divisors: list[int] = []
    for number in numbers:
        operand = next(rest, None) if number == DYNAMIC else None
        if number != DYNAMIC:
            divisors.append(power(number))
        else:
            divisors.append(1 if operand is None else facts.of(operand).divisor)
    return divisors
