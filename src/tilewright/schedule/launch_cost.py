"""The predicted time of a launch: waves of blocks, bandwidth of the board, and its clock.

The work of a launch is that of blocks sampled over the grid; its traffic is that of all of them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.schedule.cost import LIMITS, clocks_by_limit, kernel_clocks
from tilewright.schedule.work_tree import LaunchedBlock, tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.schedule.cost import Machine
    from tilewright.schedule.cost_inputs import Plan
    from tilewright.schedule.work import Loop
    from tilewright.schedule.work_tree import LaunchArguments
    from tilewright.target.rates import Board

SAMPLES: Final = 8
"""Blocks of a launch whose work is counted: evenly spaced over the grid."""
REFILLED: Final = 4
"""Waves from which on slots are refilled one by one, so that the last wave begins early."""
EARLY: Final = 0.5
"""The part of the last wave that runs beside the one before, if slots are refilled; also the part
of the longest block by which unequal blocks end after each other."""
MEMORY: Final = "memory"
"""The limit of a launch for which the bandwidth of the board decides."""


class Launch(NamedTuple):
    """The blocks of a launch, and its traffic."""

    blocks: int
    samples: tuple[Loop, ...]
    """The work of blocks that are evenly spaced over the grid; one if all are equal."""
    bytes: float
    """Of global memory, each element of an array once."""


class Prediction(NamedTuple):
    """The predicted time of a launch, without that of starting it."""

    microseconds: float
    resident: int
    """CTAs of an SM."""
    is_memory_bound: bool
    """Whether the bandwidth of the memory takes longer than the SMs."""


def launch_of(function: FuncOp, grid: Sequence[int], arguments: LaunchArguments) -> Launch:
    """The work of the launch of a kernel at nv_tileaa."""
    x, y, z = (*grid, 1, 1)[:3]
    blocks = prod(grid)
    numbers = sorted({sample * (blocks - 1) // (SAMPLES - 1) for sample in range(SAMPLES)})
    known = [LaunchedBlock(arguments, (n % x, n // x % y, n // x // y), (x, y, z)) for n in numbers]
    trees = [tree_of(function, each) for each in known]
    samples = tuple([tree.root for tree in trees])
    traffic = _traffic([tree.arrays for tree in trees], arguments.sizes, blocks)
    return Launch(blocks, samples[:1] if len(set(samples)) == 1 else samples, traffic)


def _traffic(
    arrays: Sequence[Mapping[tuple[int, str], float]], sizes: Mapping[int, int], blocks: int
) -> float:
    """The bytes of a launch, from those of sampled blocks by array and from the arrays' sizes.

    Caches keep what several blocks load.
    """
    amount = 0.0
    for key in {key for each in arrays for key in each}:
        moved = sum(each.get(key, 0.0) for each in arrays) / len(arrays) * blocks
        amount += min(moved, sizes.get(key[0], moved))
    return amount


def predict(launch: Launch, plan: Plan, machine: Machine, board: Board) -> Prediction:
    """Predict the time of a launch."""
    constants = machine.constants
    ctas = launch.blocks * plan.cluster
    resident = max(1, min(plan.resident, -(-ctas // board.sms)))
    of_blocks = _equal_blocks if len(launch.samples) == 1 else _unequal_blocks
    clocks, tensor = of_blocks(launch, plan, machine, board.sms, resident)
    share = min(1.0, tensor / clocks)
    frequency = board.clock / (1 + constants.tensor_slowdown * share)
    busy = clocks / frequency / 1000
    memory = launch.bytes / (board.bandwidth * constants.bandwidth_reached * 1000)
    power = constants.bound_sharpness
    time = (busy**power + memory**power) ** (1 / power)
    return Prediction(time, resident, memory > busy)


def limit_of(launch: Launch, plan: Plan, machine: Machine, prediction: Prediction) -> str:
    """What most of the predicted time depends on, as reports spell it."""
    if prediction.is_memory_bound:
        return MEMORY
    amounts: dict[str, float] = {}
    for work in launch.samples:
        for name, clocks in clocks_by_limit(work, plan, prediction.resident, machine):
            amounts[name] = amounts.get(name, 0.0) + clocks
    return LIMITS[max(amounts, key=lambda name: amounts[name])]


def _equal_blocks(
    launch: Launch, plan: Plan, machine: Machine, sms: int, resident: int
) -> tuple[float, float]:
    """Full waves, and the rest, which has fewer CTAs on an SM."""
    work, slots = launch.samples[0], sms * resident
    full, rest = divmod(launch.blocks * plan.cluster, slots)
    clocks = tensor = 0.0
    if full:
        wave, dots = kernel_clocks(work, plan, resident, machine)
        clocks, tensor = full * wave, full * dots
    if rest:
        last, dots = kernel_clocks(work, plan, -(-rest // sms), machine)
        if full >= REFILLED:
            last = EARLY * last + (1 - EARLY) * clocks / full * rest / slots
        clocks += last
        tensor += dots * rest / slots
    return clocks, tensor


def _unequal_blocks(
    launch: Launch, plan: Plan, machine: Machine, sms: int, resident: int
) -> tuple[float, float]:
    """The mean of all slots, and how much later the longest block ends."""
    each = [kernel_clocks(work, plan, resident, machine) for work in launch.samples]
    longest = max(clocks for clocks, _ in each)
    waves = launch.blocks * plan.cluster / (sms * resident)
    mean = sum(clocks for clocks, _ in each) / len(each)
    tensor = sum(dots for _, dots in each) / len(each) * waves
    return (max(longest, mean * waves + EARLY * longest) if waves > 1 else longest), tensor
