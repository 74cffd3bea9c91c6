"""The types of operands, narrowed to what their constraints guarantee."""

from __future__ import annotations

from collections.abc import Iterable

from tilewright.dialects.cuda_tile.traits import tile
from tilewright.dialects.cuda_tile.types import PtrType, TensorViewType, ViewType
from tilewright.ir.attributes import Type
from tilewright.ir.values import Value


def pointer(value: Value) -> PtrType:
    """The element type of a tile of pointers."""
    element = tile(value).element
    assert isinstance(element, PtrType)
    return element


def view(value: Value) -> ViewType:
    """The view type of a value."""
    assert isinstance(value.type, ViewType)
    return value.type


def tensor_view(value: Value) -> TensorViewType:
    """The tensor view type of a value."""
    assert isinstance(value.type, TensorViewType)
    return value.type


def types_of(values: Iterable[Value]) -> tuple[Type, ...]:
    """The types of several values."""
    return tuple([value.type for value in values])


def listed(types: Iterable[Type]) -> str:
    """Types in a diagnostic: `('i32', 'f32')`."""
    spelled = ", ".join(f"'{type}'" for type in types)
    return f"({spelled})"
