"""Accumulators that exceed the registers, split along N: a loop over parts of the columns.

A tile of 256×256 accumulators in f32 takes all registers of an SM. Where a loop does nothing but
accumulate a dot, and only element-wise operations and stores follow, all of them run once for each
part of the columns. A is loaded again for each part, which it finds in the L2 cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.elementwise import is_tile
from tilewright.analysis.targets import target_of
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, JoinMemTokenOp
from tilewright.dialects.nv_tileaa.shape import SplatOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import (
    TiledLoadOp,
    TiledStoreOp,
)
from tilewright.dialects.scf import ForOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.operation import Block, Region
from tilewright.ir.passes import Pass
from tilewright.ir.traits import Effects
from tilewright.ir.types import I32
from tilewright.plans.slicing import is_plain, slicings
from tilewright.schedule.registers import fits_registers
from tilewright.schedule.tile_words import tile_words
from tilewright.schedule.warps import fixed_warps, warps_for
from tilewright.target.arch import WARP_SIZE
from tilewright.transforms.nv_tileaa.loop_slicing import LoopSlicing
from tilewright.transforms.nv_tileaa.scalars import constant
from tilewright.transforms.nv_tileaa.tile_slices import SliceAccess, cut_type
from tilewright.transforms.nv_tileaa.uniform_tiles import is_uniform, uniform_tile

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

LEAST_COLUMNS: Final = 64
"""Of a part."""


class SplitAccumulators(Pass):
    """Split the columns of accumulators that do not fit into registers."""

    name = "split-accumulators"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if target_of(function) is None or not function.is_kernel:
                continue
            fixed = fixed_warps(function)
            for loop in [each for each in function.walk_post_order() if isinstance(each, ForOp)]:
                dots = [inner for inner in loop.body.block if isinstance(inner, DotOp)]
                parts = _parts(dots[0], fixed) if len(dots) == 1 else 1
                if parts > 1:
                    split = _Split(loop, dots[0], parts)
                    if split.is_possible():
                        split.apply()


def _parts(dot: DotOp, fixed: int | None) -> int:
    """Into how many parts the columns of a dot are split, so that its accumulators fit."""
    words, columns = tile_words(dot.c.type), shape(dot.c.type)[-1]
    parts = 1
    while columns // parts >= LEAST_COLUMNS:
        threads = (fixed or warps_for(words // parts, has_dots=True)) * WARP_SIZE
        if fits_registers(words // parts, threads):
            return parts
        parts *= 2
    return 1


def _is_splittable(op: Operation, _: int) -> bool:
    """Whether an operation has no result but the tile that is split, and the token of a load."""
    return len(op.results) == 1 or isinstance(op, TiledLoadOp)


class _Split:
    """A loop that accumulates a dot, what follows it, and the dimension of each tile that is N."""

    __slots__ = ("_dims", "_dot", "_loop", "_members", "_parts", "_slicing")

    def __init__(self, loop: ForOp, dot: DotOp, parts: int) -> None:
        self._loop, self._dot, self._parts = loop, dot, parts
        self._slicing = LoopSlicing(loop, parts, _is_splittable)
        self._dims = self._slicing.dims
        self._members: list[Operation] = []
        """What follows the loop, in program order."""

    def is_possible(self) -> bool:
        """Whether nothing but the columns of A @ B and of what is stored would be split."""
        loop, dot, end = self._loop, self._dot, self._loop.body.block.last
        if len(loop.carried) != 1 or loop.carried[0] is not dot.c or end is None:
            return False
        if end.operands[0] is not dot.result or not dot.result.has_one_use:
            return False
        last = len(shape(dot.c.type)) - 1
        for value in (dot.c, dot.result, loop.results[0]):
            self._dims[value] = last
        return (
            is_uniform(loop.init_args[0])
            and self._slicing.add(dot.b, last)
            and all(self._is_repeatable(op) for op in loop.body.block)
            and self._follow()
        )

    def _is_repeatable(self, op: Operation) -> bool:
        """Whether an operation of the loop may run several times, whatever is stored meanwhile.

        A load that no token orders before the stores that follow may as well come after them.
        """
        if op.regions:
            return False
        if isinstance(op, TiledLoadOp):
            return is_plain(op) and not op.result_token.is_used
        return isinstance(op, DotOp | YieldOp) or op.effects is Effects.PURE

    def _follow(self) -> bool:
        """Collect what follows the loop: element-wise operations on the result, and stores."""
        block = self._loop.parent
        assert block is not None
        after = list(block)
        after = after[after.index(self._loop) + 1 :]
        rest = set(self._loop.results[0].users)
        while rest:
            if not after or (after[0] not in rest and not self._may_wait(after[0])):
                return False
            op = after.pop(0)
            if op not in rest:
                continue
            rest.discard(op)
            if not self._add(op):
                return False
            rest |= {user for result in op.results if is_tile(result) for user in result.users}
        return any(isinstance(op, TiledStoreOp) for op in self._members)

    def _may_wait(self, op: Operation) -> bool:
        """Whether an operation between the loop and a store may come before both."""
        if op.regions or op.effects is not Effects.PURE:
            return False
        return not any(value.defining_op() in self._members for value in op.operands)

    def _add(self, op: Operation) -> bool:
        """Add an operation on split tiles; False if it cannot be split as they are."""
        if op.parent is not self._loop.parent or op.regions:
            return False
        is_store = isinstance(op, TiledStoreOp)
        if is_store and op.token is not None and op.token.defining_op() in self._members:
            return False
        if not is_store and (op.effects is not Effects.PURE or len(op.results) != 1):
            return False
        for slicing in slicings(op, self._parts):
            if all(slicing.get(v) == self._dims[v] for v in op.operands if v in self._dims):
                break
        else:
            return False
        for value, dim in slicing.items():
            if value in op.results:
                self._dims[value] = dim
            elif not self._slicing.add(value, dim):
                return False
        self._members.append(op)
        return True

    def apply(self) -> None:
        """Replace the loop, and what follows it, by a loop over parts."""
        last = self._members[-1]
        outside = Builder(InsertPoint.after(last), last.location)
        tokens = [op.result_token for op in self._members if isinstance(op, TiledStoreOp)]
        starts = [outside.create(CreateMemTokenOp).result for _ in tokens]
        body = Block([I32, *(token.type for token in tokens)])
        build = Builder(InsertPoint.at_end(body), self._loop.location)
        part = _Part(self._dims, self._parts, body.args[0])
        part.loop(self._loop, build)
        for op in self._members:
            part.copy(op, build, build)
        joined = [
            build.create(JoinMemTokenOp, tokens=[carried, part.values[token]]).result
            for carried, token in zip(body.args[1:], tokens, strict=True)
        ]
        build.create(YieldOp, values=joined)
        bounds = [constant(outside, number, I32) for number in (0, self._parts, 1)]
        types = [token.type for token in tokens]
        loop = ForOp([*bounds, *starts], types, {}, [Region([body])], self._loop.location)
        outside.insert(loop)
        for token, result in zip(tokens, loop.results, strict=True):
            token.replace_all_uses_with(result)
        uniform = [*self._loop.init_args, *(v for op in self._members for v in op.operands)]
        for op in reversed([self._loop, *self._members]):
            op.erase()
        # Whole tiles that are left would count for the number of warps.
        for op in {value.defining_op() for value in uniform}:
            if isinstance(op, ConstantOp | SplatOp) and not op.result.is_used:
                op.erase()


class _Part:
    """Builds the operations of one part."""

    __slots__ = ("_count", "_dims", "_number", "values")

    def __init__(self, dims: dict[Value, int], count: int, number: Value) -> None:
        self._dims, self._count, self._number = dims, count, number
        self.values: dict[Value, Value] = {}
        """What stands for each value of the program."""

    def loop(self, old: ForOp, build: Builder) -> None:
        """Build the loop over K."""
        (first,) = old.init_args
        type = cut_type(first.type, self._dims[old.results[0]], self._count)
        init = uniform_tile(first, type, build)
        inside = Block([old.induction_variable.type, init.type])
        self.values.update(zip(old.body.block.args, inside.args, strict=True))
        at_end = Builder(InsertPoint.at_end(inside), old.location)
        for op in old.body.block:
            self.copy(op, at_end, build)
        operands = [*(self.values.get(value, value) for value in old.operands[:3]), init]
        new = ForOp(operands, [init.type], old.attributes.copy(), [Region([inside])], old.location)
        build.insert(new)
        self.values[old.results[0]] = new.results[0]

    def copy(self, op: Operation, build: Builder, before: Builder) -> None:
        """Copy an operation; what does not change in its loop is built `before` that."""
        operands = [self._operand(value, before) for value in op.operands]
        is_split = isinstance(op, TiledLoadOp | TiledStoreOp) and op.tile in self._dims
        if isinstance(op, TiledLoadOp | TiledStoreOp) and is_split:
            dim = self._dims[op.tile]
            changes = op.indices[dim] in self.values
            aim = SliceAccess(op, dim, self._count)
            operands = aim.operands(operands, self._number, build if changes else before)
        types = [
            cut_type(result.type, self._dims[result], self._count)
            if result in self._dims
            else result.type
            for result in op.results
        ]
        new = op.like(operands, types)
        if isinstance(new, TiledLoadOp | TiledStoreOp) and is_split:
            # A part of a tile at the edge may have nothing in bounds.
            new.sliced = True
        build.insert(new)
        self.values.update(zip(op.results, new.results, strict=True))

    def _operand(self, value: Value, before: Builder) -> Value:
        """The replacement of an operand; uniform tiles are made `before` the loop."""
        if value in self._dims and value not in self.values:
            type = cut_type(value.type, self._dims[value], self._count)
            self.values[value] = uniform_tile(value, type, before)
        return self.values.get(value, value)
