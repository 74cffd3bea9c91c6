"""Slicing plans: the operations of a block that are sliced together, and whether they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
from tilewright.dialects.nv_tileaa.memory import AccessOp, JoinMemTokenOp, LoadOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.ir.effects import is_effect_free
from tilewright.plans.slicing import Rematerializable, Slicing, slicing_along

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value


class CannotCut(Exception):
    """An operation needs a whole tile."""


class WaitsFor(CannotCut):
    """Slices depend on a reduction over all slices: the plan, and the reduction."""

    def __init__(self, plan: Plan, reduction: ReduceOp) -> None:
        self.plan = plan
        self.reduction = reduction


class Plan:
    """Operations of one block that are sliced together, in one loop."""

    __slots__ = ("_block", "_remade", "_seen", "count", "dims", "late", "members", "ways")

    def __init__(self, block: Block, remade: Rematerializable, count: int) -> None:
        self._block = block
        self._remade = remade
        self._seen: set[tuple[Value, int]] = set()
        self.count = count
        self.dims: Slicing = {}
        """The dimension along which each tile is sliced."""
        self.ways: dict[Operation, Slicing] = {}
        self.members: list[Operation] = []
        """The operations of the loop, in order."""
        self.late: list[Operation] = []
        """Operations between members that depend on them: they move after the loop."""

    def settle(self, tile: Value, dim: int) -> None:
        """Find all tiles that are sliced with a tile along a dimension, or raise `CannotCut`."""
        worklist = [(tile, dim)]
        while worklist:
            value, dim = worklist.pop()
            worklist += self._cut(value, dim)
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
        if known is not None or maker is None:
            raise CannotCut
        if self.is_remade(value):
            # Other users keep the whole tile.
            if (value, dim) in self._seen:
                return []
            self._seen.add((value, dim))
            return self._through(maker, value, dim, remember=False)
        self.dims[value] = dim
        more = self._through(maker, value, dim)
        for user in value.users:
            more += self._through(user, value, dim)
        return more

    def _through(
        self, op: Operation, value: Value, dim: int, remember: bool = True
    ) -> list[tuple[Value, int]]:
        way = slicing_along(op, value, dim, self.count)
        if way is None or (op.parent is not self._block and remember):
            raise CannotCut
        if remember and self.ways.setdefault(op, way) != way:
            raise CannotCut
        return [(other, along) for other, along in way.items() if other is not value]

    def _order(self) -> None:
        """Sort members in program order, and find the operations that move after them."""
        order = {op: index for index, op in enumerate(self._block)}
        joins: set[Operation] = set()
        while True:
            chosen = self.ways.keys() | joins
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
        if any(
            user in chosen for op in self.reductions() for out in op.results for user in out.users
        ):
            self._wait()
        if not all(_may_wait(op) for op in self.late):
            raise CannotCut

    def _wait(self) -> None:
        reductions = self.reductions()
        if reductions:
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
        return [op for op in members if op.results[0] not in self.ways[op]]


def _makers(op: Operation) -> Iterator[Operation]:
    """The operations of the same block whose results an operation uses."""
    for inner in op.walk():
        for value in inner.operands:
            maker = value.defining_op()
            if maker is not None and maker.parent is op.parent:
                yield maker


def _token_makers(op: Operation) -> Iterator[Operation]:
    for value in op.operands:
        maker = value.defining_op()
        if value.type is MEM_TOKEN and maker is not None:
            yield maker


def _conflict(one: Operation, other: Operation) -> bool:
    loads = LoadOp | TileLoadOp
    if not (isinstance(one, AccessOp) and isinstance(other, AccessOp)):
        return False
    return not (isinstance(one, loads) and isinstance(other, loads))


def _may_wait(op: Operation) -> bool:
    """Whether an operation may move after others on which it does not depend.

    Only tokens order memory accesses, and every access produces one.
    """
    return is_effect_free(op) or (isinstance(op, AccessOp) and not op.volatile)
