"""The context of a conversion: state that patterns share, made anew for every conversion."""

from __future__ import annotations

import toy
from low import LOW, TO_LOW, LowUseOp, wide

from tilewright.ir.conversion import ConversionBuilder, Result, convert, converts


class Counter:
    """Counts the operations that patterns have seen."""

    def __init__(self) -> None:
        self.count = 0


class OtherCounter(Counter):
    """A class of its own."""


def test_patterns_of_one_conversion_share_a_context() -> None:
    counts: list[int] = []

    @converts(toy.UseOp)
    def count(op: toy.UseOp, new: toy.UseOp, build: ConversionBuilder) -> Result:
        context = build.context(Counter)
        context.count += 1
        counts.append(context.count)
        assert build.context(OtherCounter).count == 0
        return build.create(LowUseOp, inputs=new.inputs, types=[])

    for _ in range(2):
        module, build = toy.module()
        constant = toy.constant(build, 1)
        toy.use(build, constant)
        toy.use(build, constant)
        assert convert(module, LOW, (count, *TO_LOW), wide())
    assert counts == [1, 2, 1, 2]
