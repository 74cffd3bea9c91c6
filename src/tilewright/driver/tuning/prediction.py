"""Predict the time of a launch under the plan of a candidate, by the cost model."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tilewright.reference.tile import is_array
from tilewright.schedule.cost import Machine
from tilewright.schedule.launch_cost import limit_of, predict
from tilewright.schedule.work_tree import LaunchArguments
from tilewright.support.diagnostics import Unsupported
from tilewright.target.arch import ARCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.emit.cubin import Resources
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.launch_cost import Launch
    from tilewright.target.arch import Arch
    from tilewright.target.rates import Board, Rates


class Forecast(NamedTuple):
    """The predicted time of a launch under one plan."""

    microseconds: float
    """Of one of several launches in a row, as they are measured."""
    limit: str
    """What decides it, as reports spell it."""
    plan: Plan
    """Equal plans have equal forecasts."""


class Predictor:
    """The cost model for one launch on the board of a GPU."""

    __slots__ = ("_board", "_launch", "_machine")

    def __init__(self, launch: Launch, arch: Arch) -> None:
        """Raises `Unsupported` if the target has no rates of the GPU."""
        rates, self._board = known_rates(arch)
        self._launch = launch
        self._machine = Machine(rates)

    def forecast(self, plan: Plan, resources: Resources) -> Forecast:
        """Predict the launch under a plan, with the resources that ptxas reports."""
        spilled = resources.spill_stores + resources.spill_loads
        plan = plan.assembled(prod(resources.threads or ()), resources.occupancy or 0, spilled)
        made = predict(self._launch, plan, self._machine, self._board)
        limit = limit_of(self._launch, plan, self._machine, made)
        time = made.microseconds + self._machine.constants.next_launch
        return Forecast(time, limit, plan)


def is_predictable(arch: Arch) -> bool:
    """Whether the target has the rates of a GPU."""
    return arch.rates is not None and arch.board is not None


def known_rates(arch: Arch) -> tuple[Rates, Board]:
    """The rates of a GPU's SM, and its board; raises `Unsupported` if the target has none."""
    if arch.rates is not None and arch.board is not None:
        return arch.rates, arch.board
    missing = "the rates of its SMs" if arch.rates is None else "the SMs and the clock of a board"
    known = ", ".join(name for name, each in ARCHES.items() if is_predictable(each))
    raise Unsupported(
        f"predicting times on {arch.name}, since {missing} are not known (they are for {known}); "
        "`--meter gpu` without `--top` measures on such a GPU"
    )


def launch_arguments(values: Sequence[Any]) -> LaunchArguments:
    """What is known of the arguments of a launch: numbers and NumPy arrays."""
    integers = [int(each) if isinstance(each, int | np.integer) else None for each in values]
    sizes: dict[int, int] = {}
    contents: dict[int, Any] = {}
    for number, each in enumerate(values):
        if is_array(each):
            sizes[number] = each.nbytes
            if each.dtype.kind in "iu":
                contents[number] = each.reshape(-1)
    return LaunchArguments(integers, sizes, contents)
