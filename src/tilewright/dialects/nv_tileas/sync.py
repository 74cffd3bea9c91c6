"""Barriers, fences, sleep, printing and assertions."""

from __future__ import annotations

from tilewright.dialects.elements import I32_TYPE
from tilewright.dialects.nv_tileaa import misc as tileaa
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.ir import declare as d
from tilewright.ir.operation import Operation


class BarrierOp(Operation):
    """Wait for all threads of the block; makes their earlier writes visible to all of them."""

    name = "nv_tileas.barrier"
    syntax = "attr-dict"


class ProxyFenceOp(Operation):
    """Order earlier writes to shared memory before later accesses through the async proxy.

    Threads store, and copy by `cp.async`, through the generic proxy; bulk copies write and wgmma
    reads through the async one. The fence is for the writes of the thread that executes it, and for
    those that it knows of.
    """

    name = "nv_tileas.proxy_fence"
    syntax = "attr-dict"


class SleepOp(Operation):
    """Suspend one thread for about `duration` nanoseconds: the one that accesses scalars."""

    name = "nv_tileas.sleep"
    syntax = "$duration attr-dict"

    duration = d.operand(I32_TYPE)


class PrintOp(tileaa.PrintOp):
    """Print tiles, once per element."""

    name = "nv_tileas.print"
    traits = (LAID_OUT,)


class AssertOp(tileaa.AssertOp):
    """Report the message if an element of the condition is false."""

    name = "nv_tileas.assert"
    traits = (LAID_OUT,)
