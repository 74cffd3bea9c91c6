"""Priorities of the list scheduler, in kernels as they are compiled."""

from __future__ import annotations

from decode_programs import Decode
from scheduled_loops import lowered_as_far_as

from tilewright.dialects.nv_tileaa.floating import AddFOp, MaxFOp
from tilewright.dialects.nv_tileas.aggregate import ReduceOp
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.scf import ForOp


def order(decode: Decode) -> list[str]:
    """The dots and reductions of the loop over keys, in order."""
    schedule = "agents=0,rotate=0"
    module = lowered_as_far_as("schedule-operations", decode.program, schedule=schedule)
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    names: list[str] = []
    for op in loop.body.block:
        if isinstance(op, DotOp):
            names.append("dot")
        elif isinstance(op, ReduceOp):
            kinds = {type(inner): inner for inner in op.walk()}
            names += [name for kind, name in ((AddFOp, "sum"), (MaxFOp, "max")) if kind in kinds]
    return names


def test_a_sum_that_the_next_iteration_reads_follows_the_dot() -> None:
    # P·V needs the maximum, by which the scores are scaled, but not the sum.
    assert order(Decode()) == ["dot", "max", "dot", "sum"]


def test_reductions_stay_before_dots_by_wgmma() -> None:
    assert order(Decode(rows=64, tile=(64, 32), keys=64, heads=1)) == ["dot", "max", "sum", "dot"]
