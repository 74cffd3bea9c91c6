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

from tilewright.analysis.slices import closure
from tilewright.analysis.targets import target_of
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
    CopyEngine,
    ScheduleAttr,
    in_shared_memory,
    layout_of,
)
from tilewright.dialects.nv_tileas.matrix import DotOp, async_instruction
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.tensor_map import MAX_MAPS
from tilewright.dialects.nv_tileas.types import PipelineType
from tilewright.dialects.scf import ForOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.types import I32
from tilewright.ir.values import BlockArgument
from tilewright.layout.linear import WARP
from tilewright.layout.wgmma import instruction_columns
from tilewright.plans.allocations import pipeline_memory
from tilewright.plans.mma import PROMOTED_COLUMNS, is_promoted
from tilewright.schedule.cost_inputs import depends_on_block
from tilewright.schedule.limits import (
    CONSUMER_GROUPS,
    LEAST_STAGES,
    MAX_STAGES,
    OVERLAPPED_STAGES,
    STAGES_OF_STORES,
)
from tilewright.schedule.registers import ConsumerTiles
from tilewright.schedule.shared_memory import pipeline_mbarriers, specialized_bytes
from tilewright.schedule.tile_words import tile_words
from tilewright.support.tensor_map_parameters import MAP_BYTES
from tilewright.target.arch import MAX_THREADS, WARP_SIZE
from tilewright.target.resources import MBARRIER_BYTES
from tilewright.target.tensor_cores import WARPGROUP, WGMMA_ROWS
from tilewright.transforms.nv_tileas.consecutive_loops import scheduled_loads
from tilewright.transforms.nv_tileas.copy_groups import ProducerCopies, held_stages
from tilewright.transforms.nv_tileas.fitting_pipelines import (
    ENOUGH,
    FORCED,
    StageBudget,
    memory_limit,
)
from tilewright.transforms.nv_tileas.pipelined_loads import (
    joins_operands,
    plan_stage,
    replaced_conversions,
)
from tilewright.transforms.nv_tileas.producer_slice import multicast_problem
from tilewright.transforms.nv_tileas.tma_loads import TmaLoads, multicast_ranks
from tilewright.transforms.nv_tileas.tma_stores import TmaStores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.schedule.shared_memory import SharedMemory
    from tilewright.transforms.nv_tileas.pipelined_loads import TileLoad


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
        spec = function.kernel_spec
        self._warps = 0 if spec is None else spec.num_warps or 0
        """The warps of a block, all of which consume."""
        self._blocks = None if spec is None else spec.occupancy
        """The blocks on an SM, if they are chosen."""
        self._by_tma = TmaLoads(function)
        loops = [
            op for op in function.walk() if isinstance(op, ForOp) and SCHEDULE in op.attributes
        ]
        inside = {outer for loop in loops for outer in loop.ancestors()}
        self._outer = [loop for loop in loops if loop in inside]
        """Scheduled loops around others, which lose their pipelines."""
        self._loops = {loop: self._copied(loop) for loop in loops if loop not in inside}
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
        copies = self._copies = ProducerCopies(function, self._loops, tiles)
        # The groups of pipelined loops, and what these depend on.
        problems = [problem, *[group.problem for group in copies.groups], copies.slice.problem]
        problem = next((each for each in problems if each is not None), None)
        self.problem = problem or self._warp_problem()
        """Why the function cannot be specialized; None if it can."""
        if self.problem is None:
            copies.add_straight_line_copies(self._by_tma)
        self.groups = copies.groups
        """The copies that share a stage, in the order of the waits of consumers in each block."""
        self.pipelines = copies.pipelines
        """The stage of each pipeline."""
        if self.problem is None:
            self._choose_stages(wanted_stages, tma_stores=tma_stores)

    def _copied(self, loop: ForOp) -> list[TileLoad]:
        """The scheduled loads of a loop, without those that consumers execute themselves.

        Those are of tiles that no dot takes, and that TMA cannot copy.
        """
        return [
            load
            for load in scheduled_loads(loop)
            if not (joins_operands(load, plan_stage(load)) and self._by_tma.problem(load))
        ]

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
        return _consumer_tiles(dots).problem(warps, self._blocks)

    def _choose_stages(self, wanted: int, *, tma_stores: bool | None) -> None:
        """Choose the stages of all pipelines, then those of the stores in what memory is left."""
        arch = target_of(self._function)
        assert arch is not None
        # At most: some may be alike.
        maps = len({(load.view, group.stage) for group in self.groups for load in group.loads})
        share = specialized_bytes(arch, self._blocks or 1, maps, len(self.pipelines))
        fewest = OVERLAPPED_STAGES if len(self.pipelines) == 1 else LEAST_STAGES
        held = held_stages(self.groups)
        # One more than consumers use at once is filled meanwhile.
        fewest = max(fewest, held + 1) if not wanted else max(min(wanted, fewest), held)
        budget = self._stage_budget(wanted, share - self._memory.planned(self.replaced))
        self.stages = budget.fitting
        if maps > MAX_MAPS:
            self.problem = f"there are more than {MAX_MAPS} tensor maps"
        elif 0 < wanted < held:
            self.problem = f"{held} stages are in use at once"
        elif self.stages < fewest:
            self.problem = f"only {self.stages} stages fit into shared memory"
        else:
            if tma_stores is not False:
                stores = self.stores = TmaStores(self._function, all_stores=tma_stores is not None)
                # Unless stores are forced, they take no memory that copies have a stage for.
                fewest = self.stages if tma_stores is None else fewest
                budget = self._choose_stores(stores, wanted, fewest, share) or budget
            self._bound = budget.bound
            barriers = pipeline_mbarriers(self.stages) * len(self.pipelines) * MBARRIER_BYTES
            taken = share - budget.free + self.stages * budget.stage
            self.shared_bytes = taken + maps * MAP_BYTES + barriers

    def _choose_stores(
        self, stores: TmaStores, wanted: int, fewest: int, share: int
    ) -> StageBudget | None:
        """The memory for stages beside stores by TMA; None if there is none for enough stages."""
        free = share - self._memory.planned(self.replaced | stores.conversions())
        few, many = [
            self._stage_budget(wanted, free - stores.bytes(stages))
            for stages in (1, STAGES_OF_STORES)
        ]
        if few.fitting < fewest:
            stores.refuse("its boxes do not fit into shared memory")
            return None
        self.stages = few.fitting
        stores.stages = STAGES_OF_STORES if many.fitting == few.fitting else 1
        return few

    def _stage_budget(self, wanted: int, free: int) -> StageBudget:
        """The memory for stages, if some bytes are left beside all other operations."""
        stage = sum(pipeline_memory(PipelineType(1, each)).bytes for each in self.pipelines)
        most, enough = wanted or MAX_STAGES, FORCED if wanted else ENOUGH
        return StageBudget(most, stage, max(free, 0), memory_limit(self._function), enough)


def _consumer_tiles(dots: Sequence[DotOp]) -> ConsumerTiles:
    """The tiles that consumers hold in registers: accumulators, and operands computed from them."""
    return ConsumerTiles(
        accumulators=max(map(_accumulator_words, dots)),
        instruction=max(_instruction_words(op) for op in dots if op.atom.asynchronous),
        chained=max(map(_chain_words, dots)),
    )


def promotes(op: DotOp) -> bool:
    """Whether the accumulators of a dot are promoted."""
    instruction = async_instruction(op)
    return instruction is not None and is_promoted(op, instruction)


def _accumulator_words(op: DotOp) -> int:
    """The registers of a dot's accumulator over all threads, with those of its promotion.

    Accumulators are promoted those of one instruction at a time, from temporary ones.
    """
    accumulators = tile_words(op.result.type)
    return accumulators + (min(accumulators, _instruction_words(op)) if promotes(op) else 0)


def _chain_words(op: DotOp) -> int:
    """The registers over all threads of a dot whose A is computed from the results of others.

    Those of the other accumulators, of A and of its own accumulator are live together, and then
    those of its own promotion; 0 for a dot that is not chained.
    """
    if in_shared_memory(op.a):
        return 0
    # The dots that A is computed from, maybe in the iteration before.
    makers = dict.fromkeys(value.defining_op() for value in closure([op.a], _sources))
    sources = [maker for maker in makers if isinstance(maker, DotOp)]
    live: dict[Block | None, int] = {}
    for dot in sources:
        # Dots that accumulate one onto the other share an accumulator.
        if not any(dot.result is other.c for other in sources):
            live[dot.parent] = live.get(dot.parent, 0) + _accumulator_words(dot)
    if not live:
        return 0
    before, own = max(live.values()), tile_words(op.result.type)
    return max(before + own, _accumulator_words(op)) + tile_words(op.a.type)


def _sources(value: Value) -> Sequence[Value]:
    """What a value that is no result of a dot is computed from, or carried from by a loop."""
    op = value.defining_op()
    if op is not None:
        return () if isinstance(op, DotOp) else op.operands
    loop = value.owner.parent_op if isinstance(value, BlockArgument) else None
    if not isinstance(loop, ForOp) or value not in loop.carried or loop.body.block.last is None:
        return ()
    return [loop.body.block.last.operands[value.index - 1]]


def _instruction_words(op: DotOp) -> int:
    """The 32-bit registers of the accumulators of one instruction, in all warpgroups."""
    layout = layout_of(op.c)
    columns = instruction_columns(layout) or PROMOTED_COLUMNS
    if promotes(op):
        columns = min(columns, PROMOTED_COLUMNS)
    elements = columns * WGMMA_ROWS * layout.extent(WARP) // WARPGROUP
    return elements * tile_words(op.c.type) // count(op.c.type)
