"""`arith.constant`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Self

from tilewright.dialects.arith.attributes import LITERAL, Literal
from tilewright.ir import declare as d
from tilewright.ir.attributes import DenseElementsAttr, IntegerAttr, element_bytes
from tilewright.ir.constraints import ANY_TYPE
from tilewright.ir.operation import Operation
from tilewright.ir.tiling import Way, alike
from tilewright.ir.traits import CONSTANT_LIKE, Effects
from tilewright.ir.types import I1, INDEX, IntegerType, TensorType, VectorType

if TYPE_CHECKING:
    from tilewright.support.location import Location
    from tilewright.text.parser import Parser
    from tilewright.text.printer import Printer


class ConstantOp(Operation):
    """Materialize a scalar, vector or tensor constant."""

    name = "arith.constant"
    effects = Effects.PURE
    traits = (CONSTANT_LIKE,)
    needs_whole = "the elements of a constant differ"

    value = d.attribute(LITERAL)
    result = d.result(ANY_TYPE)

    @classmethod
    def parse(cls, parser: Parser, location: Location) -> Self:
        """Parse `{attributes} 42 : i32`."""
        attributes = parser.optional_attr_dict()
        at = parser.at
        value = parser.attribute()
        if not isinstance(value, Literal):
            parser.error("expected a number or dense elements", at)
        return cls((), [value.type], {**attributes, "value": value}, (), location)

    def print(self, printer: Printer) -> None:
        """Print the form that `parse` accepts."""
        extra = printer.attr_dict(self, ("value",))
        printer.emit(f"{extra} {printer.attribute(self.value)}")

    def verify(self) -> Iterator[str]:
        value, type = self.value, self.result.type
        if value.type is not type:
            yield f"expected a value of type '{type}', got '{value.type}'"
        elif isinstance(type, IntegerType) and type.signedness:
            yield f"expected an integer without a sign, got '{type}'"
        elif isinstance(value, DenseElementsAttr):
            yield from _element_problems(value)

    def ways(self) -> Iterable[Way]:
        is_splat = isinstance(self.value, DenseElementsAttr) and self.value.is_splat
        return alike(self) if is_splat else ()

    def result_names(self, style: str) -> Iterable[tuple[int, str]]:
        return ((0, _name(self.value)),)


def _element_problems(value: DenseElementsAttr) -> Iterator[str]:
    type = value.type
    if not isinstance(type, VectorType | TensorType) or type.shape is None:
        yield f"expected a vector or tensor of known shape, got '{type}'"
        return
    count = 1
    for extent in type.shape:
        count *= extent
    stored = len(value.data) // element_bytes(type.element)
    if stored not in (1, count):
        yield f"expected 1 or {count} elements, got {stored}"


def _name(value: Literal) -> str:
    if not isinstance(value, IntegerAttr):
        return "cst"
    if value.type is I1:
        return "true" if value.value else "false"
    return f"c{value.value}" if value.type is INDEX else f"c{value.value}_{value.type}"
