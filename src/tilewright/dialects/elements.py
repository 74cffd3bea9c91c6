"""Element types and shapes of scalars, vectors and tensors, and constraints on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from tilewright.ir.constraints import TypeConstraint, exactly, instance_of
from tilewright.ir.traits import Trait
from tilewright.ir.types import (
    I1,
    I16,
    I32,
    I64,
    INDEX,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    ShapedType,
    TensorType,
    VectorType,
    memory_bits,
)

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def element_of(type: Type) -> Type:
    """The element type of a vector or tensor; a scalar is its own."""
    return type.element if isinstance(type, ShapedType) else type


def extents_of(type: Type) -> tuple[int, ...]:
    """The extents of a vector or tensor; `()` for a scalar."""
    return type.extents if isinstance(type, ShapedType) else ()


def shape_of(type: Type) -> tuple[object, ...] | None:
    """A key that is equal for types that differ only in their elements; `None` for scalars."""
    match type:
        case VectorType(shape=shape, scalable=scalable):
            return ("vector", shape, scalable)
        case TensorType(shape=shape, encoding=encoding):
            return ("tensor", shape, encoding)
        case _:
            return None


def with_element(type: Type, element: Type) -> Type:
    """The type with another element type."""
    match type:
        case VectorType():
            return VectorType(type.shape, element, type.scalable)
        case TensorType():
            return TensorType(type.shape, element, type.encoding)
        case _:
            return element


def width_of(type: Type) -> int:
    """The bit width of an integer, index or float element."""
    element = element_of(type)
    assert isinstance(element, IntegerType | FloatType | IndexType)
    return element.width


def pointee_bytes(element: Type) -> int:
    """The size of an element in memory in bytes; an i1 takes one."""
    return (memory_bits(element) + 7) // 8


def types_of(values: Iterable[Value]) -> tuple[Type, ...]:
    """The types of several values."""
    return tuple([value.type for value in values])


def listed(types: Iterable[Type]) -> str:
    """Format types for a diagnostic: `('i32', 'f32')`."""
    spelled = ", ".join(f"'{type}'" for type in types)
    return f"({spelled})"


def memref(value: Value) -> MemRefType:
    """The memref type of a value."""
    assert isinstance(value.type, MemRefType)
    return value.type


def vector(value: Value) -> VectorType:
    """The vector type of a value."""
    assert isinstance(value.type, VectorType)
    return value.type


def _like(description: str, accepts: Callable[[Type], bool]) -> TypeConstraint:
    return TypeConstraint(description, lambda type: accepts(element_of(type)))


def is_signless(type: Type) -> bool:
    """Whether a type is a signless integer."""
    return isinstance(type, IntegerType) and not type.signedness


def _is_signless_or_index(type: Type) -> bool:
    return type is INDEX or is_signless(type)


def _is_float(type: Type) -> bool:
    return isinstance(type, FloatType)


INTEGER_LIKE: Final = _like("signless-integer-like", _is_signless_or_index)
"""Integers and indices, and vectors and tensors of them."""
FIXED_INTEGER_LIKE: Final = _like("signless-fixed-width-integer-like", is_signless)
FLOAT_LIKE: Final = _like("floating-point-like", _is_float)
BOOL_LIKE: Final = _like("bool-like", lambda type: type is I1)
BITS_LIKE: Final = _like(
    "signless-integer-or-float-like", lambda type: is_signless(type) or _is_float(type)
)

SIGNLESS: Final = TypeConstraint("signless integer", is_signless)
I1_TYPE: Final = exactly(I1, "1-bit signless integer")
I16_TYPE: Final = exactly(I16, "16-bit signless integer")
I32_TYPE: Final = exactly(I32, "32-bit signless integer")
I64_TYPE: Final = exactly(I64, "64-bit signless integer")
INDEX_TYPE: Final = exactly(INDEX, "index")
INTEGER_OR_INDEX: Final = TypeConstraint("signless integer or index", _is_signless_or_index)
ANY_VECTOR: Final = instance_of(VectorType, "vector of any type values")
ANY_MEMREF: Final = instance_of(MemRefType, "memref of any type values")


def _is_ranked(type: Type) -> bool:
    return isinstance(type, MemRefType) and type.shape is not None


RANKED_MEMREF: Final = TypeConstraint("ranked memref of any type values", _is_ranked)


class SameShape(Trait):
    """The named fields are all scalars, or all of the same shape."""

    __slots__ = ("fields",)

    def __init__(self, *fields: str) -> None:
        super().__init__(f"same shape: {', '.join(fields)}")
        self.fields = fields

    def verify(self, op: Operation) -> Iterable[str]:
        types = [value.type for field in self.fields for value in op.schema.values(op, field)]
        if len({shape_of(type) for type in types}) > 1:
            fields = " and ".join(self.fields)
            yield f"expected {fields} to have the same shape, got {listed(types)}"
