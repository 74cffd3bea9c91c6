"""gpu to NVVM: index queries, barriers, and what the lanes of a warp do together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tilewright.conversion.nvgpu_to_nvvm.numbers import constant
from tilewright.dialects.arith import floating, integer
from tilewright.dialects.gpu import indices, threads
from tilewright.dialects.gpu.attributes import AllReduceOperation, ShuffleMode
from tilewright.dialects.llvm.aggregate import ExtractValueOp
from tilewright.dialects.llvm.arithmetic import AddOp, LShrOp, MulOp, SubOp, UDivOp
from tilewright.dialects.llvm.conversion import BitcastOp, SExtOp, TruncOp, ZExtOp
from tilewright.dialects.nvvm.attributes import ShflKind
from tilewright.dialects.nvvm.registers import REGISTERS
from tilewright.dialects.nvvm.sync import Barrier0Op, BarSyncAlignedOp
from tilewright.dialects.nvvm.warp import ShflOp
from tilewright.ir.conversion import (
    ConversionBuilder,
    ConversionPattern,
    Patterns,
    Result,
    converts,
)
from tilewright.ir.types import F32, I32, I64, FloatType, IntegerType

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
"""The special register of each question that is asked of a dimension."""

REGISTER: Final[Mapping[type[Operation], str]] = {
    indices.SubgroupSizeOp: "warpsize",
    indices.LaneIdOp: "laneid",
}

ALL_LANES: Final = -1
LAST_LANE: Final = 31
WARP: Final = 32


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
    """The threads of the blocks before, and those before in this one."""
    axis = op.dimension.keyword
    block, size, thread = [
        _as_index(build, _read(build, f"{register}.{axis}"))
        for register in ("ctaid", "ntid", "tid")
    ]
    before = build.create(MulOp, lhs=block, rhs=size).res
    return build.create(AddOp, lhs=before, rhs=thread)


def thread_number(build: ConversionBuilder) -> Value:
    """The number of a thread in its block, x fastest."""
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
    """The number of the warp in its block, by that of the thread: `%warpid` may change."""
    number, size = thread_number(build), constant(build, WARP, I32)
    return _as_index(build, build.create(UDivOp, lhs=number, rhs=size).res)


@converts(indices.NumSubgroupsOp)
def subgroups(
    op: indices.NumSubgroupsOp, new: indices.NumSubgroupsOp, build: ConversionBuilder
) -> Result:
    """How many warps a block has; the last may not be full."""
    x, y, z = [_read(build, f"ntid.{axis}") for axis in "xyz"]
    plane = build.create(MulOp, lhs=x, rhs=y).res
    threads = build.create(MulOp, lhs=plane, rhs=z).res
    rounded = build.create(AddOp, lhs=threads, rhs=constant(build, WARP - 1, I32)).res
    size = constant(build, WARP, I32)
    return _as_index(build, build.create(UDivOp, lhs=rounded, rhs=size).res)


@converts(threads.BarrierOp)
def barrier(op: threads.BarrierOp, new: threads.BarrierOp, build: ConversionBuilder) -> Result:
    """Barrier 0, in the form to which warps come whole."""
    return build.create(BarSyncAlignedOp, barrier_id=constant(build, 0, I32))


@converts(threads.BarrierOp)
def barrier0(op: threads.BarrierOp, new: threads.BarrierOp, build: ConversionBuilder) -> Result:
    """The same by the other name that NVVM has for it."""
    return build.create(Barrier0Op)


_MODES: Final = {
    ShuffleMode.XOR: ShflKind.BFLY,
    ShuffleMode.DOWN: ShflKind.DOWN,
    ShuffleMode.UP: ShflKind.UP,
    ShuffleMode.IDX: ShflKind.IDX,
}


@converts(threads.ShuffleOp)
def shuffle(op: threads.ShuffleOp, new: threads.ShuffleOp, build: ConversionBuilder) -> Result:
    """A value of another lane among the first `width`, and whether there is such a lane."""
    if op.value.type not in (I32, F32):
        return build.reject(f"expected an i32 or f32, got '{op.value.type}'")
    width, one = new.width, constant(build, 1, I32)
    size = constant(build, WARP, I32)
    everybody = constant(build, ALL_LANES, I32)
    outside = build.create(SubOp, lhs=size, rhs=width).res
    mask = build.create(LShrOp, lhs=everybody, rhs=outside).res
    # Lanes look up to the last of the part, or down to its first.
    upward = op.mode is ShuffleMode.UP
    clamp = outside if upward else build.create(SubOp, lhs=width, rhs=one).res
    both = build.create(
        ShflOp,
        kind=_MODES[op.mode],
        thread_mask=mask,
        val=new.value,
        offset=new.offset,
        mask_and_clamp=clamp,
        with_validity=True,
    ).res
    return [build.create(ExtractValueOp, container=both, position=[n]).res for n in (0, 1)]


_INTEGER: Final[Mapping[AllReduceOperation, type[Operation]]] = {
    AllReduceOperation.ADD: integer.AddIOp,
    AllReduceOperation.MUL: integer.MulIOp,
    AllReduceOperation.MINUI: integer.MinUIOp,
    AllReduceOperation.MINSI: integer.MinSIOp,
    AllReduceOperation.MAXUI: integer.MaxUIOp,
    AllReduceOperation.MAXSI: integer.MaxSIOp,
    AllReduceOperation.AND: integer.AndIOp,
    AllReduceOperation.OR: integer.OrIOp,
    AllReduceOperation.XOR: integer.XOrIOp,
}
_FLOAT: Final[Mapping[AllReduceOperation, type[Operation]]] = {
    AllReduceOperation.ADD: floating.AddFOp,
    AllReduceOperation.MUL: floating.MulFOp,
    AllReduceOperation.MINNUMF: floating.MinNumFOp,
    AllReduceOperation.MAXNUMF: floating.MaxNumFOp,
    AllReduceOperation.MINIMUMF: floating.MinimumFOp,
    AllReduceOperation.MAXIMUMF: floating.MaximumFOp,
}


@converts(threads.SubgroupReduceOp)
def subgroup_reduce(
    op: threads.SubgroupReduceOp, new: threads.SubgroupReduceOp, build: ConversionBuilder
) -> Result:
    """Every lane ends with the values of all: each step swaps with a lane further away."""
    type = op.value.type
    table = _FLOAT if isinstance(type, FloatType) else _INTEGER
    kind = table.get(op.op)
    if kind is None or not isinstance(type, FloatType | IntegerType) or type.width > I32.width:
        return build.reject(f"expected a scalar of at most 32 bits, got '{type}'")
    value, distance = new.value, op.cluster_stride
    end = distance * (op.cluster_size or WARP // distance)
    while distance < end:
        other = _from_lane(build, value, distance)
        fields: dict[str, Any] = {"lhs": value, "rhs": other}
        value = build.create(kind, **fields).results[0]
        distance *= 2
    return value


def _from_lane(build: ConversionBuilder, value: Value, distance: int) -> Value:
    """The value of the lane whose number differs in one bit; narrow ones go as 32 bits."""
    type = value.type
    carried = value
    if type not in (I32, F32):
        assert isinstance(type, FloatType | IntegerType)
        bits = IntegerType(type.width)
        if type is not bits:
            carried = build.create(BitcastOp, arg=value, types=[bits]).res
        carried = build.create(ZExtOp, arg=carried, types=[I32]).res
    found = build.create(
        ShflOp,
        kind=ShflKind.BFLY,
        thread_mask=constant(build, ALL_LANES, I32),
        val=carried,
        offset=constant(build, distance, I32),
        mask_and_clamp=constant(build, LAST_LANE, I32),
    ).res
    if type in (I32, F32):
        return found
    assert isinstance(type, FloatType | IntegerType)
    bits = IntegerType(type.width)
    narrow = build.create(TruncOp, arg=found, types=[bits]).res
    return narrow if type is bits else build.create(BitcastOp, arg=narrow, types=[type]).res


BARRIERS: Final = {"bar.sync.aligned": barrier, "barrier0": barrier0}
"""The spellings of the barrier of a block."""

PATTERNS: Final[Patterns] = (
    *map(_axis_query, AXIS_REGISTERS),
    *map(_query, REGISTER),
    global_id,
    subgroup_id,
    subgroups,
    shuffle,
    subgroup_reduce,
)
