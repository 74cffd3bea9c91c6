"""Makes loops load ahead: what a round works on has been loaded while the one before worked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.cuts import is_plain
from tilewright.analysis.tile_words import tile_words
from tilewright.analysis.warps import threads_of
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.literals import splat_of
from tilewright.dialects.elements import element_of, width_of
from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.integer import AddIOp, CmpIOp, DivIOp, RemIOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import LoadOp
from tilewright.dialects.nv_tileaa.misc import AssertOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.scf import ForOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass
from tilewright.ir.rules import constant_of
from tilewright.ir.types import FloatType, IntegerType
from tilewright.support.bits import mask
from tilewright.transforms.nv_tileaa.conditional_loads import can_be_conditional, load_if

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink

SHARE: Final = 32
"""How many registers of a thread tiles may take that are loaded ahead."""
LENGTH: Final = 32
"""How many operations an address may take that is computed ahead."""


class PrefetchLoads(Pass):
    """Load what the next round of a loop needs at the beginning of a round.

    Only plain loads that wait for nothing in the loop: whoever writes there is not ordered between
    two rounds. Loops with products, which have more to share between threads, stay as they are.
    """

    name = "prefetch-loads"

    def run(self, op: Operation, sink: Sink) -> None:
        for function in [inner for inner in op.walk() if isinstance(inner, FuncOp)]:
            if function.is_kernel:
                _prefetch(function)


def _prefetch(function: FuncOp) -> None:
    threads: int | None = None
    for loop in [op for op in function.walk_post_order() if isinstance(op, ForOp)]:
        found = _candidates(loop)
        if not found:
            continue
        threads = threads or threads_of(function)
        chosen = _affordable(found, threads)
        if chosen:
            _rotate(loop, chosen)


class Ahead(NamedTuple):
    """A load that can be done a round before, and what its operands are computed by."""

    load: LoadOp | TileLoadOp
    leading: Sequence[Operation]

    @property
    def used(self) -> list[Value]:
        """What somebody needs of what it gives."""
        return [result for result in self.load.results if result.is_used]


def _candidates(loop: ForOp) -> list[Ahead]:
    """The loads of a loop that can be done a round before."""
    if not isinstance(loop.lower_bound.type, IntegerType):
        return []
    found = [ahead for op in loop.body.block if (ahead := _find(op, loop)) is not None]
    # An assertion may be what keeps a load from running.
    if found and any(isinstance(op, DotOp | AssertOp) for op in loop.body.walk()):
        return []
    return found


def _find(op: Operation, loop: ForOp) -> Ahead | None:
    """What an operation of a loop's body is as a load ahead, if it can be one."""
    if not isinstance(op, LoadOp | TileLoadOp) or not is_plain(op) or not can_be_conditional(op):
        return None
    if op.token is not None and op.token.is_inside(loop):
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


def _affordable(found: Sequence[Ahead], threads: int) -> list[Ahead]:
    """The first loads whose tiles fit into the registers."""
    chosen: list[Ahead] = []
    left = SHARE * threads
    for ahead in found:
        cost = max(tile_words(ahead.load.results[0].type), threads)
        if cost <= left:
            left -= cost
            chosen.append(ahead)
    return chosen


# Law: a load whose operands follow from the counter gives in a round what it would have given in
# the one before, if nothing is ordered between; so it may be done there. It is done only for
# rounds that come, so nothing is touched that was not.
def _rotate(loop: ForOp, chosen: Sequence[Ahead]) -> None:
    body, last = loop.body.block, loop.body.block.last
    assert last is not None
    outside = Builder(InsertPoint.in_front_of(loop), loop.location)
    first = _loaded(outside, loop, chosen, loop.lower_bound)
    inside = Builder(_start(body, chosen), loop.location)
    following = inside.create(AddIOp, lhs=loop.induction_variable, rhs=loop.step).result
    ahead = _loaded(inside, loop, chosen, following)
    for each in chosen:
        for result in each.used:
            result.replace_all_uses_with(body.add_argument(result.type, each.load.location))
        each.load.erase()
    last.set_operands([*last.operands, *ahead])
    _carry(loop, first)


def _carry(loop: ForOp, first: Sequence[Value]) -> None:
    """Let a loop whose body passes on more values start with them."""
    operands = [*loop.operands, *first]
    new = loop.like(operands, [value.type for value in operands[3:]])
    new.insert_before(loop)
    new.regions, loop.regions = loop.regions, ()
    for region in new.regions:
        region.parent = new
    for old, result in zip(loop.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    loop.erase()


def _start(body: Block, chosen: Sequence[Ahead]) -> InsertPoint:
    """Where the next loads go: behind conversions of what was loaded, which frees registers."""
    early: list[Operation] = []
    for each in chosen:
        users = tuple(each.load.results[0].users)
        if all(isinstance(op, ConversionOp) and op.parent is body for op in users):
            early += users
    for op in early:
        op.detach()
    place = body.first
    assert place is not None
    for op in early:
        op.insert_before(place)
    return InsertPoint.in_front_of(place)


def _loaded(build: Builder, loop: ForOp, chosen: Sequence[Ahead], count: Value) -> list[Value]:
    """What loads give in the round of a count, if there is one; else anything."""
    predicate = CmpIPredicate.ULT if loop.unsigned_cmp else CmpIPredicate.SLT
    comes = build.create(CmpIOp, lhs=count, rhs=loop.upper_bound, predicate=predicate).result
    values: dict[Value, Value] = {loop.induction_variable: count}
    for each in chosen:
        for op in each.leading:
            if op.results[0] not in values:
                build.insert(op.clone(values))
        load_if(build, each.load, comes, values)
    return [values[value] for each in chosen for value in each.used]
