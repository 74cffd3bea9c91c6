"""Constants that patterns create once in a block, however often they need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.ir.conversion_builder import ConversionBuilder

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.operation import Block, Operation
    from tilewright.ir.values import Value


class BlockConstants:
    """The constants of a conversion, by the block that has them."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[tuple[Block, type[Operation], Attribute, Type], Value] = {}


def block_constant(build: Builder, kind: type[Operation], value: Attribute, type: Type) -> Value:
    """Create a constant operation of a class, unless its block already has one."""
    point = build.point
    if point.anchor is not None or not isinstance(build, ConversionBuilder):
        return build.create(kind, value=value, types=[type]).results[0]
    block = point.block
    constants = build.context(BlockConstants).values
    key = (block, kind, value, type)
    known = constants.get(key)
    # At the end of a block every value of it dominates; one that was rolled back has no block.
    if known is None or known.parent_block is not block:
        known = constants[key] = build.create(kind, value=value, types=[type]).results[0]
    return known
