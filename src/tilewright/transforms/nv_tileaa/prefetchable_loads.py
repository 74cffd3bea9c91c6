"""Loads of a loop that can be done before their round: which, and how, if the round comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of, width_of, with_element
from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.integer import AndIOp, CmpIOp, DivIOp, RemIOp
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, LoadOp
from tilewright.dialects.nv_tileaa.misc import AssertOp
from tilewright.dialects.nv_tileaa.shape import SelectOp, SplatOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, tiled_view
from tilewright.ir.attributes import IntegerAttr
from tilewright.ir.effects import is_pure
from tilewright.ir.rules import constant_of
from tilewright.ir.types import I1, FloatType, IntegerType, TensorType
from tilewright.plans.slicing import is_plain
from tilewright.support.bits import mask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.dialects.scf import ForOp
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value

LARGE: Final = 16
"""How many registers of a thread a large tile takes."""
LENGTH: Final = 32
"""How many operations an address may take that is computed ahead."""
OUTSIDE: Final = -1
"""A tile with this number lies outside of every tensor, whatever else its place says."""


class Ahead(NamedTuple):
    """A load of a loop that can be done before its round, and what computes its operands."""

    load: LoadOp | TileLoadOp
    leading: Sequence[Operation]

    @property
    def used(self) -> list[Value]:
        """What somebody needs of what it gives."""
        return [result for result in self.load.results if result.is_used]

    @property
    def is_converted(self) -> bool:
        """Whether the tile is made into others at once."""
        block = self.load.parent
        users = self.load.results[0].users
        return all(isinstance(op, ConversionOp) and op.parent is block for op in users)

    @property
    def is_unordered(self) -> bool:
        """Whether the load is neither behind nor before anything else."""
        token = self.load.token
        is_first = token is None or token.defined_by(CreateMemTokenOp) is not None
        return is_first and not self.load.result_token.is_used


def find_loads(loop: ForOp) -> list[Ahead]:
    """The loads of a loop that can be done before their round."""
    if not isinstance(loop.lower_bound.type, IntegerType):
        return []
    found = [ahead for op in loop.body.block if (ahead := _find(op, loop)) is not None]
    # An assertion may be what keeps a load from running.
    if found and any(isinstance(op, AssertOp) for op in loop.body.walk()):
        return []
    return found


def _find(op: Operation, loop: ForOp) -> Ahead | None:
    """What an operation of a loop's body is as a load ahead, if it can be one."""
    if not isinstance(op, LoadOp | TileLoadOp) or not is_plain(op):
        return None
    if op.token is not None and op.token.is_inside(loop):
        return None
    if isinstance(op, TileLoadOp) and _switch(op) is None:
        return None
    if not isinstance(element_of(op.results[0].type), IntegerType | FloatType):
        return None
    leading = _leading(op, loop)
    return None if leading is None else Ahead(op, leading)


def _leading(load: Operation, loop: ForOp) -> list[Operation] | None:
    """What computes the operands of a load from the counter alone, in order; none if more does."""
    body, counter = loop.body.block, loop.induction_variable
    wanted: list[Operation] = [load]
    found: set[Operation] = set()
    counted = False
    while wanted:
        for value in wanted.pop().operands:
            if not value.is_inside(loop):
                continue
            counted |= value is counter
            op = value.defining_op()
            if op in found or value is counter:
                continue
            if op is None or not _is_simple(op, body) or len(found) == LENGTH:
                return None
            found.add(op)
            wanted.append(op)
    return [op for op in body if op in found] if counted else None


def _is_simple(op: Operation, body: Block) -> bool:
    """Whether an operation may run for a round that does not come."""
    if op.parent is not body or op.regions:
        return False
    return is_pure(op) or (isinstance(op, DivIOp | RemIOp) and _is_harmless(op.rhs))


def _is_harmless(divisor: Value) -> bool:
    """Whether any number can be divided by a constant."""
    pattern = splat_of(constant_of(divisor))
    return pattern not in (None, 0, mask(width_of(divisor.type)))


def comes(build: Builder, loop: ForOp, count: Value) -> Value:
    """Whether there is a round of a count, which is the next one or the first."""
    predicate = CmpIPredicate.ULT if loop.unsigned_cmp else CmpIPredicate.SLT
    return build.create(CmpIOp, lhs=count, rhs=loop.upper_bound, predicate=predicate).result


def lead(build: Builder, loop: ForOp, chosen: Sequence[Ahead], count: Value) -> dict[Value, Value]:
    """Compute what loads need in the round of a count; gives what stands for what."""
    values: dict[Value, Value] = {loop.induction_variable: count}
    for ahead in chosen:
        for op in ahead.leading:
            if op.results[0] not in values:
                build.insert(op.clone(values))
    return values


def load_ahead(
    build: Builder, loop: ForOp, chosen: Sequence[Ahead], count: Value, condition: Value
) -> list[Value]:
    """What loads give in the round of a count, if the condition holds; else anything."""
    values = lead(build, loop, chosen, count)
    for ahead in chosen:
        copy = ahead.load.clone(values)
        if isinstance(copy, LoadOp):
            _mask(build, copy, condition)
        else:
            _move_away(build, copy, condition)
        build.insert(copy)
    return [values[value] for ahead in chosen for value in ahead.used]


# Law: where its mask is false, a load touches nothing.
def _mask(build: Builder, load: LoadOp, condition: Value) -> None:
    type = with_element(load.pointers.type, I1)
    mask = condition
    if isinstance(type, TensorType):
        mask = build.create(SplatOp, source=condition, types=[type]).result
    if load.mask is not None:
        mask = build.create(AndIOp, lhs=load.mask, rhs=mask).result
    pointers, other, token = load.pointers, load.other, load.token
    rest = [value for value in (other, token) if value is not None]
    segments = (1, 1, int(other is not None), int(token is not None))
    load.set_operands([pointers, mask, *rest], segments)


# Law: a load of a tile outside of its tensor touches nothing; a promise that it is inside goes.
def _move_away(build: Builder, load: TileLoadOp, condition: Value) -> None:
    number = _switch(load)
    assert number is not None
    index = load.indices[number]
    assert isinstance(index.type, IntegerType)
    away = build.create(ConstantOp, value=IntegerAttr(OUTSIDE, index.type), types=[index.type])
    moved = build.create(
        SelectOp, condition=condition, true_value=index, false_value=away.result, types=[index.type]
    ).result
    load.set_operand(1 + number, moved)
    load.sliced = True
    if load.in_bounds is not None:
        load.in_bounds = tuple([*load.in_bounds[:number], 0, *load.in_bounds[number + 1 :]])


def _switch(load: TileLoadOp) -> int | None:
    """The first index that is one number for the whole tile."""
    sparse = tiled_view(load.view).sparse
    found = [number for number in range(len(load.indices)) if number != sparse]
    return found[0] if found else None


def carry_more(loop: ForOp, first: Sequence[Value]) -> None:
    """Let a loop whose body passes on more values start with them."""
    operands = [*loop.operands, *first]
    new = loop.like(operands, [value.type for value in operands[3:]])
    new.insert_before(loop)
    new.set_regions(loop.regions)
    loop.regions = ()
    for old, result in zip(loop.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    loop.erase()
