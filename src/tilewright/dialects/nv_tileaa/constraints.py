"""The sets of types that operands and results of nv_tileaa accept.

A tile is a tensor of known shape or, for a single element without dimensions, the bare element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from tilewright.dialects.elements import element_of
from tilewright.dialects.nv_tileaa.types import (
    MEM_TOKEN,
    PROGRAM_ID,
    MemrefType,
    PtrType,
    QueueType,
    TiledViewType,
)
from tilewright.ir.attributes import Type
from tilewright.ir.constraints import TypeConstraint, exactly, instance_of
from tilewright.ir.traits import Trait
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
"""The floats that arithmetic takes."""
ALL_FLOATS: Final = (*FLOATS, TF32, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, FNV8E5M3FNU)
NUMBERS: Final = (*INTEGERS, *ALL_FLOATS)

ELEMENTWISE: Final = Trait("elementwise")
"""Every element of the results depends on the elements of the operands at the same place alone."""


def shape(type: Type) -> tuple[int, ...]:
    """The extents of a tile; a bare element has none."""
    if not isinstance(type, TensorType):
        return ()
    assert type.shape is not None
    return type.shape


def tile_type(shape: tuple[int, ...], element: Type) -> Type:
    """The type of a tile."""
    return TensorType(shape, element) if shape else element


def count(type: Type) -> int:
    """How many elements a tile has."""
    product = 1
    for extent in shape(type):
        product *= extent
    return product


def pointer(value: Value) -> PtrType:
    """The elements of a tile of pointers."""
    element = element_of(value.type)
    assert isinstance(element, PtrType)
    return element


def spell_extents(extents: tuple[int, ...]) -> str:
    """`4x8`, for messages; a tile without dimensions is a scalar."""
    return "x".join(map(str, extents)) or "scalar"


def shape_problems(name: str, expected: tuple[int, ...], type: Type) -> Iterator[str]:
    """What is wrong with the shape of a tile that others determine."""
    found = shape(type)
    if found != expected:
        shapes = spell_extents(expected), spell_extents(found)
        yield f"expected {name} of shape {shapes[0]}, got {shapes[1]}"


def element_problems(name: str, expected: Type, type: Type) -> Iterator[str]:
    """What is wrong with the elements of a tile that others determine."""
    found = element_of(type)
    if found is not expected:
        yield f"expected {name} of '{expected}', got '{found}'"


def _tile(description: str, accepts: Callable[[Type], bool]) -> TypeConstraint:
    def accepts_tile(type: Type) -> bool:
        if not isinstance(type, TensorType):
            return accepts(type)
        extents = type.shape
        return bool(extents) and DYNAMIC not in extents and accepts(type.element)

    return TypeConstraint(f"tensor or scalar of {description}", accepts_tile)


def tile_of(*elements: Type) -> TypeConstraint:
    """Tiles of certain elements."""
    *most, last = [element.spell() for element in elements]
    allowed = frozenset(elements)
    words = f"{', '.join(most)} or {last}" if most else last
    return _tile(words, lambda element: element in allowed)


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
PLACE: Final = exactly(PROGRAM_ID, "program_id")
MEMREF: Final = instance_of(MemrefType, "memref of nv_tileaa")
TILED_VIEW: Final = instance_of(TiledViewType, "tiled_view")
QUEUE: Final = instance_of(QueueType, "queue")
