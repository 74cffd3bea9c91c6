"""Which operations of a block are done slice by slice together, and whether they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
from tilewright.dialects.nv_tileaa.memory import AccessOp, JoinMemTokenOp, LoadOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.ir.effects import is_effect_free
from tilewright.plans.slicing import Remade, Way, way_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value


class CannotCut(Exception):
    """Something needs a tile whole."""


class WaitsFor(CannotCut):
    """Slices need what a reduction makes of all slices; says of which plan and which reduction."""

    def __init__(self, plan: Plan, total: ReduceOp) -> None:
        self.plan = plan
        self.total = total


class Plan:
    """Operations of one block that are done slice by slice, all in one loop."""

    __slots__ = ("_block", "_remade", "_seen", "count", "dims", "late", "members", "ways")

    def __init__(self, block: Block, remade: Remade, count: int) -> None:
        self._block = block
        self._remade = remade
        self._seen: set[tuple[Value, int]] = set()
        self.count = count
        self.dims: Way = {}
        """Along which dimension each tile is cut."""
        self.ways: dict[Operation, Way] = {}
        self.members: list[Operation] = []
        """What the loop does, in order."""
        self.late: list[Operation] = []
        """What stands between members and needs their results: it comes behind the loop."""

    def settle(self, tile: Value, dim: int) -> None:
        """Find all that is cut if a tile is cut along a dimension, or raise `CannotCut`."""
        todo = [(tile, dim)]
        while todo:
            value, dim = todo.pop()
            todo += self._cut(value, dim)
        self._order()
        self._check_accesses()

    def is_remade(self, value: Value) -> bool:
        """Whether slices of a tile are made anew wherever they are needed."""
        return value in self._remade

    def _cut(self, value: Value, dim: int) -> list[tuple[Value, int]]:
        """Cut a tile; gives what else is cut then."""
        known = self.dims.get(value)
        if known is not None and known == dim:
            return []
        maker = value.defining_op()
        if known is not None or maker is None:
            raise CannotCut
        if self.is_remade(value):
            # Other users keep the tile that they have.
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
        way = way_with(op, value, dim, self.count)
        if way is None or (op.parent is not self._block and remember):
            raise CannotCut
        if remember and self.ways.setdefault(op, way) != way:
            raise CannotCut
        return [(other, along) for other, along in way.items() if other is not value]

    def _order(self) -> None:
        """Put members in order, and what needs their results behind them."""
        places = {op: place for place, op in enumerate(self._block)}
        joins: set[Operation] = set()
        while True:
            chosen = self.ways.keys() | joins
            self.members = sorted(chosen, key=places.__getitem__)
            self.late = list(self._dependent(chosen))
            needed = {
                op for member in self.members for op in _makers(member) if op in set(self.late)
            }
            if not all(isinstance(op, JoinMemTokenOp) for op in needed):
                self._wait()
            if not needed:
                break
            joins |= needed
        if any(user in chosen for op in self.totals() for out in op.results for user in out.users):
            self._wait()
        if not all(_may_wait(op) for op in self.late):
            raise CannotCut

    def _wait(self) -> None:
        totals = self.totals()
        if totals:
            raise WaitsFor(self, totals[0])
        raise CannotCut

    def leading_to(self, total: ReduceOp) -> list[Operation]:
        """The members that a reduction depends on, in order."""
        found: set[Operation] = set()
        todo: list[Operation] = [total]
        while todo:
            for maker in _makers(todo.pop()):
                if maker in self.ways and maker not in found:
                    found.add(maker)
                    todo.append(maker)
        return [op for op in self.members if op in found]

    def _dependent(self, chosen: Iterable[Operation]) -> Iterator[Operation]:
        """What stands between members and depends on one."""
        found = set(chosen)
        last = self.members[-1]
        op: Operation | None = self.members[0]
        while op is not None and op is not last:
            if op not in found and any(maker in found for maker in _makers(op)):
                found.add(op)
                yield op
            op = op.next

    def _check_accesses(self) -> None:
        """Of two accesses in order one of which writes, all slices of the first come first.

        One slice of both after the other does no harm if the slices are the same elements.
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

    def totals(self) -> list[ReduceOp]:
        """The reductions along the dimension that is cut."""
        found = [op for op in self.members if isinstance(op, ReduceOp)]
        return [op for op in found if op.results[0] not in self.ways[op]]


def _makers(op: Operation) -> Iterator[Operation]:
    """What makes the values that an operation needs, in the same block."""
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
    """Whether an operation means the same behind others on which it does not depend.

    Only tokens order accesses to memory, which all give one.
    """
    return is_effect_free(op) or (isinstance(op, AccessOp) and not op.volatile)
