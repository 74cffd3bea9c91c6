"""The resource model: what a kernel's configuration leaves to its threads and blocks.

`registers` and `shared_memory` have the rules. Here they are applied to a kernel whose number of
warps is chosen. Where blocks on an SM are not, `block_limit` assumes two if threads have few
accumulators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileas.agents import agent_of
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.plans.scratch import scratch_bytes
from tilewright.schedule.registers import launch_registers, resident_blocks
from tilewright.schedule.shared_memory import SharedMemory, block_share
from tilewright.schedule.tile_words import accumulator_words
from tilewright.schedule.warp_counts import threads_of
from tilewright.target.arch import WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation


def shares_sm(function: FuncOp) -> bool:
    """Whether several blocks are chosen to be resident on an SM."""
    spec = function.kernel_spec
    return spec is not None and spec.occupancy is not None and spec.occupancy > 1


def block_limit(function: FuncOp) -> int:
    """The shared memory of a block with dots: half of an SM's where two blocks may be resident."""
    arch, spec = target_of(function), function.kernel_spec
    assert arch is not None
    assert spec is not None
    dots = [op for op in function.walk() if isinstance(op, DotOp)]
    words = max([accumulator_words(op.c.type) for op in dots], default=0)
    return block_share(arch, resident_blocks(words // threads_of(function), spec.occupancy))


def memory_share(function: FuncOp) -> int:
    """The shared memory of a block, all that it may declare unless several share an SM."""
    arch = target_of(function)
    assert arch is not None
    return block_limit(function) if shares_sm(function) else arch.static_shared


def kernel_registers(function: FuncOp) -> int | None:
    """The most registers of a thread at the launch of a kernel; None if warps are not chosen."""
    spec = function.kernel_spec
    if spec is None or spec.num_warps is None:
        return None
    return launch_registers(spec.num_warps * WARP_SIZE, spec.occupancy)


def register_limit(op: Operation) -> int | None:
    """The most registers of a thread that executes an operation: those of its agent, if it has any.

    None if warps are not chosen.
    """
    agent = agent_of(op)
    if agent is not None and agent.max_registers:
        return agent.max_registers
    return kernel_registers(next(outer for outer in op.ancestors() if isinstance(outer, FuncOp)))


def has_scratch_beside(loop: Operation, moved: Sequence[Operation]) -> bool:
    """Whether operations that move to a loop have scratch memory beside its pipelines."""
    if not any(map(scratch_bytes, moved)):
        return True
    function = next(outer for outer in loop.ancestors() if isinstance(outer, FuncOp))
    spec = function.kernel_spec
    if target_of(function) is None or spec is None or spec.num_warps is None:
        return False
    return SharedMemory(function).beside_moved(loop, moved) <= memory_share(function)
