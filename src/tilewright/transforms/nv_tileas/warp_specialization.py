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
from tilewright.dialects.nv_tileaa.early_execution import is_first
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
    in_shared_memory,
)
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.shape import Rearrangement
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
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.consumer_accumulators import consumer_tiles
from tilewright.transforms.nv_tileas.copy_groups import (
    ProducerCopies,
    copy_groups,
    held_stages,
    stage_plan,
    stage_tile,
)
from tilewright.transforms.nv_tileas.pipeline_reasons import (
    ENOUGH,
    FORCED,
    StageBudget,
    memory_limit,
)
from tilewright.transforms.nv_tileas.pipelined_loads import replaced_conversions
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice, multicast_problem
from tilewright.transforms.nv_tileas.stage_uses import stage_users
from tilewright.transforms.nv_tileas.tma_loads import TmaLoads, multicast_ranks
from tilewright.transforms.nv_tileas.tma_stores import TmaStores

if TYPE_CHECKING:
    from collections.abc import Collection

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.types import TensorType
    from tilewright.schedule.shared_memory import SharedMemory
    from tilewright.transforms.nv_tileas.copy_groups import CopyGroup, Stage


class Specialization:
    """The warp specialization of a function whose loops are scheduled, if it can have one."""

    def __init__(
        self,
        function: FuncOp,
        memory: SharedMemory,
        wanted_stages: int = 0,
        *,
        tma_stores: bool | None = False,
    ) -> None:
        """`tma_stores`: whether stores are by TMA; where that pays if None."""
        self._function, self._memory = function, memory
        self._by_tma = TmaLoads(function)
        loops = [
            op for op in function.walk() if isinstance(op, ForOp) and SCHEDULE in op.attributes
        ]
        inside = {outer for loop in loops for outer in loop.ancestors()}
        self._outer = [loop for loop in loops if loop in inside]
        """Scheduled loops around others, which lose their pipelines."""
        self._loops = {loop: scheduled_loads(loop) for loop in loops if loop not in inside}
        self.stages = 0
        """The stages of each pipeline."""
        self.shared_bytes = 0
        """The shared memory of a block, with all pipelines, tensor maps and mbarriers."""
        self._bound = ""
        """What bounds the stages."""
        self.stores: TmaStores | None = None
        """The stores by TMA, if they are wanted and the function can be specialized."""
        problem = self._loop_problem()
        tiles = {
            loop.body.block: [load for load in loads if isinstance(load, TiledLoadOp)]
            for loop, loads in self._loops.items()
            if problem is None
        }
        self._copies = ProducerCopies(function, self._loops, tiles)
        self.problem = problem or self._group_problem() or self._warp_problem()
        """Why the function cannot be specialized; None if it can."""
        if self.problem is None:
            self._add_straight_line_copies()
            self._choose_stages(wanted_stages, tma_stores=tma_stores)

    @property
    def groups(self) -> list[CopyGroup]:
        """The copies that share a stage, in the order of the waits of consumers in each block."""
        return self._copies.groups

    @property
    def pipelines(self) -> list[Stage]:
        """The stage of each pipeline."""
        return self._copies.pipelines

    @property
    def drawback(self) -> str | None:
        """Why agents would slow down other loops than those that they copy for; None if not.

        With a drawback, agents are no candidate, but they can be asked for.
        """
        copied = set(self._copies.loads)
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
        return is_persistent and self._warps >= CONSUMER_GROUPS * WARPGROUP

    @property
    def has_own_maps(self) -> bool:
        """Whether the tensor maps of a block may be others than those of the one before it."""
        return any(depends_on_block(load.view) for load in self._copies.loads)

    @property
    def replaced(self) -> set[Operation]:
        """The layout conversions that reads of stages replace."""
        return replaced_conversions(plan for group in self.groups for plan in group.plans.values())

    def bounds(self) -> dict[ForOp, str]:
        """What bounds the stages of each loop, if the function is specialized."""
        return dict.fromkeys(self._loops, self._bound)

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
        for load in self._copies.loads:
            load.attributes[ENGINE] = CopyEngine.TMA
        if self.stores is not None:
            self.stores.record()

    def record_multicast(self) -> None:
        """Let the CTAs of a cluster multicast the tiles that they share, if they can."""
        function = self._function
        if function.cluster_size == 1 or multicast_problem(function, self._loops) is not None:
            return
        for group in self.groups:
            for load, tile in group.tiles:
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
        """Check the groups of the pipelined loops, and what they depend on."""
        problems = [group.problem for group in self.groups if group.problem is not None]
        return problems[0] if problems else self._copies.slice.problem

    def _warp_problem(self) -> str | None:
        """Check features of the GPU, warps and registers."""
        arch, warps = target_of(self._function), self._warps
        if arch is None:
            return "the program names no GPU"
        if arch.overlap_problem is not None:
            return arch.overlap_problem
        if not warps or warps % WARPGROUP:
            return "its warps are no whole warpgroups"
        if (warps + WARPGROUP) * WARP_SIZE > MAX_THREADS:
            return f"a block of {warps} warps has no threads left for a producer"
        dots = [op for op in self._function.walk() if isinstance(op, DotOp)]
        return consumer_tiles(dots).problem(warps, self._blocks)

    @property
    def _warps(self) -> int:
        """The warps of a block, all of which consume."""
        spec = self._function.kernel_spec
        return 0 if spec is None else spec.num_warps or 0

    @property
    def _blocks(self) -> int | None:
        """The blocks on an SM, if they are chosen."""
        spec = self._function.kernel_spec
        return None if spec is None else spec.occupancy

    def _add_straight_line_copies(self) -> None:
        """Copy loads outside of pipelined loops whose tiles fit into the stages of such loops.

        In attention whose loop is rotated, the first tile of K and the last one of V are loaded
        before and after the loop. The producer copies them to the pipelines of K and V, too, since
        the other tiles of the loop would have to wait otherwise. All other loads, such as that of
        Q, stay what they are.
        """
        copies, function, copied = self._copies, self._function, self._copies.loads
        stages = set(copies.pipelines)
        tiles = {tile for stage in stages for tile in stage}
        added: dict[Block, list[CopyGroup]] = {}
        around = [op for op in function.walk() if op in copies.entered and op not in copies.loops]
        for block in [region.block for op in around for region in op.regions if region.blocks]:
            loads = [op for op in block if isinstance(op, TiledLoadOp)]
            loads = [load for load in loads if _is_suitable(load, tiles, self._by_tma)]
            for group in copy_groups(block, loads):
                if group.stage not in stages or copies.problem(group) is not None:
                    continue
                together = [*copied, *group.loads]
                if ProducerSlice(function, copies.loops, together).problem is None:
                    added.setdefault(block, []).append(group)
                    copied = together
        copies.by_block.update(added)

    def _choose_stages(self, wanted: int, *, tma_stores: bool | None) -> None:
        """Choose the stages of all pipelines, then those of the stores in what memory is left."""
        fewest = OVERLAPPED_STAGES if len(self.pipelines) == 1 else LEAST_STAGES
        held = held_stages(self.groups)
        # One more than consumers use at once is filled meanwhile.
        fewest = max(fewest, held + 1) if not wanted else max(min(wanted, fewest), held)
        budget = self._stage_budget(wanted)
        self.stages = budget.fitting
        if self._maps > MAX_MAPS:
            self.problem = f"there are more than {MAX_MAPS} tensor maps"
        elif 0 < wanted < held:
            self.problem = f"{held} stages are in use at once"
        elif self.stages < fewest:
            self.problem = f"only {self.stages} stages fit into shared memory"
        else:
            if tma_stores is not False:
                is_forced = tma_stores is not None
                budget = self._choose_stores(budget, wanted, fewest, is_forced=is_forced)
            self._bound, taken = budget.bound, self._share - budget.free
            barriers = pipeline_mbarriers(self.stages) * len(self.pipelines) * MBARRIER_BYTES
            maps = self._maps * MAP_BYTES
            self.shared_bytes = taken + self.stages * budget.stage + maps + barriers

    def _choose_stores(
        self, budget: StageBudget, wanted: int, fewest: int, *, is_forced: bool
    ) -> StageBudget:
        """Choose the stores by TMA; returns the memory for stages beside theirs.

        Unless they are forced, they take no memory that copies have a stage for.
        """
        stores = self.stores = TmaStores(self._function, all_stores=is_forced)
        conversions = stores.conversions()
        beside = self._stage_budget(wanted, conversions) if conversions else budget
        few, many = [
            beside._replace(free=max(beside.free - stores.bytes(stages), 0))
            for stages in (1, STAGES_OF_STORES)
        ]
        if few.fitting < (fewest if is_forced else self.stages):
            stores.refuse("its boxes do not fit into shared memory")
            return budget
        self.stages = few.fitting
        stores.stages = STAGES_OF_STORES if many.fitting == few.fitting else 1
        return few

    def _stage_budget(self, wanted: int, conversions: Collection[Operation] = ()) -> StageBudget:
        """The memory for stages beside that of all operations but some conversions of stores."""
        planned = self._memory.planned(self.replaced.union(conversions))
        stage = sum(pipeline_memory(PipelineType(1, each)).bytes for each in self.pipelines)
        most, enough = wanted or MAX_STAGES, FORCED if wanted else ENOUGH
        free, limit = max(self._share - planned, 0), memory_limit(self._function)
        return StageBudget(most, stage, free, limit, enough)

    @property
    def _maps(self) -> int:
        """How many tensor maps the copies have, at most."""
        return len({(load.view, group.stage) for group in self.groups for load in group.loads})

    @property
    def _share(self) -> int:
        """The bytes of a block for stages and other tiles."""
        arch = target_of(self._function)
        assert arch is not None
        return specialized_bytes(arch, self._blocks or 1, self._maps, len(self.pipelines))


def _is_suitable(load: TiledLoadOp, tiles: Collection[TensorType], by_tma: TmaLoads) -> bool:
    """Whether TMA can copy a load to a stage with one of some tiles, and how it is read suits that.

    Dots read it there, or registers that no dot takes are read from it. All of this is in the block
    of the load.
    """
    if not load.is_plain or not is_first(load) or by_tma.problem(load) is not None:
        return False
    plan = stage_plan(load)
    if stage_tile(load, plan) not in tiles:
        return False
    users = stage_users(load, plan)
    if all(in_shared_memory(use.convert.result) for use in plan.uses):
        return all(_reads_stage(user, load) for user in users)
    return all(user.parent is load.parent and not isinstance(user, DotOp) for user in users)


def _reads_stage(user: Operation, load: TiledLoadOp) -> bool:
    """Whether a user of a load is a dot of its block that reads the stage, or leads to one."""
    if isinstance(user, Rearrangement):
        return in_shared_memory(user.result)
    return isinstance(user, DotOp) and user.atom.asynchronous and user.parent is load.parent
