"""Slices of tiles in registers and in the stages of pipelines, along one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out, layout_of
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    CreatePipelineOp,
    ProducerAcquireOp,
)
from tilewright.dialects.nv_tileas.shape import ExpandDimsOp, PermuteOp, ViewOp
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.layout.parts import inside, smem_inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class TileSlice(NamedTuple):
    """A part of a tile: `extent` elements along one dimension, from `start` on."""

    axis: int
    start: int
    extent: int

    def part(self, extents: Sequence[int]) -> list[int]:
        """The shape of the part."""
        return [self.extent if dim == self.axis else e for dim, e in enumerate(extents)]

    def type(self, whole: Type) -> Type | None:
        """The type of the part; None if other than registers of a thread choose it.

        In shared memory, parts must follow each other.
        """
        within = smem_inside if in_shared_memory(whole) else inside
        layout = within(layout_of(whole), self.part(shape(whole)))
        return None if layout is None else laid_out(element_of(whole), layout)


def source_slice(op: ViewOp | ExpandDimsOp | PermuteOp, part: TileSlice) -> TileSlice | None:
    """The part of the source of a shape operation that a part of its result is; None if many."""
    if isinstance(op, PermuteOp):
        return part._replace(axis=op.order[part.axis])
    before, after = shape(op.source.type), shape(op.result.type)
    from_end = part.axis - len(after)
    return part._replace(axis=len(before) + from_end) if before[-2:] == after[-2:] else None


def is_held(read: ConsumerReadOp, user: Operation) -> bool:
    """Whether the stage of a read is full until a user: neither released nor copied to before."""
    create = read.pipeline.defined_by(CreatePipelineOp)
    if create is None or create.private:
        return False
    op = read.next
    while op is not None and op is not user:
        if any(_frees(each, create) for each in op.walk()):
            return False
        op = op.next
    return True


def _frees(op: Operation, create: CreatePipelineOp) -> bool:
    """Whether an operation releases a stage, or the only stage of a pipeline is copied to again."""
    if isinstance(op, ProducerAcquireOp):
        return op.pipeline is create.result and pipeline(create.result).stages == 1
    return isinstance(op, ConsumerReleaseOp)


def read_slice(build: Builder, read: ConsumerReadOp, part: TileSlice) -> Value:
    """Read a part of the tile that another operation reads."""
    (whole,) = read.values
    at, type = [0] * len(shape(whole.type)), part.type(whole.type)
    at[part.axis] = part.start
    assert type is not None
    made = build.create(
        ConsumerReadOp,
        pipeline=read.pipeline,
        token=read.token,
        number=read.number,
        at=tuple(at),
        types=[type],
        location=read.location,
    )
    return made.values[0]
