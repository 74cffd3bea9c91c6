"""Copies of a pipeline before anything that waits for other loads.

The first copies of a loop are built right before it, after what the program computes there. Often
that is a tile that the whole loop needs, such as the queries of an attention, and its conversion to
the layout of a dot: every thread would wait for it, and only then start the copies. So what depends
on loaded tiles, and the copies do not need, is computed after the copies have started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import LoadOp, TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerWaitOp, CreatePipelineOp, ProducerCopyOp
from tilewright.ir.effects import is_effect_free
from tilewright.ir.passes import Pass
from tilewright.plans.allocations import allocated_bytes
from tilewright.plans.scratch import scratch_bytes
from tilewright.schedule.resources import block_limit, shares_sm
from tilewright.schedule.shared_memory import bytes_beside_loop
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.support.diagnostics import Sink


class StartCopies(Pass):
    """Start the first copies of a pipeline before waiting for tiles that are loaded before it."""

    name = "start-copies"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            for create in [each for each in function.walk() if isinstance(each, CreatePipelineOp)]:
                _start_early(function, create)


def _start_early(function: FuncOp, create: CreatePipelineOp) -> None:
    """Compute what depends on loaded tiles after the first copies of a pipeline."""
    block = create.parent
    assert block is not None
    ops = list(block)
    at = ops.index(create)
    end = next((n for n, op in enumerate(ops[at:], at) if _holds([op], ConsumerWaitOp)), None)
    if end is None or not _holds(ops[at:end], ProducerCopyOp):
        return
    waiting = _waiting(ops[:at], ops[at:end])
    if waiting and _has_memory(function, ops[end], waiting):
        for op in waiting:
            op.detach()
            op.insert_before(ops[end])


def _holds(ops: Sequence[Operation], kind: type[Operation]) -> bool:
    """Whether one of the operations is of a kind, or has such an operation inside of it."""
    return any(isinstance(inner, kind) for op in ops for inner in op.walk())


def _waiting(before: Sequence[Operation], copies: Sequence[Operation]) -> list[Operation]:
    """What depends on loaded tiles before the copies; neither copies nor what stays needs it."""
    needed = {value for op in copies for inner in op.walk() for value in inner.operands}
    movable: list[Operation] = []
    for op in reversed(before):
        if isinstance(op, LoadOp | TiledLoadOp):
            # Loads stay; what was loaded may be an address of another.
            needed.update(op.operands)
            continue
        if not is_effect_free(op):
            break
        movable.append(op)
    for op in movable:
        if _stays(op) or any(result in needed for result in op.results):
            needed.update((*op.operands, *op.results))
    movable.reverse()
    late = {tile for op in before for tile in _loaded(op)}
    waiting: list[Operation] = []
    for op in movable:
        depends = any(operand in late for operand in op.operands)
        if depends and not any(result in needed for result in op.results):
            waiting.append(op)
            late.update(op.results)
    return waiting


def _stays(op: Operation) -> bool:
    """Whether an operation stays where it is: a dot, or one that allocates shared memory."""
    return isinstance(op, DotOp) or allocated_bytes(op) > 0


def _loaded(op: Operation) -> Iterator[object]:
    if isinstance(op, LoadOp | TiledLoadOp) and is_tile(op.results[0]):
        yield op.results[0]


def _has_memory(function: FuncOp, loop: Operation, waiting: Sequence[Operation]) -> bool:
    """Whether conversions have scratch memory beside the pipelines of the loop."""
    if not any(map(scratch_bytes, waiting)):
        return True
    arch, spec = target_of(function), function.kernel_spec
    if arch is None or spec is None or spec.num_warps is None:
        return False
    limit = arch.static_shared
    if shares_sm(function):
        limit = block_limit(function, spec.num_warps * WARP_SIZE)
    return bytes_beside_loop(function, loop, waiting) <= limit
