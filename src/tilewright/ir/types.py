"""MLIR's builtin types."""

from __future__ import annotations

from typing import ClassVar, Final, Self, cast

from tilewright.ir.attributes import Attribute, IntegerAttr, Parametric, Type

DYNAMIC: Final = -(1 << 63)
"""The extent, stride or offset that is only known when the program runs."""


def spell_shape(shape: tuple[int, ...] | None) -> str:
    """`4x?x` in front of an element type; `*x` for no rank."""
    if shape is None:
        return "*x"
    return "".join("?x" if extent == DYNAMIC else f"{extent}x" for extent in shape)


def spell_space(space: Attribute) -> str:
    """A memory space; a number of i64 does not say its type."""
    return str(space.value) if isinstance(space, IntegerAttr) and space.type is I64 else str(space)


class IntegerType(Type):
    """`i32`, `si8`, `ui16`: signedness is "", "s" or "u"."""

    __slots__ = ("signedness", "width")
    signedness: str
    width: int

    def __new__(cls, width: int, signedness: str = "") -> Self:
        return cls.unique(signedness, width)

    def __reduce__(self) -> tuple[object, ...]:
        return IntegerType, (self.width, self.signedness)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        width = parameters[1]
        assert isinstance(width, int)
        if 0 < width < 1 << 24:
            return None
        return f"integer width must be in 1 to {(1 << 24) - 1}, got {width}"

    def spell(self) -> str:
        return f"{self.signedness}i{self.width}"


class FloatType(Type):
    """A floating-point type by its MLIR name; `support.floats` knows what the bits mean."""

    __slots__ = ("format", "width")
    format: str
    width: int

    def __new__(cls, format: str, width: int) -> Self:
        return cls.unique(format, width)

    def spell(self) -> str:
        return self.format


class IndexType(Type):
    """`index`: as wide as an address."""

    __slots__ = ()
    width: ClassVar[int] = 64
    """Bit width of constants of this type."""

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "index"


class NoneType(Type):
    """`none`: carries nothing."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "none"


class FunctionType(Type):
    """`(i32, f32) -> f32`."""

    __slots__ = ("inputs", "results")
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __new__(cls, inputs: tuple[Type, ...], results: tuple[Type, ...] = ()) -> Self:
        return cls.unique(inputs, results)

    def spell(self) -> str:
        results = ", ".join(map(str, self.results))
        bare = len(self.results) == 1 and not isinstance(self.results[0], FunctionType)
        return f"({', '.join(map(str, self.inputs))}) -> {results if bare else f'({results})'}"


class TupleType(Type):
    """`tuple<i32, f32>`."""

    __slots__ = ("elements",)
    elements: tuple[Type, ...]

    def __new__(cls, elements: tuple[Type, ...]) -> Self:
        return cls.unique(elements)

    def spell(self) -> str:
        return f"tuple<{', '.join(map(str, self.elements))}>"


class ComplexType(Type):
    """`complex<f32>`."""

    __slots__ = ("element",)
    element: Type

    def __new__(cls, element: Type) -> Self:
        return cls.unique(element)

    def spell(self) -> str:
        return f"complex<{self.element}>"


class ShapedType(Type):
    """Base of the types of values that have many elements; a subclass has the slots."""

    __slots__ = ()

    element: Type

    @property
    def extents(self) -> tuple[int, ...]:
        """How many elements there are along each dimension."""
        raise NotImplementedError


class VectorType(ShapedType):
    """`vector<4x[8]xf32>`; `scalable` has one flag a dimension."""

    __slots__ = ("element", "scalable", "shape")
    element: Type
    scalable: tuple[bool, ...]
    shape: tuple[int, ...]

    def __new__(
        cls, shape: tuple[int, ...], element: Type, scalable: tuple[bool, ...] = ()
    ) -> Self:
        return cls.unique(element, scalable or (False,) * len(shape), shape)

    def __reduce__(self) -> tuple[object, ...]:
        return VectorType, (self.shape, self.element, self.scalable)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        shape = cast("tuple[int, ...]", parameters[2])
        if all(extent > 0 for extent in shape):
            return None
        return "vector dimensions must be positive"

    @property
    def extents(self) -> tuple[int, ...]:
        return self.shape

    def spell(self) -> str:
        extents = zip(self.shape, self.scalable, strict=True)
        shape = "".join(f"[{n}]x" if scalable else f"{n}x" for n, scalable in extents)
        return f"vector<{shape}{self.element}>"


class TensorType(ShapedType):
    """`tensor<4x?xf32, encoding>`; the shape of an unranked tensor is `None`."""

    __slots__ = ("element", "encoding", "shape")
    element: Type
    encoding: Attribute | None
    shape: tuple[int, ...] | None

    def __new__(
        cls, shape: tuple[int, ...] | None, element: Type, encoding: Attribute | None = None
    ) -> Self:
        return cls.unique(element, encoding, shape)

    def __reduce__(self) -> tuple[object, ...]:
        return TensorType, (self.shape, self.element, self.encoding)

    @property
    def extents(self) -> tuple[int, ...]:
        assert self.shape is not None
        return self.shape

    def spell(self) -> str:
        encoding = "" if self.encoding is None else f", {self.encoding}"
        return f"tensor<{spell_shape(self.shape)}{self.element}{encoding}>"


class StridedLayoutAttr(Parametric):
    """`strided<[8, 1], offset: ?>`: how far apart neighbours are along each dimension."""

    __slots__ = ("offset", "strides")
    offset: int
    strides: tuple[int, ...]

    def __new__(cls, strides: tuple[int, ...], offset: int = 0) -> Self:
        return cls.unique(offset, strides)

    def __reduce__(self) -> tuple[object, ...]:
        return StridedLayoutAttr, (self.strides, self.offset)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        return "strides must not be zero" if 0 in cast("tuple[int, ...]", parameters[1]) else None

    def __str__(self) -> str:
        offset = f", offset: {_spell_step(self.offset)}" if self.offset else ""
        return f"strided<[{', '.join(map(_spell_step, self.strides))}]{offset}>"


def _spell_step(step: int) -> str:
    return "?" if step == DYNAMIC else str(step)


class MemRefType(Type):
    """`memref<4x?xf32, layout, space>`; the shape of an unranked one is `None`."""

    __slots__ = ("element", "layout", "shape", "space")
    element: Type
    layout: Attribute | None
    shape: tuple[int, ...] | None
    space: Attribute | None

    def __new__(
        cls,
        shape: tuple[int, ...] | None,
        element: Type,
        layout: Attribute | None = None,
        space: Attribute | None = None,
    ) -> Self:
        return cls.unique(element, layout, shape, space)

    def __reduce__(self) -> tuple[object, ...]:
        return MemRefType, (self.shape, self.element, self.layout, self.space)

    def spell(self) -> str:
        layout = "" if self.layout is None else f", {self.layout}"
        space = "" if self.space is None else f", {spell_space(self.space)}"
        return f"memref<{spell_shape(self.shape)}{self.element}{layout}{space}>"


class OpaqueType(Type):
    """A type of a dialect we do not know: its text, from `!` on."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        return cls.unique(text)

    def spell(self) -> str:
        return self.text


I1: Final = IntegerType(1)
I4: Final = IntegerType(4)
I8: Final = IntegerType(8)
I16: Final = IntegerType(16)
I32: Final = IntegerType(32)
I64: Final = IntegerType(64)
INDEX: Final = IndexType()
F16: Final = FloatType("f16", 16)
BF16: Final = FloatType("bf16", 16)
F32: Final = FloatType("f32", 32)
F64: Final = FloatType("f64", 64)
TF32: Final = FloatType("tf32", 19)
F8E4M3FN: Final = FloatType("f8E4M3FN", 8)
F8E5M2: Final = FloatType("f8E5M2", 8)
F8E8M0FNU: Final = FloatType("f8E8M0FNU", 8)
F4E2M1FN: Final = FloatType("f4E2M1FN", 4)
FNV8E5M3FNU: Final = FloatType("fnv8E5M3FNU", 8)

FLOATS: Final = {
    type.format: type
    for type in (
        F16,
        BF16,
        F32,
        F64,
        TF32,
        F8E4M3FN,
        F8E5M2,
        F8E8M0FNU,
        F4E2M1FN,
        FNV8E5M3FNU,
        FloatType("f8E3M4", 8),
        FloatType("f8E4M3", 8),
        FloatType("f8E4M3FNUZ", 8),
        FloatType("f8E5M2FNUZ", 8),
        FloatType("f8E4M3B11FNUZ", 8),
        FloatType("f6E2M3FN", 6),
        FloatType("f6E3M2FN", 6),
        FloatType("f80", 80),
        FloatType("f128", 128),
    )
}
"""The float types that the text knows by a bare keyword: MLIR's, and one of NVIDIA's."""


def memory_bits(element: Type) -> int:
    """How many bits a number takes in memory, beside others of its kind."""
    assert isinstance(element, IntegerType | FloatType)
    # tf32 has 19 bits that mean something, in 32.
    return F32.width if element is TF32 else element.width
