"""Values that other values determine, such as the block ids by the coordinates of a tile.

A value is determined if it is a function of the others: equal coordinates imply equal block ids.
Computations are inverted: `x + 1` determines `x`, and so do `x // 8` and `x % 8` together, while
neither does alone. Overflow and multiplication by zero are disregarded, so that this is a guess:
performance may depend on it, but no result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from tilewright.dialects.arith import casts
from tilewright.dialects.arith import integer as arith
from tilewright.dialects.nv_tileaa import conversion, integer, shape
from tilewright.dialects.nv_tileaa.memory import AddPtrOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.program import GetCtaRankOp, GetProgramIdOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.effects import is_effect_free
from tilewright.ir.rules import constant_of
from tilewright.ir.values import BlockArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

INJECTIVE: Final = (
    AssumeOp,
    casts.ExtSIOp,
    casts.ExtUIOp,
    casts.IndexCastOp,
    casts.IndexCastUIOp,
    casts.TruncIOp,
    conversion.ExtIOp,
    conversion.TruncIOp,
    integer.NegIOp,
    shape.BroadcastOp,
    shape.ExpandDimsOp,
    shape.SplatOp,
    shape.ViewOp,
)
"""Operations whose result determines the operand."""
INVERTIBLE: Final = (
    AddPtrOp,
    arith.AddIOp,
    arith.MulIOp,
    arith.SubIOp,
    integer.AddIOp,
    integer.MulIOp,
    integer.SubIOp,
)
"""Operations whose result and one operand determine the other operand."""
MULTIPLICATIONS: Final = (arith.MulIOp, integer.MulIOp)
ADDITIONS: Final = (arith.AddIOp, integer.AddIOp)
MINIMA: Final = (arith.MinSIOp, arith.MinUIOp)
DIVISIONS: Final = (arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp, integer.DivIOp)
REMAINDERS: Final = (arith.RemSIOp, arith.RemUIOp, integer.RemIOp)
VARYING: Final = (GetProgramIdOp, GetCtaRankOp)
"""Operations without operands whose results differ from block to block."""
MAX_NESTING: Final = 32
"""Values that are computed by a longer chain of operations count as unknown."""

_Division: TypeAlias = "tuple[Value, Value | int]"
"""A value, and what it is divided by."""


class Determined:
    """All values that are known where some values are known."""

    __slots__ = ("_divided", "_reduced", "_values")

    def __init__(self, values: Iterable[Value]) -> None:
        self._values: dict[Value, None] = dict.fromkeys(values)
        self._divided: set[_Division] = set()
        self._reduced: set[_Division] = set()
        count = 0
        while count < len(self._values):
            count = len(self._values)
            for value in list(self._values):
                self._values.update(dict.fromkeys(self._inverted(value)))

    def __contains__(self, value: Value) -> bool:
        return self._is_known(value, MAX_NESTING)

    def _is_known(self, value: Value, nesting: int) -> bool:
        """Whether a value is determined, the same in all blocks, or computed from such values."""
        if value in self._values:
            return True
        op = value.defining_op()
        if op is None:
            assert isinstance(value, BlockArgument)
            return isinstance(value.parent_block.parent_op, FuncOp)
        if not nesting or isinstance(op, VARYING) or op.regions or not is_effect_free(op):
            return False
        if not all(self._is_known(each, nesting - 1) for each in op.operands):
            return False
        self._values[value] = None
        return True

    def _inverted(self, value: Value) -> Iterator[Value]:
        """The values that a known value, with others that are known, determines."""
        op = value.defining_op()
        if op is None:
            yield from _owner_of_part(value)
        elif isinstance(op, INJECTIVE):
            yield op.operands[0]
        elif isinstance(op, INVERTIBLE):
            first, second = op.operands
            if second in self:
                yield first
            elif first in self:
                yield second
        elif isinstance(op, shape.SelectOp):
            yield from _remainder_of_floor(op)
        elif isinstance(op, (*DIVISIONS, *REMAINDERS)):
            yield from self._dividend(op)

    def _dividend(self, op: Operation) -> Iterator[Value]:
        """The dividend, if both the quotient and the remainder are known."""
        dividend, divisor = op.operands
        division = dividend, _constant(divisor) or divisor
        (self._divided if isinstance(op, DIVISIONS) else self._reduced).add(division)
        if division in self._divided and division in self._reduced:
            yield dividend


def _remainder_of_floor(op: shape.SelectOp) -> Iterator[Value]:
    """`r` of `select(c, r + n, r)`: the remainder of a division that rounds down."""
    added = op.true_value.defining_op()
    if isinstance(added, ADDITIONS) and op.false_value in added.operands:
        yield op.false_value


def _owner_of_part(value: Value) -> Iterator[Value]:
    """`x`, if a value is the counter of a loop from `x * n` to `(x + 1) * n`, at most to some end.

    Blocks divide the iterations of a loop among them so: each iteration belongs to one `x`.
    """
    loop = value.parent_block.parent_op if value.parent_block is not None else None
    if not isinstance(loop, ForOp) or value is not loop.induction_variable:
        return
    for lower in _at_most(loop.lower_bound):
        for upper in _at_most(loop.upper_bound):
            yield from _consecutive(lower, upper)


def _at_most(value: Value) -> list[Value]:
    """The operands of a minimum, or the value itself."""
    op = value.defining_op()
    return list(op.operands) if isinstance(op, MINIMA) else [value]


def _consecutive(lower: Value, upper: Value) -> Iterator[Value]:
    """`x`, if two values are `x * n` and `(x + 1) * n`."""
    first, second = lower.defining_op(), upper.defining_op()
    if not isinstance(first, MULTIPLICATIONS) or not isinstance(second, MULTIPLICATIONS):
        return
    for x in first.operands:
        for next in second.operands:
            added = next.defining_op()
            if isinstance(added, ADDITIONS) and x in added.operands:
                yield x


def _constant(value: Value) -> int | None:
    number = constant_of(value)
    return number.value if isinstance(number, IntegerAttr) else None
