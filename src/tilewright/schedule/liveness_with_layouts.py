"""An estimate of the registers that a loop with dots by wgmma needs in each thread.

LLVM hoists what does not change in a loop. Matrix descriptors of operands that stay where they are
take two registers each then, one descriptor for each instruction along K; and the addresses of a
store in the loop are advanced one by one. A loop whose tiles leave no registers for that computes
both anew in each iteration; so does one that computes tiles anew (`recompute-tiles`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.dialects.nv_tileas.shape import (
    ConvertLayoutOp,
    MakeRangeOp,
    Rearrangement,
)
from tilewright.dialects.nv_tileas.types import pipeline, register_bytes
from tilewright.dialects.scf import ForOp
from tilewright.layout.linear import REGISTER
from tilewright.schedule.liveness_before_layouts import FREE
from tilewright.schedule.registers import MOST_REGISTERS, registers_for_tiles
from tilewright.target.arch import REGISTER_BYTES
from tilewright.target.tensor_cores import WGMMA_K_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

REUSING: Final = (DotOp, DotWaitOp, ConvertLayoutOp)
"""Operations whose result may take the registers of an operand, beside element-wise ones."""
FEW_DESCRIPTORS: Final = 8
"""Descriptors for which ptxas finds registers, in uniform ones for instance."""


def loop_around(op: Operation) -> Operation | None:
    """The innermost loop around an operation."""
    return next((outer for outer in op.ancestors() if outer.loop_body is not None), None)


def lacks_registers(loop: Operation) -> bool:
    """Whether many descriptors would be hoisted from a loop whose tiles leave no registers.

    From a loop in another loop, all are hoisted from both: they are live in all of the outer one.
    """
    for inner in loop.walk():
        if isinstance(inner, ForOp):
            few = FEW_DESCRIPTORS if loop_around(inner) is None else 0
            is_many = _invariant_descriptors(inner) > few
            # Tiles are computed anew in a loop that has no registers for them.
            anew = any(isinstance(op, MakeRangeOp) and op.repeated for op in inner.walk())
            capacity = registers_for_tiles(MOST_REGISTERS)
            if is_many and (anew or live_registers(inner).most > capacity):
                return True
    return False


def is_invariant(tile: Value, loop: Operation) -> bool:
    """Whether a tile is in shared memory, at the same address in all iterations of a loop."""
    source = _source(tile)
    if not in_shared_memory(source):
        return False
    read = source.defined_by(ConsumerReadOp)
    if read is None or not source.is_inside(loop):
        return True
    return pipeline(read.pipeline).stages == 1


def _invariant_descriptors(loop: ForOp) -> int:
    """The matrix descriptors of dots in a loop that do not change, one for each step along K."""
    count = 0
    for dot in loop.body.block:
        if isinstance(dot, DotOp) and dot.atom.asynchronous:
            k_bytes = shape(dot.a.type)[-1] * register_bytes(element_of(dot.a.type))
            invariant = sum(is_invariant(operand, loop) for operand in (dot.a, dot.b))
            count += invariant * k_bytes // WGMMA_K_BYTES
    return count


def tile_registers(tile: Value) -> int:
    """The registers of a thread that a tile takes; none in shared memory."""
    if in_shared_memory(tile) or isinstance(tile.defining_op(), FREE):
        return 0
    bytes = layout_of(tile).extent(REGISTER) * register_bytes(element_of(tile.type))
    return max(1, bytes // REGISTER_BYTES)


class LiveRegisters(NamedTuple):
    """The registers of a thread for tiles that are live at the same time in the body of a loop."""

    most: int
    """At any operation."""
    at_dots: int
    """At any dot; 0 without dots. Other operations are computed in parts where registers are
    missing; accumulators and fragments are whole."""


def live_registers(loop: ForOp, staged: Collection[Value] = ()) -> LiveRegisters:
    """The registers of tiles in the body of a loop.

    Tiles from before the loop that it uses are live in all of it. Those that are `staged` are in
    shared memory.
    """

    def registers(tile: Value) -> int:
        return 0 if tile in staged else tile_registers(tile)

    ops = list(loop.body.block)
    last_use: dict[Value, int] = {}
    for number, op in enumerate(ops):
        for inner in op.walk() if op.regions else (op,):
            last_use.update([(_source(tile), number) for tile in inner.operands if is_tile(tile)])
    carried = [value for value in loop.carried if is_tile(value)]
    outside = [tile for tile in last_use if not tile.is_inside(loop)]
    ends: list[int] = [0] * len(ops)
    for value, number in last_use.items():
        op = value.defining_op()
        if value in carried or (op is not None and op.parent is loop.body.block):
            ends[number] += registers(value)
    live = sum(map(registers, (*outside, *carried)))
    most, at_dots = live, 0
    for number, op in enumerate(ops):
        made = sum(registers(r) for r in op.results if r in last_use)
        reuses = is_elementwise(op) or isinstance(op, REUSING)
        now = live + made - (min(made, ends[number]) if reuses else 0)
        most = max(most, now)
        if isinstance(op, DotOp):
            at_dots = max(at_dots, now)
        live += made - ends[number]
    return LiveRegisters(most, at_dots)


def outside_tiles(loop: ForOp) -> dict[Value, list[Value]]:
    """The tiles from before a loop that it uses, by the one whose registers or memory they have."""
    tiles: dict[Value, list[Value]] = {}
    for op in loop.body.block:
        for value in (value for inner in op.walk() for value in inner.operands):
            source = _source(value) if is_tile(value) else None
            if source is None or source.is_inside(loop):
                continue
            same = tiles.setdefault(source, [])
            if value not in same and not value.is_inside(loop):
                same.append(value)
    return tiles


def _source(value: Value) -> Value:
    """The tile whose registers or memory a value has."""
    op = value.defining_op()
    while isinstance(op, Rearrangement):
        value = op.source
        op = value.defining_op()
    return value
