"""Shapes and element types that must agree, as traits of operations and as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from tilewright.dialects.cuda_tile.types import TileType
from tilewright.ir.traits import Trait

if TYPE_CHECKING:
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


def tile(value: Value) -> TileType:
    """The type of a value whose constraint has let only tiles through."""
    assert isinstance(value.type, TileType)
    return value.type


def spell_extents(shape: tuple[int, ...]) -> str:
    """`4x8`, for messages; a tile of rank 0 is a scalar."""
    return "x".join(map(str, shape)) or "scalar"


def shape_problems(name: str, expected: tuple[int, ...], found: TileType) -> Iterator[str]:
    """What is wrong with the shape of a tile that others determine."""
    if found.shape != expected:
        shapes = spell_extents(expected), spell_extents(found.shape)
        yield f"expected {name} of shape {shapes[0]}, got {shapes[1]}"


def _shape(tile: TileType) -> str:
    return spell_extents(tile.shape)


def _element(tile: TileType) -> str:
    return str(tile.element)


class _Agreement(Trait):
    """The named fields hold tiles that are alike in one respect."""

    __slots__ = ("aspect", "fields", "read")

    def __init__(self, aspect: str, read: Callable[[TileType], str], *fields: str) -> None:
        super().__init__(f"same {aspect}: {', '.join(fields)}")
        self.aspect = aspect
        self.read = read
        self.fields = fields

    def verify(self, op: Operation) -> Iterable[str]:
        values = [value for field in self.fields for value in op.schema.values(op, field)]
        found = [self.read(tile(value)) for value in values]
        if len(set(found)) > 1:
            yield (
                f"expected {' and '.join(self.fields)} to have the same {self.aspect}, "
                f"got {' and '.join(found)}"
            )


def same_shape(*fields: str) -> Trait:
    """The trait that the named fields hold tiles of one shape."""
    return _Agreement("shape", _shape, *fields)


def same_element(*fields: str) -> Trait:
    """The trait that the named fields hold tiles of one element type."""
    return _Agreement("element type", _element, *fields)
