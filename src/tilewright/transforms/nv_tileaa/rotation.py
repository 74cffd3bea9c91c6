"""Loops that `rotate-dots` can rotate: the parts of their bodies, and whether it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.axis import AxisFacts
from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.targets import target_of
from tilewright.analysis.tensor_divisors import TensorDivisors
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.attribute_names import AT
from tilewright.dialects.nv_tileaa.attributes import AtAttr
from tilewright.dialects.nv_tileaa.early_execution import is_repeatable
from tilewright.dialects.nv_tileaa.loop_schedule import used_values
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.shape import Rearrangement
from tilewright.dialects.nv_tileaa.view import BlockTileOp, TiledLoadOp, TileLoadOp, tiled_view
from tilewright.dialects.nv_tileas.matrix import wgmma_instruction
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.dialects.scf import ForOp
from tilewright.ir.types import BF16, DYNAMIC, F16, IntegerType
from tilewright.plans.tensor_map_limits import limit_problem
from tilewright.schedule.dot_warps import separate_accumulator_words
from tilewright.schedule.limits import LEAST_STAGES, OVERLAPPED_STAGES
from tilewright.schedule.registers import (
    MOST_REGISTERS,
    SHARING_BLOCKS,
    consumer_registers,
    thread_registers,
)
from tilewright.schedule.shared_memory import BARRIER_RESERVE, block_share
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.target.arch import WARP_SIZE
from tilewright.target.engines import TMA
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.nv_tileaa.memory_order import in_memory_order

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.target.arch import Arch


FIRST: Final = AtAttr(0, 0)
"""Of all dots but the last one, and what computes their operands."""
LAST: Final = AtAttr(1, 1)
"""Of the last dot with its loads."""
BESIDE: Final = AtAttr(0, 2)
"""Of what is computed from the first dots, for the last one, without its results."""
UPDATES: Final = AtAttr(1, 3)
"""Of what is computed from the last dot: an accumulator that it does not add to itself."""
LATE: Final = AtAttr(0, 4)
"""Of what is computed from the last dot of the iteration before, too."""


class Rotation(NamedTuple):
    """A loop that can be rotated."""

    loop: ForOp
    points: Mapping[Operation, AtAttr]
    """The stages and orders of operations; both stages compute the others, which are addresses."""

    @staticmethod
    def of(loop: ForOp) -> Rotation | None:
        """Split a loop whose last dot multiplies what is computed from another one."""
        body, end = loop.body.block, loop.body.block.last
        assert end is not None
        ops = [op for op in body if op is not end]
        dots = [op for op in ops if isinstance(op, DotOp)]
        if len(dots) < 2 or not isinstance(loop.lower_bound.type, IntegerType):
            return None
        if not all(map(is_repeatable, ops)) or not any(
            dot in _sources([dots[-1].a], body) for dot in dots[:-1]
        ):
            return None
        last = {dots[-1], *_dependents(dots[-1].results, body)} - {end}
        loaded = _only_for(last, ops, loop, dots)
        second, updates = last | loaded, last - {dots[-1]}
        first = _sources([dot.result for dot in dots[:-1]], body)
        accumulators = [
            carried
            for carried, value in zip(loop.carried, end.operands, strict=True)
            if value.defining_op() in second
        ]
        late = _dependents(accumulators, body)
        if first & (second | late):
            return None
        # Addresses of loads of both parts may share operations.
        addresses = _sources([value for op in loaded for value in op.operands], body) - second
        computed = _dependents([*loop.carried, *[dot.result for dot in dots]], body)
        crossing = {value.defining_op() for op in second for value in used_values(op)}
        crossing -= second | addresses | computed
        # Carried, tiles that are only loaded would take registers.
        if any(op in ops and is_tile(op.results[0]) for op in crossing if op is not None):
            return None
        points = dict.fromkeys(ops, BESIDE)
        for point, part in ((LATE, late), (FIRST, first), (LAST, second), (UPDATES, updates)):
            points |= dict.fromkeys(part, point)
        return Rotation(loop, {op: points[op] for op in ops if op not in addresses})

    def write_points(self) -> None:
        """Give the operations their stages and orders."""
        for op, point in self.points.items():
            op.attributes[AT] = point

    def blocks(self, function: FuncOp) -> int:
        """How many blocks share an SM if the loop is rotated; 0 if that does not pay.

        It does if all dots use wgmma, and registers and shared memory suffice. A block with one
        warpgroup also needs a producer: to copy by `cp.async` takes the time that is gained.
        """
        arch, spec = target_of(function), function.kernel_spec
        if arch is None or spec is None or arch.overlap_problem is not None:
            return 0
        warps = threads_of(function) // WARP_SIZE
        if warps < WARPGROUP or any(wgmma_instruction(dot) is None for dot in self._all_dots):
            return 0
        if element_of(self._all_dots[-1].a.type) not in (F16, BF16):
            return 0
        counts = [spec.occupancy] if spec.occupancy else [1]
        if warps == WARPGROUP:
            facts = AxisFacts(function)
            if not all(_may_use_tma(load, facts) for load in self._loads):
                return 0
            if _is_padding(self._all_dots[0].a):
                return 0
            # While one of two blocks computes, the other multiplies.
            counts = [spec.occupancy] if spec.occupancy else [SHARING_BLOCKS, 1]
        return next((blocks for blocks in counts if self._fits(arch, warps, blocks)), 0)

    def shares_pipeline(self, function: FuncOp) -> bool:
        """Whether all loads have to share a pipeline, since memory does not suffice for several."""
        arch, blocks = target_of(function), self.blocks(function)
        return arch is not None and blocks > 0 and not self._has_pipelines(arch, blocks)

    @property
    def _all_dots(self) -> list[DotOp]:
        return [op for op in self.loop.body.block if isinstance(op, DotOp)]

    @property
    def _words(self) -> int:
        """The registers of all accumulators and of A of the last dot, over all threads.

        An accumulator that the last dot does not update itself is live beside the dot's result.
        """
        tiles = [*[dot.result for dot in self._all_dots], self._all_dots[-1].a]
        words = sum(tile_words(tile.type) for tile in tiles)
        return words + separate_accumulator_words(self._all_dots)

    @property
    def _loads(self) -> list[LoadOp | TileLoadOp]:
        """The loads of tiles. Scalars, such as the page of a tile, are loaded by the producer."""
        loads = [op for op in self.loop.body.block if isinstance(op, LoadOp | TileLoadOp)]
        return [load for load in loads if is_tile(load.results[0])]

    def _fits(self, arch: Arch, warps: int, blocks: int) -> bool:
        """Whether a number of blocks have registers and shared memory on an SM."""
        needed = thread_registers(self._words, warps * WARP_SIZE)
        has_registers = needed <= consumer_registers(warps, blocks).changed
        if not has_registers and (warps == WARPGROUP or needed > MOST_REGISTERS):
            return False
        return self._has_pipelines(arch, blocks) or (
            has_registers and self._has_pipeline(arch, blocks)
        )

    def _has_pipelines(self, arch: Arch, blocks: int) -> bool:
        """Whether shared memory suffices for a pipeline for each load."""
        staged = sum(stored_bytes(load.results[0].type) for load in self._loads)
        return LEAST_STAGES * staged + self._other_bytes <= block_share(arch, blocks)

    def _has_pipeline(self, arch: Arch, blocks: int) -> bool:
        """Whether the tiles are alike in memory, and shared memory suffices for one pipeline."""
        loads = [load for load in self._loads if isinstance(load, TiledLoadOp)]
        types = [in_memory_order(tiled_view(load.view)) for load in loads]
        kinds = {(type.tile, type.source.element, _contiguous(type)) for type in types}
        if len(loads) < len(self._loads) or len(kinds) != 1:
            return False
        staged = OVERLAPPED_STAGES * stored_bytes(loads[0].tile.type)
        return staged + self._other_bytes <= block_share(arch, blocks) - BARRIER_RESERVE

    @property
    def _other_bytes(self) -> int:
        """The shared memory of operands from outside the loop."""
        others = {dot.a for dot in self._all_dots if not dot.a.is_inside(self.loop)}
        return sum(stored_bytes(value.type) for value in others)


def _may_use_tma(load: LoadOp | TileLoadOp, facts: AxisFacts) -> bool:
    """Whether a load reads a tile of an aligned tensor, and the program does not forbid TMA."""
    if not isinstance(load, TiledLoadOp) or load.allow_tma is False or load.cache is not None:
        return False
    if load.view.defined_by(BlockTileOp) is None:
        return True
    source, memory = tiled_view(load.view).source, TensorDivisors(load.view, facts)
    bytes = pointee_bytes(source.element)
    strides = zip(source.shape, source.strides, memory.strides, strict=True)
    outer = [divisor for size, stride, divisor in strides if size != 1 and stride != 1]
    if any(each % TMA.alignment for each in (memory.alignment, *[n * bytes for n in outer])):
        return False
    return limit_problem(load.view, load.indices, facts.ranges) is None


def _contiguous(type: TiledViewType) -> tuple[bool, ...]:
    """Of each dimension in memory, whether its elements are contiguous."""
    return tuple(stride == 1 for stride in type.source.strides)


def _is_padding(tile: Value) -> bool:
    """Whether most rows of a tile are not in the tensor that it is loaded from, as in decoding.

    There a block has few iterations, which would not make up for the tensor maps.
    """
    op = tile.defining_op()
    while isinstance(op, Rearrangement):
        op = op.source.defining_op()
    if not isinstance(op, TileLoadOp):
        return False
    view = tiled_view(op.view)
    extents = [view.source.shape[dim] for dim in view.dims]
    return any(
        extent != DYNAMIC and 2 * extent <= tile
        for extent, tile in zip(extents, view.tile, strict=True)
    )


def _only_for(
    last: Collection[Operation], ops: Sequence[Operation], loop: ForOp, dots: Sequence[DotOp]
) -> set[Operation]:
    """What only the second part uses, and is computed from neither dots nor carried values."""
    others = _dependents([*loop.carried, *[dot.result for dot in dots]], loop.body.block)
    loaded: set[Operation] = set()
    for op in reversed(ops):
        users = {user for result in op.results for user in result.users}
        if op not in others and op not in dots and users and users <= {*last, *loaded}:
            loaded.add(op)
    return loaded


def _sources(values: Iterable[Value], body: Block) -> set[Operation]:
    """The operations of a block from which values are computed."""
    ops: set[Operation] = set()
    pending = list(values)
    while pending:
        op = pending.pop().defining_op()
        if op is not None and op.parent is body and op not in ops:
            ops.add(op)
            pending += [value for inner in op.walk() for value in inner.operands]
    return ops


def _dependents(values: Iterable[Value], body: Block) -> set[Operation]:
    """The operations of a block that are computed from values."""
    ops: set[Operation] = set()
    pending = list(values)
    while pending:
        for user in pending.pop().users:
            outer = next((op for op in (user, *user.ancestors()) if op.parent is body), None)
            if outer is not None and outer not in ops:
                ops.add(outer)
                pending += outer.results
    return ops
