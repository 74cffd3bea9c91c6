"""The components of a memref in LLVM: address, offset, sizes and strides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tilewright.conversion.nvgpu_to_nvvm.numbers import Number, as_value, dot, folded
from tilewright.conversion.nvgpu_to_nvvm.types import element_type, vector_type
from tilewright.dialects.llvm.directives import DYNAMIC_INDEX
from tilewright.dialects.llvm.memory import GEPOp
from tilewright.dialects.memref.layout import strides_and_offset
from tilewright.ir.types import DYNAMIC, MemRefType, VectorType
from tilewright.support.diagnostics import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tilewright.ir.attributes import Type
    from tilewright.ir.builder import Builder
    from tilewright.ir.conversion import ConversionBuilder
    from tilewright.ir.values import Value

_SMALL: Final = 1 << 31
"""Constant indices of a GEP have 32 bits."""


class Buffer:
    """The address, offset, sizes and strides of a memref, each a constant or a value."""

    __slots__ = ("address", "element", "offset", "sizes", "strides")

    def __init__(
        self,
        address: Value,
        offset: Number,
        sizes: Sequence[Number],
        strides: Sequence[Number],
        element: Type,
    ) -> None:
        self.address = address
        self.offset = offset
        self.sizes = sizes
        self.strides = strides
        self.element = element

    @staticmethod
    def of(value: Value, build: ConversionBuilder) -> Buffer:
        """Return the components of a memref of the source program."""
        type = value.type
        assert isinstance(type, MemRefType)
        address, *rest = build.values(value)
        numbers = iter(rest)
        (strides, offset), shape = strides_and_offset(type) or ((), 0), type.shape or ()
        return Buffer(
            address,
            _known(offset, numbers),
            [_known(extent, numbers) for extent in shape],
            [_known(stride, numbers) for stride in strides],
            memory_type(type),
        )

    def parts(self, type: MemRefType, build: Builder) -> list[Value]:
        """Return the converted values of a memref of this type: the address and what is dynamic."""
        (strides, offset), shape = strides_and_offset(type) or ((), 0), type.shape or ()
        static = (offset, *shape, *strides)
        actual = (self.offset, *self.sizes, *self.strides)
        unknown = [
            as_value(build, number)
            for step, number in zip(static, actual, strict=True)
            if step == DYNAMIC
        ]
        return [self.address, *unknown]

    def element_address(self, indices: Sequence[Number], build: Builder) -> Value:
        """Compute the address of an element."""
        offset = dot(build, self.offset, zip(map(folded, indices), self.strides, strict=True))
        return offset_address(self.address, offset, self.element, build)


def offset_address(address: Value, count: Number, element: Type, build: Builder) -> Value:
    """Advance an address by a number of elements."""
    if count == 0:
        return address
    if isinstance(count, int) and abs(count) < _SMALL:
        return build.create(GEPOp, base=address, constants=[count], element=element).res
    return build.create(
        GEPOp,
        base=address,
        indices=[as_value(build, count)],
        constants=[DYNAMIC_INDEX],
        element=element,
    ).res


def memory_type(type: MemRefType) -> Type:
    """Return the LLVM type of an element in memory."""
    inside = type.element
    element = vector_type(inside) if isinstance(inside, VectorType) else element_type(inside)
    if element is None:
        raise InternalError(f"the element type of '{type}' does not convert to LLVM")
    return element


def _known(step: int, numbers: Iterator[Value]) -> Number:
    return next(numbers) if step == DYNAMIC else step
