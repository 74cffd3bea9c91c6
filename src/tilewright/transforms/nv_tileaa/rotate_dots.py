"""Rotation of loops in which a dot depends on another, as in attention: P @ V on Q @ K.

An iteration of such a loop is serial: the second dot needs what is computed from the first. But the
first dot of an iteration needs nothing of the one before. So the second dot becomes part of
the next iteration, after its first dot:

    stage 0 of iteration 0
    for i = 1 to n:
      order 0: first dot of i
      order 1: stage 1 of i - 1, loads and the second dot
      order 2: rest of stage 0 of i, which runs while the second dot is in flight
      order 3: what is computed from the second dot
      order 4: what needs that in i
    stage 1 of iteration n - 1

A loop that goes on where another ends, as the one with a causal mask does, continues its pipeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.axis import AxisFacts
from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.slices import closure
from tilewright.analysis.targets import target_of
from tilewright.analysis.tensor_divisors import TensorDivisors
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.attribute_names import AT, CONTINUES
from tilewright.dialects.nv_tileaa.attributes import AtAttr
from tilewright.dialects.nv_tileaa.early_execution import is_repeatable
from tilewright.dialects.nv_tileaa.loop_schedule import LoopSchedule, is_pipelined, used_values
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.shape import Rearrangement
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import BlockTileOp, TiledLoadOp, TileLoadOp, tiled_view
from tilewright.dialects.nv_tileas.matrix import wgmma_instruction
from tilewright.dialects.nv_tileas.types import stored_bytes
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import UNIT
from tilewright.ir.types import BF16, DYNAMIC, F16, IntegerType
from tilewright.plans.tensor_maps import limit_problem
from tilewright.schedule.launch_shape import separate_accumulator_words
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
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.memory_order import MemoryOrder, in_memory_order
from tilewright.transforms.pipeline.pipeline_loops import chain_problem, next_loop, sources

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from tilewright.dialects.nv_tileaa.early_execution import AnyLoad
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

ROTATE: Final = "rotate"

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


class RotateDots(KernelPass):
    """Give the second of two dots in a row the next stage, beside what the first is used for."""

    name = "rotate-dots"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        wanted = function.asks(ROTATE)
        if not function.is_kernel or wanted == 0:
            return
        loops = [op for op in function.walk() if isinstance(op, ForOp) and not is_pipelined(op)]
        points = {loop: each for loop in loops if (each := rotated_points(loop)) is not None}
        needs = {loop: _Needs(function, loop) for loop in points}
        blocks = {loop: each.blocks() for loop, each in needs.items()}
        if wanted is None:
            blocks = {loop: count for loop, count in blocks.items() if count > 0}
        elif not blocks:
            function.refuse(ROTATE, "no loop has a dot that it can compute an iteration later")
        order = MemoryOrder()
        for loop, count in blocks.items():
            # Without memory for several pipelines, all loads have to share one.
            if count and not needs[loop].has_pipelines(count):
                for load in [op for op in loop.body.block if isinstance(op, TiledLoadOp)]:
                    order.load(load)
                again = rotated_points(loop)
                assert again is not None
                points[loop] = again
        if (fewest := min(blocks.values(), default=0)) > 1:
            function.choose_blocks(fewest)
        for op, point in [pair for loop in blocks for pair in points[loop].items()]:
            op.attributes[AT] = point
        _mark_chains(blocks)


def _mark_chains(loops: Collection[ForOp]) -> None:
    """Let loops continue the pipelines of those before them, from the end on, two of them each."""
    continued: set[ForOp] = set()
    for loop in reversed([*loops]):
        following = next_loop(loop)
        if following is None or following in continued or following not in loops:
            continue
        if chain_problem(LoopSchedule(loop), LoopSchedule(following)) is None:
            following.attributes[CONTINUES] = UNIT
            continued.add(loop)


def rotated_points(loop: ForOp) -> Mapping[Operation, AtAttr] | None:
    """The stages and orders of a loop whose last dot multiplies what is computed from another one.

    Both stages compute the operations without them, which are addresses.
    """
    body, end = loop.body.block, loop.body.block.last
    assert end is not None
    ops = [op for op in body if op is not end]
    dots = [op for op in ops if isinstance(op, DotOp)]
    if len(dots) < 2 or not isinstance(loop.lower_bound.type, IntegerType):
        return None
    inside = set(ops)
    if not all(map(is_repeatable, ops)) or sources([dots[-1].a], inside).isdisjoint(dots[:-1]):
        return None
    computed = _dependents([*loop.carried, *[dot.result for dot in dots]], body)
    last = {dots[-1], *_dependents(dots[-1].results, body)} - {end}
    loaded: set[Operation] = set()
    """What only the second part uses, and is computed from neither dots nor carried values."""
    for op in reversed(ops):
        users = {user for result in op.results for user in result.users}
        if op not in computed and op not in dots and users and users <= last | loaded:
            loaded.add(op)
    second, updates = last | loaded, last - {dots[-1]}
    first = sources([dot.result for dot in dots[:-1]], inside)
    carried = zip(loop.carried, end.operands, strict=True)
    late = _dependents([each for each, value in carried if value.defining_op() in second], body)
    if first & (second | late):
        return None
    # Addresses of loads of both parts may share operations.
    addresses = sources([value for op in loaded for value in op.operands], inside) - second
    crossing = {value.defining_op() for op in second for value in used_values(op)}
    crossing -= second | addresses | computed
    # Carried, tiles that are only loaded would take registers.
    if any(op in inside and is_tile(op.results[0]) for op in crossing if op is not None):
        return None
    points = dict.fromkeys(ops, BESIDE)
    for point, part in ((LATE, late), (FIRST, first), (LAST, second), (UPDATES, updates)):
        points |= dict.fromkeys(part, point)
    return {op: points[op] for op in ops if op not in addresses}


def _dependents(values: Iterable[Value], body: Block) -> set[Operation]:
    """The operations of a block that are computed from values."""

    def users(value: Value) -> list[Operation]:
        outer = [op for user in value.users for op in (user, *user.ancestors())]
        return [op for op in outer if op.parent is body]

    computed = closure(values, lambda value: [r for op in users(value) for r in op.results])
    return {op for value in computed for op in users(value)}


class _Needs:
    """What a loop takes of an SM if it is rotated."""

    __slots__ = ("_dots", "_function", "_loads", "_other_bytes")

    def __init__(self, function: FuncOp, loop: ForOp) -> None:
        self._function = function
        self._dots = [op for op in loop.body.block if isinstance(op, DotOp)]
        loads = [op for op in loop.body.block if isinstance(op, LoadOp | TileLoadOp)]
        # Scalars, such as the page of a tile, are loaded by the producer.
        self._loads = [load for load in loads if is_tile(load.results[0])]
        others = {dot.a for dot in self._dots if not dot.a.is_inside(loop)}
        self._other_bytes = sum(stored_bytes(value.type) for value in others)

    def blocks(self) -> int:
        """How many blocks share an SM if the loop is rotated; 0 if that does not pay.

        It does if all dots use wgmma, and registers and shared memory suffice. A block with one
        warpgroup also needs a producer: to copy by `cp.async` takes the time that is gained.
        """
        arch, spec = target_of(self._function), self._function.kernel_spec
        if arch is None or spec is None or arch.overlap_problem is not None:
            return 0
        warps = threads_of(self._function) // WARP_SIZE
        if warps < WARPGROUP or any(wgmma_instruction(dot) is None for dot in self._dots):
            return 0
        if element_of(self._dots[-1].a.type) not in (F16, BF16):
            return 0
        counts = (1,)
        if warps == WARPGROUP:
            facts = AxisFacts(self._function)
            if not all(_may_use_tma(load, facts) for load in self._loads):
                return 0
            if _is_padding(self._dots[0].a):
                return 0
            # While one of two blocks computes, the other multiplies.
            counts = (SHARING_BLOCKS, 1)
        if spec.occupancy:
            counts = (spec.occupancy,)
        return next((blocks for blocks in counts if self._fits(warps, blocks)), 0)

    def _fits(self, warps: int, blocks: int) -> bool:
        """Whether a number of blocks have registers and shared memory on an SM.

        An accumulator that the last dot does not update itself is live beside the dot's result.
        """
        tiles = [*[dot.result for dot in self._dots], self._dots[-1].a]
        words = sum(tile_words(tile.type) for tile in tiles)
        words += separate_accumulator_words(self._dots)
        needed = thread_registers(words, warps * WARP_SIZE)
        has_registers = needed <= consumer_registers(warps, blocks).changed
        if not has_registers and (warps == WARPGROUP or needed > MOST_REGISTERS):
            return False
        return self.has_pipelines(blocks) or (has_registers and self._has_pipeline(blocks))

    def has_pipelines(self, blocks: int) -> bool:
        """Whether shared memory suffices for a pipeline for each load."""
        staged = sum(stored_bytes(load.results[0].type) for load in self._loads)
        return LEAST_STAGES * staged <= self._share(blocks)

    def _has_pipeline(self, blocks: int) -> bool:
        """Whether the tiles are alike in memory, and shared memory suffices for one pipeline."""
        loads = [load for load in self._loads if isinstance(load, TiledLoadOp)]
        types = [in_memory_order(tiled_view(load.view)) for load in loads]
        # Of each dimension in memory, whether its elements are contiguous.
        contiguous = [tuple(stride == 1 for stride in type.source.strides) for type in types]
        pairs = zip(types, contiguous, strict=True)
        kinds = {(type.tile, type.source.element, each) for type, each in pairs}
        if len(loads) < len(self._loads) or len(kinds) != 1:
            return False
        staged = OVERLAPPED_STAGES * stored_bytes(loads[0].tile.type)
        return staged <= self._share(blocks) - BARRIER_RESERVE

    def _share(self, blocks: int) -> int:
        """The shared memory of a block, beside that of operands from outside the loop."""
        arch = target_of(self._function)
        return 0 if arch is None else block_share(arch, blocks) - self._other_bytes


def _may_use_tma(load: AnyLoad, facts: AxisFacts) -> bool:
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
