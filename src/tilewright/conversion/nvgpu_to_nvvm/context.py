"""The lowering context: values that patterns of this conversion use more than once in a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.conversion_builder import ConversionBuilder
    from tilewright.ir.operation import Block
    from tilewright.ir.values import Value


class LoweringContext:
    """Values of the new program, by the block that computes them."""

    __slots__ = ("fragment_registers",)

    def __init__(self) -> None:
        self.fragment_registers: dict[tuple[Block, Value, Type], list[Value]] = {}
        """The registers of this type that a vector was unpacked into."""


def lowering_context(build: ConversionBuilder) -> LoweringContext:
    """The context of the conversion at hand."""
    return build.context(LoweringContext)
