"""Type constraints of the LLVM dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.llvm.types import (
    ArrayType,
    PointerType,
    StructType,
    is_float,
    is_integer,
    is_storable,
    is_vector,
)
from tilewright.ir.constraints import TypeConstraint, exactly
from tilewright.ir.types import F32, F64, I1, I8, I16, I32, I64, VectorType

if TYPE_CHECKING:
    from tilewright.ir.attributes import Type


def _or_vector(test: Callable[[Type], bool]) -> Callable[[Type], bool]:
    return lambda t: test(t) or (is_vector(t) and test(element_of(t)))


def pointer(*spaces: int) -> TypeConstraint:
    """Constrain to a pointer in one of these address spaces, or in any."""
    if not spaces:
        return TypeConstraint("LLVM pointer type", lambda t: isinstance(t, PointerType))
    words = " or ".join(map(str, spaces))
    only = PointerType(spaces[0]) if len(spaces) == 1 else None
    return TypeConstraint(
        f"LLVM pointer in address space {words}",
        lambda t: isinstance(t, PointerType) and t.space in spaces,
        only,
    )


def vector_of(extent: int, *elements: Type) -> TypeConstraint:
    """Constrain to a vector of this length and one of these element types."""
    allowed = frozenset(VectorType((extent,), element) for element in elements)
    words = " or ".join(str(VectorType((extent,), element)) for element in elements)
    only = next(iter(allowed)) if len(allowed) == 1 else None
    return TypeConstraint(words, lambda t: t in allowed, only)


ANY: Final = TypeConstraint("LLVM dialect-compatible type", is_storable)
SCALAR_INTEGER: Final = TypeConstraint("signless integer", is_integer)
INTEGER: Final = TypeConstraint("signless integer or vector of them", _or_vector(is_integer))
FLOAT: Final = TypeConstraint("floating point LLVM type or vector of them", _or_vector(is_float))
POINTERS: Final = TypeConstraint(
    "LLVM pointer type or vector of them", _or_vector(lambda t: isinstance(t, PointerType))
)
CONDITION: Final = TypeConstraint("i1 or vector of them", _or_vector(lambda t: t is I1))
VECTOR: Final = TypeConstraint("LLVM dialect-compatible vector type", is_vector)
AGGREGATE: Final = TypeConstraint(
    "LLVM aggregate type", lambda t: isinstance(t, StructType | ArrayType)
)
STRUCT: Final = TypeConstraint("LLVM structure type", lambda t: isinstance(t, StructType))
POINTER: Final = pointer()

BOOL: Final = exactly(I1, "1-bit signless integer")
INT8: Final = exactly(I8, "8-bit signless integer")
INT16: Final = exactly(I16, "16-bit signless integer")
INT32: Final = exactly(I32, "32-bit signless integer")
INT64: Final = exactly(I64, "64-bit signless integer")
FLOAT32: Final = exactly(F32, "32-bit float")
FLOAT64: Final = exactly(F64, "64-bit float")
