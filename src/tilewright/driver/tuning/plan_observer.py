"""Read what the cost model needs from the levels of a compilation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.schedule.cost_inputs import plan_of
from tilewright.schedule.launch_cost import launch_of
from tilewright.support.levels import CANONICAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.launch_cost import Launch
    from tilewright.schedule.work_tree import LaunchArguments

PLANNED = "nv_tileas"
"""The level at which a plan is read."""


class PlanObserver:
    """Observes the compilation of a program with one kernel, for `Observers.reached`.

    A kernel whose registers spill may be compiled again: the last one counts.
    """

    __slots__ = ("_arguments", "_grid", "launch", "plan")

    def __init__(self, grid: Sequence[int] = (), arguments: LaunchArguments | None = None) -> None:
        """Without arguments, the work of a launch is not counted."""
        self._grid = grid
        self._arguments = arguments
        self.launch: Launch | None = None
        self.plan: Plan | None = None

    def reached(self, level: str, module: Operation) -> None:
        """Take the facts of a level; the work of a launch is that before its kernel is planned."""
        if level == CANONICAL and self._arguments is not None:
            self.launch = launch_of(_kernel(module), self._grid, self._arguments)
        elif level == PLANNED:
            self.plan = plan_of(_kernel(module))


def _kernel(module: Operation) -> FuncOp:
    return next(op for op in module.walk() if isinstance(op, FuncOp) and op.is_kernel)
