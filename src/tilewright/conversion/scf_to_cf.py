"""Loops and branches of scf as blocks that jump to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.dialects.arith.attributes import CmpIPredicate
from tilewright.dialects.arith.comparison import CmpIOp
from tilewright.dialects.arith.integer import AddIOp
from tilewright.dialects.cf import BranchOp, CondBranchOp
from tilewright.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from tilewright.ir.builder import InsertPoint
from tilewright.ir.conversion import (
    ConversionBuilder,
    PatternFinder,
    Patterns,
    Result,
    convert,
    converts,
)
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.passes import Pass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Block, Operation, Region
    from tilewright.ir.type_converter import Types
    from tilewright.ir.values import Value
    from tilewright.support.diagnostics import Sink


def _around(build: ConversionBuilder) -> Region:
    """The region that is being filled."""
    region = build.point.block.parent
    assert region is not None
    return region


def _types(values: Sequence[Value]) -> list[Type]:
    return [value.type for value in values]


def _converted(build: ConversionBuilder, values: Sequence[Value]) -> list[Types]:
    """The types that stand for values of the old program."""
    found = [build.types.convert_value(value) for value in values]
    return [
        (value.type,) if made is None else made for value, made in zip(values, found, strict=True)
    ]


def _flat(types: Sequence[Types]) -> list[Type]:
    return [type for group in types for type in group]


def _grouped(values: Sequence[Value], types: Sequence[Types]) -> list[Sequence[Value]]:
    """Values in groups, as many in each as there are types."""
    rest = iter(values)
    return [[next(rest) for _ in group] for group in types]


@converts(ForOp)
def for_(op: ForOp, new: ForOp, build: ConversionBuilder) -> Result:
    """The first block asks whether there is another round; the body jumps back to it."""
    carried = _types(new.init_args)
    first = build.add_block([new.lower_bound.type, *carried])
    after = build.add_block(after=first)
    build.create(BranchOp, arguments=[new.lower_bound, *new.init_args], successors=[first])

    def again(end: YieldOp, new_end: YieldOp, build: ConversionBuilder) -> Result:
        count = build.value(op.induction_variable)
        following = build.create(AddIOp, lhs=count, rhs=new.step).result
        return build.create(BranchOp, arguments=[following, *new_end.values], successors=[first])

    body = build.convert_region(op.body, _around(build), after=first, terminator=again)
    predicate = CmpIPredicate.ULT if op.unsigned_cmp else CmpIPredicate.SLT
    with build.at(InsertPoint.at_end(first)):
        inside = build.create(CmpIOp, predicate=predicate, lhs=first.args[0], rhs=new.upper_bound)
        build.create(
            CondBranchOp,
            condition=inside.result,
            true_arguments=first.args,
            successors=[body[0], after],
        )
    build.continue_in(after)
    return _grouped(first.args[1:], _converted(build, op.results))


@converts(WhileOp)
def while_(op: WhileOp, new: WhileOp, build: ConversionBuilder) -> Result:
    """The region before asks, the region after jumps back to it."""
    around, start = _around(build), build.point
    results = _converted(build, op.results)
    exit = build.add_block(_flat(results))

    def leave(end: ConditionOp, new_end: ConditionOp, build: ConversionBuilder) -> Result:
        return build.create(
            CondBranchOp,
            condition=new_end.condition,
            true_arguments=new_end.values,
            false_arguments=new_end.values,
            successors=[entered, exit],
        )

    def again(end: YieldOp, new_end: YieldOp, build: ConversionBuilder) -> Result:
        return build.create(BranchOp, arguments=new_end.values, successors=[before[0]])

    # The condition goes to a block that only exists once the body is there: it is a block of its
    # own in between, which passes on what it gets.
    entered = build.add_block(_flat(_converted(build, op.after.block.args)))
    before = build.convert_region(op.before, around, after=start.block, terminator=leave)
    after = build.convert_region(op.after, around, after=entered, terminator=again)
    with build.at(InsertPoint.at_end(entered)):
        build.create(BranchOp, arguments=entered.args, successors=[after[0]])
    with build.at(start):
        build.create(BranchOp, arguments=new.init_args, successors=[before[0]])
    build.continue_in(exit)
    return _grouped(exit.args, results)


@converts(IfOp)
def if_(op: IfOp, new: IfOp, build: ConversionBuilder) -> Result:
    """Each region ends with a jump to what follows."""
    around, start = _around(build), build.point
    results = _converted(build, op.results)
    after = build.add_block(_flat(results))

    def leave(end: YieldOp, new_end: YieldOp, build: ConversionBuilder) -> Result:
        return build.create(BranchOp, arguments=new_end.values, successors=[after])

    def branch(region: Region) -> Block:
        if not region.blocks:
            return after
        return build.convert_region(region, around, after=start.block, terminator=leave)[0]

    other = branch(op.else_region)
    then = branch(op.then_region)
    with build.at(start):
        build.create(CondBranchOp, condition=new.condition, successors=[then, other])
    build.continue_in(after)
    return _grouped(after.args, results)


PATTERNS: Final[Patterns] = (for_, while_, if_)
TARGET: Final = ConversionTarget(illegal=("scf",))
_FINDER: Final = PatternFinder(PATTERNS)


class ScfToCf(Pass):
    """Turn loops and branches with regions into blocks."""

    name = "convert-scf-to-cf"

    def run(self, op: Operation, sink: Sink) -> None:
        convert(op, TARGET, _FINDER, partial=True, sink=sink)
