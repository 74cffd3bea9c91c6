"""Grids, blocks and clusters: how a launch is cut, and who is where in a wave."""

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
        """How many clusters the grid has along each axis."""
        x, y, z = (size // part for size, part in zip(self.grid, self.cluster, strict=True))
        return x, y, z

    @property
    def cluster_size(self) -> int:
        """How many CTAs form a cluster."""
        return product(self.cluster)

    @property
    def cluster_count(self) -> int:
        """How many clusters there are."""
        return product(self.clusters)

    @property
    def block_size(self) -> int:
        """How many threads a CTA has."""
        return product(self.block)


def product(sizes: Triple) -> int:
    """How many elements a box has."""
    return sizes[0] * sizes[1] * sizes[2]


def unravel(index: Array, sizes: Triple) -> tuple[Array, Array, Array]:
    """The coordinates of linear indices, x fastest."""
    return index % sizes[0], index // sizes[0] % sizes[1], index // (sizes[0] * sizes[1])


def _u32(vectors: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    x, y, z = (np.ascontiguousarray(vector.astype(np.uint32)) for vector in vectors)
    return x, y, z


@dataclass(eq=False, slots=True)
class Geometry:
    """Where every thread of a wave stands.

    A CTA takes a whole number of warps; the threads that fill up its last warp never live. The
    CTAs of a cluster follow one another.
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
        """`thread (3, 0, 0) of block (1, 0, 0)`."""
        place = tuple(int(axis[thread]) for axis in self.thread_index)
        block = tuple(int(axis[thread]) for axis in self.cta_index)
        return f"thread {place} of block {block}"
