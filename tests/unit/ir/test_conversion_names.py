"""Names of values in locations: a conversion transfers them with the values only."""

from __future__ import annotations

import toy
from low import HERE, LOW, TO_LOW, LowAddOp, LowUseOp, wide

from tilewright.ir.conversion import ConversionBuilder, Result, convert, converts
from tilewright.ir.operation import Operation
from tilewright.support.location import NameLoc

NAMED = NameLoc("sum", HERE)


@converts(toy.AddOp)
def three_times(op: toy.AddOp, new: toy.AddOp, build: ConversionBuilder) -> Result:
    """Replace an addition by three operations; the middle one defines the value."""
    first = build.create(LowAddOp, lhs=new.lhs, rhs=new.rhs)
    second = build.create(LowAddOp, lhs=first.result, rhs=new.rhs)
    build.create(LowUseOp, inputs=[second.result], types=[])
    return second


@converts(toy.AddOp)
def forwarded(op: toy.AddOp, new: toy.AddOp, build: ConversionBuilder) -> Result:
    return new.lhs


def names(module: Operation) -> list[str]:
    """Return the names in the locations of the module's operations."""
    return [
        op.location.name if isinstance(op.location, NameLoc) else "-"
        for op in module.walk()
        if op is not module
    ]


def program() -> Operation:
    module, build = toy.module()
    build.location = HERE
    one = toy.constant(build, 1)
    added = toy.add(build, one, one)
    maker = added.defining_op()
    assert maker is not None
    maker.location = NAMED
    toy.use(build, added)
    return module


def test_an_operation_that_changes_keeps_its_name() -> None:
    module = program()
    assert convert(module, LOW, TO_LOW, wide())
    assert names(module) == ["-", "sum", "-"]


def test_only_the_defining_operation_has_the_name() -> None:
    module = program()
    assert convert(module, LOW, (three_times, *TO_LOW), wide())
    assert names(module) == ["-", "-", "sum", "-", "-"]
    assert [op.location for op in module.walk()][2:4] == [HERE, NameLoc("sum", HERE)]


def test_a_value_that_was_there_keeps_its_own() -> None:
    module = program()
    assert convert(module, LOW, (forwarded, *TO_LOW), wide())
    assert names(module) == ["-", "-"]
