"""Tiles that are computed from scalars alone: no register need hold them between their uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.nv_tileaa import shape

if TYPE_CHECKING:
    from tilewright.ir.values import Value

SHAPE_OPS: Final = (shape.SplatOp, shape.MakeRangeOp, shape.Rearrangement)


class Rematerializable:
    """The tiles any part of which can be rematerialized from scalars, without memory accesses."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Value, bool] = {}

    def __contains__(self, value: Value) -> bool:
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._compute(value)
        return known

    def _compute(self, value: Value) -> bool:
        op = value.defining_op()
        if op is None:
            return False
        if isinstance(op, ConstantOp):
            return splat_of(op.value) is not None
        if not (is_elementwise(op) or isinstance(op, SHAPE_OPS)):
            return False
        return all(each in self for each in op.operands if is_tile(each))
