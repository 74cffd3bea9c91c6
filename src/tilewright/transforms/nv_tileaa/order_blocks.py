"""Block ids in descending order, where blocks with larger ids take longer.

A GPU starts blocks in the order of their ids. With a causal mask, the blocks of later rows read
more keys: the last ones to start would run the longest, and most of the GPU would wait for them.
Tile IR defines no order, so such a kernel computes its block ids anew. If they grow with x, the
longest blocks of several rows of the grid start first; y and z are counted from the last one down,
since all blocks that differ in x alone start together.

Kernels that wait for other blocks keep their order: they may rely on blocks with smaller ids being
started before.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from tilewright.analysis.ranges import MOST_PROGRAMS
from tilewright.dialects.arith import integer as arith
from tilewright.dialects.nv_tileaa import integer
from tilewright.dialects.nv_tileaa.atomics import AtomicOp
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.memory import LoadOp, StoreOp
from tilewright.dialects.nv_tileaa.misc import AssumeOp
from tilewright.dialects.nv_tileaa.multimem import MultimemOp
from tilewright.dialects.nv_tileaa.predicates import BoundedAttr
from tilewright.dialects.nv_tileaa.program import GetNumProgramsOp, GetProgramIdOp
from tilewright.dialects.nv_tileaa.requests import Change
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TiledAtomicRmwOp, TileLoadOp, TileStoreOp
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I32
from tilewright.target.arch import TYPICAL_SMS
from tilewright.transforms.kernel_pass import KernelPass
from tilewright.transforms.nv_tileaa.scalars import Arithmetic, constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

INCREASING: Final = (
    AssumeOp,
    integer.AddIOp,
    arith.AddIOp,
    arith.MinSIOp,
    arith.MaxSIOp,
    arith.MinUIOp,
    arith.MaxUIOp,
)
"""Operations whose result goes up with any of the operands."""
MAX_OPS: Final = 64
"""At most this many operations compute a bound from a block id."""


class OrderBlocks(KernelPass):
    """Start the blocks of a kernel that run the longest first."""

    name = "order-blocks"
    change = Change.IMPROVE

    def run_on(self, function: FuncOp, sink: Sink) -> None:
        if not function.is_kernel:
            return
        ids = [each for each in function.walk() if isinstance(each, GetProgramIdOp)]
        loops = [each for each in function.walk() if isinstance(each, ForOp)]
        if len(ids) != 1 or ids[0].program_id is not None or not loops:
            return
        if any(map(_may_wait, function.walk())):
            return
        growing = [
            number
            for number, block in enumerate(ids[0].results)
            if any(_grows(loop, block) for loop in loops)
        ]
        if growing == [0]:
            _group(ids[0])
        elif growing:
            _reverse(ids[0], growing)


def _may_wait(op: Operation) -> bool:
    """Whether an operation can be part of waiting for another block."""
    if isinstance(op, LoadOp | StoreOp | TileLoadOp | TileStoreOp):
        return op.semantic is not MemSemantic.WEAK or op.volatile
    return isinstance(op, AtomicOp | TiledAtomicRmwOp | MultimemOp | WhileOp)


def _group(op: GetProgramIdOp) -> None:
    """Start the longest blocks of a group of rows first.

    A row of the grid is the blocks that differ in x alone, for example those of one head of an
    attention. A GPU starts row after row. Counting x from the last block down, the longest block of
    the last rows would start when the GPU is nearly done, and run on alone. So a group of rows, as
    many as occupy a GPU, starts its blocks together: the last block of each row, then the one
    before. Groups are no larger than that because blocks of a row read the same data.
    """
    build = Builder(InsertPoint.after(op), op.location)
    users = [list(block.users) for block in op.results]
    counts = build.create(GetNumProgramsOp, types=[result.type for result in op.results])
    grouped = _grouped_ids(build, op.results, counts.results, with_z=bool(users[2]))
    for number, new in enumerate(grouped):
        _replace(build, op.results[number], new, users[number])


def _grouped_ids(
    build: Builder, ids: Sequence[Value], counts: Sequence[Value], *, with_z: bool
) -> list[Value]:
    """X, y and z; rows of all z are in one sequence, or rows of each z on their own.

    A group has at least as many blocks as a GPU has SMs. Nothing overflows, whatever the grid: one
    of several rows has less than twice as many.
    """
    math, (x, y, z), (columns, rows, layers) = Arithmetic(build), ids, counts

    def divided(number: Value, by: Value) -> tuple[Value, Value]:
        """The quotient and the remainder."""
        quotient = math.divide(number, by)
        return quotient, math.subtract(number, math.multiply(quotient, by))

    row = math.add(y, math.multiply(z, rows)) if with_z else y
    count = math.multiply(rows, layers) if with_z else rows
    sms, one = math.constant(TYPICAL_SMS, I32), math.constant(1, I32)
    group_rows = math.divide(math.add(sms, math.subtract(columns, one)), columns)
    _, row_in_group = divided(row, group_rows)
    first = math.subtract(row, row_in_group)
    # The last group may have fewer rows.
    rest = math.subtract(count, first)
    size = build.create(arith.MinUIOp, lhs=group_rows, rhs=rest).result
    column, next_row = divided(math.add(x, math.multiply(row_in_group, columns)), size)
    last = math.subtract(columns, math.constant(1, I32))
    new_x, new_row = math.subtract(last, column), math.add(first, next_row)
    if not with_z:
        return [new_x, new_row, z]
    new_z, new_y = divided(new_row, rows)
    return [new_x, new_y, new_z]


def _reverse(op: GetProgramIdOp, dimensions: list[int]) -> None:
    """Count the block ids of some dimensions of the grid from the last one down."""
    build = Builder(InsertPoint.after(op), op.location)
    counts = build.create(GetNumProgramsOp, types=[result.type for result in op.results])
    math, one = Arithmetic(build), constant(build, 1, I32)
    for number in dimensions:
        block = op.results[number]
        users = list(block.users)
        last = math.subtract(counts.results[number], one)
        _replace(build, block, math.subtract(last, block), users)


def _replace(build: Builder, block: Value, new: Value, users: list[Operation]) -> None:
    """Let users of a block id read another one, which is in the grid, too."""
    if block is not new:
        inside = BoundedAttr(0, MOST_PROGRAMS - 1)
        new = build.create(AssumeOp, value=new, predicate=inside).result
        for user in users:
            user.replace_operand(block, new)


def _grows(loop: ForOp, block: Value) -> bool:
    """Whether the trip count of a loop grows with a block id."""
    trends = Trends(block)
    return trends.of(loop.lower_bound) is Trend.NONE and trends.of(loop.upper_bound) is Trend.UP


class Trend(Enum):
    """How a value changes with another one."""

    NONE = "none"
    UP = "up"
    """It never decreases."""
    UNKNOWN = "unknown"


class Trends:
    """How the integers of a function change with one of them, if nothing overflows."""

    __slots__ = ("_known",)

    def __init__(self, source: Value) -> None:
        self._known = {source: Trend.UP}

    def of(self, value: Value) -> Trend:
        """The trend of a value."""
        known = self._known.get(value)
        if known is None:
            if len(self._known) > MAX_OPS:
                return Trend.UNKNOWN
            op = value.defining_op()
            known = self._known[value] = Trend.NONE if op is None else self._compute(op)
        return known

    def _compute(self, op: Operation) -> Trend:
        if op.regions:
            return Trend.UNKNOWN
        trends = [self.of(operand) for operand in op.operands]
        if all(trend is Trend.NONE for trend in trends):
            return Trend.NONE
        is_up = Trend.UNKNOWN not in trends and _is_up(op, trends)
        return Trend.UP if is_up else Trend.UNKNOWN


def _is_up(op: Operation, trends: list[Trend]) -> bool:
    """Whether a result goes up, if some of the operands do and the others do not change."""
    match op:
        case integer.SubIOp() | arith.SubIOp():
            return trends[1] is Trend.NONE
        case integer.MulIOp() | arith.MulIOp():
            return _is_scaled(op, trends)
        case integer.DivIOp():
            return trends[1] is Trend.NONE and _is_scaled(op, trends)
        case _:
            return isinstance(op, INCREASING)


def _is_scaled(op: Operation, trends: list[Trend]) -> bool:
    """Whether the other operand, which scales this one, is a positive constant."""
    others = [v for v, trend in zip(op.operands, trends, strict=True) if trend is Trend.NONE]
    scale = constant_of(others[0]) if len(others) == 1 else None
    return isinstance(scale, IntegerAttr) and scale.value > 0
