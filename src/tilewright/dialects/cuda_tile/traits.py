"""Traits and checks of matching shapes and element types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.traits import Trait

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def tile(value: Value) -> TileType:
    """The tile type of a value."""
    assert isinstance(value.type, TileType)
    return value.type


def spell_extents(shape: tuple[int, ...]) -> str:
    """Format a shape for a diagnostic, as `4x8` or `scalar`."""
    return "x".join(map(str, shape)) or "scalar"


def shape_problems(name: str, expected: tuple[int, ...], actual: TileType) -> Iterator[str]:
    """Check the shape of a tile."""
    if actual.shape != expected:
        shapes = spell_extents(expected), spell_extents(actual.shape)
        yield f"expected {name} of shape {shapes[0]}, got {shapes[1]}"


def _shape(tile: TileType) -> str:
    return spell_extents(tile.shape)


def _element(tile: TileType) -> str:
    return str(tile.element)


class _Agreement(Trait):
    """The named fields are tiles that agree in one property."""

    __slots__ = ("aspect", "fields", "read")

    def __init__(self, aspect: str, read: Callable[[TileType], str], *fields: str) -> None:
        super().__init__(f"same {aspect}: {', '.join(fields)}")
        self.aspect = aspect
        self.read = read
        self.fields = fields

    def verify(self, op: Operation) -> Iterable[str]:
        values = [value for field in self.fields for value in op.schema.values(op, field)]
        actual = [self.read(tile(value)) for value in values]
        if len(set(actual)) > 1:
            yield (
                f"expected {' and '.join(self.fields)} to have the same {self.aspect}, "
                f"got {' and '.join(actual)}"
            )


def same_shape(*fields: str) -> Trait:
    """The named fields are tiles of the same shape."""
    return _Agreement("shape", _shape, *fields)


def same_element(*fields: str) -> Trait:
    """The named fields are tiles of the same element type."""
    return _Agreement("element type", _element, *fields)
