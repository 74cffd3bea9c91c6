"""Multicast in a cluster: CTAs copy parts of a tile that they share, each to the stages of all.

The CTAs that share a tile have ranks that differ in some bits, the mask of the copy. Each copies
the part whose number is in these bits of its rank. The mbarrier in the same slot of each CTA counts
the bytes that arrive there, so every CTA waits for whole tiles. A CTA writes to its stage again
when the consumers in all CTAs that it writes to have released it: they arrive at the empty mbarrier
of every CTA that writes to their stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.conversion.nv_tileas_to_nvgpu.index_arithmetic import (
    OpFoldResult,
    add,
    as_value,
    constant,
    multiply,
)
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines.mbarriers import barrier_at
from tilewright.conversion.nv_tileas_to_nvgpu.predication import conjunction, predicated
from tilewright.conversion.nv_tileas_to_nvgpu.threads import thread_id
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.casts import IndexCastOp, TruncIOp
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AndIOp, ShLIOp, ShRUIOp, XOrIOp
from tilewright.dialects.cute_nvgpu.threads import MBarrierArriveRemoteOp, WarpSyncOp
from tilewright.dialects.gpu.attributes import Dimension
from tilewright.dialects.gpu.indices import ClusterBlockIdOp
from tilewright.dialects.nv_tileas.pipeline import num_ctas, ranks_within
from tilewright.dialects.nv_tileas.tensor_map import part_boxes
from tilewright.dialects.nv_tileas.types import stored_bytes, tensor_map
from tilewright.ir.types import I16, I32
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileas.pipeline import ConsumerReleaseOp, ProducerCopyOp
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value
    from tilewright.layout.tma_boxes import Box


class OwnPart(NamedTuple):
    """The part of a tile that this CTA copies, and to which CTAs."""

    boxes: Sequence[Box]
    """Those of part 0."""
    start: Sequence[OpFoldResult]
    """Coordinates in the tile that are added to the start of each box."""
    offset: OpFoldResult
    """Bytes that are added to the offset of each box."""
    ctas: Value
    """An i16 with a bit for each CTA, by its rank."""


def own_part(op: ProducerCopyOp, build: ConversionBuilder) -> OwnPart:
    """The part of this CTA in a copy that multicasts."""
    type = tensor_map(op.source)
    part, rank = part_boxes(type), _rank(build)
    number = _bits_in(build, rank, op.multicast)
    return OwnPart(
        boxes=part.boxes,
        start=[_start(build, number, steps) for steps in zip(*part.steps, strict=True)],
        offset=multiply(build, number, stored_bytes(type.tile) // type.parts),
        ctas=_shared_by(op, build, rank),
    )


def arrive_in_cluster(
    op: ConsumerReleaseOp,
    build: ConversionBuilder,
    slot: Value,
    differences: Sequence[int],
    condition: Value | None,
) -> None:
    """One arrival for each warp at the barriers in a slot of several CTAs.

    These are the CTAs whose rank, XOR that of this one, is a difference in the list. Each of the
    first lanes arrives in one of them. The condition, if there is one, is the same for all lanes.
    """
    # As for an arrival in this CTA: it orders the accesses of all lanes before the arrivals, and
    # keeps the lanes together.
    build.create(WarpSyncOp)
    lane = _and(build, thread_id(op, build), WARP_SIZE - 1)
    if list(differences) == list(range(len(differences))):
        arrives = _compare(build, CmpIPredicate.ULT, lane, len(differences))
    else:
        lanes = constant(build, sum([1 << difference for difference in differences]))
        shifted = build.create(ShRUIOp, lhs=lanes, rhs=lane).result
        arrives = _compare(build, CmpIPredicate.NE, _and(build, shifted, 1), 0)
    with predicated(build, conjunction(build, arrives, condition)):
        barriers, index = barrier_at(op, build, slot)
        block = build.create(XOrIOp, lhs=_rank(build), rhs=lane).result
        build.create(MBarrierArriveRemoteOp, barriers=barriers, mbar_id=index, block=block)


def _rank(build: ConversionBuilder) -> Value:
    """The index of this CTA in its cluster, whose CTAs are in a row."""
    index = build.create(ClusterBlockIdOp, dimension=Dimension.X).result
    return build.create(IndexCastOp, source=index, types=[I32]).result


def _bits_in(build: ConversionBuilder, rank: Value, mask: int) -> Value:
    """The bits of a rank that a mask selects, next to each other."""
    number: OpFoldResult = 0
    for index, bit in enumerate(_bits_of(mask)):
        number = add(build, number, multiply(build, _bit(build, rank, bit), 1 << index))
    return as_value(build, number)


def _bits_of(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _bit(build: ConversionBuilder, number: Value, bit: int) -> Value:
    shifted = build.create(ShRUIOp, lhs=number, rhs=constant(build, bit)).result if bit else number
    return _and(build, shifted, 1)


def _start(build: ConversionBuilder, number: Value, steps: Sequence[int]) -> OpFoldResult:
    """The start of a part along one dimension, by the steps for the bits of its number."""
    if all(step == steps[0] << bit for bit, step in enumerate(steps)):
        return multiply(build, number, steps[0])
    start: OpFoldResult = 0
    for bit, step in enumerate(steps):
        if step:
            start = add(build, start, multiply(build, _bit(build, number, bit), step))
    return start


def _shared_by(op: ProducerCopyOp, build: ConversionBuilder, rank: Value) -> Value:
    """The CTAs that share a tile with this one, as bits of an i16."""
    pattern = sum([1 << other for other in ranks_within(op.multicast)])
    others = (num_ctas(op) - 1) & ~op.multicast
    if not others:
        return constant(build, pattern, I16)
    lowest = _and(build, rank, others)
    shifted = build.create(ShLIOp, lhs=constant(build, pattern), rhs=lowest).result
    return build.create(TruncIOp, source=shifted, types=[I16]).result


def _and(build: ConversionBuilder, number: Value, mask: int) -> Value:
    return build.create(AndIOp, lhs=number, rhs=constant(build, mask)).result


def _compare(build: ConversionBuilder, predicate: CmpIPredicate, a: Value, b: int) -> Value:
    return build.create(CmpIOp, predicate=predicate, lhs=a, rhs=constant(build, b)).result
