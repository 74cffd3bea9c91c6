"""The choice along which dimension the tiles of a kernel are split over a cluster."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.ir.tiling import tiles_of
from tilewright.target.tensor_cores import MMA_COLUMNS, WGMMA_ROWS
from tilewright.transforms.nv_tileaa.cluster_accesses import WRITES, check_order
from tilewright.transforms.tile.closure import CannotCut, Cut
from tilewright.transforms.tile.control_flow import Scope
from tilewright.transforms.tile.one_part import HALVES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.tiling import Way


class Choice(NamedTuple):
    """What is cut, and the name of the dimension that is split."""

    cut: Cut
    dimension: str


def choose_cut(kernel: FuncOp) -> Choice:
    """The cut with the fewest bytes to load, or raise `CannotCut`."""
    whole = Cut(Scope.of_function(kernel), HALVES)
    dots = [op for op in kernel.walk() if isinstance(op, DotOp)]
    writes = [op for op in kernel.walk() if isinstance(op, WRITES) and any(whole.ways_of(op))]
    # The largest tiles count most: other operations follow, or are not connected with them.
    dots.sort(key=lambda op: -prod(shape(op.c.type)))
    writes.sort(key=lambda op: -prod(_extents(op)))
    if not writes:
        raise CannotCut(kernel, "it writes no tile that can be split")
    seeds = [*dots, *writes]
    choices, failures = _choices(kernel, whole, seeds)
    if not choices:
        raise failures[0] if failures else CannotCut(seeds[0])
    return min(choices, key=lambda choice: _cost(choice.cut, dots, writes))


def _choices(
    kernel: FuncOp, whole: Cut, seeds: Sequence[Operation]
) -> tuple[list[Choice], list[CannotCut]]:
    """The cuts for each way to halve the first operation, the most promising first."""
    choices: list[Choice] = []
    failures: list[CannotCut] = []
    for way in _ordered_ways(seeds[0], whole):
        try:
            cut = whole.with_op(seeds[0], way)
            for seed in seeds[1:]:
                cut = _extended(cut, seed)
            check_order(kernel, cut)
        except CannotCut as failure:
            failures.append(failure)
        else:
            choices.append(Choice(cut, _dimension(seeds[0], way)))
    return choices, failures


def _extended(cut: Cut, op: Operation) -> Cut:
    """A cut with another operation halved; writes of small tiles may be left to the first CTA."""
    if op in cut.ways:
        return cut
    failure: CannotCut | None = None
    for way in _ordered_ways(op, cut):
        try:
            return cut.with_op(op, way)
        except CannotCut as error:
            failure = failure or error
    if isinstance(op, DotOp):
        raise failure or CannotCut(op)
    return cut


def _ordered_ways(op: Operation, cut: Cut) -> list[Way]:
    """The ways to halve an operation, the best first."""
    ways = list(cut.ways_of(op))
    if isinstance(op, DotOp):
        return sorted(ways, key=lambda way: _dot_cost(op, way))
    # Both tiles of a store have the same dimensions, except that pointers may be scalars.
    extents = _extents(op)
    return sorted(ways, key=lambda way: -extents[_write_dim(op, way)])


def _extents(op: Operation) -> tuple[int, ...]:
    """The extents of the tile that an operation writes."""
    return shape(tiles_of(op)[0].type)


def _write_dim(op: Operation, way: Way) -> int:
    return way.axes[tiles_of(op)[0]]


def _dot_cost(op: DotOp, way: Way | None) -> tuple[bool, int]:
    """Whether an instruction has more rows or columns than the half, and what the half loads."""
    extents = list(shape(op.c.type))
    if way is not None:
        extents[way.axes[op.c]] //= HALVES
    *batch, rows, columns = extents
    is_small = rows < WGMMA_ROWS or columns < MMA_COLUMNS
    return is_small, prod(batch) * (rows + columns)


def _cost(cut: Cut, dots: Sequence[DotOp], writes: Sequence[Operation]) -> tuple[int, int, int]:
    """The cost of a cut; of equal ones the first is chosen."""
    costs = [_dot_cost(dot, cut.ways.get(dot)) for dot in dots]
    whole = [op for op in writes if op not in cut.ways]
    return sum(is_small for is_small, _ in costs), sum(cost for _, cost in costs), len(whole)


def _dimension(op: Operation, way: Way) -> str:
    """The name of the dimension along which an operation is halved."""
    if not isinstance(op, DotOp):
        return f"dimension {_write_dim(op, way)} of what is stored"
    from_end = len(shape(op.c.type)) - way.axes[op.c]
    return {2: "M", 1: "N"}.get(from_end, "a batch dimension")
