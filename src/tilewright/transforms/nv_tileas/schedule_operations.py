"""List scheduling: the order of the operations of a block, by a graph and priorities.

Of the operations that nothing precedes any more in the dependence graph, the one with the lowest
priority is issued next. That is its number in program order, and that order stays, unless there is
a reason: a load takes hundreds of clocks, a barrier as long as the slowest warp, and neither ptxas
nor the hardware issues an operation before a barrier that precedes it. So latencies add up, unless
loads and copies are issued before what waits, and warps wait for each other while tensor cores run.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.aggregate import ReduceOp
from tilewright.dialects.nv_tileas.attributes import maybe_layout_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerWaitOp, ProducerCopyOp
from tilewright.dialects.nv_tileas.shape import ConvertLayoutOp, ExtractSliceOp, Rearrangement
from tilewright.dialects.nv_tileas.types import register_bytes
from tilewright.dialects.scf import ForOp
from tilewright.ir.effects import is_effect_free, is_pure
from tilewright.layout.linear import REGISTER
from tilewright.plans.allocations import allocated_bytes
from tilewright.plans.scratch import scratch_bytes
from tilewright.schedule.liveness_with_layouts import tile_registers
from tilewright.schedule.registers import Passed
from tilewright.schedule.resources import has_scratch_beside
from tilewright.target.arch import REGISTER_BYTES
from tilewright.transforms.kernel_pass import KernelPass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tilewright.ir.operation import Block, Operation
    from tilewright.support.diagnostics import Sink

Load: TypeAlias = LoadOp | TiledLoadOp
Priority: TypeAlias = tuple[int, int]
"""The number of an operation, and when to issue another one; the lower is issued first."""
LOADS_BEFORE: Final = -2
"""Loads, before what waits for loads there."""
BEFORE: Final = -1
AFTER: Final = 1


class ScheduleOperations(KernelPass):
    """Issue loads and copies early, and what waits for them and for other warps late."""

    name = "schedule-operations"
    change = Change.REORDER

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        regions = [region for inner in function.walk() for region in inner.regions]
        for block in [block for region in regions for block in region.blocks]:
            # Without loads and reductions there is no reason to change the order.
            if any(isinstance(each, Load | ReduceOp) for each in block):
                graph = DependenceGraph(block)
                for number in list_schedule(graph, _priorities(graph)):
                    block.append(graph.ops[number].detach())


def list_schedule(graph: DependenceGraph, chosen: Mapping[int, Priority]) -> list[int]:
    """The order in which operations are issued, if some have another priority than their number.

    What an operation needs is at least as urgent.
    """
    priority = [chosen.get(number, (number, 0)) for number in range(len(graph.ops))]
    for number in reversed(range(len(graph.ops))):
        if number in chosen or priority[number] < (number, 0):
            for earlier in graph.predecessors[number]:
                priority[earlier] = min(priority[earlier], priority[number])
    remaining = [len(each) for each in graph.predecessors]
    ready = [(priority[number], number) for number, count in enumerate(remaining) if not count]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, number = heapq.heappop(ready)
        order.append(number)
        for later in graph.successors[number]:
            remaining[later] -= 1
            if not remaining[later]:
                heapq.heappush(ready, (priority[later], later))
    return order


class DependenceGraph:
    """The operations of a block, by their numbers in program order, and the edges between them.

    An edge leads from an operation to one that follows it in every schedule. Values have edges from
    their definition to their uses, also in regions. Memory tokens are values, so that they order
    accesses: a plain load has no other order, as in Tile IR. Operations that are fixed keep their
    order: those with other effects, such as stores, waits and barriers; dots; and those that
    allocate shared memory, which would be live elsewhere.

    Threads also meet in exchanges of layout conversions and reductions. Those have no edges: each
    is complete when it ends, and the memory that it writes and reads is not allocated yet.
    """

    __slots__ = ("block", "fixed", "ops", "predecessors", "successors")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ops = list(block)
        self.fixed = [_is_fixed(op) for op in self.ops]
        self.predecessors: list[set[int]] = [set() for _ in self.ops]
        self.successors: list[set[int]] = [set() for _ in self.ops]
        for first, second in self._edges():
            self.successors[first].add(second)
            self.predecessors[second].add(first)

    def _edges(self) -> Iterator[tuple[int, int]]:
        yield from pairwise(number for number, is_fixed in enumerate(self.fixed) if is_fixed)
        defined: dict[object, int] = {}
        for number, op in enumerate(self.ops):
            used = {operand.defining_op() for inner in op.walk() for operand in inner.operands}
            yield from ((defined[each], number) for each in used & defined.keys())
            defined[op] = number

    def needed(self, number: int, start: int) -> set[int]:
        """The operations from `start` on that precede another one in every schedule."""
        needed: set[int] = set()
        pending = [number]
        while pending:
            added = {n for n in self.predecessors[pending.pop()] if n >= start} - needed
            needed |= added
            pending += added
        return needed

    def free_until(self, end: int) -> set[int]:
        """The operations before `end` that no load and no fixed operation before it depends on."""
        free: set[int] = set()
        for number in reversed(range(end)):
            is_free = not self.fixed[number] and not is_plain_load(self.ops[number])
            if is_free and all(n >= end or n in free for n in self.successors[number]):
                free.add(number)
        return free


def is_plain_load(op: Operation) -> TypeGuard[Load]:
    """Whether an operation is a load that tokens alone order."""
    return isinstance(op, Load) and op.is_plain


def _is_fixed(op: Operation) -> bool:
    """Whether an operation keeps its order with others that do."""
    if isinstance(op, DotOp) or op.is_terminator or allocated_bytes(op):
        return True
    return not is_plain_load(op) and not is_effect_free(op)


def _priorities(graph: DependenceGraph) -> dict[int, Priority]:
    """The priorities of the operations of a block that have a reason to be issued elsewhere."""
    chosen = {**dict(_after_copies(graph)), **dict(_after_dots(graph))}
    if isinstance(graph.block.parent_op, FuncOp):
        # Elsewhere the tiles of a loop or an agent have the registers.
        chosen.update(_early_loads(graph, Passed.CONVERSIONS, _converts_loaded, _computes))
        chosen.update(_early_loads(graph, Passed.LOOP, _is_loop, _is_loop))
    return chosen


def _after_copies(graph: DependenceGraph) -> Iterator[tuple[int, Priority]]:
    """What waits for loaded tiles, such as queries: after the first copies, before a wait for one.

    Not past another loop, in which its operands would be live, and only with scratch memory beside
    the pipelines. Decode attention, with `shrink-tiles`: 16.5 instead of 23.1 µs
    (`benchmarks/results/attention-h200.md`).
    """
    copies = next((n for n, op in enumerate(graph.ops) if _holds(op, ProducerCopyOp)), 0)
    end = next((n for n, op in enumerate(graph.ops) if _holds(op, ConsumerWaitOp)), 0)
    free = graph.free_until(end) if copies < end else set[int]()
    late: set[int] = set()
    waiting: list[int] = []
    for number, op in enumerate(graph.ops[:copies]):
        if any(inner.loop_body is not None for inner in op.walk()):
            waiting.clear()
        elif isinstance(op, Load) and is_tile(op.results[0]):
            late.add(number)
        elif number in free and graph.predecessors[number] & late:
            late.add(number)
            waiting.append(number)
    if has_scratch_beside(graph.ops[end], [graph.ops[number] for number in waiting]):
        yield from ((number, (end, BEFORE)) for number in waiting)


def _after_dots(graph: DependenceGraph) -> Iterator[tuple[int, Priority]]:
    """Reductions across warps in a loop, as of the rows of P: after the last dot by `mma.sync`.

    The next iteration reads the result, and threads exchange theirs while the tensor cores
    multiply. Decode attention: 12.29 instead of 13.15 µs (`benchmarks/results/attention-h200.md`).
    `wgmma` runs beside such work in any case, and threads do an FMA dot.
    """
    owner = graph.block.parent_op
    dots = {number: op.atom for number, op in enumerate(graph.ops) if isinstance(op, DotOp)}
    if owner is None or owner.loop_body is None or not dots:
        return
    if not all(atom.holds_warps for atom in dots.values()):
        return
    last = max(dots)
    for number in graph.free_until(last + 1):
        op = graph.ops[number]
        if isinstance(op, ReduceOp) and scratch_bytes(op):
            registers = sum(map(tile_registers, op.sources))
            if Passed.DOTS.allows(registers):
                yield number, (last, AFTER)


def _early_loads(
    graph: DependenceGraph,
    passed: Passed,
    begins: Callable[[Operation], bool],
    ends: Callable[[Operation], bool],
) -> Iterator[tuple[int, Priority]]:
    """Loads: before the first of the operations that they pass, with the scalars that they need."""
    first: int | None = None
    registers = 0
    for number, op in enumerate(graph.ops):
        if is_plain_load(op):
            count = registers + _loaded_registers(op)
            if first is None or not passed.allows(count):
                continue
            if all(_is_cheap(graph.ops[each]) for each in graph.needed(number, first)):
                registers = count
                yield number, (first, LOADS_BEFORE)
        elif ends(op):
            first, registers = None, 0
        if first is None and begins(op):
            first = number


def _is_cheap(op: Operation) -> bool:
    """Whether an operation that a load needs may be issued earlier with it."""
    return is_pure(op) and not op.regions and not scratch_bytes(op)


def _is_loop(op: Operation) -> bool:
    return isinstance(op, ForOp)


def _converts_loaded(op: Operation) -> bool:
    """Whether threads exchange a tile as it is loaded, but for its shape."""
    if not isinstance(op, ConvertLayoutOp) or not scratch_bytes(op):
        return False
    source = op.source.defining_op()
    while isinstance(source, Rearrangement | ExtractSliceOp):
        source = source.source.defining_op()
    return isinstance(source, TiledLoadOp)


def _computes(op: Operation) -> bool:
    """Whether loads stay after an operation: it computes a tile, which may take fewer registers."""
    if op.regions or not is_pure(op):
        return True
    is_rearranged = isinstance(op, Rearrangement | ExtractSliceOp | ConvertLayoutOp)
    return not is_rearranged and any(is_tile(result) for result in op.results)


def _loaded_registers(load: Load) -> int:
    """The registers of a thread that a load writes: each instruction has its own."""
    tile = load.results[0]
    layout = maybe_layout_of(tile)
    bytes = load.vector * register_bytes(element_of(tile.type))
    count = 1 if layout is None else layout.extent(REGISTER) // load.vector
    return count * -(-bytes // REGISTER_BYTES)


def _holds(op: Operation, kind: type[Operation]) -> bool:
    """Whether an operation is of a kind, or has such an operation inside of it."""
    return any(isinstance(inner, kind) for inner in op.walk())
