"""Full unrolling of short loops that load tiles, so that all their loads are in flight at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import width_of
from tilewright.dialects.nv_tileaa.loop_schedule import is_pipelined
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.passes import statistic
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.rules import constant_of
from tilewright.ir.types import IntegerType
from tilewright.schedule.limits import COPIED_OPS, UNROLLED_TRIPS
from tilewright.schedule.tile_words import result_words
from tilewright.schedule.warp_counts import held_words
from tilewright.support.numerics.integer import number
from tilewright.transforms.generic.canonicalize import Canonicalize
from tilewright.transforms.generic.cse import Cse
from tilewright.transforms.kernel_pass import KernelPass

if TYPE_CHECKING:
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class UnrollLoops(KernelPass):
    """Unroll loops that load tiles and have a small constant trip count."""

    name = "unroll-loops"
    change = Change.REORDER
    unrolled = statistic("loops unrolled")

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        chosen = _short_loops(function) if function.is_kernel else {}
        self.unrolled.add(sink, len(chosen))
        for loop, counters in chosen.items():
            _unroll(loop, counters)
        if chosen:
            Canonicalize().run(function, sink)
            Cse().run(function, sink)


def _short_loops(function: FuncOp) -> dict[ForOp, range]:
    """The loops of a kernel that are worth unrolling, with the values of their counters."""
    loops = [op for op in function.walk_post_order() if isinstance(op, ForOp)]
    return {
        loop: counters
        for loop in loops
        if (counters := constant_range(loop)) and len(counters) <= UNROLLED_TRIPS
        if not is_pipelined(loop) and _is_profitable(function, loop, len(counters))
    }


def constant_range(loop: ForOp) -> range | None:
    """The values of a loop's counter, if they are constant."""
    patterns = [splat_of(constant_of(value)) for value in loop.operands[:3]]
    bits, signed = width_of(loop.lower_bound.type), not loop.unsigned_cmp
    bounds = [number(each, bits, signed=signed) for each in patterns if each is not None]
    if len(bounds) < len(patterns) or bounds[2] <= 0:
        return None
    return range(*bounds)


def _is_profitable(function: FuncOp, loop: ForOp, trip_count: int) -> bool:
    """Whether a loop loads tiles, and those of all iterations fit into registers."""
    inside = tuple(loop.body.walk())
    if any(isinstance(op, DotOp) or op.loop_body is not None for op in inside):
        return False
    words = sum([result_words(op) for op in inside if isinstance(op, LoadOp | TileLoadOp)])
    if not words or len(inside) * trip_count > COPIED_OPS:
        return False
    return words * trip_count <= held_words(function)


# Law: a loop with a constant trip count is its body once for each iteration, in order.
def _unroll(loop: ForOp, counters: range) -> None:
    build = Rewriter.at(loop)
    type = loop.lower_bound.type
    assert isinstance(type, IntegerType)
    carried: tuple[Value, ...] = loop.init_args
    for counter in counters:
        start = build.create(ConstantOp, value=IntegerAttr(counter, type), types=[type]).result
        values: dict[Value, Value] = {}
        values.update(zip(loop.body.block.args, (start, *carried), strict=True))
        *ops, last = loop.body.block
        for op in ops:
            build.clone(op, values)
        carried = tuple([values.get(value, value) for value in last.operands])
    build.replace(loop, *carried)
