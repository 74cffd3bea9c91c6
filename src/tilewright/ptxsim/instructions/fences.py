"""Fences, and other instructions about the order of things."""

from __future__ import annotations

import numpy as np

from tilewright.ptxsim.isa import Run, instruction
from tilewright.ptxsim.lanes import Lanes
from tilewright.ptxsim.operation import Operation
from tilewright.ptxsim.scalar_types import SCALAR_TYPES


@instruction("membar", "fence")
def fence(op: Operation) -> Run:
    """`membar` and `fence`: threads see memory in one order here, so only observers care."""
    kind, site = f"{op.name}.{'.'.join(op.rest())}", op.site

    def run(lanes: Lanes) -> None:
        if lanes.wave.observer is not None:
            lanes.wave.observer.synchronise(lanes.threads, kind, None, site)

    return run


@instruction("nanosleep")
def sleep(op: Operation) -> Run:
    """`nanosleep`: a sign of waiting for others."""
    op.type()

    def run(lanes: Lanes) -> None:
        lanes.wave.looked = True

    return run


@instruction("bar.warp.sync", blocks=True)
def warp_barrier(op: Operation) -> Run:
    """`bar.warp.sync mask`: wait for the named threads of the warp."""
    mask = op.read(0, SCALAR_TYPES["u32"])

    def run(lanes: Lanes) -> None:
        lanes.converged(np.array(lanes.spread(mask(lanes))))

    return run
