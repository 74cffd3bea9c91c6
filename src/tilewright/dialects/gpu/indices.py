"""Indices of threads, blocks and clusters, and sizes of blocks, clusters and grid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tilewright.dialects.elements import INDEX_TYPE
from tilewright.dialects.gpu.attributes import DIMENSION
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import INDEX_ATTR
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects

if TYPE_CHECKING:
    from collections.abc import Iterator


class IndexOp(Operation):
    """Base of the queries along one dimension; the upper bound is exclusive."""

    effects = Effects.PURE
    syntax = "$dimension (`upper_bound` $upper_bound^)? attr-dict"

    dimension = d.attribute(DIMENSION)
    upper_bound = d.optional_attribute(INDEX_ATTR)
    result = d.result(INDEX_TYPE)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, f"{self.name.partition('.')[2]}_{self.dimension.keyword}"),)

    def verify(self) -> Iterator[str]:
        bound = self.upper_bound
        if bound is not None and bound < 1:
            yield f"expected a positive upper bound, got {bound}"


class ThreadIdOp(IndexOp):
    """The index of the thread in its block."""

    name = "gpu.thread_id"


class BlockIdOp(IndexOp):
    """The index of the block in the grid."""

    name = "gpu.block_id"


class BlockDimOp(IndexOp):
    """The number of threads of the block."""

    name = "gpu.block_dim"


class GridDimOp(IndexOp):
    """The number of blocks of the grid."""

    name = "gpu.grid_dim"


class GlobalIdOp(IndexOp):
    """The index of the thread in the grid."""

    name = "gpu.global_id"


class ClusterIdOp(IndexOp):
    """The index of the cluster in the grid."""

    name = "gpu.cluster_id"


class ClusterDimOp(IndexOp):
    """The number of clusters of the grid."""

    name = "gpu.cluster_dim"


class ClusterBlockIdOp(IndexOp):
    """The index of the block in its cluster."""

    name = "gpu.cluster_block_id"


class ClusterDimBlocksOp(IndexOp):
    """The number of blocks of the cluster."""

    name = "gpu.cluster_dim_blocks"


class LaneIdOp(Operation):
    """The lane of the thread in its warp."""

    name = "gpu.lane_id"
    effects = Effects.PURE
    syntax = "(`upper_bound` $upper_bound^)? attr-dict"

    upper_bound = d.optional_attribute(INDEX_ATTR)
    result = d.result(INDEX_TYPE)

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, "lane_id"),)


class WarpQuery(Operation):
    """Base of the queries about the warps of a block."""

    effects = Effects.PURE
    syntax = "(`upper_bound` $upper_bound^)? attr-dict `:` type($result)"

    upper_bound = d.optional_attribute(INDEX_ATTR)
    result = d.result(INDEX_TYPE)


class SubgroupIdOp(WarpQuery):
    """The index of the thread's warp in its block."""

    name = "gpu.subgroup_id"


class NumSubgroupsOp(WarpQuery):
    """The number of warps of the block."""

    name = "gpu.num_subgroups"


class SubgroupSizeOp(WarpQuery):
    """The number of threads of a warp."""

    name = "gpu.subgroup_size"
