"""Type constraints of nv_tileaa operands and results.

A tile is a tensor of static shape or, at rank 0, the bare element type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.types import (
    MEM_TOKEN,
    MemrefType,
    ProgramIdType,
    PtrType,
    QueueType,
    TiledViewType,
)
from tilewright.ir.attributes import Type
from tilewright.ir.constraints import TypeConstraint, exactly, instance_of
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
    TensorType,
)

if TYPE_CHECKING:
    from tilewright.ir.values import Value

INTEGERS: Final = (I1, I4, I8, I16, I32, I64)
FLOATS: Final = (F16, BF16, F32, F64)
"""The float types that arithmetic supports."""
ALL_FLOATS: Final = (*FLOATS, TF32, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, FNV8E5M3FNU)
NUMBERS: Final = (*INTEGERS, *ALL_FLOATS)


def shape(type: Type) -> tuple[int, ...]:
    """The shape of a tile; `()` for a scalar."""
    if not isinstance(type, TensorType):
        return ()
    assert type.shape is not None
    return type.shape


def tile_type(shape: tuple[int, ...], element: Type) -> Type:
    """The type of a tile."""
    return TensorType(shape, element) if shape else element


def count(type: Type) -> int:
    """The number of elements of a tile."""
    elements = 1
    for extent in shape(type):
        elements *= extent
    return elements


def pointer(value: Value) -> PtrType:
    """The element type of a tile of pointers."""
    element = element_of(value.type)
    assert isinstance(element, PtrType)
    return element


def spell_extents(extents: tuple[int, ...]) -> str:
    """Format a shape for a diagnostic, as `4x8` or `scalar`."""
    return "x".join(map(str, extents)) or "scalar"


def shape_problems(name: str, expected: tuple[int, ...], type: Type) -> Iterator[str]:
    """Check the shape of a tile."""
    actual = shape(type)
    if actual != expected:
        shapes = spell_extents(expected), spell_extents(actual)
        yield f"expected {name} of shape {shapes[0]}, got {shapes[1]}"


def element_problems(name: str, expected: Type, type: Type) -> Iterator[str]:
    """Check the element type of a tile."""
    actual = element_of(type)
    if actual is not expected:
        yield f"expected {name} of '{expected}', got '{actual}'"


def _tile(description: str, accepts: Callable[[Type], bool]) -> TypeConstraint:
    def accepts_tile(type: Type) -> bool:
        if not isinstance(type, TensorType):
            return accepts(type)
        extents = type.shape
        return bool(extents) and DYNAMIC not in extents and accepts(type.element)

    return TypeConstraint(f"tensor or scalar of {description}", accepts_tile)


def tile_of(*elements: Type) -> TypeConstraint:
    """Tiles of one of the given element types."""
    *most, last = [element.spell() for element in elements]
    allowed = frozenset(elements)
    names = f"{', '.join(most)} or {last}" if most else last
    return _tile(names, lambda element: element in allowed)


def _is_pointer(type: Type) -> bool:
    return isinstance(type, PtrType)


def _is_element(type: Type) -> bool:
    return type in NUMBERS or isinstance(type, PtrType)


INT_TILE: Final = tile_of(*INTEGERS)
FLOAT_TILE: Final = tile_of(*FLOATS)
ANY_FLOAT_TILE: Final = tile_of(*ALL_FLOATS)
NUMBER_TILE: Final = tile_of(*NUMBERS)
BOOL_TILE: Final = tile_of(I1)
I64_TILE: Final = tile_of(I64)
PTR_TILE: Final = _tile("pointers", _is_pointer)
ANY_TILE: Final = _tile("numbers or pointers", _is_element)
ANY_TENSOR: Final = TypeConstraint(
    "tensor of numbers or pointers",
    lambda type: isinstance(type, TensorType) and ANY_TILE.accepts(type),
)
ANY_SCALAR: Final = TypeConstraint("number or pointer", _is_element)
SCALAR_INT: Final = TypeConstraint("integer", lambda type: type in INTEGERS)
SCALAR_I1: Final = exactly(I1, "i1")
SCALAR_I32: Final = exactly(I32, "i32")
SCALAR_PTR: Final = instance_of(PtrType, "pointer")
TOKEN: Final = exactly(MEM_TOKEN, "mem_token")
PROGRAM_ID: Final = exactly(ProgramIdType(), "program_id")
MEMREF: Final = instance_of(MemrefType, "memref of nv_tileaa")
TILED_VIEW: Final = instance_of(TiledViewType, "tiled_view")
QUEUE: Final = instance_of(QueueType, "queue")
