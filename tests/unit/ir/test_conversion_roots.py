"""Conversions of several roots, their checks, and legality of unnamed operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
import toy
from integrity import check_integrity
from low import LOW, TO_LOW, contents, wide

from tilewright.ir.conversion import Conversion, convert_all
from tilewright.ir.equivalence import equivalent
from tilewright.ir.legality import ConversionTarget, Legality
from tilewright.ir.operation import Operation, Region, UnregisteredOp
from tilewright.support.diagnostics import Diagnostic, Sink, UserError


def program(*, legal: bool) -> Operation:
    """Build a module that ends in an operation that has no pattern and is legal or not."""
    module, build = toy.module()
    one = toy.constant(build, 1)
    toy.use(build, one)
    if not legal:
        build.create(toy.StoreOp, value=one, address=one)
    return module


def test_all_roots_are_converted() -> None:
    roots = [program(legal=True), program(legal=True)]
    assert convert_all([Conversion(root, LOW, TO_LOW, wide()) for root in roots])
    for root in roots:
        assert contents(root) == ["toy.module ", "low.constant i64", "low.use i64"]
        check_integrity(root)


@pytest.mark.parametrize("failing", [0, 1])
def test_one_root_that_fails_leaves_all_untouched(failing: int) -> None:
    roots = [program(legal=number != failing) for number in range(2)]
    before = [root.clone() for root in roots]
    sink = Sink()
    assert not convert_all([Conversion(root, LOW, TO_LOW, wide()) for root in roots], sink)
    assert len(sink.diagnostics) == 1
    for root, copy in zip(roots, before, strict=True):
        assert equivalent(root, copy, locations=True)
        check_integrity(root)


def test_a_check_sees_the_new_program_before_it_is_in_place() -> None:
    root = program(legal=True)
    before = root.clone()
    seen: list[str] = []

    def check(regions: Sequence[Region]) -> Iterator[Diagnostic]:
        for region in regions:
            seen.extend(op.name for op in region.walk())
        yield Diagnostic("found by the check", root.location)

    with pytest.raises(UserError, match="found by the check"):
        convert_all([Conversion(root, LOW, TO_LOW, wide(), check=check)])
    assert seen == ["low.constant", "low.use"]
    assert equivalent(root, before, locations=True)
    check_integrity(root)


def test_a_judge_of_unnamed_operations() -> None:
    target = ConversionTarget(
        legal=("low",), illegal=(toy.UseOp,), unknown=lambda op: len(op.operands) == 0
    )
    _, build = toy.module()
    one = toy.constant(build, 1)
    defining = one.defining_op()
    assert defining is not None
    assert target.legality(defining) is Legality.LEGAL
    assert target.legality(build.create(toy.AddOp, lhs=one, rhs=one)) is Legality.ILLEGAL
    assert target.legality(toy.use(build)) is Legality.ILLEGAL
    assert target.legality(UnregisteredOp("low.op")) is Legality.LEGAL
