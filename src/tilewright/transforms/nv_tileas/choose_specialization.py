"""Whether a function is warp-specialized: a producer copies by TMA, the other warps compute.

A block first encodes its tensor maps, which takes microseconds unless an earlier block has done so.
That pays in a persistent kernel, whose blocks compute many tiles: its producer copies the next tile
early, while the consumers store the one before. It also pays where dots cannot stay in flight over
iterations, since an operand passes through registers or accumulators are promoted: no barrier keeps
the warpgroups in step, and one multiplies while the other prepares. Other blocks copy by
`cp.async`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.targets import target_of
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.constraints import count
from tilewright.dialects.nv_tileas.attribute_names import (
    CONTINUES,
    ENGINE,
    IN_FLIGHT,
    LATE,
    MULTICAST,
    SCHEDULE,
)
from tilewright.dialects.nv_tileas.attributes import (
    Atom,
    CopyEngine,
    ScheduleAttr,
    in_shared_memory,
    laid_out,
    layout_of,
)
from tilewright.dialects.nv_tileas.matrix import DotOp, wgmma_instruction
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.types import PipelineType
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I32, TF32
from tilewright.layout.linear import WARP
from tilewright.layout.wgmma import instruction_columns
from tilewright.plans.allocations import allocated_bytes, pipeline_memory
from tilewright.plans.mma import PROMOTED_COLUMNS, is_promoted
from tilewright.plans.scratch import scratch_bytes, stays_in_warps
from tilewright.plans.tile_registers import OTHER_REGISTERS, tile_words
from tilewright.target.arch import WARP_SIZE
from tilewright.target.features import Feature
from tilewright.target.tensor_cores import WARPGROUP, WGMMA_ROWS
from tilewright.transforms.nv_tileas.agent_registers import consumer_registers
from tilewright.transforms.nv_tileas.choose_multicast import multicast_problem, multicast_ranks
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.pipelined_loads import MAX_STAGES, plan_tma_stage
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded
from tilewright.transforms.nv_tileas.tma_loads import tma_problem
from tilewright.transforms.nv_tileas.tma_stores import MAX_STORE_STAGES, TmaStores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan, TileLoad

FEWEST_STAGES: Final = 3
CONSUMER_GROUPS: Final = 2
"""While one warpgroup waits for its dots, another keeps the tensor cores busy."""
BARRIER_BYTES: Final = 1024
"""Of shared memory that is kept free for mbarriers and tensor maps."""


class Specialization:
    """The warp specialization of a function whose loops are scheduled, if it can have one."""

    __slots__ = ("_function", "_loops", "problem", "stages", "stores")

    def __init__(
        self, function: FuncOp, wanted_stages: int = 0, *, tma_stores: bool = False
    ) -> None:
        self._function = function
        loops = [op for op in function.walk() if isinstance(op, ForOp)]
        self._loops = {loop: scheduled_loads(loop) for loop in loops if SCHEDULE in loop.attributes}
        self.stages = 0
        """The stages of the pipeline."""
        self.problem = self._loop_problem() or self._warp_problem()
        """Why the function cannot be specialized; None if it can."""
        self.stores: TmaStores | None = None
        """The stores by TMA, if they are wanted and the function can be specialized."""
        if self.problem is None:
            self._choose_stages(wanted_stages, tma_stores=tma_stores)

    @property
    def is_worthwhile(self) -> bool:
        """Whether it pays to encode tensor maps.

        It does if blocks compute several tiles; or if warps prepare dots or promote accumulators,
        while only another warpgroup can keep the tensor cores busy.
        """
        spec = self._function.kernel_spec
        groups = 0 if spec is None else (spec.num_warps or 0) // WARPGROUP
        is_persistent = all(isinstance(loop.parent_op, ForOp) for loop in self._loops)
        return groups >= CONSUMER_GROUPS and (is_persistent or self._prepares_dots())

    def record(self) -> None:
        """Write the decision into the program, in place of the schedules of single loops."""
        for loop, loads in self._loops.items():
            loop.attributes[SCHEDULE] = ScheduleAttr(self.stages, self.stages)
            loop.attributes.pop(CONTINUES, None)
            for load in loads:
                load.attributes[ENGINE] = CopyEngine.TMA
                load.attributes.pop(LATE, None)
            for op in loop.body.walk():
                op.attributes.pop(IN_FLIGHT, None)
        if self.stores is not None:
            self.stores.record()

    def _choose_stages(self, wanted: int, *, tma_stores: bool) -> None:
        """Choose the stages of the pipeline, then those of the stores in what memory is left."""
        fewest = min(wanted or FEWEST_STAGES, FEWEST_STAGES)
        self.stages = min(wanted or MAX_STAGES, self._fitting_stages())
        if self.stages < fewest:
            self.problem = f"only {self.stages} stages fit into shared memory"
        elif tma_stores:
            self.stores = TmaStores(self._function)
            few, many = [
                min(wanted or MAX_STAGES, self._fitting_stages(self.stores.bytes(stages)))
                for stages in (1, MAX_STORE_STAGES)
            ]
            if few < fewest:
                self.stores.refuse("its boxes do not fit into shared memory")
                return
            self.stages = few
            self.stores.stages = MAX_STORE_STAGES if many == few else 1

    def record_multicast(self) -> None:
        """Let the CTAs of a cluster multicast the tiles that they share, if they can."""
        function = self._function
        if function.cluster_size == 1 or multicast_problem(function, self._loops) is not None:
            return
        for loads in self._loops.values():
            for load, tile in zip(loads, stage_types(loads), strict=True):
                ranks = multicast_ranks(load, tile)
                if ranks:
                    load.attributes[MULTICAST] = IntegerAttr(ranks, I32)

    def _prepares_dots(self) -> bool:
        """Whether an operand of a dot passes through registers, or accumulators are promoted."""
        dots = [op for loop in self._loops for op in loop.body.walk() if isinstance(op, DotOp)]
        return any(not in_shared_memory(dot.a) or _promotes(dot) for dot in dots)

    def _loop_problem(self) -> str | None:
        """Check loops and loads."""
        if not self._loops:
            return "no loop is pipelined"
        for loop, loads in self._loops.items():
            for load in loads:
                if (problem := tma_problem(load)) is not None:
                    return f"TMA cannot copy a tile: {problem}"
            dots = [op for op in loop.body.walk() if isinstance(op, DotOp)]
            if not dots or any(dot.atom is not Atom.WGMMA for dot in dots):
                return "a pipelined loop has no dots by wgmma, or others"
        if len({stage_types(loads) for loads in self._loops.values()}) > 1:
            return "its loops copy different tiles"
        tiles = {
            loop: [load for load in loads if isinstance(load, TiledLoadOp)]
            for loop, loads in self._loops.items()
        }
        return ProducerSlice(self._function, tiles).problem

    def _warp_problem(self) -> str | None:
        """Check features of the GPU, warps and registers."""
        arch, spec = target_of(self._function), self._function.kernel_spec
        if arch is None or Feature.WGMMA not in arch or Feature.TMA not in arch:
            return "the GPU has no wgmma or no TMA"
        warps = 0 if spec is None else spec.num_warps or 0
        if spec is None or not warps or warps % WARPGROUP:
            return "its warps are no whole warpgroups"
        threads = warps * WARP_SIZE
        dots = [op for op in self._function.walk() if isinstance(op, DotOp)]
        return consumer_registers(warps, spec.occupancy or 1).problem(
            max(map(_accumulator_words, dots)) // threads,
            max(_instruction_words(op) for op in dots if op.atom is Atom.WGMMA) // threads,
            OTHER_REGISTERS,
        )

    def _fitting_stages(self, store_bytes: int = 0) -> int:
        """As many stages as fit beside the shared memory of all other operations, and stores."""
        arch = target_of(self._function)
        assert arch is not None
        replaced = {
            use.convert
            for loads in self._loops.values()
            for load in loads
            for use in _plan(load).uses
        }
        if self.stores is not None:
            replaced |= self.stores.conversions()
        others = [op for op in self._function.walk() if op not in replaced]
        taken = sum(map(allocated_bytes, others)) + max(map(_scratch_areas, others))
        taken += store_bytes
        stage = pipeline_memory(PipelineType(1, stage_types(next(iter(self._loops.values())))))
        spec = self._function.kernel_spec
        blocks = 1 if spec is None or spec.occupancy is None else spec.occupancy
        limit = (arch.static_shared + BARRIER_BYTES) // blocks - BARRIER_BYTES
        return max(limit - BARRIER_BYTES - taken, 0) // stage.bytes


def stage_types(loads: Sequence[TileLoad]) -> tuple[Type, ...]:
    """The tiles of a stage."""
    return tuple(laid_out(copied_element(load), _plan(load).placement) for load in loads)


def copied_element(load: TileLoad) -> Type:
    """The element type in a stage that TMA fills: it can round f32 to tf32."""
    tile = load.results[0]
    return TF32 if is_only_rounded(tile) else element_of(tile.type)


def _plan(load: TileLoad) -> StagePlan:
    plan = plan_tma_stage(load)
    assert plan is not None
    return plan


def _accumulator_words(op: DotOp) -> int:
    """The registers of a dot's accumulator over all threads, with those of its promotion.

    Accumulators are promoted those of one instruction at a time, from temporary ones.
    """
    accumulators = tile_words(op.result.type)
    return accumulators + (min(accumulators, _instruction_words(op)) if _promotes(op) else 0)


def _scratch_areas(op: Operation) -> int:
    """The bytes of the scratch areas of an operation: two, if warps exchange data."""
    return scratch_bytes(op) * (1 if stays_in_warps(op) else 2)


def _promotes(op: DotOp) -> bool:
    instruction = wgmma_instruction(op)
    return instruction is not None and is_promoted(op, instruction)


def _instruction_words(op: DotOp) -> int:
    """The 32-bit registers of the accumulators of one instruction, in all warpgroups."""
    layout = layout_of(op.c)
    columns = instruction_columns(layout) or PROMOTED_COLUMNS
    if _promotes(op):
        columns = min(columns, PROMOTED_COLUMNS)
    elements = columns * WGMMA_ROWS * layout.extent(WARP) // WARPGROUP
    return elements * tile_words(op.c.type) // count(op.c.type)
