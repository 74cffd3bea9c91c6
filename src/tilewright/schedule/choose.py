"""The choice of pipelining, for `schedule-loops`: the first candidate, or a clearly faster one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.schedule.cost import kernel_clocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.schedule.candidates import Candidate
    from tilewright.schedule.cost import Machine
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.work import Loop


class Scored(NamedTuple):
    """A candidate with its predicted clocks."""

    candidate: Candidate
    clocks: float
    """Of one block, if as many as fit share an SM."""


class Choice(NamedTuple):
    """The candidate that was chosen, and the best of the others."""

    chosen: Scored
    other: Scored | None = None

    @property
    def reason(self) -> str:
        """What the model says of both."""
        if self.other is None:
            return "there is no other candidate"
        ratio = self.other.clocks / self.chosen.clocks
        return f"{self.other.candidate} would take {ratio:.2f} of its clocks"


def clocks_of_block(root: Loop, plan: Plan, machine: Machine) -> float:
    """The predicted clocks of a block: waves are assumed to be full, since the grid is unknown."""
    return kernel_clocks(root, plan, plan.resident, machine)[0] / plan.resident


def choose(scored: Sequence[Scored]) -> Choice:
    """The first of the candidates, or a later one that is faster by more than its margin.

    Each is compared with the one that was chosen among those before it.
    """
    chosen = scored[0]
    for each in scored[1:]:
        if each.clocks * (1 + each.candidate.margin) < chosen.clocks:
            chosen = each
    others = [each for each in scored if each is not chosen]
    # The nearest one of another kind says more than one with a stage less.
    differing = [each for each in others if each.clocks != chosen.clocks]
    return Choice(chosen, min(differing or others, key=lambda each: each.clocks, default=None))
