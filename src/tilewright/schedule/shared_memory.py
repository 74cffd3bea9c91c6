"""The shared memory of a block: its share of an SM's, and what operations and pipelines take of it.

What they take is a bound. Scratch memory of an operation counts in two areas, as consecutive
exchanges alternate between them; mbarriers lie beside all of it, in bytes that are kept free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.nv_tileas.agents import agent_of
from tilewright.dialects.nv_tileas.async_copy import CreateTokenOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.types import PipelineType, without_layout
from tilewright.layout.pieces import LIMIT
from tilewright.plans.allocations import aligned, allocated_bytes, pipeline_memory
from tilewright.plans.scratch import scratch_bytes, stays_in_warps
from tilewright.schedule.limits import FORCED_STAGES
from tilewright.schedule.shared_lifetimes import find_lifetimes, offsets_of
from tilewright.support.tensor_map_parameters import MAP_BYTES
from tilewright.target.memories import LINE
from tilewright.target.resources import MBARRIER_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
    from tilewright.schedule.shared_lifetimes import Lifetimes
    from tilewright.target.arch import Arch

AREAS: Final = 2
"""The scratch areas of an operation: while slow threads read one, others write to the next."""
MOST_SCRATCH: Final = AREAS * LIMIT
"""No operation stages more: larger tiles are exchanged piece by piece."""
SCRATCH_RESERVE: Final = MOST_SCRATCH + LIMIT
"""What is left beside the operands of dots before layouts are known: two areas, and as much again
for other tiles as one of them. Not measured."""
BARRIER_RESERVE: Final = 1024
"""Bytes that are kept free for mbarriers and tensor maps: those of eight pipelines with eight
stages. Also kept free in blocks beside which others are to be resident."""


def block_share(arch: Arch, blocks: int) -> int:
    """The shared memory of each of some blocks on an SM, if it has what one block may declare.

    The oldest GPUs have more: `sm_share`.

    >>> from tilewright.target.arch import ARCHES
    >>> block_share(ARCHES["sm_90"], 2), block_share(ARCHES["sm_80"], 2)
    (115712, 24064)
    """
    reserved = arch.shared.reserved
    return min(arch.static_shared, (arch.static_shared + reserved) // blocks - reserved)


def sm_share(arch: Arch, blocks: int) -> int:
    """The shared memory of each of some blocks on an SM, up to what one of them may declare.

    >>> from tilewright.target.arch import ARCHES
    >>> sm_share(ARCHES["sm_90"], 2), sm_share(ARCHES["sm_80"], 2)
    (115712, 49152)
    """
    return min(arch.static_shared, arch.shared.per_sm // blocks - arch.shared.reserved)


def stage_bytes(loads: Iterable[Operation]) -> int:
    """The bytes of one stage for the tiles of some loads."""
    types = tuple(without_layout(load.results[0].type) for load in loads)
    return pipeline_memory(PipelineType(1, types)).bytes


def pipeline_mbarriers(stages: int) -> int:
    """The mbarriers of a pipeline: one for full and one for empty of each stage."""
    return 2 * stages


def fitting_mbarriers(arch: Arch, taken: int) -> int:
    """How many mbarriers fit beside the bytes that are taken."""
    return max(arch.static_shared - taken, 0) // MBARRIER_BYTES


def specialized_bytes(arch: Arch, blocks: int, maps: int, pipelines: int) -> int:
    """The bytes for stages and other tiles of each of some blocks whose producer copies by TMA.

    The rest is for tensor maps and mbarriers, of all stages that can be forced.
    """
    barriers = pipelines * pipeline_mbarriers(FORCED_STAGES) * MBARRIER_BYTES
    return block_share(arch, blocks) - max(MAP_BYTES * maps + barriers, BARRIER_RESERVE)


def loop_bytes(
    function: Operation, loop: ForOp, replaced: Collection[Operation], nested: int
) -> int:
    """The bytes in use beside a loop's pipeline while the loop runs, with some for each tile.

    Reads of the pipeline's stages replace some layout conversions. The pipelines of loops inside
    of the loop take `nested` bytes.
    """
    scratch = _largest_area(op for op in loop.body.walk() if op not in replaced)
    live = find_lifetimes(function).live_during(loop)
    others = [allocated_bytes(op) for op in live if op not in replaced]
    return AREAS * scratch + sum(others) + nested + _barrier_bytes(function)


def planned_loop_bytes(
    function: Operation, loop: ForOp, replaced: Collection[Operation], nested: int
) -> int:
    """The same where tiles that are never live together have one memory."""
    return shared_bytes(function, replaced, loop) + nested + _barrier_bytes(function)


def _barrier_bytes(function: Operation) -> int:
    """The bytes that are kept free if a function has pipelines or tokens already."""
    has_mbarriers = any(isinstance(op, CreatePipelineOp | CreateTokenOp) for op in function.walk())
    return BARRIER_RESERVE if has_mbarriers else 0


def kernel_bytes(function: Operation) -> int:
    """The bytes of all operations of a kernel, with some for each tile."""
    return AREAS * _largest_area(function.walk()) + sum(map(allocated_bytes, function.walk()))


def bytes_beside_loop(function: Operation, loop: Operation, moved: Sequence[Operation]) -> int:
    """The bytes in use if operations run before a loop while its pipelines are live.

    Each of them has one scratch area.
    """
    live = find_lifetimes(function).live_during(loop)
    return sum(map(allocated_bytes, live)) + _largest_area(moved) + BARRIER_RESERVE


def shared_bytes(
    function: Operation,
    replaced: Collection[Operation],
    during: Operation | None = None,
    lifetimes: Lifetimes | None = None,
) -> int:
    """The shared memory of operations that pipelines do not replace, as `allocate` does.

    Scratch memory is above the allocations that are live at its operation, such as Q of attention:
    what stores the result has the memory of Q again. With `during`, only what is in use at that
    operation or inside of it. `lifetimes` are those of the function, if they are known.
    """
    every = lifetimes or find_lifetimes(function)
    ops = every.by_op if during is None else every.live_during(during)
    lives = {op: every.by_op[op] for op in ops if op not in replaced}
    ends = {op: start + allocated_bytes(op) for op, start in offsets_of(every.among(lives)).items()}
    needs = [0, *ends.values()]
    by_agent: dict[AgentSwitchOp | None, list[Operation]] = {}
    for op in (during or function).walk():
        if op not in replaced and scratch_bytes(op):
            by_agent.setdefault(agent_of(op), []).append(op)
    taken = 0
    for ops in by_agent.values():
        for op in ops:
            live = [ends[other] for other in every.live_at(op) if other in ends]
            # Warps that exchange nothing with others need not alternate between areas.
            areas = (1 if stays_in_warps(op) else AREAS) * _area(op)
            needs.append(aligned(max([taken, *live]), LINE) + areas)
        # Agents run at the same time: each has areas of its own.
        taken = max(needs)
    return max(needs)


def _area(op: Operation) -> int:
    """The bytes of a scratch area of an operation: whole lines."""
    return aligned(scratch_bytes(op), LINE)


def _largest_area(ops: Iterable[Operation]) -> int:
    return max(map(_area, ops), default=0)
