"""Transfer patterns, which need no builder: they return operations, and the driver inserts them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import toy
from integrity import check_integrity
from low import HERE, LOW, TO_LOW, LowAddOp, LowConstantOp, LowUseOp, contents, wide

from tilewright.ir.conversion import PatternFinder, convert, transfers
from tilewright.ir.conversion_pattern import ConversionPattern, Made
from tilewright.ir.legality import ConversionTarget
from tilewright.ir.operation import Operation
from tilewright.ir.type_converter import TypeConverter
from tilewright.ir.types import I64
from tilewright.ir.values import Value
from tilewright.support.diagnostics import UserError


@transfers(toy.ConstantOp)
def constant(op: toy.ConstantOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Convert a constant to a constant plus another: two operations for one."""
    results = types.convert(op.result.type) or ()
    one = LowConstantOp((), results, {}, (), op.location)
    return one, LowAddOp((*one.results, *one.results), results, {}, (), op.location)


@transfers(toy.AddOp)
def add(op: toy.AddOp, operands: Sequence[Value], types: TypeConverter) -> Made:
    """Convert an addition of two different values; decline others."""
    if operands[0] is operands[1]:
        return None
    return LowAddOp(operands, types.convert(op.result.type) or (), {}, (), op.location)


SHORT = (constant, add)


def without_transfer(pattern: ConversionPattern) -> ConversionPattern:
    return ConversionPattern(pattern.roots, pattern.apply, pattern.name)


def program() -> Operation:
    module, build = toy.module()
    build.location = HERE
    one, two = toy.constant(build, 1), toy.constant(build, 2)
    toy.use(build, toy.add(build, one, two))
    return module


def test_transfers_create_the_same_operations() -> None:
    module, other = program(), program()
    convert(module, LOW, (*SHORT, *TO_LOW), wide())
    slow = [without_transfer(pattern) for pattern in SHORT]
    convert(other, LOW, (*slow, *TO_LOW), wide())
    assert contents(module) == contents(other)
    assert contents(module)[1:] == [
        "low.constant i64",
        "low.add i64 i64 i64",
        "low.constant i64",
        "low.add i64 i64 i64",
        "low.add i64 i64 i64",
        "low.use i64",
    ]
    assert all(op.location is HERE for op in module.regions[0].block)
    check_integrity(module)


def test_declined_operations_go_to_other_patterns() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    toy.use(build, toy.add(build, one, one))
    assert convert(module, LOW, (add, *TO_LOW), wide())
    assert "low.add i64 i64 i64" in contents(module)


def test_an_operation_without_a_pattern_is_an_error() -> None:
    module, build = toy.module()
    one = toy.constant(build, 1)
    toy.use(build, toy.add(build, one, one))
    rest = [pattern for pattern in TO_LOW if toy.AddOp not in pattern.roots]
    with pytest.raises(UserError, match=r"failed to legalize operation 'toy\.add'"):
        convert(module, LOW, (add, *rest), wide())


def test_a_finder_may_be_used_again_for_another_target() -> None:
    finder = PatternFinder((*SHORT, *TO_LOW))
    module, other = program(), program()
    assert convert(module, LOW, finder, wide())
    keep = ConversionTarget(legal=("toy", "low"))
    assert convert(other, keep, finder, wide())
    assert not any(line.startswith("low.") for line in contents(other))
    third = program()
    assert convert(third, LOW, finder, wide())
    assert contents(third) == contents(module)


def test_a_verdict_by_operation_is_asked_every_time() -> None:
    def judge(op: toy.ConstantOp) -> bool:
        return op.value == 1

    module, build = toy.module()
    for value in (1, 2, 1):
        toy.constant(build, value)
    target = ConversionTarget(legal=("low",), dynamic={toy.ConstantOp: judge})
    assert convert(module, target, (constant,), wide(), partial=True)
    assert [line.split()[0] for line in contents(module)[1:]] == [
        "toy.constant", "low.constant", "low.add", "toy.constant",
    ]  # fmt: skip


def test_results_have_converted_types() -> None:
    module = program()
    convert(module, LOW, (*SHORT, *TO_LOW), wide())
    uses = [op for op in module.walk() if isinstance(op, LowUseOp)]
    assert [value.type for value in uses[0].operands] == [I64]
