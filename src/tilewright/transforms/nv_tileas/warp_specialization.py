"""Whether a function can be warp-specialized: a producer copies by TMA, the other warps compute.

A block first encodes its tensor maps, unless an earlier block on the SM has done so. Consumers then
have no barrier that keeps them in step: one multiplies while another prepares. Whether that pays is
a question to the cost model (`schedule-loops`). Three properties of a `Specialization` say whether
agents are a candidate, and which one:

- With a `problem`, a function has no agents. A request for them is refused with it.
- With a `drawback`, agents are no candidate; they are built only if they are asked for.
- If they are preferred (`is_preferred`), and all blocks read the same tensor maps, agents are the
  first candidate, which is chosen unless another one is predicted to be clearly faster. Otherwise
  they are the last candidate, which has to be clearly faster itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.targets import target_of
from tilewright.dialects.nv_tileas.attribute_names import (
    CONTINUES,
    ENGINE,
    IN_FLIGHT,
    LATE,
    MULTICAST,
    SCHEDULE,
)
from tilewright.dialects.nv_tileas.attributes import (
    CopyEngine,
    ScheduleAttr,
)
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.tensor_map import MAX_MAPS
from tilewright.dialects.nv_tileas.types import PipelineType
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I32
from tilewright.plans.allocations import pipeline_memory
from tilewright.schedule.cost_inputs import depends_on_block
from tilewright.schedule.limits import (
    CONSUMER_GROUPS,
    LEAST_STAGES,
    MAX_STAGES,
    OVERLAPPED_STAGES,
    STAGES_OF_STORES,
)
from tilewright.schedule.shared_memory import pipeline_mbarriers, specialized_bytes
from tilewright.support.tensor_map_parameters import MAP_BYTES
from tilewright.target.arch import MAX_THREADS, WARP_SIZE
from tilewright.target.resources import MBARRIER_BYTES
from tilewright.target.tensor_cores import WARPGROUP
from tilewright.transforms.nv_tileas.choose_multicast import multicast_problem, multicast_ranks
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.consumer_accumulators import consumer_tiles
from tilewright.transforms.nv_tileas.copy_groups import copy_groups, held_stages
from tilewright.transforms.nv_tileas.pipeline_reasons import (
    ENOUGH,
    FORCED,
    StageBudget,
    memory_limit,
)
from tilewright.transforms.nv_tileas.pipelined_loads import replaced_conversions
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice
from tilewright.transforms.nv_tileas.straight_line_copies import straight_line_groups
from tilewright.transforms.nv_tileas.tma_loads import TmaLoads
from tilewright.transforms.nv_tileas.tma_stores import TmaStores

if TYPE_CHECKING:
    from collections.abc import Collection

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Operation
    from tilewright.schedule.shared_memory import SharedMemory
    from tilewright.transforms.nv_tileas.copy_groups import CopyGroup, Stage


class Specialization:
    """The warp specialization of a function whose loops are scheduled, if it can have one."""

    __slots__ = ("_budget", "_by_tma", "_function", "_loops", "_memory", "_outer", "groups",
                 "problem", "stages", "stores")  # fmt: skip

    def __init__(
        self,
        function: FuncOp,
        memory: SharedMemory,
        wanted_stages: int = 0,
        *,
        tma_stores: bool | None = False,
    ) -> None:
        self._function, self._memory = function, memory
        self._by_tma = TmaLoads(function)
        loops = [
            op for op in function.walk() if isinstance(op, ForOp) and SCHEDULE in op.attributes
        ]
        inside = {outer for loop in loops for outer in loop.ancestors()}
        self._outer = [loop for loop in loops if loop in inside]
        """Scheduled loops around others, which lose their pipelines."""
        self._loops = {loop: scheduled_loads(loop) for loop in loops if loop not in inside}
        self.groups: list[CopyGroup] = []
        """The copies that share a stage, in the order of the waits of consumers."""
        self._budget: StageBudget | None = None
        self.stages = 0
        """The stages of each pipeline."""
        self.problem = self._loop_problem() or self._group_problem() or self._warp_problem()
        """Why the function cannot be specialized; None if it can."""
        self.stores: TmaStores | None = None
        """The stores by TMA, if they are wanted and the function can be specialized."""
        if self.problem is None:
            self.groups += straight_line_groups(function, self._loops, self.groups, self._by_tma)
            self._choose_stages(wanted_stages, tma_stores=tma_stores)

    @property
    def drawback(self) -> str | None:
        """Why agents would slow down other loops than those that they copy for; None if not.

        With a drawback, agents are no candidate, but they can be asked for.
        """
        copied = {load for group in self.groups for load in group.loads}
        if any(load not in copied for loop in self._outer for load in scheduled_loads(loop)):
            return "a loop around a pipelined one would no longer copy its tiles early"
        return None

    @property
    def is_preferred(self) -> bool:
        """Whether agents are preferred to copies by threads that are predicted alike.

        They are, unless all dots accumulate in place: in flight over iterations, these keep the
        tensor cores busy as well, and no maps are encoded. GEMMs of f16 with 128x256x64 tiles take
        1.00 and 1.06 of the time with agents, others up to 1.24 (`gemm-h200.md`). A block that
        computes several tiles copies the next one early, while consumers store the one before, if
        another warpgroup multiplies meanwhile.
        """
        dots = [op for loop in self._loops for op in loop.body.walk() if isinstance(op, DotOp)]
        if not all(IN_FLIGHT in dot.attributes for dot in dots):
            return True
        is_persistent = all(isinstance(loop.parent_op, ForOp) for loop in self._loops)
        spec = self._function.kernel_spec
        warps = 0 if spec is None else spec.num_warps or 0
        return is_persistent and warps >= CONSUMER_GROUPS * WARPGROUP

    @property
    def has_own_maps(self) -> bool:
        """Whether the tensor maps of a block may be others than those of the one before it."""
        return any(depends_on_block(load.view) for group in self.groups for load in group.loads)

    @property
    def shared_bytes(self) -> int:
        """The shared memory of a block, with all pipelines, tensor maps and mbarriers."""
        if self._budget is None:
            return 0
        taken = self._share - self._budget.free + self.stages * self._budget.stage
        barriers = pipeline_mbarriers(self.stages) * len(self.pipelines) * MBARRIER_BYTES
        return taken + self._maps * MAP_BYTES + barriers

    @property
    def replaced(self) -> set[Operation]:
        """The layout conversions that reads of stages replace."""
        return replaced_conversions(plan for group in self.groups for plan in group.plans.values())

    @property
    def pipelines(self) -> list[Stage]:
        """The stage of each pipeline: copies with equal stages share one."""
        return list(dict.fromkeys(group.stage for group in self.groups))

    def record(self) -> None:
        """Write the decision into the program, in place of the schedules of single loops."""
        for loop in [*self._outer, *self._loops]:
            for load in scheduled_loads(loop):
                del load.attributes[ENGINE]
            for name in (SCHEDULE, CONTINUES):
                loop.attributes.pop(name, None)
            for op in loop.body.walk():
                for name in (IN_FLIGHT, LATE):
                    op.attributes.pop(name, None)
        for loop in self._loops:
            loop.attributes[SCHEDULE] = ScheduleAttr(self.stages, self.stages)
        for group in self.groups:
            for load in group.loads:
                load.attributes[ENGINE] = CopyEngine.TMA
        if self.stores is not None:
            self.stores.record()

    def _choose_stages(self, wanted: int, *, tma_stores: bool | None) -> None:
        """Choose the stages of all pipelines, then those of the stores in what memory is left.

        Unless stores by TMA are forced, they take no memory that copies have a stage for.
        """
        fewest = OVERLAPPED_STAGES if len(self.pipelines) == 1 else LEAST_STAGES
        held = max(held_stages(self.groups).values(), default=1)
        # One more than consumers use at once is filled meanwhile.
        fewest = max(fewest, held + 1) if not wanted else max(min(wanted, fewest), held)
        self._budget = self._stage_budget(wanted, self.replaced)
        self.stages = self._budget.fitting
        if self._maps > MAX_MAPS:
            self.problem = f"there are more than {MAX_MAPS} tensor maps"
        elif 0 < wanted < held:
            self.problem = f"{held} stages are in use at once"
        elif self.stages < fewest:
            self.problem = f"only {self.stages} stages fit into shared memory"
        elif tma_stores is not False:
            is_forced = tma_stores is not None
            self.stores = TmaStores(self._function, all_stores=is_forced)
            conversions = self.stores.conversions()
            budget = self._budget
            if conversions:
                budget = self._stage_budget(wanted, self.replaced | conversions)
            budgets = [
                budget._replace(free=max(budget.free - self.stores.bytes(stages), 0))
                for stages in (1, STAGES_OF_STORES)
            ]
            few, many = [each.fitting for each in budgets]
            if few < (fewest if is_forced else self.stages):
                self.stores.refuse("its boxes do not fit into shared memory")
                return
            self.stages, self._budget = few, budgets[0]
            self.stores.stages = STAGES_OF_STORES if many == few else 1

    def record_multicast(self) -> None:
        """Let the CTAs of a cluster multicast the tiles that they share, if they can."""
        function = self._function
        if function.cluster_size == 1 or multicast_problem(function, self._loops) is not None:
            return
        for group in self.groups:
            for load, tile in zip(group.loads, group.stage, strict=True):
                ranks = multicast_ranks(load, tile)
                if ranks:
                    load.attributes[MULTICAST] = IntegerAttr(ranks, I32)

    def _loop_problem(self) -> str | None:
        """Check loops and loads."""
        if not self._loops:
            return "no loop is pipelined"
        for loop, loads in self._loops.items():
            for load in loads:
                if (problem := self._by_tma.problem(load)) is not None:
                    return f"TMA cannot copy a tile: {problem}"
            dots = [op for op in loop.body.walk() if isinstance(op, DotOp)]
            if not dots or not all(dot.atom.asynchronous for dot in dots):
                return "a pipelined loop has no asynchronous dots, or others"
        return None

    def _group_problem(self) -> str | None:
        """Form the groups of the pipelined loops, and check them and what they depend on."""
        for loop, loads in self._loops.items():
            tiles = [load for load in loads if isinstance(load, TiledLoadOp)]
            self.groups += copy_groups(loop.body.block, tiles, is_loop=True)
        problems = [group.problem for group in self.groups if group.problem is not None]
        if problems:
            return problems[0]
        copied = [load for group in self.groups for load in group.loads]
        return ProducerSlice(self._function, self._loops, copied).problem

    @property
    def _maps(self) -> int:
        """How many tensor maps the copies have, at most."""
        return len({(load.view, group.stage) for group in self.groups for load in group.loads})

    def _warp_problem(self) -> str | None:
        """Check features of the GPU, warps and registers."""
        arch, spec = target_of(self._function), self._function.kernel_spec
        if arch is None:
            return "the program names no GPU"
        if arch.overlap_problem is not None:
            return arch.overlap_problem
        warps = 0 if spec is None else spec.num_warps or 0
        if spec is None or not warps or warps % WARPGROUP:
            return "its warps are no whole warpgroups"
        if (warps + WARPGROUP) * WARP_SIZE > MAX_THREADS:
            return f"a block of {warps} warps has no threads left for a producer"
        dots = [op for op in self._function.walk() if isinstance(op, DotOp)]
        return consumer_tiles(dots).problem(warps, spec.occupancy)

    def bounds(self) -> dict[ForOp, str]:
        """What bounds the stages of each loop, if the function is specialized."""
        bound = "" if self._budget is None else self._budget.bound
        return dict.fromkeys(self._loops, bound)

    def _stage_budget(self, wanted: int, replaced: Collection[Operation]) -> StageBudget:
        """The memory for stages beside that of all other operations."""
        free = max(self._share - self._memory.planned(replaced), 0)
        stage = sum(pipeline_memory(PipelineType(1, each)).bytes for each in self.pipelines)
        most, enough = wanted or MAX_STAGES, FORCED if wanted else ENOUGH
        return StageBudget(most, stage, free, limit=memory_limit(self._function), enough=enough)

    @property
    def _share(self) -> int:
        """The bytes of a block for stages and other tiles."""
        arch, spec = target_of(self._function), self._function.kernel_spec
        assert arch is not None
        blocks = 1 if spec is None or spec.occupancy is None else spec.occupancy
        return specialized_bytes(arch, blocks, self._maps, len(self.pipelines))
