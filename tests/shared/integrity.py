"""Checks that the links of a program agree with each other in both directions."""

from __future__ import annotations

from tilewright.ir.operation import Block, Operation
from tilewright.ir.values import Value


def check_integrity(root: Operation) -> None:
    """Users against operands, lists against their links, children against their parents."""
    uses: dict[Value, dict[Operation, int]] = {}
    values: list[Value] = []
    for op in root.walk():
        for value in op.operands:
            counts = uses.setdefault(value, {})
            counts[op] = counts.get(op, 0) + 1
        values += op.results
        for index, result in enumerate(op.results):
            assert result.owner is op
            assert result.index == index
        for region in op.regions:
            assert region.parent is op
            for block in region.blocks:
                assert block.parent is region
                values += block.args
                check_block(block)
    for value in values:
        assert value.users == uses.get(value, {}), value
    assert uses.keys() <= set(values), "values from outside are used"


def check_block(block: Block) -> None:
    for index, argument in enumerate(block.args):
        assert argument.owner is block
        assert argument.index == index
    before = None
    for op in block:
        assert op.parent is block
        assert op.prev is before
        before = op
    assert block.last is before
    assert list(reversed(block)) == list(block)[::-1]
