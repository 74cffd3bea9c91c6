"""Slicing plans: the operations of a block that are sliced together, and whether they may be.

A loop that carries tiles is sliced as a whole: the loop over slices contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.memory import AccessOp, JoinMemTokenOp, LoadOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.effects import is_effect_free
from tilewright.ir.values import BlockArgument
from tilewright.plans.slicing import Rematerializable, Slicing, slicing_along

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value


LOADS: Final = (LoadOp, TileLoadOp)


class CannotCut(Exception):
    """An operation needs a whole tile."""


class WaitsFor(CannotCut):
    """Slices depend on a reduction over all slices: the plan, and the reduction."""

    def __init__(self, plan: Plan, reduction: ReduceOp) -> None:
        self.plan = plan
        self.reduction = reduction


class Plan:
    """Operations of one block that are sliced together, in one loop."""

    __slots__ = ("_block", "_remade", "_seen", "count", "dims", "late", "loops", "members", "ways")

    def __init__(self, block: Block, remade: Rematerializable, count: int) -> None:
        self._block = block
        self._remade = remade
        self._seen: set[tuple[Value, int]] = set()
        self.count = count
        self.dims: Slicing = {}
        """The dimension along which each tile is sliced."""
        self.ways: dict[Operation, Slicing] = {}
        """How each operation is sliced, also those inside of loops."""
        self.loops: set[ForOp] = set()
        """The loops of the block with operations that are sliced."""
        self.members: list[Operation] = []
        """The operations of the loop, in order."""
        self.late: list[Operation] = []
        """Operations between members that depend on them: they move after the loop."""

    def settle(self, tile: Value, dim: int) -> None:
        """Find all tiles that are sliced with a tile along a dimension, or raise `CannotCut`."""
        worklist = [(tile, dim)]
        while worklist:
            while worklist:
                worklist += self._cut(*worklist.pop())
            worklist += self._beside()
        self._check_loops()
        self._order()
        self._check_accesses()

    def is_remade(self, value: Value) -> bool:
        """Whether slices of a tile are rematerialized at each use."""
        return value in self._remade

    def _cut(self, value: Value, dim: int) -> list[tuple[Value, int]]:
        """Slice a tile; returns the tiles that are sliced with it."""
        known = self.dims.get(value)
        if known is not None and known == dim:
            return []
        maker = value.defining_op()
        if known is not None:
            raise CannotCut
        if maker is not None and self.is_remade(value):
            # Other users keep the whole tile.
            if (value, dim) in self._seen:
                return []
            self._seen.add((value, dim))
            return self._through(maker, value, dim, remember=False)
        self.dims[value] = dim
        more = self._defined(value, dim)
        for user in value.users:
            more += self._used(user, value, dim)
        return more

    def _defined(self, value: Value, dim: int) -> list[tuple[Value, int]]:
        """The tiles that are sliced with one because of its definition."""
        maker = value.defining_op()
        if isinstance(maker, ForOp):
            return self._carried(maker, maker.results.index(value), dim)
        if maker is not None:
            return self._through(maker, value, dim)
        loop = value.owner.parent_op if isinstance(value, BlockArgument) else None
        if not isinstance(loop, ForOp) or value not in loop.carried:
            raise CannotCut
        return self._carried(loop, loop.carried.index(value), dim)

    def _used(self, user: Operation, value: Value, dim: int) -> list[tuple[Value, int]]:
        """The tiles that are sliced with one because of a use."""
        loop = user.parent_op if isinstance(user, YieldOp) else user
        if not isinstance(loop, ForOp):
            return self._through(user, value, dim)
        passed = loop.init_args if user is loop else user.operands
        indices = [index for index, each in enumerate(passed) if each is value]
        return [pair for index in indices for pair in self._carried(loop, index, dim)]

    def _carried(self, loop: ForOp, index: int, dim: int) -> list[tuple[Value, int]]:
        """The tiles before, in and after a loop that carries one of them."""
        end = loop.body.block.last
        if loop.parent is not self._block or end is None:
            raise CannotCut
        self.loops.add(loop)
        tied = (loop.init_args[index], loop.carried[index], end.operands[index])
        return [(value, dim) for value in (*tied, loop.results[index])]

    def _through(
        self, op: Operation, value: Value, dim: int, remember: bool = True
    ) -> list[tuple[Value, int]]:
        way = slicing_along(op, value, dim, self.count)
        if way is None or (remember and not self._contains(op)):
            raise CannotCut
        if remember and self.ways.setdefault(op, way) != way:
            raise CannotCut
        return [(other, along) for other, along in way.items() if other is not value]

    def _beside(self) -> list[tuple[Value, int]]:
        """A tile that a loop carries beside one that is sliced, along the same dimension."""
        for loop in self.loops:
            dims = {
                shape(value.type): self.dims[value] for value in loop.carried if value in self.dims
            }
            for value in loop.carried:
                if value not in self.dims and is_tile(value) and shape(value.type) in dims:
                    return [(value, dims[shape(value.type)])]
        return []

    def _contains(self, op: Operation) -> bool:
        """Whether an operation is in the block, or in a loop of it, which is then sliced."""
        if op.parent is self._block:
            return True
        loop = op.parent_op
        if not isinstance(loop, ForOp) or loop.parent is not self._block:
            return False
        self.loops.add(loop)
        return True

    def _check_loops(self) -> None:
        """A loop runs once for each slice: it may repeat nothing else that has an effect."""
        if self.loops and any(self._is_across(op) for op in self.ways):
            raise CannotCut
        for loop in self.loops:
            if any(
                value not in self.dims and value.type is not MEM_TOKEN for value in loop.carried
            ):
                raise CannotCut
            if not all(self._may_repeat(op) for op in loop.body.block):
                raise CannotCut

    def _may_repeat(self, op: Operation) -> bool:
        """Whether an operation of a loop may run for each slice: on the slice, or as a whole."""
        if op in self.ways:
            return not isinstance(op, AccessOp) or isinstance(op, LOADS)
        return isinstance(op, YieldOp) or (not op.regions and is_effect_free(op))

    def _order(self) -> None:
        """Sort members in program order, and find the operations that move after them."""
        order = {op: index for index, op in enumerate(self._block)}
        joins: set[Operation] = set()
        sliced = {op for op in self.ways if op.parent is self._block} | self.loops
        while True:
            chosen = sliced | joins
            self.members = sorted(chosen, key=order.__getitem__)
            self.late = list(self._dependent(chosen))
            needed = {
                op for member in self.members for op in _makers(member) if op in set(self.late)
            }
            if not all(isinstance(op, JoinMemTokenOp) for op in needed):
                self._wait()
            if not needed:
                break
            joins |= needed
        users = {user for op in self.reductions() for out in op.results for user in out.users}
        if any(user in chosen or user.parent_op in self.loops for user in users):
            self._wait()
        if not all(_may_wait(op) for op in self.late):
            raise CannotCut

    def _wait(self) -> None:
        reductions = self.reductions()
        if reductions and not self.loops:
            raise WaitsFor(self, reductions[0])
        raise CannotCut

    def leading_to(self, reduction: ReduceOp) -> list[Operation]:
        """The members that a reduction depends on, in order."""
        needed: set[Operation] = set()
        worklist: list[Operation] = [reduction]
        while worklist:
            for maker in _makers(worklist.pop()):
                if maker in self.ways and maker not in needed:
                    needed.add(maker)
                    worklist.append(maker)
        return [op for op in self.members if op in needed]

    def _dependent(self, chosen: Iterable[Operation]) -> Iterator[Operation]:
        """The operations between members that depend on one."""
        dependent = set(chosen)
        last = self.members[-1]
        op: Operation | None = self.members[0]
        while op is not None and op is not last:
            if op not in dependent and any(maker in dependent for maker in _makers(op)):
                dependent.add(op)
                yield op
            op = op.next

    def _check_accesses(self) -> None:
        """Of two ordered accesses one of which writes, all slices of the first must come first.

        Slice by slice is correct only if the slices are the same elements.
        """
        before: dict[Operation, set[Operation]] = {}
        for op in self.members:
            earlier: set[Operation] = set()
            for maker in _token_makers(op):
                if maker in before:
                    earlier |= before[maker] | {maker}
            before[op] = earlier
            for other in earlier:
                if _conflict(op, other) and not self._same_elements(op, other):
                    raise CannotCut

    def _same_elements(self, one: Operation, other: Operation) -> bool:
        if not isinstance(one, TileLoadOp | TileStoreOp):
            return False
        if not isinstance(other, TileLoadOp | TileStoreOp):
            return False
        if one.view is not other.view or one.indices != other.indices:
            return False
        return self.dims[one.tile] == self.dims[other.tile]

    def tokens(self) -> list[Value]:
        """The tokens of members that others depend on."""
        chosen = set(self.members)
        return [
            token
            for op in self.members
            for token in op.results
            if token.type is MEM_TOKEN and any(user not in chosen for user in token.users)
        ]

    def reductions(self) -> list[ReduceOp]:
        """The reductions along the sliced dimension."""
        members = [op for op in self.members if isinstance(op, ReduceOp)]
        return [op for op in members if self._is_across(op)]

    def _is_across(self, op: Operation) -> bool:
        """Whether an operation is a reduction along the sliced dimension."""
        return isinstance(op, ReduceOp) and op.results[0] not in self.ways[op]


def _makers(op: Operation) -> Iterator[Operation]:
    """The operations of the same block whose results an operation uses."""
    for inner in op.walk():
        for value in inner.operands:
            maker = value.defining_op()
            if maker is not None and maker.parent is op.parent:
                yield maker


def _token_makers(op: Operation) -> Iterator[Operation]:
    for inner in op.walk():
        for value in inner.operands:
            maker = value.defining_op()
            if value.type is MEM_TOKEN and maker is not None:
                yield maker


def _conflict(one: Operation, other: Operation) -> bool:
    """Whether one of two operations writes to memory, and both access it; a loop only loads."""
    if not (isinstance(one, AccessOp | ForOp) and isinstance(other, AccessOp | ForOp)):
        return False
    return not (isinstance(one, (*LOADS, ForOp)) and isinstance(other, (*LOADS, ForOp)))


def _may_wait(op: Operation) -> bool:
    """Whether an operation may move after others on which it does not depend.

    Only tokens order memory accesses, and every access produces one.
    """
    return is_effect_free(op) or (isinstance(op, AccessOp) and not op.volatile)
