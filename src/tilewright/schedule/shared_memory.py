"""The shared memory of a block: its share of an SM's, and what operations and pipelines take of it.

What they take is a bound. Scratch memory of an operation counts in two areas, as consecutive
exchanges alternate between them; mbarriers lie beside all of it, in bytes that are kept free.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.nv_tileas.agents import agent_of
from tilewright.dialects.nv_tileas.async_copy import CreateTokenOp
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.types import PipelineType, without_layout
from tilewright.layout.pieces import LIMIT
from tilewright.plans.allocations import aligned, allocated_bytes, pipeline_memory
from tilewright.plans.scratch import scratch_bytes, stays_in_warps
from tilewright.schedule.limits import FORCED_STAGES
from tilewright.schedule.shared_lifetimes import Lifetimes, find_lifetimes, offsets_of
from tilewright.support.tensor_map_parameters import MAP_BYTES
from tilewright.target.memories import LINE
from tilewright.target.resources import MBARRIER_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tilewright.dialects.nv_tileas.agents import AgentSwitchOp
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Operation
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


class SharedMemory:
    """The shared memory that the operations of a function take, while none is added or removed."""

    def __init__(self, function: Operation) -> None:
        self._function = function

    @cached_property
    def _lifetimes(self) -> Lifetimes:
        return find_lifetimes(self._function)

    @cached_property
    def _scratch(self) -> dict[Operation, ScratchAreas]:
        """The operations with scratch memory."""
        ops = self._lifetimes.numbers
        return {op: ScratchAreas.of(op, bytes) for op in ops if (bytes := scratch_bytes(op))}

    @cached_property
    def _barriers(self) -> int:
        """The bytes that are kept free if the function has pipelines or tokens already."""
        ops = self._lifetimes.numbers
        has_mbarriers = any(isinstance(op, CreatePipelineOp | CreateTokenOp) for op in ops)
        return BARRIER_RESERVE if has_mbarriers else 0

    def beside_pipeline(
        self, loop: ForOp, replaced: Collection[Operation], *, is_planned: bool = False
    ) -> int:
        """The bytes in use beside a loop's pipeline while the loop runs, with some for each tile.

        Reads of the pipeline's stages replace some layout conversions. If memory `is_planned`,
        tiles that are never live together share it.
        """
        if is_planned:
            return self.planned(replaced, loop) + self._barriers
        areas = [each.area for op, each in self._scratch_in(loop).items() if op not in replaced]
        live = self._lifetimes.live_during(loop)
        others = [allocated_bytes(op) for op in live if op not in replaced]
        return AREAS * max(areas, default=0) + sum(others) + self._barriers

    @property
    def unplanned(self) -> int:
        """The bytes of all operations, with some for each tile."""
        areas = [each.area for each in self._scratch.values()]
        return AREAS * max(areas, default=0) + sum(map(allocated_bytes, self._lifetimes.by_op))

    def beside_moved(self, loop: Operation, moved: Iterable[Operation]) -> int:
        """The bytes in use if operations run before a loop while its pipelines are live.

        Each of them has one scratch area.
        """
        live = self._lifetimes.live_during(loop)
        areas = [self._scratch[op].area for op in moved if op in self._scratch]
        return sum(map(allocated_bytes, live)) + max(areas, default=0) + BARRIER_RESERVE

    def planned(self, replaced: Collection[Operation], during: Operation | None = None) -> int:
        """The bytes of operations that pipelines do not replace, as `allocate` assigns them.

        Scratch memory is above the allocations that are live at its operation, such as Q of
        attention: what stores the result has the memory of Q again. With `during`, only what is in
        use at that operation or inside of it.
        """
        every = self._lifetimes
        ops = every.by_op if during is None else every.live_during(during)
        kept = {op: every.by_op[op] for op in ops if op not in replaced}
        live = Lifetimes(every.numbers, kept)
        ends = {op: start + allocated_bytes(op) for op, start in offsets_of(live).items()}
        by_agent: dict[AgentSwitchOp | None, list[Operation]] = {}
        for op, each in self._scratch_in(during).items():
            if op not in replaced:
                by_agent.setdefault(each.agent, []).append(op)
        needs, taken = [0, *ends.values()], 0
        for ops in by_agent.values():
            for op in ops:
                below = max([taken, *(ends[other] for other in live.live_at(op))])
                needs.append(aligned(below, LINE) + self._scratch[op].bytes)
            # Agents run at the same time: each has areas of its own.
            taken = max(needs)
        return max(needs)

    def _scratch_in(self, op: Operation | None) -> dict[Operation, ScratchAreas]:
        """The scratch memory of an operation, and inside of it; without one, of the function."""
        ops = self._scratch if op is None else op.walk()
        return {each: self._scratch[each] for each in ops if each in self._scratch}


class ScratchAreas(NamedTuple):
    """The scratch memory of an operation."""

    area: int
    """The bytes of one area: whole lines."""
    bytes: int
    """Of all its areas."""
    agent: AgentSwitchOp | None

    @staticmethod
    def of(op: Operation, bytes: int) -> ScratchAreas:
        """That of an operation that stages some bytes."""
        area = aligned(bytes, LINE)
        # Warps that exchange nothing with others need not alternate between areas.
        return ScratchAreas(area, area if stays_in_warps(op) else AREAS * area, agent_of(op))
