"""The work of a launch: blocks sampled over the grid, and the traffic of all of them."""

from __future__ import annotations

from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.schedule.launch_cost import Launch
from tilewright.schedule.work_tree import LaunchedBlock, tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp

SAMPLES: Final = 8
"""Blocks of a launch whose work is counted: evenly spaced over the grid."""


class LaunchArguments(NamedTuple):
    """What is known of the arguments of a launch, by the number of the parameter."""

    integers: Sequence[int | None] = ()
    """Of all parameters, the values of those that are integers."""
    sizes: Mapping[int, int] = MappingProxyType({})
    """Bytes of arrays."""
    contents: Mapping[int, Sequence[int]] = MappingProxyType({})
    """Elements of arrays of integers."""


def launch_of(function: FuncOp, grid: Sequence[int], arguments: LaunchArguments) -> Launch:
    """The work of the launch of a kernel at nv_tileaa."""
    x, y, z = (*grid, 1, 1)[:3]
    blocks = prod(grid)
    trees = [
        tree_of(
            function,
            LaunchedBlock(
                arguments.integers, (n % x, n // x % y, n // x // y), (x, y, z), arguments.contents
            ),
        )
        for n in sorted({sample * (blocks - 1) // (SAMPLES - 1) for sample in range(SAMPLES)})
    ]
    samples = tuple([tree.root for tree in trees])
    traffic = traffic_of([tree.arrays for tree in trees], arguments.sizes, blocks)
    return Launch(blocks, samples[:1] if len(set(samples)) == 1 else samples, traffic)


def traffic_of(
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
