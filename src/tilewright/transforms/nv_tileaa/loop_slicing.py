"""The dimension along which each tile of a loop is sliced, so that its dots take slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.plans.slicing import slicing_along
from tilewright.transforms.nv_tileaa.uniform_tiles import is_uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class LoopSlicing:
    """The slicing of the tiles of a loop into `count` slices.

    `accepts` is asked for each operation of the loop, and the dimension that its result is sliced
    along.
    """

    __slots__ = ("_accepts", "_count", "_loop", "dims")

    def __init__(self, loop: ForOp, count: int, accepts: Callable[[Operation, int], bool]) -> None:
        self._loop, self._count, self._accepts = loop, count, accepts
        self.dims: dict[Value, int] = {}
        """The dimension of each tile that is sliced; also of uniform tiles from before the loop."""

    def add(self, tile: Value, dim: int) -> bool:
        """Slice a tile, and those it is computed from; False if one of them cannot be."""
        known = self.dims.get(tile)
        if known is not None:
            return known == dim
        self.dims[tile] = dim
        op = tile.defining_op()
        if op is None:
            return False
        if not tile.is_inside(self._loop):
            return is_uniform(tile)
        slicing = slicing_along(op, tile, dim, self._count)
        if slicing is None or not self._accepts(op, dim):
            return False
        operands = [(operand, slicing.get(operand)) for operand in op.operands]
        return all(axis is None or self.add(operand, axis) for operand, axis in operands)
