"""Tiles from before a loop, computed in the loop where they are used.

A tile that does not change in a loop, such as the decay between any two tokens of a chunk, takes
registers in all of the loop. Beside the accumulators of several dots, threads may have none left,
and spill. Where such a tile is computed element by element from ranges, scalars and constants, the
loop computes it anew before each use: an element takes a register only from then until it is used.
Masks are left alone, since LLVM compares where a mask is used in any case.

LLVM would hoist that from the loop again, as it does not change. So the ranges in the loop are
`repeated`: LLVM cannot know that the thread's coordinate is the same in each iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.elements import element_of
from tilewright.dialects.math.ops import AbsFOp, Exp2Op, FmaOp
from tilewright.dialects.nv_tileaa.floating import DivFOp, RemFOp, SqrtOp
from tilewright.dialects.nv_tileaa.integer import DivIOp, RemIOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.shape import MakeRangeOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.types import I1
from tilewright.plans.rematerialization import Rematerializable
from tilewright.schedule.limits import RECOMPUTED_OPS, RECOMPUTED_SHARE
from tilewright.schedule.liveness_with_layouts import (
    live_registers,
    loop_around,
    outside_tiles,
    tile_registers,
)
from tilewright.schedule.registers import registers_for_tiles
from tilewright.schedule.resources import register_limit
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.address_ops import erase_unused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

SLOW: Final = (DivFOp, DivIOp, RemFOp, RemIOp, SqrtOp)
"""Operations of many instructions for each element, beside the functions of `math`."""
FAST_FUNCTIONS: Final = (AbsFOp, Exp2Op, FmaOp)


class RecomputeTiles(KernelPass):
    """Compute tiles from before a loop with dots anew in it, if it has no registers for them."""

    name = "recompute-tiles"
    change = Change.IMPROVE

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        for loop in [inner for inner in function.walk() if isinstance(inner, ForOp)]:
            limit = register_limit(loop) if _has_asynchronous_dots(loop) else None
            if limit is not None:
                excess = live_registers(loop).most - registers_for_tiles(limit)
                for tile in _chosen(list(_recomputable(loop)), excess):
                    _recompute(tile)


class RecomputedTile(NamedTuple):
    """A tile from before a loop that the loop can compute anew."""

    registers: int
    """Of a thread, which the tile takes."""
    ops: Sequence[Operation]
    """What computes the tiles that the loop uses, in order."""
    users: Sequence[Operation]
    """In the loop."""

    @property
    def cost(self) -> int:
        """The element-wise operations in each iteration."""
        return sum(map(is_elementwise, self.ops)) * len(self.users)

    @property
    def work(self) -> int:
        """The instructions of a thread in each iteration, about."""
        return self.registers * self.cost


def _has_asynchronous_dots(loop: ForOp) -> bool:
    return any(isinstance(op, DotOp) and op.atom.asynchronous for op in loop.body.block)


def _recomputable(loop: ForOp) -> Iterator[RecomputedTile]:
    """The tiles from before a loop that it can compute anew by few instructions."""
    remade = Rematerializable()
    for source, tiles in outside_tiles(loop).items():
        registers = tile_registers(source)
        is_mask = element_of(source.type) is I1
        if is_mask or registers < RECOMPUTED_SHARE or any(tile not in remade for tile in tiles):
            continue
        users = [user for tile in tiles for user in tile.users if loop.is_ancestor_of(user)]
        tile = RecomputedTile(registers, _computing(tiles), list(dict.fromkeys(users)))
        has_range = any(isinstance(op, MakeRangeOp) for op in tile.ops)
        in_loop = all(loop_around(user) is loop for user in users)
        is_cheap = tile.cost <= RECOMPUTED_OPS and not any(map(_is_slow, tile.ops))
        if has_range and in_loop and is_cheap:
            yield tile


def _computing(tiles: Sequence[Value]) -> list[Operation]:
    """The operations on tiles that compute some tiles, each after those that it needs."""
    ops: dict[Operation, None] = {}

    def visit(tile: Value) -> None:
        op = tile.defining_op()
        assert op is not None
        if op not in ops:
            for operand in filter(is_tile, op.operands):
                visit(operand)
            ops[op] = None

    for tile in tiles:
        visit(tile)
    return list(ops)


def _is_slow(op: Operation) -> bool:
    is_function = op.dialect == "math" and not isinstance(op, FAST_FUNCTIONS)
    return is_function or isinstance(op, SLOW)


def _chosen(tiles: Sequence[RecomputedTile], excess: int) -> list[RecomputedTile]:
    """The tiles without which a loop has registers for the others; none if there are not enough.

    They are the largest ones, and the last is that of the least work that suffices.
    """
    others = sorted(tiles, key=lambda tile: (-tile.registers, tile.work))
    chosen: list[RecomputedTile] = []
    while excess > 0 and others:
        sufficient = [tile for tile in others if tile.registers >= excess]
        tile = min(sufficient, key=lambda tile: tile.work) if sufficient else others[0]
        others.remove(tile)
        chosen.append(tile)
        excess -= tile.registers
    return [] if excess > 0 else chosen


def _recompute(tile: RecomputedTile) -> None:
    """Compute a tile before each operation of the loop that uses it."""
    for user in tile.users:
        values: dict[Value, Value] = {}
        for op in tile.ops:
            copy = op.clone(values)
            copy.insert_before(user)
            if isinstance(copy, MakeRangeOp):
                copy.repeated = True
        for old in dict.fromkeys(user.operands):
            if old in values:
                user.replace_operand(old, values[old])
    erase_unused(tile.ops)
