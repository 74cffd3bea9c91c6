"""The types of the LLVM dialect; scalars and vectors are builtin types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

from tilewright.ir.attributes import Type
from tilewright.ir.types import I1, FloatType, IntegerType, VectorType

if TYPE_CHECKING:
    from tilewright.text.parser import Parser

DIALECT: Final = "llvm"


def _bare(type: Type) -> str:
    """Print a nested type; those of this dialect have no prefix there."""
    return type.spell() if type.mnemonic.startswith("llvm.") else str(type)


class PointerType(Type):
    """`!llvm.ptr<3>`: a pointer in an address space."""

    __slots__ = ("space",)
    mnemonic = "llvm.ptr"

    space: int

    def __new__(cls, space: int = 0) -> Self:
        return cls.unique(space)

    def spell(self) -> str:
        return f"ptr<{self.space}>" if self.space else "ptr"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `spell` writes."""
        if not parser.accept("<"):
            return cls()
        space = parser.integer()
        parser.expect(">")
        return cls(space)


class StructType(Type):
    """`!llvm.struct<(i32, f32)>`: a struct; packed ones have no padding."""

    __slots__ = ("elements", "packed")
    mnemonic = "llvm.struct"

    elements: tuple[Type, ...]
    packed: bool

    def __new__(cls, elements: tuple[Type, ...], packed: bool = False) -> Self:
        return cls.unique(elements, packed)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        elements = cast("tuple[Type, ...]", parameters[0])
        wrong = next((element for element in elements if not is_storable(element)), None)
        return None if wrong is None else f"a struct cannot contain '{wrong}'"

    def spell(self) -> str:
        packed = "packed " if self.packed else ""
        return f"struct<{packed}({', '.join(map(_bare, self.elements))})>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `spell` writes."""
        parser.expect("<")
        packed = parser.accept("packed")
        elements = parser.listed(lambda: parser.type(DIALECT), "(", ")")
        parser.expect(">")
        return cls(tuple(elements), packed)


class ArrayType(Type):
    """`!llvm.array<4 x i8>`: an array."""

    __slots__ = ("element", "extent")
    mnemonic = "llvm.array"

    element: Type
    extent: int

    def __new__(cls, extent: int, element: Type) -> Self:
        return cls.unique(element, extent)

    def __reduce__(self) -> tuple[object, ...]:
        return ArrayType, (self.extent, self.element)

    @classmethod
    def problem(cls, *parameters: object) -> str | None:
        element = cast("Type", parameters[0])
        return None if is_storable(element) else f"an array cannot contain '{element}'"

    def spell(self) -> str:
        return f"array<{self.extent} x {_bare(self.element)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `spell` writes, and `4xi8` as well."""
        parser.expect("<")
        glued = parser.extents()
        if glued:
            extent = glued[0]
        else:
            extent = parser.integer()
            parser.expect("x")
        element = parser.type(DIALECT)
        for inner in reversed(glued[1:]):
            element = cls(inner, element)
        parser.expect(">")
        return cls(extent, element)


class VoidType(Type):
    """`!llvm.void`: the result type of a function without a result."""

    __slots__ = ()
    mnemonic = "llvm.void"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "void"


class TokenType(Type):
    """`!llvm.token`: a token without a value."""

    __slots__ = ()
    mnemonic = "llvm.token"

    def __new__(cls) -> Self:
        return cls.unique()

    def spell(self) -> str:
        return "token"


class LLVMFunctionType(Type):
    """`!llvm.func<i32 (ptr, ...)>`."""

    __slots__ = ("inputs", "result", "variadic")
    mnemonic = "llvm.func"

    inputs: tuple[Type, ...]
    result: Type
    variadic: bool

    def __new__(cls, inputs: tuple[Type, ...], result: Type, variadic: bool = False) -> Self:
        return cls.unique(inputs, result, variadic)

    @property
    def results(self) -> tuple[Type, ...]:
        """The result as a tuple that is empty for `void`."""
        return () if self.result is VOID else (self.result,)

    def spell(self) -> str:
        inputs = [*map(_bare, self.inputs), *(("...",) if self.variadic else ())]
        return f"func<{_bare(self.result)} ({', '.join(inputs)})>"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read what `spell` writes."""
        parser.expect("<")
        result = parser.type(DIALECT)
        parser.expect("(")
        inputs: list[Type] = []
        variadic = False
        while not parser.accept(")"):
            variadic = parser.accept("...")
            if not variadic:
                inputs.append(parser.type(DIALECT))
            if variadic or not parser.accept(","):
                parser.expect(")")
                break
        parser.expect(">")
        return cls(tuple(inputs), result, variadic)


VOID: Final = VoidType()
TOKEN: Final = TokenType()
PTR: Final = PointerType()
PTR_GLOBAL: Final = PointerType(1)
PTR_SHARED: Final = PointerType(3)
PTR_CLUSTER: Final = PointerType(7)

_FLOATS: Final = frozenset(("f16", "bf16", "f32", "f64", "f80", "f128"))


def is_float(type: Type) -> bool:
    """Return whether LLVM has this float type; narrower ones are integers there."""
    return isinstance(type, FloatType) and type.format in _FLOATS


def is_integer(type: Type) -> bool:
    """Return whether this is a signless integer, as in LLVM."""
    return isinstance(type, IntegerType) and not type.signedness


def is_vector(type: Type) -> bool:
    """Return whether this is a vector of rank one, as in LLVM."""
    if not isinstance(type, VectorType) or len(type.shape) != 1 or type.scalable[0]:
        return False
    element = type.element
    return is_integer(element) or is_float(element) or isinstance(element, PointerType)


def is_storable(type: Type) -> bool:
    """Return whether values of this type can be loaded and stored."""
    if isinstance(type, PointerType | StructType | ArrayType):
        return True
    return is_integer(type) or is_float(type) or is_vector(type)


def condition_type(type: Type) -> Type:
    """Return the result type of a comparison: i1, or a vector of i1."""
    return VectorType(type.shape, I1) if isinstance(type, VectorType) else I1


def member_type(type: Type, position: tuple[int, ...]) -> Type | None:
    """Return the type of a member of a struct or an array, or `None` if there is none."""
    for index in position:
        if isinstance(type, StructType) and 0 <= index < len(type.elements):
            type = type.elements[index]
        elif isinstance(type, ArrayType) and 0 <= index < type.extent:
            type = type.element
        else:
            return None
    return type
