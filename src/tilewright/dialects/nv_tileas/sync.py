"""What the threads of a block do together: barriers, messages, checks."""

from __future__ import annotations

from tilewright.dialects.nv_tileaa import misc as tileaa
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.ir.operation import Operation


class BarrierOp(Operation):
    """Waits for all threads of the block; what they wrote before, all of them see behind it."""

    name = "nv_tileas.barrier"
    syntax = "attr-dict"


class PrintOp(tileaa.PrintOp):
    """Prints tiles, each element by one thread."""

    name = "nv_tileas.print"
    traits = (LAID_OUT,)


class AssertOp(tileaa.AssertOp):
    """Reports the message if an element of the condition is false."""

    name = "nv_tileas.assert"
    traits = (LAID_OUT,)
