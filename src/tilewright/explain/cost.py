"""The predicted clocks of a kernel: the rows of the report, from the cost model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tilewright.explain.positions import NOWHERE
from tilewright.explain.report import Cost
from tilewright.schedule.cost import LIMITS, Machine, clocks_of, loop_plan

if TYPE_CHECKING:
    from tilewright.explain.report import Occupancy, Resources
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.work import Loop
    from tilewright.schedule.work_tree import Tree
    from tilewright.target.arch import Arch


class Facts(NamedTuple):
    """What the levels of a compilation show of a kernel."""

    tree: Tree
    positions: Sequence[int]
    """Of the loops, by number."""
    plan: Plan


def cost_of(
    facts: Facts, resources: Resources | None, occupancy: Occupancy | None, arch: Arch
) -> list[Cost]:
    """The rows of a kernel; none without ptxas, and for a GPU whose rates are unknown."""
    if arch.rates is None or resources is None or occupancy is None:
        return []
    spilled = resources.spill_stores + resources.spill_loads
    plan = facts.plan.assembled(prod(resources.threads), occupancy.ctas, spilled)
    rows = _rows(facts.tree.root, 0, plan, Machine(arch.rates))
    return [cost._replace(position=facts.positions[number]) for number, cost in rows]


def _rows(loop: Loop, nesting: int, plan: Plan, machine: Machine) -> Iterator[tuple[int, Cost]]:
    clocks = clocks_of(loop.work, plan, plan.resident, machine, loop_plan(loop, plan))
    demand = clocks.demand._asdict()
    yield (
        loop.number,
        Cost(
            "iteration" if nesting else "block",
            nesting,
            round(clocks.together),
            LIMITS[clocks.limit],
            [(LIMITS[name], round(value)) for name, value in demand.items() if round(value)],
            round(clocks.chain),
            NOWHERE,
        ),
    )
    for inner in loop.loops:
        yield from _rows(inner, nesting + 1, plan, machine)
