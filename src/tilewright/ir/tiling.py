"""The ways to cut an operation into parts: a part of its results from parts of its operands."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from tilewright.ir.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value


class Join(Enum):
    """How the results of the parts of an operation make up its results."""

    CONCAT = "concatenated"
    """Each part computes a part of the results."""
    CHAIN = "chained"
    """Each part takes the result of the part before as its accumulator, in order."""
    COMBINE = "combined"
    """Parts of the operands are combined element by element, and reduced afterwards."""


class Way(NamedTuple):
    """A way to cut an operation: extents and the number of parts are powers of two."""

    axes: Mapping[Value, int]
    """The dimension along which each tile is cut; other tiles are needed whole by each part."""
    join: Join = Join.CONCAT
    granule: int = 1
    """The fewest elements of a part along each of the dimensions."""

    def allows(self, parts: int) -> bool:
        """Whether the tiles are large enough for a number of parts."""
        return all(
            extents_of(value)[dim] >= parts * self.granule for value, dim in self.axes.items()
        )


def extents_of(tile: Value) -> tuple[int, ...]:
    """The extents of a tile."""
    assert isinstance(tile.type, TensorType)
    return tile.type.extents


def tiles_of(op: Operation) -> list[Value]:
    """The tiles among the operands and results of an operation."""
    return [value for value in (*op.operands, *op.results) if isinstance(value.type, TensorType)]


def alike(op: Operation, whole_dims: Collection[int] = ()) -> Iterator[Way]:
    """The ways to cut all tiles of an operation along the same dimension."""
    tiles = tiles_of(op)
    for dim in range(len(extents_of(tiles[0])) if tiles else 0):
        if dim not in whole_dims:
            yield Way(dict.fromkeys(tiles, dim))
