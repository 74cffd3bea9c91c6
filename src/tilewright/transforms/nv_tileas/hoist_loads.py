"""Loads before the layout conversions of other loaded tiles, and before loops.

A layout conversion waits for the tile that it converts, and then at a barrier; ptxas hoists no load
over that. Where a program loads several tiles and each is converted right after its load, the
latencies of all loads would add up. So a load is issued before the conversions that precede it,
as far as the registers of a thread suffice for tiles that are loaded at the same time.

Only conversions and rearrangements of tiles are passed: a load after a computation stays there,
where fewer registers hold what it loads. Small loads after a loop are issued before it
(`epilogue_loads`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp, ExtractSliceOp, Rearrangement
from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass
from tilewright.plans.scratch import scratch_bytes
from tilewright.transforms.nv_tileas.epilogue_loads import (
    hoist_over_loops,
    loaded_registers,
    needed_after,
)

if TYPE_CHECKING:
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.diagnostics import Sink

MOST_REGISTERS: Final = 96
"""The most registers per thread for tiles that are loaded before the conversion of another."""


class HoistLoads(Pass):
    """Issue loads before conversions of tiles that are loaded earlier, small ones before loops."""

    name = "hoist-loads"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.body.blocks:
                hoist_over_loops(function.body.block)
                _hoist_in(function.body.block)


def _hoist_in(block: Block) -> None:
    """Hoist the loads of a block, each to the first of the conversions that it may pass."""
    first: Operation | None = None
    registers = 0
    for op in list(block):
        if isinstance(op, TiledLoadOp) and op.is_plain:
            count = loaded_registers(op)
            if first is None or registers + count > MOST_REGISTERS:
                continue
            moved = _scalars_after(op, first)
            if moved is not None:
                registers += count
                for each in moved:
                    each.detach().insert_before(first)
        elif isinstance(op, ConvertLayoutOp) and scratch_bytes(op):
            first = first or (op if _is_loaded(op) else None)
        elif not _may_pass(op):
            first, registers = None, 0


def _is_loaded(convert: ConvertLayoutOp) -> bool:
    """Whether a conversion is of a tile as it is loaded, but for its shape."""
    op = convert.source.defining_op()
    while isinstance(op, Rearrangement | ExtractSliceOp):
        op = op.source.defining_op()
    return isinstance(op, TiledLoadOp)


def _may_pass(op: Operation) -> bool:
    """Whether a load may be issued before an operation: it computes no tile."""
    if op.regions or not is_pure(op):
        return False
    is_rearranged = isinstance(op, Rearrangement | ExtractSliceOp | ConvertLayoutOp)
    return is_rearranged or not any(is_tile(result) for result in op.results)


def _scalars_after(load: TiledLoadOp, first: Operation) -> list[Operation] | None:
    """The load and the scalars that it needs after an operation; None if it needs a tile of it."""
    needed = needed_after(load, first)
    if needed is None or any(is_tile(v) for op in needed[:-1] for v in op.results):
        return None
    return needed
