"""Operations of a block that run once for each part, in one loop, and whether they may.

A loop that carries tiles is cut as a whole: the loop over parts contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileaa.aggregate import ReduceOp
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.memory import AccessOp, JoinMemTokenOp, LoadOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.effects import is_effect_free
from tilewright.ir.tiling import Join
from tilewright.transforms.tile.closure import CannotCut
from tilewright.transforms.tile.parts import LOADS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.transforms.tile.closure import Cut


class WaitsFor(CannotCut):
    """Parts depend on a reduction over all parts: the region, and the reduction."""

    def __init__(self, region: PartRegion, reduction: ReduceOp) -> None:
        super().__init__(reduction, "parts depend on a reduction over all of them")
        self.region = region
        self.reduction = reduction


class PartRegion:
    """Operations of one block that are cut together, in one loop over parts."""

    __slots__ = ("_block", "cut", "late", "loops", "members")

    def __init__(self, block: Block, cut: Cut) -> None:
        self._block = block
        self.cut = cut
        """The tiles that are cut, in the block and in the loops directly in it."""
        self.loops: set[ForOp] = set()
        """The loops of the block with operations that are cut."""
        self.members: list[Operation] = []
        """The operations of the loop, in order."""
        self.late: list[Operation] = []
        """Operations between members that depend on them: they move after the loop."""
        self._find_loops()
        self._check_loops()
        self._order()
        self._check_accesses()

    def _find_loops(self) -> None:
        """Find the loops with tiles that are cut; cut tiles of one shape in them alike."""
        while True:
            inside = [op.parent_op for op in self.cut.ways if op.parent is not self._block]
            carrying = [
                op
                for op in self._block
                if isinstance(op, ForOp) and any(value in self.cut.dims for value in op.carried)
            ]
            self.loops = {op for op in (*inside, *carrying) if isinstance(op, ForOp)}
            beside = next(self._beside(), None)
            if beside is None:
                return
            self.cut.add(*beside)

    def _beside(self) -> Iterator[tuple[Value, int]]:
        """The tiles that a loop carries beside one that is cut, along the same dimension."""
        dims = self.cut.dims
        for loop in self.loops:
            known = {shape(value.type): dims[value] for value in loop.carried if value in dims}
            for value in loop.carried:
                if value not in dims and is_tile(value) and shape(value.type) in known:
                    yield value, known[shape(value.type)]

    def _check_loops(self) -> None:
        """A loop runs once for each part: it may repeat nothing else that has an effect."""
        for op in self.cut.ways:
            if self.loops and self._is_across(op):
                raise CannotCut(op, "parts of a reduction are not combined around a loop")
        for loop in self.loops:
            for value in loop.carried:
                if value not in self.cut.dims and value.type is not MEM_TOKEN:
                    raise CannotCut(loop, "a loop carries a value that is not cut")
            for op in loop.body.block:
                if not self._may_repeat(op):
                    raise CannotCut(op, "it would run once for each part")

    def _may_repeat(self, op: Operation) -> bool:
        """Whether an operation of a loop may run for each part: on the part, or as a whole.

        A whole load that no token orders before the stores that follow may run after them as well.
        """
        if op in self.cut.ways:
            return not isinstance(op, AccessOp) or isinstance(op, LOADS)
        if isinstance(op, LoadOp | TileLoadOp):
            return op.is_plain and not op.result_token.is_used
        return isinstance(op, YieldOp) or (not op.regions and is_effect_free(op))

    def _order(self) -> None:
        """Sort members in program order, and find the operations that move after them."""
        chosen = {op for op in self.cut.ways if op.parent is self._block} | self.loops
        needed = chosen
        while needed:
            chosen |= needed
            self.members = [op for op in self._block if op in chosen]
            self.late = list(self._dependent(chosen))
            late = set(self.late)
            needed = {op for member in self.members for op in _makers(member) if op in late}
            if not all(isinstance(op, JoinMemTokenOp) for op in needed):
                self._wait()
        users = {user for op in self.reductions() for out in op.results for user in out.users}
        if any(user in chosen or user.parent_op in self.loops for user in users):
            self._wait()
        for op in self.late:
            if not _may_wait(op):
                raise CannotCut(op, "it cannot move after all parts")

    def _wait(self) -> None:
        reductions = self.reductions()
        if reductions and not self.loops:
            raise WaitsFor(self, reductions[0])
        raise CannotCut(self.members[0], "parts depend on what follows all of them")

    def leading_to(self, reduction: ReduceOp) -> list[Operation]:
        """The members that a reduction depends on, in order."""
        needed: set[Operation] = {reduction}
        for op in reversed(self.members):
            if op in needed:
                needed.update(maker for maker in _makers(op) if maker in self.cut.ways)
        return [op for op in self.members if op in needed and op is not reduction]

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
        """Of two ordered accesses one of which writes, all parts of the first must come first.

        Part by part is correct only if the parts are the same elements.
        """
        before: dict[Operation, set[Operation]] = {}
        for op in self.members:
            makers = [maker for maker in _makers(op, of_tokens=True) if maker in before]
            before[op] = set(makers).union(*(before[maker] for maker in makers))
            for other in before[op]:
                if _conflict(op, other) and not self._same_elements(op, other):
                    raise CannotCut(op, "it is ordered after an access to other parts")

    def _same_elements(self, one: Operation, other: Operation) -> bool:
        kinds, ways = TileLoadOp | TileStoreOp, self.cut.ways
        if not (isinstance(one, kinds) and isinstance(other, kinds)):
            return False
        is_same_tile = one.view is other.view and one.indices == other.indices
        return is_same_tile and ways[one].axes[one.tile] == ways[other].axes[other.tile]

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
        """The reductions along the dimension that is cut."""
        return [op for op in self.members if isinstance(op, ReduceOp) and self._is_across(op)]

    def _is_across(self, op: Operation) -> bool:
        """Whether an operation is a reduction along the dimension that is cut."""
        return self.cut.ways[op].join is Join.COMBINE


def _makers(op: Operation, *, of_tokens: bool = False) -> Iterator[Operation]:
    """The operations of the same block whose results, or tokens, an operation uses."""
    for inner in op.walk():
        for value in inner.operands:
            maker = value.defining_op()
            is_wanted = not of_tokens or value.type is MEM_TOKEN
            if is_wanted and maker is not None and maker.parent is op.parent:
                yield maker


def _conflict(one: Operation, other: Operation) -> bool:
    """Whether one of two operations writes to memory, and both access it; a loop only loads."""
    pair = (one, other)
    if not all(isinstance(op, AccessOp | ForOp) for op in pair):
        return False
    return not all(isinstance(op, (*LOADS, ForOp)) for op in pair)


def _may_wait(op: Operation) -> bool:
    """Whether an operation may move after others on which it does not depend.

    Only tokens order memory accesses, and every access produces one.
    """
    return is_effect_free(op) or (isinstance(op, AccessOp) and not op.volatile)
