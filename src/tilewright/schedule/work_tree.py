"""Count the work of a kernel by a walk over its loops, with the scalars that are known.

Of a launch all parameters are known, and most loops have known bounds; of a program alone only
constants are.
"""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.nv_tileaa.memory import AddPtrOp, LoadOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.program import GetNumProgramsOp, GetProgramIdOp
from tilewright.dialects.nv_tileaa.view import (
    BlockTileOp,
    GetDimSizeOp,
    MakeMemrefOp,
    memref,
    tiled_view,
)
from tilewright.dialects.scf import ForOp, IfOp, WhileOp
from tilewright.ir.attributes import Attribute, IntegerAttr
from tilewright.ir.dialect import Dialect
from tilewright.ir.rules import constant_of
from tilewright.ir.types import DYNAMIC, IntegerType
from tilewright.ir.values import Value
from tilewright.schedule.work import Loop, Totals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.ir.operation import Block, Operation
    from tilewright.support.location import Location

SAMPLES: Final = 16
"""Iterations that are walked of a loop whose body has loops or branches: evenly spaced."""
UNKNOWN_BRANCH: Final = 0.5
"""The part of the executions of a branch whose condition is unknown."""


class LaunchArguments(NamedTuple):
    """What is known of the arguments of a launch, by the number of the parameter."""

    integers: Sequence[int | None] = ()
    """Of all parameters, the values of those that are integers."""
    sizes: Mapping[int, int] = MappingProxyType({})
    """Bytes of arrays."""
    contents: Mapping[int, Sequence[int]] = MappingProxyType({})
    """Elements of arrays of integers."""


class LaunchedBlock(NamedTuple):
    """What is known of one block of a launch."""

    arguments: LaunchArguments = LaunchArguments()
    block: Sequence[int] = ()
    grid: Sequence[int] = ()


class Tree(NamedTuple):
    """The work of a block, and its bytes of global memory by array."""

    root: Loop
    arrays: Mapping[tuple[int, str], float]
    """By the number of a parameter, and `loads` or `stores`."""
    locations: tuple[Location, ...]
    """Of the kernel and of its loops, by number."""


class _Node:
    """A loop while it is counted: amounts over all of its executions."""

    def __init__(self, totals: Totals, number: int = 0) -> None:
        self.totals = totals
        self.number = number
        self.entries = 0.0
        self.iterations = 0.0
        self.is_known = True
        self.inner: dict[Operation, _Node] = {}

    def loop(self, executions: float) -> Loop:
        """The loop, as a part of one that is executed some times."""
        trips = self.iterations / self.entries if self.is_known and self.entries else None
        inner = [each.loop(self.iterations) for each in self.inner.values() if each.iterations]
        entries = self.entries / executions
        return Loop(trips, entries, self.totals.work(self.iterations), tuple(inner), self.number)


def tree_of(function: FuncOp, known: LaunchedBlock | None = None) -> Tree:
    """The work of one block of a kernel."""
    walk = _Walk(known or LaunchedBlock())
    root = _Node(Totals(walk.arrays))
    root.entries = root.iterations = 1.0
    block = function.body.block
    for argument, value in zip(block.args, walk.launched.arguments.integers, strict=False):
        if value is not None and isinstance(argument.type, IntegerType):
            walk.known[argument] = IntegerAttr(value, argument.type)
    walk.block(block, root, 1.0)
    return Tree(root.loop(1.0), walk.arrays, (function.location, *walk.locations))


class _Walk:
    """A walk over the operations of a kernel, with the values of known scalars."""

    def __init__(self, block: LaunchedBlock) -> None:
        self.launched = block
        self.known: dict[Value, Attribute | None] = {}
        self.locations: list[Location] = []
        self.arrays = defaultdict[tuple[int, str], float](float)
        """Bytes by array; those of a loop with unknown bounds are of one iteration."""

    def block(self, block: Block, node: _Node, weight: float) -> None:
        """Add the operations of a block."""
        for op in block:
            match op:
                case ForOp():
                    self._for(op, node, weight)
                case WhileOp():
                    inner = self._inner(op, node, weight)
                    self._unknown(inner, op, weight)
                case IfOp():
                    self._if(op, node, weight)
                case _:
                    node.totals.add(op, weight)
                    self._evaluate(op)

    def _evaluate(self, op: Operation) -> None:
        """Fold an operation on known scalars."""
        match op:
            case AssumeOp():
                self.known[op.result] = self._value(op.value)
            case GetProgramIdOp():
                self._bind_grid(op, self.launched.block)
            case GetNumProgramsOp():
                self._bind_grid(op, self.launched.grid)
            case LoadOp():
                self._load(op)
            case GetDimSizeOp():
                self._dim_size(op)
            case _:
                if len(op.results) != 1 or not isinstance(op.results[0].type, IntegerType):
                    return
                dialect = Dialect.of(type(op))
                fold = None if dialect is None else dialect.folds.get(type(op))
                if fold is None:
                    return
                folded = fold(op, tuple([self._value(each) for each in op.operands]))
                if isinstance(folded, Value):
                    folded = self._value(folded)
                self.known[op.results[0]] = folded if isinstance(folded, Attribute) else None

    def _load(self, op: LoadOp) -> None:
        """Read a scalar of an array whose elements are known."""
        address, index = op.pointers, 0
        while (inner := address.defining_op()) is not None:
            if isinstance(inner, AddPtrOp):
                offset = self._integer(inner.offsets)
                if offset is None:
                    return
                index += offset
            elif not isinstance(inner, AssumeOp):
                return
            address = inner.operands[0]
        array = self.launched.arguments.contents.get(address.index)
        if array is not None and isinstance(op.result.type, IntegerType) and index < len(array):
            self.known[op.result] = IntegerAttr(int(array[index]), op.result.type)

    def _dim_size(self, op: GetDimSizeOp) -> None:
        """The tiles of a view along a dimension, or the elements of a memref."""
        tile, source = 1, op.source
        view = source.defined_by(BlockTileOp)
        if view is not None:
            tile, source = tiled_view(view.result).tile[op.dim], view.source
        array = source.defined_by(MakeMemrefOp)
        if array is None:
            return
        extents = memref(array.result).shape
        size = extents[op.dim]
        if size == DYNAMIC:
            size = self._integer(array.sizes[extents[: op.dim].count(DYNAMIC)])
        if size is not None and isinstance(op.result.type, IntegerType):
            self.known[op.result] = IntegerAttr(-(-size // tile), op.result.type)

    def _bind_grid(self, op: Operation, values: Sequence[int]) -> None:
        for result, value in zip(op.results, values, strict=False):
            assert isinstance(result.type, IntegerType)
            self.known[result] = IntegerAttr(value, result.type)

    def _value(self, value: Value) -> Attribute | None:
        return self.known[value] if value in self.known else constant_of(value)

    def _integer(self, value: Value) -> int | None:
        number = self._value(value)
        return number.value if isinstance(number, IntegerAttr) else None

    def _if(self, op: IfOp, node: _Node, weight: float) -> None:
        condition = self._integer(op.condition)
        shares = (UNKNOWN_BRANCH, UNKNOWN_BRANCH)
        if condition is not None:
            shares = (1.0, 0.0) if condition else (0.0, 1.0)
        for region, share in zip((op.then_region, op.else_region), shares, strict=True):
            if share and region.blocks:
                self.block(region.block, node, weight * share)
                if condition is not None:
                    self._pass(region.block, op.results)

    def _pass(self, block: Block, results: Sequence[Value]) -> None:
        """The results of an operation are what the only block that was executed yields."""
        assert block.last is not None
        for result, value in zip(results, block.last.operands, strict=True):
            self.known[result] = self._value(value)

    def _inner(self, op: Operation, node: _Node, weight: float) -> _Node:
        if op not in node.inner:
            self.locations.append(op.location)
            node.inner[op] = _Node(Totals(self.arrays), len(self.locations))
        node.inner[op].entries += weight
        return node.inner[op]

    def _unknown(self, node: _Node, op: Operation, weight: float) -> None:
        """Walk one iteration of a loop of unknown length."""
        node.is_known = False
        node.iterations += weight
        for region in op.regions:
            for argument in region.block.args:
                self.known[argument] = None
            self.block(region.block, node, weight)

    def _for(self, op: ForOp, node: _Node, weight: float) -> None:
        inner = self._inner(op, node, weight)
        start, end, step = map(self._integer, (op.lower_bound, op.upper_bound, op.step))
        if start is None or end is None or not step:
            self._unknown(inner, op, weight)
            return
        trips = max(0, -(-(end - start) // step))
        inner.iterations += weight * trips
        body = op.body.block
        branches = any(each.regions for each in body if isinstance(each, ForOp | IfOp | WhileOp))
        samples = min(trips, SAMPLES if branches else 1)
        for argument in body.args:
            self.known[argument] = None
        type = op.induction_variable.type
        for sample in range(samples):
            if branches and isinstance(type, IntegerType):
                at = start + step * (trips * (2 * sample + 1) // (2 * samples))
                self.known[op.induction_variable] = IntegerAttr(at, type)
            self.block(body, inner, weight * trips / samples)
