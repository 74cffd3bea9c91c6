"""Slicing of large tiles: operations on them run in a loop over slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.memory import AccessOp, JoinMemTokenOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass, option
from tilewright.layout.linear import log2
from tilewright.plans.slicing import Rematerializable
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warps import fixed_warps
from tilewright.target.arch import WARP_SIZE
from tilewright.transforms.nv_tileaa.slice_loop import build_loop
from tilewright.transforms.nv_tileaa.slice_plan import CannotCut, Plan, WaitsFor

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

WARPS: Final = 16
"""How many warps a block with large tiles has, if the kernel does not specify it."""
SHARE: Final = 32
"""How many registers of a thread a tile should take at most."""


class SliceTiles(Pass):
    """Process tiles that exceed the registers of a block slice by slice."""

    name = "slice-tiles"
    is_required = True
    words: int = option(default=0, doc="how many registers a tile may take; 0: by the warps")

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel:
                slice_function(function, self.words or _budget(function))


def _budget(function: FuncOp) -> int:
    return (fixed_warps(function) or WARPS) * WARP_SIZE * SHARE


def slice_function(function: FuncOp, budget: int) -> None:
    """Slice the tiles of a function that take more registers than the budget."""
    duplicated: set[Operation] = set()
    while _slice_some(function, budget, duplicated):
        pass


def _slice_some(function: FuncOp, budget: int, duplicated: set[Operation]) -> bool:
    """Slice where possible; returns whether a reduction was duplicated, which allows more."""
    remade = Rematerializable()
    gone: set[Operation] = set()
    for tile in _large(function, budget):
        maker = tile.defining_op()
        if maker is None or maker in gone or tile in remade:
            continue
        assert maker.parent is not None
        try:
            plan = find_plan(maker.parent, remade, tile, budget)
        except WaitsFor as wait:
            if wait.reduction not in duplicated:
                duplicate_operands(wait.plan, wait.reduction)
                duplicated.add(wait.reduction)
                return True
            continue
        if plan is not None:
            gone.update(inner for member in plan.members for inner in member.walk())
            build_loop(plan)
    return False


def duplicate_operands(plan: Plan, reduction: ReduceOp) -> None:
    """Load and compute the operands of a reduction once more, for that reduction alone.

    A write to memory that a plain load reads is ordered after the load by its token, or before it;
    so two loads instead of one read the same value.
    """
    values: dict[Value, Value] = {}
    for op in plan.leading_to(reduction):
        copy = op.clone(values)
        copy.insert_before(op)
        if not isinstance(op, AccessOp):
            continue
        token = op.results[-1]
        users = tuple(token.users)
        if users:
            join = create_op(JoinMemTokenOp, tokens=[token, copy.results[-1]], location=op.location)
            join.insert_after(op)
            for user in users:
                user.replace_operand(token, join.result)
    reduction.set_operands([values.get(value, value) for value in reduction.operands])


def _large(function: FuncOp, budget: int) -> list[Value]:
    """The tiles over the budget, the largest first."""
    tiles = [
        value
        for op in function.walk()
        for value in op.results
        if is_tile(value) and tile_words(value.type) > budget
    ]
    return sorted(tiles, key=lambda value: -tile_words(value.type))


def find_plan(block: Block, remade: Rematerializable, tile: Value, budget: int) -> Plan | None:
    """A plan to slice a tile, and all that is connected with it, to fit the budget.

    Raises `WaitsFor` if only a reduction prevents one.
    """
    fewest = 2
    while tile_words(tile.type) > budget * fewest:
        fewest *= 2
    waits: WaitsFor | None = None
    for dim, extent in enumerate(shape(tile.type)):
        try:
            plan = _along(block, remade, tile, dim, range(log2(fewest), log2(extent) + 1), budget)
        except WaitsFor as error:
            waits = waits or error
            continue
        if plan is not None:
            return plan
    if waits is not None:
        raise waits
    return None


def _along(
    block: Block, remade: Rematerializable, tile: Value, dim: int, counts: range, budget: int
) -> Plan | None:
    """A plan to slice a tile along a dimension, into as few slices as the budget allows."""
    best: Plan | None = None
    for bits in counts:
        plan = _attempt(block, remade, tile, dim, 1 << bits)
        if plan is None:
            break
        best = plan
        if _words(plan) <= budget << bits:
            break
    return best


def _attempt(
    block: Block, remade: Rematerializable, tile: Value, dim: int, count: int
) -> Plan | None:
    plan = Plan(block, remade, count)
    try:
        plan.settle(tile, dim)
    except WaitsFor:
        raise
    except CannotCut:
        return None
    return plan


def _words(plan: Plan) -> int:
    """The registers for the whole tiles of a plan, of which the loop holds a slice at a time.

    A reduction holds its accumulator beside the next slice, a loop all tiles that it carries.
    """
    accumulated = [tile_words(source.type) for op in plan.reductions() for source in op.sources]
    carried = [sum(tile_words(value.type) for value in loop.carried) for loop in plan.loops]
    tiles = [tile_words(value.type) for value in plan.dims]
    return max(2 * sum(accumulated), *carried, *tiles)
