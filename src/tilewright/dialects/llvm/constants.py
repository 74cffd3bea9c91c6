"""Constants, addresses of globals, undef and poison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tilewright.dialects.llvm.base import LLVMOp
from tilewright.dialects.llvm.constraints import ANY, POINTER
from tilewright.dialects.llvm.functions import FuncOp
from tilewright.dialects.llvm.globals import GlobalOp
from tilewright.dialects.llvm.types import ArrayType, PointerType, StructType
from tilewright.ir import declare as d
from tilewright.ir.attribute_kinds import SYMBOL_ATTR, InstanceKind
from tilewright.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from tilewright.ir.symbol_table import resolve
from tilewright.ir.traits import CONSTANT_LIKE, Effects
from tilewright.ir.types import I8, FloatType, IntegerType, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type

VALUE: Final = InstanceKind(Attribute, "an attribute")


def constant_problem(value: Attribute, type: Type) -> str | None:
    """Check that an attribute is a constant of a type."""
    match value:
        case IntegerAttr() if isinstance(type, IntegerType):
            return None if _width(value.type) == type.width else _differs(value.type, type)
        case FloatAttr() if isinstance(type, FloatType):
            return None if value.type is type else _differs(value.type, type)
        case FloatAttr() if isinstance(type, IntegerType):
            # Narrow floats are integers to LLVM.
            return None if _width(value.type) == type.width else _differs(value.type, type)
        case DenseElementsAttr() if isinstance(type, VectorType | ArrayType):
            return _elements_problem(value, type)
        case StringAttr() if isinstance(type, ArrayType) and type.element is I8:
            size = len(value.value.encode("utf-8", "surrogateescape"))
            return None if size == type.extent else f"expected {type.extent} bytes, got {size}"
        case ArrayAttr() if isinstance(type, StructType | ArrayType):
            return _members_problem(value, type)
        case _:
            return f"this attribute is not a constant of type '{type}'"


def _width(type: Any) -> int:
    return type.width


def _differs(actual: Type, expected: Type) -> str:
    return f"expected a value of type '{expected}', got one of type '{actual}'"


def _elements_problem(value: DenseElementsAttr, type: VectorType | ArrayType) -> str | None:
    shape: tuple[int, ...] = ()
    inside: Type = type
    while isinstance(inside, ArrayType | VectorType):
        extents: tuple[int, ...] = (
            (inside.extent,) if isinstance(inside, ArrayType) else inside.shape
        )
        shape += extents
        inside = inside.element
    shaped: Any = value.type
    element: Any = inside
    if shaped.shape != shape or _width(shaped.element) != getattr(element, "width", None):
        return _differs(value.type, type)
    return None


def _members_problem(value: ArrayAttr, type: StructType | ArrayType) -> str | None:
    types = type.elements if isinstance(type, StructType) else (type.element,) * type.extent
    if len(types) != len(value.elements):
        return f"expected {len(types)} members, got {len(value.elements)}"
    pairs = zip(value.elements, types, strict=True)
    return next((p for member, t in pairs if (p := constant_problem(member, t))), None)


class ConstantOp(LLVMOp):
    """A constant scalar, vector, string or aggregate."""

    name = "llvm.mlir.constant"
    effects = Effects.PURE
    traits = (CONSTANT_LIKE,)
    syntax = "`(` custom<Value>($value) `)` attr-dict `:` type($res)"

    value = d.attribute(VALUE)
    res = d.result(ANY)

    def verify(self) -> Iterator[str]:
        problem = constant_problem(self.value, self.res.type)
        if problem is not None:
            yield problem


class Nullary(LLVMOp):
    """Base of the operations without operands or attributes."""

    effects = Effects.PURE
    syntax = "attr-dict `:` type($res)"

    res = d.result(ANY)


class ZeroOp(Nullary):
    """The zero of a type; the null pointer."""

    name = "llvm.mlir.zero"


class UndefOp(Nullary):
    """An undefined value, possibly different at every use."""

    name = "llvm.mlir.undef"


class PoisonOp(Nullary):
    """A poison value."""

    name = "llvm.mlir.poison"


class AddressOfOp(LLVMOp):
    """The address of a global or a function."""

    name = "llvm.mlir.addressof"
    effects = Effects.PURE
    syntax = "$symbol attr-dict `:` type($res)"

    symbol = d.attribute(SYMBOL_ATTR, spelling="global_name")
    res = d.result(POINTER)

    def verify_context(self) -> Iterator[str]:
        target = resolve(SymbolRefAttr(self.symbol), self)
        if not isinstance(target, GlobalOp | FuncOp):
            yield f"expected '@{self.symbol}' to name a global or a function"
            return
        expected = PointerType(target.address_space if isinstance(target, GlobalOp) else 0)
        if self.res.type is not expected:
            yield f"expected the type '{expected}' of '@{self.symbol}', got '{self.res.type}'"
