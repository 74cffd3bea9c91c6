"""Parts of tiles with layouts, one after the other: of those that are computed from stages.

The parts of a tile that a pipeline holds are read when they are needed, so that registers hold few
of them at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out, layout_of
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    CreatePipelineOp,
    ProducerAcquireOp,
)
from tilewright.dialects.nv_tileas.shape import ExpandDimsOp, PermuteOp, SplatOp, ViewOp
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.ir.attributes import DenseElementsAttr
from tilewright.layout.parts import inside, smem_inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout

REARRANGEMENTS: Final = (ViewOp, ExpandDimsOp, PermuteOp)


class Part(NamedTuple):
    """A part of a tile: `extent` elements along one dimension, from `start` on."""

    axis: int
    start: int
    extent: int

    def shape(self, extents: Sequence[int]) -> list[int]:
        """The shape of the part."""
        return [self.extent if dim == self.axis else e for dim, e in enumerate(extents)]

    def exists(self, whole: Type) -> bool:
        """Whether registers of a thread, and nothing else, choose the part of a tile.

        In shared memory, parts must follow each other.
        """
        return self._layout(whole) is not None

    def type(self, whole: Type) -> Type:
        """The type of a part that exists."""
        layout = self._layout(whole)
        assert layout is not None
        return laid_out(element_of(whole), layout)

    def _layout(self, whole: Type) -> Layout | None:
        within = smem_inside if in_shared_memory(whole) else inside
        return within(layout_of(whole), self.shape(shape(whole)))

    def along(self, tile: Value, axis: int, other: Value) -> Part:
        """The same one of as many parts of another tile, along a dimension of it."""
        extent = shape(tile.type)[axis] * self.extent // shape(other.type)[self.axis]
        return Part(axis, self.start // self.extent * extent, extent)


class UnrolledParts:
    """Parts of tiles that are computed from stages, in the block of a user that needs the stages.

    Operations between a stage and the part are cut by their ways.
    """

    __slots__ = ("_known", "_made", "_until")

    def __init__(self, until: Operation) -> None:
        self._until = until
        """The operation before which no stage may be released."""
        self._known: dict[tuple[Value, Part], dict[Value, Part] | None] = {}
        self._made: dict[tuple[Value, Part], Value] = {}

    def can_build(self, value: Value, part: Part) -> bool:
        """Whether a part of a tile can be computed from stages."""
        return self._sources(value, part) is not None and not is_uniform(value)

    def build(self, value: Value, part: Part, build: Builder) -> Value:
        """The part of a tile that can be computed; each one is built once."""
        if (value, part) not in self._made:
            self._made[value, part] = self._build(value, part, build)
        return self._made[value, part]

    def _sources(self, value: Value, part: Part) -> dict[Value, Part] | None:
        """The parts of operands that a part of a tile is computed from; None if it cannot be."""
        if (value, part) not in self._known:
            self._known[value, part] = self._find_sources(value, part)
        return self._known[value, part]

    def _find_sources(self, value: Value, part: Part) -> dict[Value, Part] | None:
        op = value.defining_op()
        if op is None or not part.exists(value.type):
            return None
        if is_uniform(value):
            return {}
        if op.parent is not self._until.parent:
            return None
        if isinstance(op, ConsumerReadOp):
            is_whole = op.number is not None and op.at is None
            return {} if is_whole and _is_held(op, self._until) else None
        if not (is_elementwise(op) or isinstance(op, REARRANGEMENTS)) or len(op.results) != 1:
            return None
        parts = shape(value.type)[part.axis] // part.extent
        tiles = [tile for tile in op.operands if is_tile(tile)]
        for way in op.ways():
            if way.axes.get(value) == part.axis and way.allows(parts):
                sources = {tile: part.along(tile, way.axes[tile], value) for tile in tiles}
                computed = all(self._sources(*each) is not None for each in sources.items())
                return sources if tiles and computed else None
        return None

    def _build(self, value: Value, part: Part, build: Builder) -> Value:
        op, type = value.defining_op(), part.type(value.type)
        if is_uniform(value):
            return uniform_part(value, type, build)
        if isinstance(op, ConsumerReadOp):
            return _read_part(build, op, part)
        sources = self._sources(value, part)
        assert op is not None
        assert sources is not None
        operands = [
            self.build(each, sources[each], build) if each in sources else each
            for each in op.operands
        ]
        return build.insert(op.like(operands, [type])).results[0]


def is_uniform(tile: Value) -> bool:
    """Whether a tile is a splat, or a constant with one value."""
    op = tile.defining_op()
    if isinstance(op, ConstantOp):
        return isinstance(op.value, DenseElementsAttr) and op.value.is_splat
    return isinstance(op, SplatOp)


def uniform_part(tile: Value, type: Type, build: Builder) -> Value:
    """A part of a tile with one value in all elements."""
    op = tile.defining_op()
    if isinstance(op, SplatOp):
        return build.insert(op.like(op.operands, [type])).results[0]
    assert isinstance(op, ConstantOp)
    assert isinstance(op.value, DenseElementsAttr)
    dense = DenseElementsAttr(op.value.data, type)
    return build.create(ConstantOp, value=dense, types=[type]).result


def _is_held(read: ConsumerReadOp, user: Operation) -> bool:
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


def _read_part(build: Builder, read: ConsumerReadOp, part: Part) -> Value:
    """Read a part of the tile that another operation reads."""
    (whole,) = read.values
    at = [0] * len(shape(whole.type))
    at[part.axis] = part.start
    made = build.create(
        ConsumerReadOp,
        pipeline=read.pipeline,
        token=read.token,
        number=read.number,
        at=tuple(at),
        types=[part.type(whole.type)],
        location=read.location,
    )
    return made.values[0]
