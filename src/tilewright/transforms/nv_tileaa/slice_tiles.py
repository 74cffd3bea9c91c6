"""Slicing of large tiles: operations on them run in a loop over slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_streamed, is_tile
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import AccessOp, JoinMemTokenOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TiledAtomicRmwOp
from tilewright.ir.builder import create_op
from tilewright.ir.passes import Pass, option
from tilewright.ir.tiling import Join
from tilewright.layout.linear import log2
from tilewright.plans.rematerialization import Rematerializable
from tilewright.schedule.limits import TILE_SHARE
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.transforms.tile.closure import CannotCut, Cut, Scope
from tilewright.transforms.tile.loop import build_loop
from tilewright.transforms.tile.region import PartRegion, WaitsFor

if TYPE_CHECKING:
    from collections.abc import Collection

    from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.tiling import Way
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class SliceTiles(Pass):
    """Process tiles that exceed the registers of a block slice by slice."""

    name = "slice-tiles"
    is_required = True
    words: int = option(default=0, doc="how many registers a tile may take; 0: by the warps")

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel:
                slice_function(function, self.words or threads_of(function) * TILE_SHARE)


def slice_function(function: FuncOp, budget: int) -> None:
    """Slice the tiles of a function that take more registers than the budget."""
    duplicated: set[Operation] = set()
    while (wait := _slice_some(function, budget, duplicated)) is not None:
        duplicate_operands(wait.region, wait.reduction)
        duplicated.add(wait.reduction)


def _slice_some(
    function: FuncOp, budget: int, duplicated: Collection[Operation]
) -> WaitsFor | None:
    """Slice where possible, up to the first reduction whose operands may be duplicated."""
    remade = Rematerializable()
    gone: set[Operation] = set()
    for tile in _large(function, budget):
        maker = tile.defining_op()
        if maker is None or maker in gone or tile in remade:
            continue
        assert maker.parent is not None
        try:
            region = find_region(maker.parent, tile, budget)
        except WaitsFor as wait:
            if wait.reduction not in duplicated:
                return wait
            continue
        if region is not None:
            gone.update(inner for member in region.members for inner in member.walk())
            build_loop(region)
    return None


def duplicate_operands(region: PartRegion, reduction: ReduceOp) -> None:
    """Load and compute the operands of a reduction once more, for that reduction alone.

    A write to memory that a plain load reads is ordered after the load by its token, or before it;
    so two loads instead of one read the same value.
    """
    values: dict[Value, Value] = {}
    for op in region.leading_to(reduction):
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
    """The tiles over the budget that registers would hold, the largest first."""
    tiles = [
        value
        for op in function.walk()
        for value in op.results
        if is_tile(value) and tile_words(value.type) > budget and not is_streamed(value)
    ]
    return sorted(tiles, key=lambda value: -tile_words(value.type))


def find_region(block: Block, tile: Value, budget: int) -> PartRegion | None:
    """What is cut with a tile for its parts to fit the budget, as few parts as possible.

    Raises `WaitsFor` if only a reduction prevents it.
    """
    fewest = 1
    while tile_words(tile.type) > budget << fewest:
        fewest += 1
    waits: WaitsFor | None = None
    for dim, extent in enumerate(shape(tile.type)):
        try:
            region = _along(block, tile, dim, range(fewest, log2(extent) + 1), budget)
        except WaitsFor as error:
            waits = waits or error
            continue
        if region is not None:
            return region
    if waits is not None:
        raise waits
    return None


def _along(block: Block, tile: Value, dim: int, counts: range, budget: int) -> PartRegion | None:
    """What is cut with a tile along a dimension, into as few parts as the budget allows."""
    best: PartRegion | None = None
    for bits in counts:
        cut = Cut(Scope.of_block(block), 1 << bits, _may_slice)
        try:
            cut.add(tile, dim)
            best = PartRegion(block, cut)
        except WaitsFor:
            raise
        except CannotCut:
            break
        if _words(best) <= budget << bits:
            break
    return best


def _may_slice(op: Operation, way: Way) -> bool:
    """Whether an operation may be sliced in a way: dots and atomics stay whole.

    Accumulators of dots are split by a pass of their own; atomics need few registers beside the
    tile.
    """
    is_whole = isinstance(op, DotOp | AtomicOp | TiledAtomicRmwOp)
    return not is_whole and way.join is not Join.CHAIN


def _words(region: PartRegion) -> int:
    """The registers for the whole tiles of a region, of which the loop holds a part at a time.

    A reduction holds its accumulator beside the next part, a loop all tiles that it carries.
    """
    accumulated = [tile_words(source.type) for op in region.reductions() for source in op.sources]
    carried = [sum(tile_words(value.type) for value in loop.carried) for loop in region.loops]
    tiles = [tile_words(value.type) for value in region.cut.dims]
    return max(2 * sum(accumulated), *carried, *tiles)
