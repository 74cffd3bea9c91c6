"""Cuts large tiles: what is done with them is done slice by slice, in a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.cuts import Remade, is_tile
from tilewright.analysis.tile_words import tile_words
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.ir.passes import Pass, option
from tilewright.target.arch import WARP_SIZE
from tilewright.transforms.nv_tileaa.slice_build import build_loop
from tilewright.transforms.nv_tileaa.slice_plan import CannotCut, Plan

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

WARPS: Final = 16
"""How many warps a block has if its tiles are large and nobody asks for another number."""
SHARE: Final = 32
"""How many registers of a thread a tile should take at most."""


class SliceTiles(Pass):
    """Do what is done with tiles beyond the registers of a block slice by slice."""

    name = "slice-tiles"
    words: int = option(default=0, doc="how many registers a tile may take; 0: by the warps")

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel:
                slice_function(function, self.words or _budget(function))


def _budget(function: FuncOp) -> int:
    spec = function.kernel_spec
    asked = None if spec is None else spec.num_warps
    return (asked or WARPS) * WARP_SIZE * SHARE


def slice_function(function: FuncOp, budget: int) -> None:
    """Cut the tiles of a function that take more registers than the budget."""
    large = _large(function, budget)
    if not large:
        return
    remade = Remade()
    gone: set[Operation] = set()
    for tile in large:
        maker = tile.defining_op()
        if maker is None or maker in gone or tile in remade:
            continue
        assert maker.parent is not None
        plan = find_plan(maker.parent, remade, tile, budget)
        if plan is not None:
            build_loop(plan)
            gone.update(plan.members)


def _large(function: FuncOp, budget: int) -> list[Value]:
    """The tiles over the budget, the largest first."""
    found = [
        value
        for op in function.walk()
        for value in op.results
        if is_tile(value) and tile_words(value.type) > budget
    ]
    return sorted(found, key=lambda value: -tile_words(value.type))


def find_plan(block: Block, remade: Remade, tile: Value, budget: int) -> Plan | None:
    """A plan to cut a tile, and all that is connected with it, as far as the budget asks."""
    fewest = 2
    while tile_words(tile.type) > budget * fewest:
        fewest *= 2
    for dim, extent in enumerate(shape(tile.type)):
        count, found = fewest, None
        while count <= extent and (plan := _attempt(block, remade, tile, dim, count)):
            found = plan
            if _words(plan) <= budget * count:
                break
            count *= 2
        if found is not None:
            return found
    return None


def _attempt(block: Block, remade: Remade, tile: Value, dim: int, count: int) -> Plan | None:
    plan = Plan(block, remade, count)
    try:
        plan.settle(tile, dim)
    except CannotCut:
        return None
    return plan


def _words(plan: Plan) -> int:
    """How many registers a loop would need for all slices at once that a plan has at a time.

    What reductions have so far is there beside the next slice of it.
    """
    sums = [tile_words(source.type) for op in plan.totals() for source in op.sources]
    return max(2 * sum(sums), *(tile_words(value.type) for value in plan.dims))
