"""The shared memory of software pipelines, and what is left for them beside other tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.requests import OCCUPANCY
from tilewright.dialects.nv_tileas.async_copy import CreateTokenOp
from tilewright.dialects.nv_tileas.attribute_names import SCHEDULE
from tilewright.dialects.nv_tileas.attributes import ScheduleAttr
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.types import PipelineType, without_layout
from tilewright.dialects.scf import ForOp
from tilewright.plans.allocations import allocated_bytes, pipeline_memory
from tilewright.plans.scratch import scratch_bytes
from tilewright.plans.tile_registers import accumulator_words, resident_blocks
from tilewright.target.arch import registers_per_thread
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.pipelined_loads import plan_stage
from tilewright.transforms.nv_tileas.shared_lifetimes import find_lifetimes, shared_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad

RESERVE: Final = 1024
"""Bytes of shared memory that are kept free: for mbarriers, where a function has some, and in
blocks beside which others are to be resident."""


def is_private(loads: Sequence[TileLoad]) -> bool:
    """Whether each thread reads only what it copied itself."""
    return all(plan_stage(load).is_private for load in loads)


def stage_bytes(loads: Sequence[TileLoad]) -> int:
    """The bytes of one stage for some loads."""
    types = tuple(without_layout(load.results[0].type) for load in loads)
    return pipeline_memory(PipelineType(1, types)).bytes


def block_limit(function: FuncOp, threads: int) -> int:
    """The shared memory of a block with dots: half of an SM's where two blocks may be resident."""
    arch, spec = target_of(function), function.kernel_spec
    assert arch is not None
    assert spec is not None
    dots = [op for op in function.walk() if isinstance(op, DotOp)]
    accumulators = max([accumulator_words(op.c.type) for op in dots], default=0) // threads
    blocks = resident_blocks(accumulators, spec.occupancy)
    reserved = arch.shared.reserved
    return min(arch.static_shared, (arch.static_shared + reserved) // blocks - reserved)


def has_registers_for_two(threads: int) -> bool:
    """Whether a second block on an SM takes no registers from the threads of the first."""
    return registers_per_thread(2 * threads) == registers_per_thread(threads)


def shares_sm(function: FuncOp) -> bool:
    """Whether several blocks are chosen to be resident on an SM."""
    spec = function.kernel_spec
    return spec is not None and spec.occupancy is not None and spec.occupancy > 1


def memory_limit(function: FuncOp) -> str:
    """What limits the shared memory of a block, in the words of a remark."""
    if not shares_sm(function):
        return "shared memory"
    return (
        "its share of shared memory" if function.asks(OCCUPANCY) is None else "the hint occupancy"
    )


def other_bytes(function: FuncOp, loop: ForOp, loads: Sequence[TileLoad]) -> int:
    """The shared memory that is in use beside a loop's pipeline while the loop runs, with some for
    each tile."""
    replaced = _replaced(loads)
    inside = [op for op in loop.body.walk() if op not in replaced]
    scratch = max([scratch_bytes(op) for op in inside], default=0)
    live = find_lifetimes(function).live_during(loop)
    others = [allocated_bytes(op) for op in live if op not in replaced]
    return 2 * scratch + sum(others) + _reserved_bytes(function, loop)


def planned_bytes(function: FuncOp, loop: ForOp, loads: Sequence[TileLoad]) -> int:
    """The same where tiles that are never live together have one memory."""
    return shared_bytes(function, _replaced(loads), during=loop) + _reserved_bytes(function, loop)


def _replaced(loads: Sequence[TileLoad]) -> set[Operation]:
    """The layout conversions that reads of a pipeline's stages replace."""
    return {use.convert for load in loads for use in plan_stage(load).uses}


def _reserved_bytes(function: FuncOp, loop: ForOp) -> int:
    """The shared memory of pipelines inside of a loop, and of mbarriers."""
    nested = [_pipeline_bytes(op) for op in loop.body.walk() if isinstance(op, ForOp)]
    has_mbarriers = any(isinstance(op, CreatePipelineOp | CreateTokenOp) for op in function.walk())
    return sum(nested) + (RESERVE if has_mbarriers else 0)


def _pipeline_bytes(loop: ForOp) -> int:
    """The shared memory of the pipeline of a scheduled loop."""
    schedule = loop.attributes.get(SCHEDULE)
    if not isinstance(schedule, ScheduleAttr):
        return 0
    return schedule.stages * stage_bytes(scheduled_loads(loop))
