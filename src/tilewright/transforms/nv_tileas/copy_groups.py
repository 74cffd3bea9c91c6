"""Copy groups: loads whose tiles a producer copies to one stage, and consumers use together.

Loads of a block belong together if they feed the same dot, or dots of which one accumulates onto
the other. Consumers wait for the stage of a group right before its first use. They release it after
the last one has finished: an asynchronous dot has when a `dot_wait` retires it. The only group of a
pipelined loop has the whole body instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.early_execution import is_first
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.shape import CatOp, ConvertLayoutOp, Rearrangement
from tilewright.ir.types import TF32
from tilewright.transforms.nv_tileas.pipelined_loads import dots_of, plan_tma_stage
from tilewright.transforms.nv_tileas.producer_slice import ProducerSlice
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded
from tilewright.transforms.nv_tileas.stage_reads import outermost, stage_users

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.scf import ForOp
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.types import TensorType
    from tilewright.ir.values import Value
    from tilewright.support.location import Location
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan
    from tilewright.transforms.nv_tileas.tma_loads import TmaLoads

Stage: TypeAlias = "tuple[TensorType, ...]"
"""The types of the tiles in a stage."""
FOLLOWED: Final = (Rearrangement, ConvertLayoutOp, CatOp)
"""Operations between a load and the dots that it feeds, beside element-wise ones."""


class CopyGroup:
    """Loads of a block whose tiles share a stage, and the operations that use it."""

    __slots__ = ("_numbers", "block", "first", "is_whole", "last", "plans", "problem", "stage")

    def __init__(
        self,
        block: Block,
        loads: Sequence[TiledLoadOp],
        numbers: Mapping[Operation, int],
        *,
        is_whole: bool,
    ) -> None:
        """A group of a block whose operations have numbers."""
        self._numbers = numbers
        self.block, self.is_whole = block, is_whole
        """`is_whole`: whether consumers have the stage from the start of the block to its end."""
        self.plans = {load: stage_plan(load) for load in loads}
        """How the stage holds the tile of each load."""
        self.stage: Stage = tuple(stage_tile(load, plan) for load, plan in self.plans.items())
        self.problem: str | None = None
        """Why consumers cannot wait for the stage and release it in the block; None if they can."""
        users = {user for load, plan in self.plans.items() for user in stage_users(load, plan)}
        finished = {numbers[outermost(block, user)] for user in users}
        waits = retiring_waits(block, users)
        finished |= {numbers[wait] for wait in waits if wait is not None}
        ops = list(numbers)
        self.first = ops[0] if is_whole else ops[min(finished)]
        """The operation that consumers wait before."""
        self.last = ops[-1] if is_whole else ops[max(finished)]
        """The operation that they release after; before it if it ends the block."""
        if None in waits:
            self.problem = "a dot is in flight at the end of the block that copies its operands"
        elif not is_whole and max(numbers[load] for load in loads) > numbers[self.first]:
            self.problem = "a tile is used before others of its stage are loaded"
        elif not is_whole and any(load.result_token.is_used for load in loads):
            # An access that the token orders after the load may precede the wait.
            self.problem = "a token orders an access after a load"
        elif any(
            user.is_terminator and any(map(in_shared_memory, user.operands)) for user in users
        ):
            self.problem = "a tile in a stage is passed on"

    @property
    def loads(self) -> list[TiledLoadOp]:
        """The loads, in their order in the block."""
        return list(self.plans)

    @property
    def tiles(self) -> list[tuple[TiledLoadOp, TensorType]]:
        """The loads, each with its tile in the stage."""
        return list(zip(self.plans, self.stage, strict=True))

    @property
    def location(self) -> Location:
        """That of the loop whose body the group has, or of its first use."""
        owner = self.block.parent_op
        return owner.location if self.is_whole and owner is not None else self.first.location

    def spans(self, op: Operation) -> bool:
        """Whether consumers have the stage during an operation of the block."""
        numbers = self._numbers
        return numbers[self.first] <= numbers[op] <= numbers[self.last]

    def overlaps(self, later: CopyGroup) -> bool:
        """Whether consumers still have the stage when they wait for a later one of the block."""
        return self._numbers[self.last] >= self._numbers[later.first]


class ProducerCopies:
    """The copy groups of pipelined loops and of the code around them."""

    __slots__ = ("_function", "by_block", "entered", "loops", "slice")

    def __init__(
        self,
        function: FuncOp,
        loops: Collection[ForOp],
        loads: Mapping[Block, Sequence[TiledLoadOp]],
        views: Sequence[Value] = (),
    ) -> None:
        """The groups of some loads of each block; the producer may have other views as well."""
        self._function, self.loops = function, loops
        bodies = {loop.body.block for loop in loops}
        self.by_block = {
            block: copy_groups(block, each, is_loop=block in bodies)
            for block, each in loads.items()
        }
        """The groups of each block, in the order in which consumers wait for them."""
        self.slice = ProducerSlice(function, loops, self.loads, views)
        self.entered: set[Operation | None] = {function, *self.slice.enclosing, *loops}
        """The operations in which there are groups, or may be."""

    @property
    def groups(self) -> list[CopyGroup]:
        """The groups of all blocks."""
        return [group for groups in self.by_block.values() for group in groups]

    @property
    def loads(self) -> list[TiledLoadOp]:
        """The loads of all groups."""
        return [load for group in self.groups for load in group.loads]

    @property
    def pipelines(self) -> list[Stage]:
        """The stage of each pipeline: groups with equal stages share one."""
        return list(dict.fromkeys(group.stage for group in self.groups))

    def problem(self, group: CopyGroup) -> str | None:
        """Why consumers cannot wait for the stage of a group, or not release it in time."""
        if group.block.parent_op not in self.entered:
            return "it is in a region that the producer does not enter"
        if any(group.spans(op) for op in group.block if op in self.entered):
            return "its stage is in use during a loop or branch with other copies"
        return group.problem

    def add_straight_line_copies(self, by_tma: TmaLoads) -> None:
        """Copy loads outside of pipelined loops whose tiles fit into the stages of such loops.

        In attention whose loop is rotated, the first tile of K and the last one of V are loaded
        before and after the loop. The producer copies them to the pipelines of K and V, too, since
        the other tiles of the loop would have to wait otherwise. All other loads, such as that of
        Q, stay what they are.
        """
        stages, copied = set(self.pipelines), self.loads
        tiles = {tile for stage in stages for tile in stage}
        around = [op for op in self._function.walk() if op in self.entered and op not in self.loops]
        for block in [region.block for op in around for region in op.regions if region.blocks]:
            loads = [op for op in block if isinstance(op, TiledLoadOp)]
            loads = [load for load in loads if _is_suitable(load, tiles, by_tma)]
            for group in copy_groups(block, loads):
                if group.stage not in stages or self.problem(group) is not None:
                    continue
                together = [*copied, *group.loads]
                if ProducerSlice(self._function, self.loops, together).problem is None:
                    self.by_block.setdefault(block, []).append(group)
                    copied = together


def copy_groups(
    block: Block, loads: Iterable[TiledLoadOp], *, is_loop: bool = False
) -> list[CopyGroup]:
    """The groups of some loads of a block, in the order in which consumers wait for them.

    The only one of a pipelined loop has the whole body.
    """
    numbers = {op: number for number, op in enumerate(block)}
    parts = _related(loads)
    is_whole = is_loop and len(parts) == 1
    groups = [CopyGroup(block, part, numbers, is_whole=is_whole) for part in parts]
    return sorted(groups, key=lambda group: numbers[group.first])


def _related(loads: Iterable[TiledLoadOp]) -> list[list[TiledLoadOp]]:
    """Group loads that feed the same dot, or dots of which one accumulates onto the other."""
    order = list(loads)
    parts: list[tuple[list[TiledLoadOp], set[DotOp]]] = []
    for load in order:
        chains = {_chain(dot) for dot in dots_of(load.tile, *FOLLOWED)}
        related = [part for part in parts if not chains.isdisjoint(part[1])]
        parts = [part for part in parts if part not in related]
        members = [each for loads, _ in related for each in loads]
        parts.append(([*members, load], chains.union(*[others for _, others in related])))
    groups = [sorted(members, key=order.index) for members, _ in parts]
    return sorted(groups, key=lambda group: order.index(group[0]))


def _chain(dot: DotOp) -> DotOp:
    """The first of the dots of a block that accumulate one onto the other."""
    before = dot.c.defining_op()
    while isinstance(before, DotOp) and before.parent is dot.parent:
        dot, before = before, before.c.defining_op()
    return dot


def retiring_waits(block: Block, users: Iterable[Operation]) -> list[DotWaitOp | None]:
    """The waits of a block that asynchronous dots among some operations are complete after.

    None for a dot without such a wait: what it reads must not be released in the block.
    """
    dots = [user for user in users if isinstance(user, DotOp) and user.asynchronous]
    return [_retiring_wait(dot) if dot.parent is block else None for dot in dots]


def _retiring_wait(dot: DotOp) -> DotWaitOp | None:
    """The first wait of its block after which an asynchronous dot is complete."""
    later, op = 0, dot.next
    while op is not None:
        if isinstance(op, DotOp) and op.asynchronous:
            later += 1
        elif isinstance(op, DotWaitOp) and op.pending <= later:
            return op
        op = op.next
    return None


def held_stages(groups: Sequence[CopyGroup]) -> int:
    """The fewest stages with which consumers do not wait for one that they keep empty.

    A pipeline fills its stages in the order of the waits: consumers that have one and wait for a
    later one need all from the one to the other.
    """
    needed = 1
    by_pipeline: dict[tuple[Block, Stage], list[CopyGroup]] = {}
    for group in groups:
        waits = by_pipeline.setdefault((group.block, group.stage), [])
        waits.append(group)
        oldest = next(n for n, each in enumerate(waits) if each is group or each.overlaps(group))
        needed = max(needed, len(waits) - oldest)
    return needed


def stage_tile(load: TiledLoadOp, plan: StagePlan) -> TensorType:
    """The tile of a load in a stage that TMA fills: it can round f32 to tf32."""
    element = TF32 if is_only_rounded(load.tile) else element_of(load.tile.type)
    return laid_out(element, plan.placement)


def stage_plan(load: TiledLoadOp) -> StagePlan:
    """How a stage holds the tile of a load that TMA can copy."""
    plan = plan_tma_stage(load)
    assert plan is not None
    return plan


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
