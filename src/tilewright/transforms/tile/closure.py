"""Which tiles are cut into parts together, each along one dimension, and which operations.

A tile that is cut is cut for its definition and for all users, so the choice for one tile decides
those that are connected with it, and those that control flow passes it on to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_tile
from tilewright.dialects.nv_tileaa.splits import ways_by_dim
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from tilewright.ir.tiling import Join
from tilewright.plans.rematerialization import Rematerializable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tilewright.dialects.nv_tileaa.splits import Split
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.tiling import Way
    from tilewright.ir.values import Value

TWO_WAYS: Final = "its tiles would be split in two ways"
CONTROL_FLOW: Final = (ForOp, IfOp, WhileOp, YieldOp, ConditionOp)


class Transfer(NamedTuple):
    """A value that control flow passes on: its uses, and the values that it becomes."""

    uses: list[tuple[Operation, int]]
    """The operations that pass it on, and the number of the operand."""
    targets: list[Value]

    @property
    def sources(self) -> list[Value]:
        """The values that are passed on."""
        return [op.operands[number] for op, number in self.uses]


def control_flow_transfers(ops: Iterable[Operation]) -> Iterator[Transfer]:
    """The values that loops carry and branches yield."""
    for op in ops:
        match op:
            case ForOp():
                end = _end(op.body)
                for number, result in enumerate(op.results):
                    yield Transfer([(op, 3 + number), (end, number)], [op.carried[number], result])
            case IfOp():
                ends = [_end(region) for region in op.regions if region.blocks]
                for number, result in enumerate(op.results):
                    yield Transfer([(end, number) for end in ends], [result])
            case WhileOp():
                again, condition = _end(op.after), _end(op.before)
                for number, argument in enumerate(op.before.block.args):
                    yield Transfer([(op, number), (again, number)], [argument])
                for number, result in enumerate(op.results):
                    argument = op.after.block.args[number]
                    yield Transfer([(condition, 1 + number)], [argument, result])
            case _:
                pass


def _end(region: Region) -> Operation:
    last = region.block.last
    assert last is not None
    return last


class Scope:
    """The part of a program in which tiles are cut, and how control flow links its tiles.

    Tiles that are linked stand for one another, and are cut alike.
    """

    __slots__ = ("_blocks", "_linked", "_linking", "transfers")

    def __init__(self, ops: Iterable[Operation], blocks: Iterable[Block]) -> None:
        self._blocks = set(blocks)
        self.transfers = [each for each in control_flow_transfers(ops) if is_tile(each.targets[0])]
        """The tiles that control flow passes on."""
        self._linked: dict[Value, list[Value]] = {}
        self._linking: set[Operation] = set()
        for transfer in self.transfers:
            values = [*transfer.sources, *transfer.targets]
            for value in values:
                self._linked.setdefault(value, []).extend(values)
            self._linking.update(op for op, _ in transfer.uses)
            self._linking.update(filter(None, (v.defining_op() for v in transfer.targets)))

    @staticmethod
    def of_function(function: Operation) -> Scope:
        """All of a function."""
        ops = list(function.walk())
        return Scope(ops, (block for op in ops for region in op.regions for block in region.blocks))

    @staticmethod
    def of_block(block: Block) -> Scope:
        """A block and the loops directly in it."""
        loops = [op for op in block if isinstance(op, ForOp)]
        return Scope(loops, (block, *(loop.body.block for loop in loops)))

    def __contains__(self, op: Operation) -> bool:
        return op.parent in self._blocks

    def linked(self, value: Value) -> list[Value]:
        """The tiles that control flow passes to or from a tile, itself included."""
        return self._linked.get(value, [])

    def links(self, op: Operation) -> bool:
        """Whether an operation only passes tiles on."""
        return op in self._linking


class CannotCut(Exception):
    """An operation that cannot be cut, and the reason."""

    def __init__(self, op: Operation, reason: str | None = None) -> None:
        super().__init__()
        self.op = op
        self.reason = reason or op.needs_whole or f"'{op.name}' needs whole tiles"


def is_concatenated(_: Operation, way: Way) -> bool:
    """Whether parts need nothing of each other."""
    return way.join is Join.CONCAT


class Cut:
    """The tiles that are cut, such that every operation has the operands that it needs.

    Within its scope, a tile is cut along one dimension for all users, or whole. Tiles that are
    computed from scalars alone are rematerialized as each user needs them.

    `accepts` says whether an operation may be cut in a way.
    """

    __slots__ = ("_accepts", "_remade", "_seen", "dims", "parts", "scope", "ways")

    def __init__(
        self, scope: Scope, parts: int, accepts: Callable[[Operation, Way], bool] = is_concatenated
    ) -> None:
        self.scope, self.parts, self._accepts = scope, parts, accepts
        self._remade = Rematerializable()
        self._seen: set[tuple[Value, int]] = set()
        self.dims: dict[Value, int] = {}
        """The dimension along which each tile is cut; without those that are rematerialized."""
        self.ways: dict[Operation, Way] = {}
        """The operations that are cut, and how."""

    def ways_of(self, op: Operation) -> Iterator[Way]:
        """The ways in which an operation may be cut into the parts."""
        for way in op.ways():
            if way.allows(self.parts) and self._accepts(op, way):
                yield way

    def way_along(self, op: Operation, value: Value, dim: int) -> Way:
        """The way with one of the tiles cut along a dimension, or raise `CannotCut`."""
        for way in self.ways_of(op):
            if way.axes.get(value) == dim:
                return way
        raise CannotCut(op)

    def with_op(self, op: Operation, way: Way) -> Cut:
        """This cut and one more operation, with all that is connected with it.

        Raises `CannotCut` if one of them cannot be cut; this cut does not change.
        """
        other = Cut(self.scope, self.parts, self._accepts)
        other._remade = self._remade
        other.dims, other.ways = self.dims.copy(), self.ways.copy()
        other._extend(other._use(op, way))
        return other

    def add(self, tile: Value, dim: int) -> None:
        """Cut one more tile, and all that is connected with it, or raise `CannotCut`."""
        self._extend([(tile, dim)])

    def is_remade(self, value: Value) -> bool:
        """Whether a tile is computed from scalars, wherever one of its users needs it."""
        return value in self._remade

    def _extend(self, worklist: list[tuple[Value, int]]) -> None:
        while worklist:
            worklist += self._cut(*worklist.pop())

    def _use(self, op: Operation, way: Way) -> list[tuple[Value, int]]:
        """Cut an operation; returns its tiles."""
        if op not in self.scope:
            raise CannotCut(op, "it is outside of what is cut")
        if self.ways.setdefault(op, way) != way:
            raise CannotCut(op, TWO_WAYS)
        return list(way.axes.items())

    def _cut(self, value: Value, dim: int) -> list[tuple[Value, int]]:
        """Cut a tile; returns the tiles that are cut with it."""
        maker = value.defining_op()
        if maker is not None and self.is_remade(value):
            return self._remake(maker, value, dim)
        known = self.dims.get(value)
        if known is not None:
            if known == dim:
                return []
            raise CannotCut(maker or _owner(value), TWO_WAYS)
        linked = self.scope.linked(value)
        if maker is None and not linked:
            raise CannotCut(_owner(value), "it passes on whole tiles")
        self.dims[value] = dim
        more: list[tuple[Value, int]] = []
        for op in (*([] if maker is None else [maker]), *value.users):
            if not self.scope.links(op):
                more += self._use(op, self.way_along(op, value, dim))
        return more + [(other, dim) for other in linked]

    def _remake(self, maker: Operation, value: Value, dim: int) -> list[tuple[Value, int]]:
        """Rematerialize a part of a tile; other users may need it whole, or along another one."""
        if (value, dim) in self._seen:
            return []
        self._seen.add((value, dim))
        axes = self.way_along(maker, value, dim).axes
        return [(other, along) for other, along in axes.items() if other is not value]


def _owner(value: Value) -> Operation:
    """The operation whose region a block argument is of."""
    block = value.parent_block
    owner = None if block is None else block.parent_op
    assert owner is not None
    return owner


def cut_of(scope: Scope, seeds: Mapping[Operation, Split]) -> Cut:
    """What is cut with some operations in one split; raises `CannotCut`."""
    cut = Cut(scope, next(iter(seeds.values())).parts)
    for op, split in seeds.items():
        way = ways_by_dim(op).get(split.dim)
        if way is None or way not in cut.ways_of(op):
            raise CannotCut(op)
        cut = cut.with_op(op, way)
    return cut
