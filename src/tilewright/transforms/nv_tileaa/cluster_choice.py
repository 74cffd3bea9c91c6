"""The choice among the plans of a kernel for a cluster: along which dimension tiles are split."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.plans.slicing import tiles
from tilewright.target.tensor_cores import MMA_COLUMNS, WGMMA_ROWS
from tilewright.transforms.nv_tileaa.cluster_accesses import WRITES, check_order
from tilewright.transforms.nv_tileaa.half_tile_plan import HalfTilePlan
from tilewright.transforms.nv_tileaa.half_tile_slicing import SLICES, CannotHalve, half_slicings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.plans.slicing import Slicing


class Choice(NamedTuple):
    """A plan, and the name of the dimension that is split."""

    plan: HalfTilePlan
    dimension: str


def choose_plan(kernel: FuncOp) -> Choice:
    """The plan with the fewest bytes to load, or raise `CannotHalve`."""
    dots = [op for op in kernel.walk() if isinstance(op, DotOp)]
    writes = [op for op in kernel.walk() if isinstance(op, WRITES) and any(half_slicings(op))]
    # The largest tiles count most: other operations follow, or are not connected with them.
    dots.sort(key=lambda op: -prod(shape(op.c.type)))
    writes.sort(key=lambda op: -prod(_extents(op)))
    if not writes:
        raise CannotHalve(kernel, "it writes no tile that can be split")
    seeds = [*dots, *writes]
    choices, failures = _choices(kernel, seeds)
    if not choices:
        raise failures[0] if failures else CannotHalve(seeds[0])
    return min(choices, key=lambda choice: _cost(choice.plan, dots, writes))


def _choices(kernel: FuncOp, seeds: Sequence[Operation]) -> tuple[list[Choice], list[CannotHalve]]:
    """The plans for each way to halve the first operation, the most promising first."""
    choices: list[Choice] = []
    failures: list[CannotHalve] = []
    for way in _ordered_ways(seeds[0]):
        try:
            plan = HalfTilePlan(kernel).with_half(seeds[0], way)
            for seed in seeds[1:]:
                plan = _extended(plan, seed)
            check_order(kernel, plan)
        except CannotHalve as failure:
            failures.append(failure)
        else:
            choices.append(Choice(plan, _dimension(seeds[0], way)))
    return choices, failures


def _extended(plan: HalfTilePlan, op: Operation) -> HalfTilePlan:
    """A plan with another operation halved; writes of small tiles may be left to the first CTA."""
    if op in plan.ways:
        return plan
    failure: CannotHalve | None = None
    for way in _ordered_ways(op):
        try:
            return plan.with_half(op, way)
        except CannotHalve as error:
            failure = failure or error
    if isinstance(op, DotOp):
        raise failure or CannotHalve(op)
    return plan


def _ordered_ways(op: Operation) -> list[Slicing]:
    """The ways to halve an operation, the best first."""
    ways = list(half_slicings(op))
    if isinstance(op, DotOp):
        return sorted(ways, key=lambda way: _dot_cost(op, way))
    # Both tiles of a store have the same dimensions, except that pointers may be scalars.
    extents = _extents(op)
    return sorted(ways, key=lambda way: -extents[_write_dim(op, way)])


def _extents(op: Operation) -> tuple[int, ...]:
    """The extents of the tile that an operation writes."""
    return shape(tiles(op)[0].type)


def _write_dim(op: Operation, way: Slicing) -> int:
    return way[tiles(op)[0]]


def _dot_cost(op: DotOp, way: Slicing | None) -> tuple[bool, int]:
    """Whether an instruction has more rows or columns than the half, and what the half loads."""
    extents = list(shape(op.c.type))
    if way is not None:
        extents[way[op.c]] //= SLICES
    *batch, rows, columns = extents
    is_small = rows < WGMMA_ROWS or columns < MMA_COLUMNS
    return is_small, prod(batch) * (rows + columns)


def _cost(
    plan: HalfTilePlan, dots: Sequence[DotOp], writes: Sequence[Operation]
) -> tuple[int, int, int]:
    """The cost of a plan; of equal ones the first is chosen."""
    costs = [_dot_cost(dot, plan.ways.get(dot)) for dot in dots]
    whole = [op for op in writes if op not in plan.ways]
    return sum(is_small for is_small, _ in costs), sum(cost for _, cost in costs), len(whole)


def _dimension(op: Operation, way: Slicing) -> str:
    """The name of the dimension along which an operation is halved."""
    if not isinstance(op, DotOp):
        return f"dimension {_write_dim(op, way)} of what is stored"
    from_end = len(shape(op.c.type)) - way[op.c]
    return {2: "M", 1: "N"}.get(from_end, "a batch dimension")
