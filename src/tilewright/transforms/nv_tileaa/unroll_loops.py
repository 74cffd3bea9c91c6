"""Unrolls short loops that load tiles, so that all their loads are under way at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import width_of
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.passes import Pass
from tilewright.ir.rewriter import Rewriter
from tilewright.ir.rules import constant_of
from tilewright.ir.types import IntegerType
from tilewright.plans.tile_registers import result_words
from tilewright.plans.warps import threads_of
from tilewright.support.numerics.integer import number
from tilewright.transforms.generic.canonicalize import Canonicalize
from tilewright.transforms.generic.cse import Cse

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

ROUNDS: Final = 4
"""How often a loop may run that is unrolled."""
SHARE: Final = 32
"""How many registers of a thread all that is loaded may take."""
LENGTH: Final = 256
"""How many operations there may be afterwards."""


class UnrollLoops(Pass):
    """Write out loops that load tiles and run a few times, a number that is known."""

    name = "unroll-loops"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel and _unroll_some(function):
                Canonicalize().run(function, sink)
                Cse().run(function, sink)


def _unroll_some(function: FuncOp) -> bool:
    loops = [op for op in function.walk_post_order() if isinstance(op, ForOp)]
    found = {loop: counts for loop in loops if (counts := known_counts(loop))}
    if not found:
        return False
    budget = SHARE * threads_of(function)
    worthy = [loop for loop, counts in found.items() if _pays(loop, len(counts), budget)]
    for loop in worthy:
        _unroll(loop, found[loop])
    return bool(worthy)


def known_counts(loop: ForOp) -> range:
    """What the counter of a loop is in each round, if it is known and the rounds are few."""
    patterns = [splat_of(constant_of(value)) for value in loop.operands[:3]]
    bits, signed = width_of(loop.lower_bound.type), not loop.unsigned_cmp
    bounds = [number(each, bits, signed=signed) for each in patterns if each is not None]
    if len(bounds) < len(patterns) or bounds[2] <= 0:
        return range(0)
    counts = range(*bounds)
    return counts if len(counts) <= ROUNDS else range(0)


def _pays(loop: ForOp, rounds: int, budget: int) -> bool:
    """Whether a loop loads tiles, and all of them at once fit into registers."""
    inside = tuple(loop.body.walk())
    if any(isinstance(op, DotOp) or op.loop_body is not None for op in inside):
        return False
    words = sum([result_words(op) for op in inside if isinstance(op, LoadOp | TileLoadOp)])
    return 0 < words * rounds <= budget and len(inside) * rounds <= LENGTH


# Law: a loop of known rounds is its body once for each, every time behind the one before.
def _unroll(loop: ForOp, counts: range) -> None:
    build = Rewriter.at(loop)
    type = loop.lower_bound.type
    assert isinstance(type, IntegerType)
    carried: tuple[Value, ...] = loop.init_args
    for count in counts:
        start = build.create(ConstantOp, value=IntegerAttr(count, type), types=[type]).result
        values: dict[Value, Value] = {}
        values.update(zip(loop.body.block.args, (start, *carried), strict=True))
        *ops, last = loop.body.block
        for op in ops:
            build.clone(op, values)
        carried = tuple([values.get(value, value) for value in last.operands])
    build.replace(loop, *carried)
