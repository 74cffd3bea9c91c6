"""The cost model: predicted clocks of the work of a kernel under a plan.

Every iteration has a throughput bound, what the resources of an SM take for all resident CTAs
together, and a chain, what one CTA takes alone since its parts wait for each other.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.schedule.constants import CONSTANTS
from tilewright.schedule.cost_inputs import LoopPlan
from tilewright.target.arch import MAX_ACCESS_BYTES, WARP_SIZE
from tilewright.target.tensor_cores import MMA_COLUMNS, MMA_K_BYTES, MMA_ROWS, WARPGROUP, WGMMA_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tilewright.schedule.constants import Constants
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.work import Dot, Loop, Reduction, Work
    from tilewright.target.rates import Rates

STRAIGHT: Final = LoopPlan(exposed=1)
"""How code outside of innermost loops runs: it waits for its loads."""
FRAGMENT_BYTES: Final = 512
"""Of an ldmatrix of four matrices."""
START: Final = "start"
LATENCY: Final = "latency"
LIMITS: Final = {
    "tensor": "tensor cores",
    "shared": "shared memory",
    "fill": "L2",
    "issue": "issue slots",
    "special": "special functions",
    "spill": "spills",
    LATENCY: "latency",
    START: "start of blocks",
}
"""What decides the clocks of a block, as reports spell it."""


class Machine(NamedTuple):
    """What a kernel runs on."""

    rates: Rates
    constants: Constants = CONSTANTS


class Demand(NamedTuple):
    """What one execution of some work takes of each resource, in clocks of one SM."""

    tensor: float = 0.0
    shared: float = 0.0
    fill: float = 0.0
    issue: float = 0.0
    special: float = 0.0
    spill: float = 0.0

    @property
    def limit(self) -> str:
        """The resource that takes longest."""
        return max(self._fields, key=lambda name: getattr(self, name))


class Clocks(NamedTuple):
    """The predicted clocks of one execution of some work."""

    together: float
    """For all resident CTAs together."""
    throughput: float
    """The bound by resources, for all resident CTAs."""
    chain: float
    """The latency of one CTA alone."""
    demand: Demand
    """Of one CTA."""

    @property
    def limit(self) -> str:
        """What decides: a resource, or `latency`."""
        return self.demand.limit if self.throughput >= self.chain else LATENCY


def demand_of(work: Work, plan: Plan, machine: Machine, loop: LoopPlan | None = None) -> Demand:
    """The clocks of each resource for one execution by one CTA."""
    rates, constants = machine
    lanes = _lanes(work, plan, constants)
    threads = WARP_SIZE * plan.warps
    exchanged = 0.0
    if loop is not None:
        lanes += threads * constants.loop_instructions * loop.parts
        exchanged = loop.exchanged
    special = sum([weight * max(elements, threads) for elements, weight in work.special])
    shared = 2.0 * (work.permuted + exchanged)
    tensor = 0.0
    for dot, times in work.dots:
        part = _dot(dot, plan, rates)
        tensor += times * part.tensor / (1 if plan.is_warpgroup_dot else rates.synchronous_dots)
        shared += times * part.shared
        lanes += times * part.lanes
    if work.dots or plan.loop.stages:
        shared += work.loads
    if plan.loop.stages and not work.dots:
        shared += work.loads
    return Demand(
        tensor,
        shared / rates.shared_bytes,
        (work.loads + work.stores) / plan.cluster / rates.fill_bytes
        + work.atomics * constants.atomic_clocks,
        lanes / plan.cluster / rates.lanes,
        special / plan.cluster / rates.special_functions,
    )


def _lanes(work: Work, plan: Plan, constants: Constants) -> float:
    """Instructions of lanes; threads beyond the elements of a tile repeat others."""
    threads = WARP_SIZE * plan.warps
    lanes = sum([weight * max(elements, threads) for elements, weight in work.lanes])
    for reduction, times in work.reductions:
        lanes += times * _reduction_lanes(reduction, threads, constants)
    loads = 0.0 if plan.uses_tma else work.loads * constants.load_instructions
    return (
        lanes
        + (loads + work.stores * constants.store_instructions) / MAX_ACCESS_BYTES
        + work.gathers * constants.address_instructions
    )


def _reduction_lanes(reduction: Reduction, threads: int, constants: Constants) -> float:
    """Each thread combines its own elements, then lanes that share a row exchange theirs."""
    own = max(reduction.elements, threads) * (2 if reduction.is_scan else 1)
    sharing = max(constants.row_lanes, threads / reduction.rows)
    steps = log2(min(sharing, WARP_SIZE))
    exchanged = 2 * steps * max(reduction.rows * sharing, threads)
    return reduction.inputs * (own * constants.reduction_instructions + exchanged)


class _DotDemand(NamedTuple):
    tensor: float
    shared: float
    """Bytes."""
    lanes: float


def _dot(dot: Dot, plan: Plan, rates: Rates) -> _DotDemand:
    m, n, k = dot.m, dot.n, dot.k
    rate = rates.dots.get(dot.type)
    size = dot.bits / 8
    if rate is None:
        return _DotDemand(0.0, (m + n) * k * size, m * n * k)
    if plan.is_warpgroup_dot:
        if m < WGMMA_ROWS <= n:
            m, n = n, m
        slices = -(-m // WGMMA_ROWS) / plan.cluster
        # Warpgroups beyond the rows of A have a part of N each, and read A again.
        readers = max(1.0, plan.warps / WARPGROUP / slices)
        rows = n + (0 if plan.a_in_registers else WGMMA_ROWS * readers)
        tensor = 2 * slices * WGMMA_ROWS * max(n, MMA_COLUMNS) * k / rate
        return _DotDemand(tensor, slices * k * size * rows, 0.0)
    if m < MMA_ROWS <= n:
        m, n = n, m
    instructions = -(-m // MMA_ROWS) * -(-n // MMA_COLUMNS) * k * size / MMA_K_BYTES
    flops = 2 * -(-m // MMA_ROWS) * MMA_ROWS * -(-n // MMA_COLUMNS) * MMA_COLUMNS * k
    read = (m + n) * k * size * plan.warps**0.5
    lanes = WARP_SIZE * (instructions + read / FRAGMENT_BYTES)
    return _DotDemand(flops / rate, read, lanes)


def clocks_of(
    work: Work,
    plan: Plan,
    resident: int,
    machine: Machine,
    loop: LoopPlan | None = None,
    spilled: float = 0.0,
) -> Clocks:
    """The clocks of one execution of some work; `loop`: as an iteration of an innermost loop."""
    constants = machine.constants
    how = STRAIGHT if loop is None else loop
    demand = demand_of(work, plan, machine, loop)
    if spilled:
        demand = demand._replace(spill=spilled * plan.threads / constants.spill_bytes)
    throughput = resident * _throughput(demand, plan, resident, constants)
    chain = _chain(work, demand, plan, how, constants)
    if work.loads:
        prefetched = max(1.0, _iterations_in_flight(how, constants))
        chain = max(chain, (chain + constants.memory_latency) / prefetched)
    low, high = sorted((throughput, chain))
    return Clocks(high + constants.overlap_lost / 2 * low, throughput, chain, demand)


def _iterations_in_flight(how: LoopPlan, constants: Constants) -> float:
    """The iterations whose loads are under way or in use at once; 1: the one that uses them."""
    if how.exposed:
        return 1.0
    if not how.stages:
        return 2.0 if how.prefetched else 1.0
    return how.stages - (constants.late_release if how.in_flight > 0 else 0.0)


def _throughput(demand: Demand, plan: Plan, resident: int, constants: Constants) -> float:
    """The clocks of one of several CTAs that share an SM."""
    memory = _joint((demand.tensor, demand.shared, demand.fill), constants.sharpness)
    workers = resident * plan.warps / WARPGROUP
    issue = demand.issue / constants.issue_rate(workers)
    *_, second, first = sorted((memory, issue, demand.special, demand.spill))
    return first + constants.overlap_lost * second


def _joint(parts: tuple[float, ...], sharpness: float) -> float:
    """Nearly the largest, and more where several are equal: they share time badly."""
    largest = max(parts)
    if not largest:
        return 0.0
    return largest * sum([(part / largest) ** sharpness for part in parts]) ** (1 / sharpness)


def _chain(work: Work, demand: Demand, plan: Plan, how: LoopPlan, constants: Constants) -> float:
    """The latency of one CTA without that of memory."""
    groups = plan.warps / WARPGROUP
    math = max(demand.issue / groups / constants.lone_warp, demand.special / groups)
    own = demand.tensor / max(groups, 1.0)
    if how.in_flight > 0:
        chain = max(own, math)
    else:
        chain = own + math
    if work.dots:
        # Instructions of `mma.sync` are issued one after the other, as others are.
        waits = how.waits if plan.is_warpgroup_dot else 0
        chain += constants.dot_latency * max(waits, plan.is_warpgroup_dot - how.in_flight)
    if work.dots and how.barriers and not plan.has_agents:
        together = demand.tensor + demand.issue / constants.issue_rate(groups)
        kept = constants.lock_step_in_flight if how.in_flight > 0 else constants.lock_step
        if how.in_flight < sum(times for _, times in work.dots):
            chain = max(chain, kept * together)
    rows = plan.warps * (MMA_ROWS if work.dots else 1)
    across = sum([times for each, times in work.reductions if each.rows < rows])
    return chain + constants.barrier * (how.barriers + 2 * across) + demand.spill


def kernel_clocks(root: Loop, plan: Plan, resident: int, machine: Machine) -> tuple[float, float]:
    """The clocks of resident blocks from start to end, and those of their tensor cores."""
    clocks, tensor = _start_clocks(plan, resident, machine), 0.0
    for times, one in _executions(root, plan, resident, machine):
        clocks += times * one.together
        tensor += times * resident * one.demand.tensor
    return clocks, tensor


def clocks_by_limit(
    root: Loop, plan: Plan, resident: int, machine: Machine
) -> Iterator[tuple[str, float]]:
    """The clocks of resident blocks in parts, each with what decides it: a key of `LIMITS`."""
    yield START, _start_clocks(plan, resident, machine)
    for times, one in _executions(root, plan, resident, machine):
        yield one.limit, times * one.together


def _start_clocks(plan: Plan, resident: int, machine: Machine) -> float:
    """The clocks of the start of resident blocks: while one starts, the others compute."""
    constants = machine.constants
    start = constants.cta_start
    if plan.encodes_maps:
        start += constants.own_map_start if plan.has_own_maps else constants.map_start
    return start / resident


def _executions(
    root: Loop, plan: Plan, resident: int, machine: Machine
) -> Iterator[tuple[float, Clocks]]:
    """How often a block executes the work of each loop, with the clocks of one execution."""
    density = 0.0
    if plan.spilled:
        each = [demand_of(op.work, plan, machine, loop_plan(op, plan)) for op in root.walk()]
        density = plan.spilled / sum([demand.issue for demand in each])
    pending = [(root, 1.0)]
    while pending:
        loop, entered = pending.pop()
        how = loop_plan(loop, plan)
        trips = machine.constants.unknown_trips if loop.trips is None else loop.trips
        times = entered * loop.entries * trips
        # Spills are where instructions are, in proportion.
        spilled = density and density * demand_of(loop.work, plan, machine, how).issue
        yield times, clocks_of(loop.work, plan, resident, machine, how, spilled)
        pending += [(inner, times) for inner in loop.loops]


def loop_plan(loop: Loop, plan: Plan) -> LoopPlan | None:
    """How a loop of the program runs; None outside of innermost loops."""
    if loop.loops or not loop.number:
        return None
    multiplications = sum([times * dot.m * dot.n * dot.k for dot, times in loop.work.dots])
    if multiplications > plan.loop.multiplications > 0:
        return plan.loop.divided(multiplications / plan.loop.multiplications)
    return plan.loop
