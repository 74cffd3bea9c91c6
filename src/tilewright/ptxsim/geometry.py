"""Grids, blocks and clusters: the indices of the threads of a wave."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tilewright.ptxsim.lanes import WARP
from tilewright.ptxsim.scalar_types import Array

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Launch:
    """The shape of a launch."""

    grid: Triple
    block: Triple
    cluster: Triple = (1, 1, 1)
    dynamic_shared: int = 0

    @property
    def clusters(self) -> Triple:
        """The number of clusters along each axis of the grid."""
        x, y, z = (size // part for size, part in zip(self.grid, self.cluster, strict=True))
        return x, y, z

    @property
    def cluster_size(self) -> int:
        """The number of CTAs in a cluster."""
        return volume(self.cluster)

    @property
    def cluster_count(self) -> int:
        """The number of clusters."""
        return volume(self.clusters)

    @property
    def block_size(self) -> int:
        """The number of threads in a CTA."""
        return volume(self.block)


def volume(sizes: Triple) -> int:
    """The number of elements of a box."""
    return sizes[0] * sizes[1] * sizes[2]


def unravel(index: Array, sizes: Triple) -> tuple[Array, Array, Array]:
    """Convert linear indices to coordinates, x fastest."""
    return index % sizes[0], index // sizes[0] % sizes[1], index // (sizes[0] * sizes[1])


def _u32(vectors: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    x, y, z = (np.ascontiguousarray(vector.astype(np.uint32)) for vector in vectors)
    return x, y, z


@dataclass(eq=False, slots=True)
class Geometry:
    """The indices of every thread of a wave.

    A CTA takes a whole number of warps; padding threads of its last warp never run. CTAs of a
    cluster are consecutive.
    """

    launch: Launch
    first_cluster: int
    cluster_count: int
    slots_per_cta: int = field(init=False)
    cta_count: int = field(init=False)
    thread_count: int = field(init=False)
    cta_of_thread: Array = field(init=False)
    exists: Array = field(init=False)
    thread_index: tuple[Array, Array, Array] = field(init=False)
    cta_index: tuple[Array, Array, Array] = field(init=False)
    cluster_index: tuple[Array, Array, Array] = field(init=False)
    cta_in_cluster: tuple[Array, Array, Array] = field(init=False)
    cta_rank: Array = field(init=False)
    warp_in_cta: Array = field(init=False)

    def __post_init__(self) -> None:
        launch = self.launch
        self.slots_per_cta = -(-launch.block_size // WARP) * WARP
        self.cta_count = self.cluster_count * launch.cluster_size
        self.thread_count = self.cta_count * self.slots_per_cta
        slots = np.arange(self.thread_count)
        self.cta_of_thread = slots // self.slots_per_cta
        in_cta = slots % self.slots_per_cta
        self.exists = in_cta < launch.block_size
        self.thread_index = _u32(unravel(in_cta, launch.block))
        self.warp_in_cta = (in_cta // WARP).astype(np.uint32)
        rank = self.cta_of_thread % launch.cluster_size
        self.cta_rank = rank.astype(np.uint32)
        inner = unravel(rank, launch.cluster)
        outer = unravel(
            self.first_cluster + self.cta_of_thread // launch.cluster_size, launch.clusters
        )
        self.cta_in_cluster = _u32(inner)
        self.cluster_index = _u32(outer)
        x, y, z = (
            cluster * size + cta
            for cluster, size, cta in zip(outer, launch.cluster, inner, strict=True)
        )
        self.cta_index = _u32((x, y, z))

    def describe(self, thread: int) -> str:
        """Format `thread (3, 0, 0) of block (1, 0, 0)`."""
        thread_index = tuple(int(axis[thread]) for axis in self.thread_index)
        block = tuple(int(axis[thread]) for axis in self.cta_index)
        return f"thread {thread_index} of block {block}"
