"""Tile, pointer, tensor view and token types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

from tilewright.dialects.cuda_tile.enums import PtrAttr
from tilewright.ir.attributes import Type
from tilewright.ir.declare import Version
from tilewright.ir.types import (
    BF16,
    DYNAMIC,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FNV8E5M3FNU,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    TF32,
    ShapedType,
    spell_shape,
)
from tilewright.support.bits import is_power_of_two

if TYPE_CHECKING:
    from tilewright.text.parser import Parser

Shape = tuple[int, ...]

MAX_ELEMENTS: Final = 16 * 1024 * 1024
"""The maximum number of elements of a tile."""

ELEMENT_SINCE: Final[dict[Type, Version]] = {
    **dict.fromkeys((I1, I8, I16, I32, I64, F16, BF16, F32, TF32, F64), (13, 1)),
    **dict.fromkeys((F8E4M3FN, F8E5M2), (13, 1)),
    F8E8M0FNU: (13, 2),
    F4E2M1FN: (13, 3),
    I4: (13, 3),
    FNV8E5M3FNU: (13, 4),
}
"""The element types, and the version that added each."""


def _is_number(element: Type) -> bool:
    """Whether an element type can be in memory; i4 is restricted to tiles."""
    return element in ELEMENT_SINCE and element is not I4


def _elided(type: Type) -> str:
    """Spell a nested type, without the prefix of this dialect."""
    return type.spell() if type.mnemonic.startswith("cuda_tile.") else str(type)


class PtrType(Type):
    """`ptr<f32>`: a pointer to a scalar in global memory."""

    __slots__ = ("pointee", "attr")  # noqa: RUF023 - the order of the parameters
    mnemonic = "cuda_tile.ptr"

    pointee: Type
    attr: PtrAttr | None

    def __new__(cls, pointee: Type, attr: PtrAttr | None = None) -> Self:
        return cls.unique(pointee, attr)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        pointee = cast("Type", parameters[0])
        if isinstance(pointee, PtrType):
            return "pointers to pointers are not allowed"
        return None if _is_number(pointee) else f"pointee must be a number, got '{pointee}'"

    def spell(self) -> str:
        attr = "" if self.attr is None else f", <{self.attr.keyword}>"
        return f"ptr<{self.pointee}{attr}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        pointee = parser.type("cuda_tile")
        attr = _parse_ptr_attr(parser) if parser.accept(",") else None
        parser.expect(">")
        return cls(pointee, attr)


def _parse_ptr_attr(parser: Parser) -> PtrAttr:
    """Parse `<none>` or `#cuda_tile.ptr_attr<none>`."""
    at = parser.at
    if parser.accept("<"):
        member = parser.member(PtrAttr)
        parser.expect(">")
        return member
    if not parser.peek().startswith("#"):
        parser.unexpected("a ptr_attr")
    member = parser.attribute()
    if not isinstance(member, PtrAttr):
        parser.error("expected a ptr_attr", at)
    return member


class TileType(ShapedType):
    """`tile<4x8xf32>`: a tile of static shape; rank 0 is a scalar."""

    __slots__ = ("shape", "element")  # noqa: RUF023 - the order of the parameters
    mnemonic = "cuda_tile.tile"

    shape: Shape
    element: Type

    def __new__(cls, shape: Shape, element: Type) -> Self:
        return cls.unique(shape, element)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        shape, element = cast("tuple[Shape, Type]", parameters)
        if element not in ELEMENT_SINCE and not isinstance(element, PtrType):
            return f"tile elements must be numbers or pointers, got '{element}'"
        return tile_problem(shape, element)

    @property
    def extents(self) -> Shape:
        return self.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def count(self) -> int:
        """The number of elements."""
        return element_count(self.shape)

    def with_shape(self, shape: Shape) -> TileType:
        """A tile of the same elements in another shape."""
        return TileType(shape, self.element)

    def with_element(self, element: Type) -> TileType:
        """A tile of the same shape with other elements."""
        return TileType(self.shape, element)

    def spell(self) -> str:
        return f"tile<{spell_shape(self.shape)}{_elided(self.element)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        at = parser.at
        shape, element = parser.shaped("cuda_tile")
        if DYNAMIC in shape:
            parser.error("tile dimensions must be static", at)
        parser.expect(">")
        return cls(shape, element)


def element_count(shape: Shape) -> int:
    """The number of elements in a shape."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def tile_problem(shape: Shape, element: Type) -> str | None:
    """Check the shape of a tile; returns an error message or `None`."""
    elements = 1
    for extent in shape:
        if extent <= 0:
            return "tile dimensions must be positive"
        if not is_power_of_two(extent):
            return "tile dimensions must be powers of two"
        if elements > MAX_ELEMENTS // extent:
            return "tile would exceed the maximum element count"
        elements *= extent
    # Two elements share a byte, and bytes must be filled.
    if element is F4E2M1FN and elements == 1:
        return "tiles of f4E2M1FN must have an even number of elements"
    return None


class TensorViewType(Type):
    """`tensor_view<?x64xf32, strides=[?,1]>`: a tensor in memory."""

    __slots__ = ("shape", "element", "strides", "attr")  # noqa: RUF023 - parameter order
    mnemonic = "cuda_tile.tensor_view"

    shape: Shape
    element: Type
    strides: Shape
    attr: PtrAttr | None

    def __new__(
        cls,
        shape: Shape,
        element: Type,
        strides: Shape,
        attr: PtrAttr | None = None,
    ) -> Self:
        return cls.unique(shape, element, strides, attr)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        shape, element, strides = cast("tuple[Shape, Type, Shape]", parameters[:3])
        if len(shape) != len(strides):
            return "tensor_view shape and stride must have the same rank"
        if any(extent <= 0 and extent != DYNAMIC for extent in shape):
            return "static tensor_view dimensions must be positive"
        if any(stride <= 0 and stride != DYNAMIC for stride in strides):
            return "static tensor_view strides must be positive"
        if not _is_number(element):
            return f"tensor_view elements must be numbers, got '{element}'"
        return None

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def spell(self) -> str:
        strides = ",".join("?" if stride == DYNAMIC else str(stride) for stride in self.strides)
        tail = f", strides=[{strides}]" if self.shape else ""
        if self.attr is not None:
            tail += f", #{self.attr.mnemonic}<{self.attr.keyword}>"
        return f"tensor_view<{spell_shape(self.shape)}{self.element}{tail}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the printed form."""
        parser.expect("<")
        shape, element = parser.shaped("cuda_tile")
        strides: tuple[int, ...] = ()
        if shape:
            for token in (",", "strides", "="):
                parser.expect(token)
            strides = tuple(parser.listed(lambda: _parse_stride(parser), "[", "]"))
        attr = _parse_ptr_attr(parser) if parser.accept(",") else None
        parser.expect(">")
        return cls(shape, element, strides, attr)


def _parse_stride(parser: Parser) -> int:
    if parser.accept("?"):
        return DYNAMIC
    at = parser.at
    stride = parser.integer()
    # Checked here, since the value of `DYNAMIC` must not be parsed as a stride.
    if not 0 < stride < 1 << 63:
        parser.error("static tensor_view strides must be positive", at)
    return stride


class TokenType(Type):
    """`token`: a dependence between memory operations; does not exist at run time."""

    __slots__ = ()
    mnemonic = "cuda_tile.token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "token"


class StringType(Type):
    """`string`: a handle of NVIDIA's compiler that no operation produces."""

    __slots__ = ()
    mnemonic = "cuda_tile.string"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "string"


TOKEN: Final = TokenType()
