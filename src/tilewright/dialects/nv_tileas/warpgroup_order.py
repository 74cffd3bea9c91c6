"""The order of two warpgroups, known as ping-pong: one issues its dots, then the other one.

While one warpgroup issues dots, the other computes with the results of its own. Without an order
both may do the same at the same time, and leave the tensor cores without work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tilewright.dialects.nv_tileas.agents import agent_of
from tilewright.ir.operation import Operation
from tilewright.target.tensor_cores import WARPGROUP

WARPGROUPS: Final = 2


class OrderOp(Operation):
    """Base of the operations that all warps of an agent of two warpgroups execute."""

    syntax = "attr-dict"

    def verify_context(self) -> Iterator[str]:
        agent = agent_of(self)
        if agent is None or agent.warps != WARPGROUPS * WARPGROUP:
            yield f"expected an agent of {WARPGROUPS * WARPGROUP} warps around it"


class BeginOrderOp(OrderOp):
    """Let the first warpgroup go first."""

    name = "nv_tileas.async.order.begin"


class WaitForOrderOp(OrderOp):
    """Wait until the other warpgroup has arrived."""

    name = "nv_tileas.async.order.wait"


class ArriveInOrderOp(OrderOp):
    """Let the other warpgroup go on."""

    name = "nv_tileas.async.order.arrive"


class EndOrderOp(OrderOp):
    """Let the first warpgroup wait for the last arrival of the second."""

    name = "nv_tileas.async.order.end"
