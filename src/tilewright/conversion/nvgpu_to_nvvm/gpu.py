"""gpu to NVVM: index queries and barriers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.dialects.gpu import indices, threads
from tilewright.dialects.llvm.arithmetic import AddOp, MulOp, UDivOp
from tilewright.dialects.llvm.conversion import SExtOp
from tilewright.dialects.nvvm.registers import REGISTERS
from tilewright.dialects.nvvm.sync import Barrier0Op, BarSyncAlignedOp
from tilewright.ir.conversion import (
    ConversionBuilder,
    ConversionPattern,
    Patterns,
    Result,
    converts,
)
from tilewright.ir.types import I32, I64
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

AXIS_REGISTERS: Final[Mapping[type[indices.IndexOp], str]] = {
    indices.ThreadIdOp: "tid",
    indices.BlockIdOp: "ctaid",
    indices.BlockDimOp: "ntid",
    indices.GridDimOp: "nctaid",
    indices.ClusterIdOp: "clusterid",
    indices.ClusterDimOp: "nclusterid",
    indices.ClusterBlockIdOp: "cluster.ctaid",
    indices.ClusterDimBlocksOp: "cluster.nctaid",
}
"""The special register of each index operation with a dimension."""

REGISTER: Final[Mapping[type[Operation], str]] = {
    indices.SubgroupSizeOp: "warpsize",
    indices.LaneIdOp: "laneid",
}


def _read(build: ConversionBuilder, register: str) -> Value:
    return build.create(REGISTERS[register]).res


def _as_index(build: ConversionBuilder, value: Value) -> Value:
    return build.create(SExtOp, arg=value, types=[I64]).res


def _axis_query(root: type[indices.IndexOp]) -> ConversionPattern:
    def apply(op: indices.IndexOp, new: indices.IndexOp, build: ConversionBuilder) -> Result:
        register = f"{AXIS_REGISTERS[root]}.{op.dimension.keyword}"
        return _as_index(build, _read(build, register))

    return ConversionPattern((root,), apply, f"{root.name} from {AXIS_REGISTERS[root]}")


def _query(root: type[Operation]) -> ConversionPattern:
    def apply(op: Operation, new: Operation, build: ConversionBuilder) -> Result:
        return _as_index(build, _read(build, REGISTER[root]))

    return ConversionPattern((root,), apply, f"{root.name} from {REGISTER[root]}")


@converts(indices.GlobalIdOp)
def global_id(op: indices.GlobalIdOp, new: indices.GlobalIdOp, build: ConversionBuilder) -> Result:
    """Lower `gpu.global_id` to `ctaid * ntid + tid`."""
    axis = op.dimension.keyword
    block, size, thread = [
        _as_index(build, _read(build, f"{register}.{axis}"))
        for register in ("ctaid", "ntid", "tid")
    ]
    before = build.create(MulOp, lhs=block, rhs=size).res
    return build.create(AddOp, lhs=before, rhs=thread)


def linear_thread_id(build: ConversionBuilder) -> Value:
    """Compute the linear index of a thread in its block, x fastest."""
    z, y, x = [_read(build, f"tid.{axis}") for axis in "zyx"]
    rows, columns = [_read(build, f"ntid.{axis}") for axis in "yx"]
    plane = build.create(MulOp, lhs=z, rhs=rows).res
    row = build.create(AddOp, lhs=plane, rhs=y).res
    start = build.create(MulOp, lhs=row, rhs=columns).res
    return build.create(AddOp, lhs=start, rhs=x).res


@converts(indices.SubgroupIdOp)
def subgroup_id(
    op: indices.SubgroupIdOp, new: indices.SubgroupIdOp, build: ConversionBuilder
) -> Result:
    """Compute the warp index from the thread index, because `%warpid` may change."""
    number, size = linear_thread_id(build), constant(build, WARP_SIZE, I32)
    return _as_index(build, build.create(UDivOp, lhs=number, rhs=size).res)


@converts(indices.NumSubgroupsOp)
def subgroups(
    op: indices.NumSubgroupsOp, new: indices.NumSubgroupsOp, build: ConversionBuilder
) -> Result:
    """Compute the number of warps of a block, the last of which may be partial."""
    x, y, z = [_read(build, f"ntid.{axis}") for axis in "xyz"]
    plane = build.create(MulOp, lhs=x, rhs=y).res
    threads = build.create(MulOp, lhs=plane, rhs=z).res
    rounded = build.create(AddOp, lhs=threads, rhs=constant(build, WARP_SIZE - 1, I32)).res
    size = constant(build, WARP_SIZE, I32)
    return _as_index(build, build.create(UDivOp, lhs=rounded, rhs=size).res)


@converts(threads.BarrierOp)
def barrier(op: threads.BarrierOp, new: threads.BarrierOp, build: ConversionBuilder) -> Result:
    """Lower to `bar.sync 0`, the aligned form."""
    return build.create(BarSyncAlignedOp, barrier_id=constant(build, 0, I32))


@converts(threads.BarrierOp)
def barrier0(op: threads.BarrierOp, new: threads.BarrierOp, build: ConversionBuilder) -> Result:
    """Lower to `nvvm.barrier0`."""
    return build.create(Barrier0Op)


BARRIERS: Final = {"bar.sync.aligned": barrier, "barrier0": barrier0}
"""The patterns of `gpu.barrier`, by the option of the pass."""

PATTERNS: Final[Patterns] = (
    *map(_axis_query, AXIS_REGISTERS),
    *map(_query, REGISTER),
    global_id,
    subgroup_id,
    subgroups,
)
