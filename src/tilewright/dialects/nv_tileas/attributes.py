"""The attributes of nv_tileas: layouts of tiles, and the instructions that were chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from tilewright.ir.attribute_kinds import EnumKind, InstanceKind
from tilewright.ir.attributes import EnumAttr, Parametric
from tilewright.ir.types import TensorType
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, pack, unpack

if TYPE_CHECKING:
    from tilewright.ir.attributes import Attribute, Type
    from tilewright.ir.values import Value
    from tilewright.text.attribute_printer import AttributePrinter
    from tilewright.text.parser import Parser

HOLDERS: Final = (REGISTER, LANE, WARP)
"""What a tile is spread over."""


class LayoutAttr(Parametric):
    """`#nv_tileas.layout<[8, 64], register = [[0, 1]], lane = [[0, 2], ...], warp = [[1, 0]]>`.

    The element that bit `i` of each index contributes; the element of a register of a thread is
    the exclusive or of these. `[0, 0]` says that both values of the bit hold the same.
    """

    __slots__ = ("layout",)
    mnemonic = "nv_tileas.layout"

    layout: Layout

    def __new__(cls, layout: Layout) -> Self:
        return cls.unique(layout)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        (layout,) = parameters
        assert isinstance(layout, Layout)
        if layout.names != HOLDERS:
            return f"a layout must say {', '.join(HOLDERS)}, got {', '.join(layout.names)}"
        if not layout.is_surjective:
            return "a layout must hold every element"
        if layout.distinct_registers() != layout:
            return "the registers of a thread must hold different elements"
        return None

    def print(self, printer: AttributePrinter) -> str:
        """The text after the mnemonic."""
        shape = self.layout.shape
        parts = [str(list(shape))]
        for name, vectors in self.layout.inputs:
            places = ", ".join(str(list(unpack(vector, shape))) for vector in vectors)
            parts.append(f"{name} = [{places}]")
        return f"<{', '.join(parts)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `print` writes."""

        def numbers() -> tuple[int, ...]:
            return tuple(parser.listed(parser.integer, "[", "]"))

        parser.expect("<")
        at = parser.at
        shape = numbers()
        inputs: list[tuple[str, list[int]]] = []
        while parser.accept(","):
            name = parser.keyword()
            parser.expect("=")
            places = parser.listed(numbers, "[", "]")
            if any(len(place) != len(shape) for place in places):
                parser.error(f"expected places with {len(shape)} coordinates", at)
            inputs.append((name, [pack(place, shape) for place in places]))
        parser.expect(">")
        try:
            layout = Layout(inputs, shape)
        except ValueError as error:
            parser.error(str(error), at)
        return cls(layout)


class Atom(EnumAttr, mnemonic="nv_tileas.atom"):
    """The instruction that a product of matrices is made of."""

    FMA = 0
    """Sums of products of scalars, for what no tensor core takes."""
    MMA_SYNC = 1
    WGMMA = 2


class Residency(EnumAttr, mnemonic="nv_tileas.residency"):
    """Where a buffer lies."""

    SHARED = 0
    TENSOR = 1
    """The memory of the tensor cores."""


ATOM: Final = EnumKind(Atom)
LAYOUT: Final = InstanceKind(LayoutAttr, "layout")


def laid_out(element: Type, layout: Layout) -> TensorType:
    """The type of a tile in a layout."""
    return TensorType(layout.shape, element, LayoutAttr(layout))


def layout_of(value: Value | Type) -> Layout:
    """The layout of a tile that has one."""
    found = maybe_layout_of(value)
    assert found is not None
    return found


def maybe_layout_of(value: Value | Type) -> Layout | None:
    """The layout of a tile, or nothing for what has none, scalars among them."""
    type = value if isinstance(value, TensorType) else getattr(value, "type", None)
    if isinstance(type, TensorType) and isinstance(type.encoding, LayoutAttr):
        return type.encoding.layout
    return None


def alias(attribute: Attribute) -> str | None:
    """Layouts are long and recur: they are defined once, in front of the program."""
    return "layout" if isinstance(attribute, LayoutAttr) else None
