"""The choice of a plan: the first candidate that the cost model does not tell from the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.schedule.cost import kernel_clocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.schedule.candidates import Candidate
    from tilewright.schedule.cost import Machine
    from tilewright.schedule.plan_facts import Plan
    from tilewright.schedule.work import Loop

MARGIN: Final = 0.05
"""The relative difference of predictions below which the order of candidates decides. Set with the
160 tiles of `benchmarks/results/cost-model.md` in view: among 0, 0.02, 0.05, 0.1, 0.15 and 0.2, it
had the least mean loss in a prototype of this choice."""


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
    """The first of the candidates that are predicted nearly as fast as the best one."""
    best = min(each.clocks for each in scored)
    chosen = next(each for each in scored if each.clocks <= best * (1 + MARGIN))
    others = [each for each in scored if each is not chosen]
    # The nearest one of another kind says more than one with a stage less.
    differing = [each for each in others if each.clocks != chosen.clocks]
    return Choice(chosen, min(differing or others, key=lambda each: each.clocks, default=None))
