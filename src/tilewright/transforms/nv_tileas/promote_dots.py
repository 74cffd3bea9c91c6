"""Additions of dots that start at zero, as in `accumulator += a @ b`, by the dots themselves.

To accumulate in the dot instead would round the accumulator once for each instruction along K: the
program asks for one rounding. But a dot and an addition after it take registers for two tiles, and
for accumulators of a wide tile there are none. A promoted dot adds its partial accumulators column
block by column block, with the same result.

A tile that is computed from scalars, such as a mask, takes no registers before it is added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.analysis.slices import backward_slice
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.attributes import RoundingMode
from tilewright.dialects.nv_tileaa.floating import AddFOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.shape import Rearrangement
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.plans.mma import PROMOTED, starts_at_zero
from tilewright.schedule.liveness_before_layouts import FREE
from tilewright.transforms.kernel_pass import KernelPass

if TYPE_CHECKING:
    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


class PromoteDots(KernelPass):
    """Let dots by wgmma add what they accumulate from zero to a tile."""

    name = "promote-dots"
    change = Change.IMPROVE

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        for dot in [inner for inner in function.walk() if isinstance(inner, DotOp)]:
            addition = _only_addition(dot)
            if addition is None or not _is_promotable(dot):
                continue
            other = addition.rhs if addition.lhs is dot.result else addition.lhs
            if not _is_computed_from_scalars(other):
                _promote(dot, addition, other)


def _is_promotable(dot: DotOp) -> bool:
    """Whether a dot starts at zero, and all of its K is one partial accumulator."""
    is_whole = element_of(dot.a.type) not in PROMOTED
    return dot.atom.asynchronous and not dot.promoted and is_whole and starts_at_zero(dot)


def _only_addition(dot: DotOp) -> AddFOp | None:
    """The addition that is the only use of a dot, rounded to nearest even, in the same block."""
    users = list(dot.result.users)
    addition = users[0] if len(users) == 1 else None
    if not isinstance(addition, AddFOp) or addition.parent is not dot.parent:
        return None
    is_nearest = addition.rounding_mode is RoundingMode.NEAREST_EVEN
    return addition if is_nearest and not addition.flush_to_zero else None


def _is_computed_from_scalars(tile: Value) -> bool:
    """Whether only element-wise operations, ranges, splats and rearrangements compute a tile."""
    tiles = filter(is_tile, backward_slice([tile], _computes_elements))
    makers = [value.defining_op() for value in tiles]
    return all(op is not None and _computes_elements(op) for op in makers)


def _computes_elements(op: Operation) -> bool:
    return is_elementwise(op) or isinstance(op, (*FREE, Rearrangement))


def _promote(dot: DotOp, addition: AddFOp, other: Value) -> None:
    """Replace an addition to another tile by the dot, which follows that tile then."""
    build = Builder(InsertPoint.before(addition), dot.location)
    promoted = build.insert(dot.like([dot.a, dot.b, other], [dot.result.type]))
    assert isinstance(promoted, DotOp)
    promoted.promoted = True
    addition.result.replace_all_uses_with(promoted.result)
    addition.erase()
    dot.erase()
