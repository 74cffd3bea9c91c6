"""Pipelines between producer and consumer warps.

A producer acquires a stage, writes it and commits it; a consumer waits for it, reads it and
releases it. Each has an iterator with the stage index and phase.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tilewright.dialects.elements import element_of, listed, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import (
    BOOL_TILE,
    INT_TILE,
    PTR_TILE,
    TILED_VIEW,
    TOKEN,
    element_problems,
    pointer,
    shape,
)
from tilewright.dialects.nv_tileaa.memory import masks
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import TiledViewType
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.dialects.nv_tileas.agents import AgentSwitchOp, agent_of
from tilewright.dialects.nv_tileas.async_copy import SLOT, copied_bytes_problems
from tilewright.dialects.nv_tileas.attributes import (
    ENGINE,
    CopyEngine,
    in_shared_memory,
    layout_of,
    maybe_layout_of,
)
from tilewright.dialects.nv_tileas.memory import VECTOR
from tilewright.dialects.nv_tileas.residency import LAID_OUT
from tilewright.dialects.nv_tileas.types import (
    ACQUIRED,
    AWAITED,
    ITERATOR,
    PIPELINE,
    TENSOR_MAP,
    IteratorType,
    TensorMapType,
    pipeline,
    stored_bytes,
    tensor_map,
    without_layout,
)
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import (
    BOOL_ARRAY_ATTR,
    I64_ARRAY_ATTR,
    I64_ATTR,
    TYPE_ATTR,
)
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.traits import Effects, SameType
from tilewright.ir.types import I1, TensorType
from tilewright.layout.parts import smem_inside
from tilewright.target.engines import CP_ASYNC

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.values import Value
    from tilewright.text.syntax import ParseState


class CreatePipelineOp(Operation):
    """Create a pipeline whose stages are all empty.

    Its producers are one agent and its consumers are one, or both are all warps of the block.
    Between agents, mbarriers synchronize. Where the same warps produce and consume, and every
    `consumer_wait` says how many later stages are `pending`, threads count their own copies, and a
    barrier of the block makes the copies visible to all. In a `private` pipeline each thread reads
    only what it has copied itself, and needs no barrier. The producer of a `drained` pipeline, an
    agent of one warp, acquires all stages at its end, and does not fill them: the mbarriers end
    there.
    """

    name = "nv_tileas.async.pipeline.create_pipeline"
    syntax = "attr-dict `:` type($result)"

    slot = d.optional_attribute(SLOT)
    """Its first mbarrier slot: a full and an empty mbarrier per stage."""
    private = d.flag()
    drained = d.flag()
    scratch = d.optional_attribute(I64_ATTR)
    """The byte offset of its stages in the shared memory of the function."""
    result = d.result(PIPELINE)

    def verify_context(self) -> Iterator[str]:
        if not counts_copies(self) and not isinstance(self.parent_op, FuncOp):
            yield "expected a pipeline with mbarriers to be created outside of all regions"
        for side, kind in (("producers", ProducerOp), ("consumers", ConsumerOp)):
            agents = {agent_of(user) for user in self.result.users if isinstance(user, kind)}
            if len(agents) > 1:
                yield f"expected {side} in one agent, got them in {len(agents)}"
        stages, last = pipeline(self.result).stages, len(last_acquires(self))
        if self.drained and last != stages:
            yield f"expected one warp to acquire all {stages} stages at its end, got {last}"


def last_acquires(op: CreatePipelineOp) -> list[ProducerAcquireOp]:
    """What acquires stages without filling them, right in the block of an agent of one warp."""
    acquires = [user for user in op.result.users if isinstance(user, ProducerAcquireOp)]
    return [
        acquire
        for acquire in acquires
        if not acquire.token.users
        and isinstance(acquire.parent_op, AgentSwitchOp)
        and acquire.parent_op.warps == 1
    ]


class CreateNullTokenOp(Operation):
    """Create a token without a source, for a pipeline to carry."""

    name = "nv_tileas.async.pipeline.create_null_token"
    effects = Effects.NONE
    syntax = "attr-dict `:` type($result)"

    result = d.result(TOKEN)


class CreateIteratorOp(Operation):
    """Create an iterator at stage 0, phase 0."""

    name = "nv_tileas.async.pipeline.create_iterator"
    effects = Effects.NONE
    syntax = "$pipeline attr-dict `:` type($pipeline) `->` type($result)"

    pipeline = d.operand(PIPELINE)
    result = d.result(ITERATOR)

    def verify(self) -> Iterator[str]:
        yield from _iterator_problems(self.pipeline, self.result)


class IncIterOp(Operation):
    """Advance an iterator to the next stage; after the last stage the phase flips.

    With `no_wrap`, no operation uses the stage after the last one.
    """

    name = "nv_tileas.async.pipeline.inc_iter"
    effects = Effects.PURE
    traits = (SameType("iterator", "result"),)
    syntax = "$iterator attr-dict `:` type($iterator)"

    iterator = d.operand(ITERATOR)
    no_wrap = d.flag()
    result = d.result(ITERATOR)


def _iterator_problems(source: Value, iterator: Value) -> Iterator[str]:
    assert isinstance(iterator.type, IteratorType)
    stages = pipeline(source).stages
    if iterator.type.stages != stages:
        yield f"expected an iterator over {stages} stages, got '{iterator.type}'"


class PipelineOp(Operation):
    """Base of the operations on a stage of a pipeline."""

    pipeline = d.operand(PIPELINE)

    def verify_context(self) -> Iterator[str]:
        if self.pipeline.defined_by(CreatePipelineOp) is None:
            yield "expected a pipeline straight from its creation"
        first = self.operands[1].defining_op() if len(self.operands) > 1 else None
        if isinstance(first, PipelineOp) and first.pipeline is not self.pipeline:
            yield "expected a token of the same pipeline, got one of another"


class ProducerOp(PipelineOp):
    """Base of the producer operations."""


class ConsumerOp(PipelineOp):
    """Base of the consumer operations."""


class ProducerAcquireOp(ProducerOp):
    """Wait until a stage is empty."""

    name = "nv_tileas.async.pipeline.producer_acquire"
    syntax = "$pipeline `[` $iterator `]` attr-dict `:` type($pipeline) `,` type($iterator)"

    iterator = d.operand(ITERATOR)
    token = d.result(ACQUIRED)

    def verify(self) -> Iterator[str]:
        yield from _iterator_problems(self.pipeline, self.iterator)


class ProducerWriteOp(ProducerOp):
    """Write the values of a stage from registers, or only the one with a `number`."""

    name = "nv_tileas.async.pipeline.producer_write"
    traits = (LAID_OUT,)
    syntax = "$pipeline `,` $token `,` $values attr-dict `:` type($pipeline) `,` type($values)"

    token = d.operand(ACQUIRED)
    number = d.optional_attribute(SLOT)
    values = d.operands(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        yield from _value_problems(self.pipeline, self.values, self.number)

    @property
    def numbers(self) -> Sequence[int]:
        """The index in the stage of each value that is written."""
        return range(len(self.values)) if self.number is None else (self.number,)


class ProducerCopyOp(ProducerOp):
    """Start an asynchronous copy from global memory into one value of a stage.

    The stage is full when the copies are over; the producer need not wait for them. The source is
    an address, a multiple of 16, from which consecutive bytes are copied; or the tile of a view at
    the indices; or a tile of pointers. Elements out of bounds and masked-off ones become zero. The
    `mask` of pointers is a tile, that of a view is one bit for all elements.
    `tile` is the type of the copied tile: its layout says which elements each thread copies,
    `vector` at a time. Through a tensor map, one thread copies the tile of its view by TMA.

    `multicast` is a mask of bits of the CTA rank: CTAs of a cluster whose ranks differ in these
    bits alone copy the same tile, with the same iterator. Each copies one part of it, to the stages
    of all of them. A stage is empty when the consumers of all CTAs that it is copied to have
    released it.

    `evict_first` is a hint to L2: no block reads the tile again, so that its lines are the first to
    be evicted.
    """

    name = "nv_tileas.async.pipeline.producer_copy"
    syntax = (
        "$pipeline `,` $token `,` $source (`[` $indices^ `]`)? (`mask` `=` $mask^)? attr-dict "
        "`:` type($pipeline) `,` type($source) (`,` type($indices)^)?"
    )

    token = d.operand(ACQUIRED)
    source = d.operand(PTR_TILE | TILED_VIEW | TENSOR_MAP)
    indices = d.operands(INT_TILE)
    mask = d.optional_operand(BOOL_TILE)
    number = d.attribute(SLOT, default=0)
    """The index of the value in the stage."""
    engine = d.attribute(ENGINE, default=CopyEngine.CP_ASYNC)
    tile = d.optional_attribute(TYPE_ATTR)
    vector = d.attribute(VECTOR, default=1)
    partial = d.flag()
    """Whether a vector may be partly out of bounds."""
    in_bounds = d.optional_attribute(BOOL_ARRAY_ATTR)
    multicast = d.attribute(SLOT, default=0)
    evict_first = d.flag()

    @classmethod
    def infer_types(cls, state: ParseState) -> None:
        """Infer the type of `mask` from that of the pointers; that of a view is an i1."""
        state.operand_types["mask"] = masks(state, "source", "mask")

    @property
    def is_tiled(self) -> bool:
        """Whether threads copy a tile: of a view, or of pointers."""
        return isinstance(self.source.type, TiledViewType | TensorType)

    @property
    def is_by_tma(self) -> bool:
        """Whether one thread copies a tile through a tensor map."""
        return isinstance(self.source.type, TensorMapType)

    def verify(self) -> Iterator[str]:
        elements = pipeline(self.pipeline).elements
        if self.number >= len(elements):
            yield f"expected one of {len(elements)} values of a stage, got number {self.number}"
            return
        if self.mask is not None and not self.is_tiled:
            yield "expected a mask only for a tile that threads copy"
        type = elements[self.number]
        if self.is_by_tma != (self.engine is CopyEngine.TMA):
            actual = f"'{self.engine.keyword}' for '{self.source.type}'"
            yield f"expected the engine 'tma' for tensor maps, and for nothing else, got {actual}"
            return
        if self.multicast and not self.is_by_tma:
            yield f"expected a multicast by TMA, got '{self.engine.keyword}'"
        if self.is_by_tma:
            yield from self._map_problems(type)
            return
        if self.is_tiled:
            yield from self._tile_problems(type)
            return
        if self.evict_first:
            yield "expected 'evict_first' only for the copy of a tile, got an address"
        yield from element_problems("a source", element_of(type), pointer(self.source).pointee)
        yield from copied_bytes_problems(stored_bytes(type))

    def verify_context(self) -> Iterator[str]:
        yield from super().verify_context()
        create = self.pipeline.defined_by(CreatePipelineOp)
        if self.is_by_tma and create is not None and counts_copies(create):
            yield "expected a pipeline with mbarriers for a copy by TMA, got one that counts copies"
        if self.is_by_tma and self.multicast:
            yield from self._multicast_problems()

    def _multicast_problems(self) -> Iterator[str]:
        ctas, sharing = num_ctas(self), len(ranks_within(self.multicast))
        if ctas & (ctas - 1) or self.multicast >= ctas:
            yield f"expected a mask of ranks in a cluster of {ctas} CTAs, got {self.multicast}"
        parts = tensor_map(self.source).parts
        if parts != sharing:
            yield f"expected a tensor map with a part for each of {sharing} CTAs, got {parts}"

    def _map_problems(self, type: Type) -> Iterator[str]:
        map = tensor_map(self.source)
        if len(self.indices) != map.view.rank:
            yield f"expected {map.view.rank} indices, got {len(self.indices)}"
        if self.tile is not None:
            yield "expected no 'tile' for a copy by TMA, which no thread takes part in"
        if map.tile is not type:
            yield f"expected a tensor map for '{type}', got one for '{map.tile}'"

    def _tile_problems(self, type: Type) -> Iterator[str]:
        is_view = isinstance(self.source.type, TiledViewType)
        rank = tiled_view(self.source).rank if is_view else 0
        if len(self.indices) != rank:
            yield f"expected {rank} indices, got {len(self.indices)}"
        if is_view and self.mask is not None and self.mask.type is not I1:
            yield f"expected a mask of one bit for the tile of a view, got '{self.mask.type}'"
        if not is_view and layout_of(self.source) != maybe_layout_of(self.tile or type):
            yield f"expected pointers in the layout of the copied tile, got '{self.source.type}'"
        if self.engine is CopyEngine.REGISTERS:
            yield "expected an asynchronous engine; tiles in registers are written"
        if self.tile is None:
            yield "expected the layout of the copy in 'tile'"
        elif without_layout(self.tile) is not without_layout(type):
            yield f"expected a tile of type '{without_layout(type)}', got '{self.tile}'"
        bytes = self.vector * pointee_bytes(element_of(type))
        if bytes not in CP_ASYNC.granules:
            yield f"expected 4, 8 or 16 bytes at a time, got {bytes}"


class ProducerCommitOp(ProducerOp):
    """Signal that a stage is full, or will be when its copies complete."""

    name = "nv_tileas.async.pipeline.producer_commit"
    syntax = "$pipeline `,` $token attr-dict `:` type($pipeline)"

    token = d.operand(ACQUIRED)


class ConsumerWaitOp(ConsumerOp):
    """Wait until a stage is full.

    `pending` is the number of commits after that of this stage, whose copies may be in flight; see
    `create_pipeline`. Several values of a stage may be committed one by one. With `own_copies`, a
    thread waits for its own copies, and the next barrier of the block shows those of all others.
    """

    name = "nv_tileas.async.pipeline.consumer_wait"
    syntax = "$pipeline `[` $iterator `]` attr-dict `:` type($pipeline) `,` type($iterator)"

    iterator = d.operand(ITERATOR)
    pending = d.optional_attribute(SLOT)
    own_copies = d.flag()
    token = d.result(AWAITED)

    def verify(self) -> Iterator[str]:
        yield from _iterator_problems(self.pipeline, self.iterator)
        type = pipeline(self.pipeline)
        commits = type.stages * max(1, len(type.elements))
        if self.pending is not None and self.pending >= commits:
            yield f"expected fewer pending commits than {commits} values, got {self.pending}"
        if self.own_copies and self.pending is None:
            yield "expected 'own_copies' only with 'pending': mbarriers count those of all threads"


class ConsumerReadOp(ConsumerOp):
    """Read the values of a stage into registers, or only the one with a `number`.

    A result in shared memory is the value in the stage itself: it is valid until the release. Of a
    tile, `at` reads the part that begins at these coordinates, and has the shape of the result.
    """

    name = "nv_tileas.async.pipeline.consumer_read"
    traits = (LAID_OUT,)
    syntax = "$pipeline `,` $token attr-dict `:` type($pipeline) `->` type($values)"

    token = d.operand(AWAITED)
    number = d.optional_attribute(SLOT)
    at = d.optional_attribute(I64_ARRAY_ATTR)
    values = d.results(ANY_TYPE)

    def verify(self) -> Iterator[str]:
        if self.at is None:
            yield from _value_problems(self.pipeline, self.values, self.number)
        elif self.number is None or len(self.values) != 1:
            yield "expected the 'number' of the value that is read in part"
        else:
            element = pipeline(self.pipeline).elements[self.number]
            yield from _part_problems(element, self.values[0], self.at)

    @property
    def numbers(self) -> Sequence[int]:
        """The index in the stage of each value that is read."""
        return range(len(self.values)) if self.number is None else (self.number,)


class ConsumerReleaseOp(ConsumerOp):
    """Signal that a stage is empty again; with a `lag`, the stage that many steps before it.

    A dot that is in flight at the release still reads the stage: its release lags. If the iterator
    has made fewer than `lag` steps, there is no such stage and nothing is released. With mbarriers
    each stage is released once per phase. After a loop whose releases lag, the last `lag` stages
    are full still: a later loop with the same lag continues and releases them; otherwise, if the
    producers need them, releases of the last token with the lags below this one do.
    """

    name = "nv_tileas.async.pipeline.consumer_release"
    syntax = "$pipeline `,` $token attr-dict `:` type($pipeline)"

    token = d.operand(AWAITED)
    lag = d.attribute(SLOT, default=0)

    def verify_context(self) -> Iterator[str]:
        yield from super().verify_context()
        create, stages = self.pipeline.defined_by(CreatePipelineOp), pipeline(self.pipeline).stages
        if create is not None and not counts_copies(create) and self.lag >= stages:
            yield f"expected a lag of fewer stages than the {stages} there are, got {self.lag}"


def _value_problems(
    source: Value, values: Sequence[Value], number: int | None = None
) -> Iterator[str]:
    elements = pipeline(source).elements
    if number is not None:
        elements = elements[number : number + 1]
    expected = tuple(without_layout(type) for type in elements)
    actual = tuple(without_layout(value.type) for value in values)
    if actual != expected:
        yield f"expected values of types {listed(expected)}, got {listed(actual)}"
        return
    for value, type in zip(values, elements, strict=True):
        if in_shared_memory(value) and value.type is not type:
            yield f"expected the placement of the stage, '{type}', got '{value.type}'"


def _part_problems(whole: Type, part: Value, at: Sequence[int]) -> Iterator[str]:
    """Check that a part lies within a tile, a multiple of its extents from the start."""
    if element_of(whole) is not element_of(part.type):
        yield f"expected a part of '{without_layout(whole)}', got '{part.type}'"
        return
    extents, parts = shape(whole), shape(part.type)
    if not len(extents) == len(parts) == len(at):
        yield f"expected {len(extents)} coordinates and extents, got {len(at)} and {len(parts)}"
        return
    for start, size, extent in zip(at, parts, extents, strict=True):
        if start % size or not 0 <= start <= extent - size:
            yield f"expected a multiple of {size} up to {extent - size} in 'at', got {start}"
            return
    if in_shared_memory(part):
        placement = smem_inside(layout_of(whole), parts) if in_shared_memory(whole) else None
        if placement is None or placement != layout_of(part):
            yield f"expected a part with the placement of '{whole}', got '{part.type}'"


def counts_copies(op: CreatePipelineOp) -> bool:
    """Whether threads wait for their own copies by counting commits, without mbarriers."""
    waits = [user for user in op.result.users if isinstance(user, ConsumerWaitOp)]
    return bool(waits) and all(wait.pending is not None for wait in waits)


def rank_differences(op: CreatePipelineOp) -> list[int]:
    """The CTAs to whose stages copies of this CTA go, by their rank XOR that of this one.

    The first is this CTA itself; the same CTAs copy to its stages.
    """
    copies = [user for user in op.result.users if isinstance(user, ProducerCopyOp)]
    return sorted({0}.union(*[ranks_within(copy.multicast) for copy in copies]))


def ranks_within(mask: int) -> list[int]:
    """The numbers with no bits but those of a mask.

    >>> ranks_within(0b101)
    [0, 1, 4, 5]
    """
    return [number for number in range(mask + 1) if not number & ~mask]


def num_ctas(op: Operation) -> int:
    """The CTAs in a cluster of the kernel around an operation."""
    function = next((outer for outer in op.ancestors() if isinstance(outer, FuncOp)), None)
    return 1 if function is None else function.cluster_size
