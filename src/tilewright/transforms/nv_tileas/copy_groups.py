"""Copy groups: loads whose tiles a producer copies to one stage, and consumers use together.

Loads of a block belong together if they feed the same dot, or dots of which one accumulates onto
the other. Consumers wait for the stage of a group right before its first use. They release it after
the last one has finished: an asynchronous dot has when a `dot_wait` retires it. The only group of a
pipelined loop has the whole body instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileas.attributes import in_shared_memory, laid_out
from tilewright.dialects.nv_tileas.matrix import DotOp, DotWaitOp
from tilewright.dialects.nv_tileas.shape import CatOp, ConvertLayoutOp, Rearrangement
from tilewright.ir.types import TF32
from tilewright.transforms.nv_tileas.pipelined_loads import dots_of, plan_tma_stage
from tilewright.transforms.nv_tileas.rounded_loads import is_only_rounded
from tilewright.transforms.nv_tileas.stage_uses import outermost, stage_users

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tilewright.dialects.nv_tileas.memory import TiledLoadOp
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.location import Location
    from tilewright.transforms.nv_tileas.pipelined_loads import StagePlan, TileLoad

Stage: TypeAlias = "tuple[Type, ...]"
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
        first, last = ops[0], ops[-1]
        self.first: Operation = first if is_whole else ops[min(finished)]
        """The operation that consumers wait before."""
        self.last: Operation = last if is_whole else ops[max(finished)]
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


def copy_groups(
    block: Block, loads: Iterable[TiledLoadOp], *, is_loop: bool = False
) -> list[CopyGroup]:
    """The groups of some loads of a block, in the order in which consumers wait for them.

    The only one of a pipelined loop has the whole body.
    """
    numbers = {op: number for number, op in enumerate(block)}
    parts = group_loads(loads)
    is_whole = is_loop and len(parts) == 1
    groups = [CopyGroup(block, part, numbers, is_whole=is_whole) for part in parts]
    return sorted(groups, key=lambda group: numbers[group.first])


def group_loads(loads: Iterable[TiledLoadOp]) -> list[list[TiledLoadOp]]:
    """Group loads that feed the same dot, or dots of which one accumulates onto the other."""
    groups: list[tuple[list[TiledLoadOp], set[DotOp]]] = []
    for load in loads:
        members, chains = [load], {_chain(dot) for dot in dots_of(load.tile, *FOLLOWED)}
        others: list[tuple[list[TiledLoadOp], set[DotOp]]] = []
        for group in groups:
            if chains.isdisjoint(group[1]):
                others.append(group)
            else:
                members = [*group[0], *members]
                chains |= group[1]
        groups = [*others, (members, chains)]
    order = {load: number for number, load in enumerate(loads)}
    parts = [sorted(members, key=order.__getitem__) for members, _ in groups]
    return sorted(parts, key=lambda part: order[part[0]])


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


def held_stages(groups: Sequence[CopyGroup]) -> dict[Stage, int]:
    """The fewest stages of each pipeline with which consumers do not wait for one they keep empty.

    A pipeline fills its stages in the order of the waits: consumers that have one and wait for a
    later one need all from the one to the other.
    """
    needed: dict[Stage, int] = {}
    by_block: dict[tuple[Block, Stage], list[CopyGroup]] = {}
    for group in groups:
        by_block.setdefault((group.block, group.stage), []).append(group)
    for (_, stage), waits in by_block.items():
        for number, later in enumerate(waits):
            oldest = next(
                n for n, group in enumerate(waits) if n == number or group.overlaps(later)
            )
            needed[stage] = max(needed.get(stage, 1), number - oldest + 1)
    return needed


def stage_tile(load: TileLoad, plan: StagePlan) -> Type:
    """The tile of a load in its stage."""
    return laid_out(copied_element(load), plan.placement)


def copied_element(load: TileLoad) -> Type:
    """The element type in a stage that TMA fills: it can round f32 to tf32."""
    tile = load.results[0]
    return TF32 if is_only_rounded(tile) else element_of(tile.type)


def stage_plan(load: TileLoad) -> StagePlan:
    """How a stage holds the tile of a load that TMA can copy."""
    plan = plan_tma_stage(load)
    assert plan is not None
    return plan
