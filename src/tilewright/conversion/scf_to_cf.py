"""Lowering of scf loops and branches to basic blocks."""

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


def _region(build: ConversionBuilder) -> Region:
    """Return the region of the insertion point."""
    region = build.point.block.parent
    assert region is not None
    return region


def _types(values: Sequence[Value]) -> list[Type]:
    return [value.type for value in values]


def _converted(build: ConversionBuilder, values: Sequence[Value]) -> list[Types]:
    """Return the converted types of values of the source program."""
    types = [build.types.convert_value(value) for value in values]
    return [
        (value.type,) if made is None else made for value, made in zip(values, types, strict=True)
    ]


def _flat(types: Sequence[Types]) -> list[Type]:
    return [type for group in types for type in group]


def _grouped(values: Sequence[Value], types: Sequence[Types]) -> list[Sequence[Value]]:
    """Group values by the converted types of each source value."""
    rest = iter(values)
    return [[next(rest) for _ in group] for group in types]


@converts(ForOp)
def for_(op: ForOp, new: ForOp, build: ConversionBuilder) -> Result:
    """Lower to a header block with the exit test; the body branches back to it."""
    carried = _types(new.init_args)
    header = build.add_block([new.lower_bound.type, *carried])
    after = build.add_block(after=header)
    build.create(BranchOp, arguments=[new.lower_bound, *new.init_args], successors=[header])

    def latch(end: YieldOp, new_end: YieldOp, build: ConversionBuilder) -> Result:
        induction = build.value(op.induction_variable)
        following = build.create(AddIOp, lhs=induction, rhs=new.step).result
        return build.create(BranchOp, arguments=[following, *new_end.values], successors=[header])

    body = build.convert_region(op.body, _region(build), after=header, terminator=latch)
    predicate = CmpIPredicate.ULT if op.unsigned_cmp else CmpIPredicate.SLT
    with build.at(InsertPoint.at_end(header)):
        in_range = build.create(
            CmpIOp, predicate=predicate, lhs=header.args[0], rhs=new.upper_bound
        )
        build.create(
            CondBranchOp,
            condition=in_range.result,
            true_arguments=header.args,
            successors=[body[0], after],
        )
    build.continue_in(after)
    return _grouped(header.args[1:], _converted(build, op.results))


@converts(WhileOp)
def while_(op: WhileOp, new: WhileOp, build: ConversionBuilder) -> Result:
    """Lower the `before` region to the header with the exit test; `after` branches back."""
    around, start = _region(build), build.point
    results = _converted(build, op.results)
    exit = build.add_block(_flat(results))

    def exit_test(end: ConditionOp, new_end: ConditionOp, build: ConversionBuilder) -> Result:
        return build.create(
            CondBranchOp,
            condition=new_end.condition,
            true_arguments=new_end.values,
            false_arguments=new_end.values,
            successors=[entered, exit],
        )

    def latch(end: YieldOp, new_end: YieldOp, build: ConversionBuilder) -> Result:
        return build.create(BranchOp, arguments=new_end.values, successors=[before[0]])

    # The condition branches to the body, which does not exist yet: an intermediate block forwards
    # its arguments.
    entered = build.add_block(_flat(_converted(build, op.after.block.args)))
    before = build.convert_region(op.before, around, after=start.block, terminator=exit_test)
    after = build.convert_region(op.after, around, after=entered, terminator=latch)
    with build.at(InsertPoint.at_end(entered)):
        build.create(BranchOp, arguments=entered.args, successors=[after[0]])
    with build.at(start):
        build.create(BranchOp, arguments=new.init_args, successors=[before[0]])
    build.continue_in(exit)
    return _grouped(exit.args, results)


@converts(IfOp)
def if_(op: IfOp, new: IfOp, build: ConversionBuilder) -> Result:
    """Lower each region to blocks that branch to the continuation."""
    around, start = _region(build), build.point
    results = _converted(build, op.results)
    after = build.add_block(_flat(results))

    def join(end: YieldOp, new_end: YieldOp, build: ConversionBuilder) -> Result:
        return build.create(BranchOp, arguments=new_end.values, successors=[after])

    def branch(region: Region) -> Block:
        if not region.blocks:
            return after
        return build.convert_region(region, around, after=start.block, terminator=join)[0]

    other = branch(op.else_region)
    then = branch(op.then_region)
    with build.at(start):
        build.create(
            CondBranchOp,
            condition=new.condition,
            branch_weights=op.branch_weights,
            successors=[then, other],
        )
    build.continue_in(after)
    return _grouped(after.args, results)


PATTERNS: Final[Patterns] = (for_, while_, if_)
TARGET: Final = ConversionTarget(illegal=("scf",))
_FINDER: Final = PatternFinder(PATTERNS)


class ScfToCf(Pass):
    """Lower scf loops and branches to basic blocks."""

    name = "convert-scf-to-cf"
    is_required = True

    def run(self, op: Operation, sink: Sink) -> None:
        convert(op, TARGET, _FINDER, partial=True, sink=sink)
