"""Makes loops load ahead: what a round works on has been loaded while the one before worked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.analysis.cuts import is_plain
from tilewright.analysis.tile_words import tile_words
from tilewright.analysis.warps import threads_of
from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.constant import ConstantOp
from tilewright.dialects.arith.literals import literal
from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.conversion import ConversionOp
from tilewright.dialects.nv_tileaa.integer import AddIOp, CmpIOp
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.memory import CreateMemTokenOp, LoadOp
from tilewright.dialects.nv_tileaa.misc import AssertOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.types import MEM_TOKEN
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.scf import ForOp, IfOp, YieldOp
from tilewright.ir.builder import Builder, InsertPoint
from tilewright.ir.effects import is_effect_free
from tilewright.ir.operation import Block
from tilewright.ir.passes import Pass
from tilewright.ir.types import FloatType, IntegerType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
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
        chosen = _affordable(found, SHARE * threads, threads)
        if chosen:
            _rotate(loop, chosen)


def _candidates(loop: ForOp) -> list[Ahead]:
    """The loads of a loop that can be done a round before."""
    if not isinstance(loop.lower_bound.type, IntegerType):
        return []
    found = [ahead for op in loop.body.block if (ahead := _find(op, loop)) is not None]
    # An assertion may be what keeps a load from running.
    if found and any(isinstance(op, DotOp | AssertOp) for op in loop.body.walk()):
        return []
    return found


class Ahead:
    """A load that can be done a round before, and what its operands are computed by."""

    __slots__ = ("leading", "load", "used")

    def __init__(self, load: LoadOp | TileLoadOp, leading: Sequence[Operation]) -> None:
        self.load = load
        self.leading = leading
        self.used = [result for result in load.results if result.is_used]


def _find(op: Operation, loop: ForOp) -> Ahead | None:
    """What an operation of a loop's body is as a load ahead, if it can be one."""
    if not isinstance(op, LoadOp | TileLoadOp) or not is_plain(op):
        return None
    if op.token is not None and op.token.is_inside(loop):
        return None
    if not isinstance(element_of(op.results[0].type), IntegerType | FloatType):
        return None
    leading = _leading(op, loop)
    return None if leading is None else Ahead(op, leading)


def _leading(load: Operation, loop: ForOp) -> list[Operation] | None:
    """What computes the operands of a load from the counter alone, in order; none if more does."""
    body = loop.body.block
    wanted: list[Operation] = [load]
    found: set[Operation] = set()
    counted = False
    while wanted:
        for value in wanted.pop().operands:
            if not value.is_inside(loop):
                continue
            op = value.defining_op()
            counted |= value is loop.induction_variable
            if op is None and value is not loop.induction_variable:
                return None
            if op is None or op in found:
                continue
            if op.parent is not body or not _is_simple(op) or len(found) == LENGTH:
                return None
            found.add(op)
            wanted.append(op)
    return [op for op in body if op in found] if counted else None


def _is_simple(op: Operation) -> bool:
    return not op.regions and is_effect_free(op)


def _affordable(found: Sequence[Ahead], words: int, threads: int) -> list[Ahead]:
    """The first loads whose tiles fit into the registers."""
    chosen: list[Ahead] = []
    for ahead in found:
        cost = max(tile_words(ahead.load.results[0].type), threads)
        if cost <= words:
            words -= cost
            chosen.append(ahead)
    return chosen


# Law: a load whose operands follow from the counter gives in round i + 1 what it would have given
# at any time before, if nothing is ordered between; so it may be done in round i. It is done only
# for rounds that come, so nothing is touched that was not.
def _rotate(loop: ForOp, chosen: Sequence[Ahead]) -> None:
    body, last = loop.body.block, loop.body.block.last
    assert last is not None
    outside = Builder(InsertPoint.in_front_of(loop), loop.location)
    first = _guarded(outside, loop, chosen, loop.lower_bound)
    inside = Builder(_start(body, chosen), loop.location)
    following = inside.create(AddIOp, lhs=loop.induction_variable, rhs=loop.step).result
    ahead = _guarded(inside, loop, chosen, following)
    for each in chosen:
        for result in each.used:
            result.replace_all_uses_with(body.add_argument(result.type, each.load.location))
        each.load.erase()
    last.set_operands([*last.operands, *ahead])
    _carry(loop, first)


def _carry(loop: ForOp, first: Sequence[Value]) -> None:
    """Let a loop whose body passes on more values start with them."""
    operands = [*loop.operands, *first]
    types = [value.type for value in operands[3:]]
    new = loop.like(operands, types)
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


def _guarded(build: Builder, loop: ForOp, chosen: Sequence[Ahead], count: Value) -> Sequence[Value]:
    """What loads give in the round of a count, if there is one; else anything."""
    predicate = CmpIPredicate.ULT if loop.unsigned_cmp else CmpIPredicate.SLT
    comes = build.create(CmpIOp, lhs=count, rhs=loop.upper_bound, predicate=predicate).result
    then, other = Block(), Block()
    loading = Builder(InsertPoint.at_end(then), loop.location)
    values: dict[Value, Value] = {loop.induction_variable: count}
    made: list[Value] = []
    for each in chosen:
        for op in (*each.leading, each.load):
            if op.results[0] not in values:
                loading.insert(op.clone(values))
        made += [values[result] for result in each.used]
    loading.create(YieldOp, values=made)
    types = [value.type for value in made]
    nothing = Builder(InsertPoint.at_end(other), loop.location)
    nothing.create(YieldOp, values=[_anything(nothing, type) for type in types])
    return build.create(
        IfOp, condition=comes, then_region=then, else_region=other, types=types
    ).outputs


def _anything(build: Builder, type: Type) -> Value:
    if type is MEM_TOKEN:
        return build.create(CreateMemTokenOp).result
    return build.create(ConstantOp, value=literal([0], type), types=[type]).result
