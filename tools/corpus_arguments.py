"""Generate arguments for kernels of the corpus that satisfy the kernels' assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np
from corpus_extents import extents

from tilewright.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr
from tilewright.dialects.cuda_tile.conversion import IntToPtrOp
from tilewright.dialects.cuda_tile.misc import AssumeOp
from tilewright.dialects.cuda_tile.structure import EntryOp
from tilewright.dialects.cuda_tile.types import PtrType, TensorViewType, TileType
from tilewright.dialects.cuda_tile.view import MakeTensorViewOp
from tilewright.ir.attributes import Type
from tilewright.ir.types import I1, FloatType
from tilewright.ir.values import Value
from tilewright.reference.arguments import Table
from tilewright.reference.tile import DTYPES

ELEMENTS: Final = 1 << 18
"""An upper bound of every index computed from the scalars below."""
ROWS: Final = 64
EXTENT: Final = 16
"""Size of the arrays of a table; divisible by every `div_by` assumption of the corpus."""


class Variant(NamedTuple):
    """A choice of arguments; covering all operations of a kernel may take several."""

    number: int
    """The value of scalars without assumptions."""
    values: tuple[int, ...]
    """The values that arrays repeat."""
    grid: tuple[int, int, int]
    fits: bool = False
    """Whether tensors are large enough that tiles are in bounds; else most exceed them."""
    step: int = 0
    """The increment from one scalar to the next, for kernels that take a start and an end."""


VARIANTS: Final = (
    Variant(1, (1, 2, 3), (2, 1, 1), fits=True),
    Variant(16, (1, 2, 3), (2, 1, 1)),
    Variant(1, (1,), (2, 2, 2)),
    Variant(0, (0,), (1, 1, 1)),
    Variant(128, (1,), (1, 1, 1)),
    Variant(64, (0, 1), (4, 1, 1)),
    Variant(2, (0, 2, 5), (3, 2, 1)),
    Variant(5, (2, 0, 1, 4), (8, 2, 1)),
    Variant(0, (0, 1, 2), (2, 2, 1), step=1),
    Variant(32, (-1, 1, 3), (2, 1, 1), step=-1),
    Variant(1, (7, -2, 64, 100), (16, 1, 1), step=16),
)


def arguments(entry: EntryOp, variant: Variant) -> list[Any]:
    """Return an argument for each parameter of a kernel."""
    sizes = extents(entry) if variant.fits else {}
    chosen: list[Any] = []
    for index, parameter in enumerate(entry.arguments):
        number = sizes.get(parameter, variant.number + variant.step * index)
        chosen.append(_argument(parameter, variant, number))
    return chosen


def _argument(parameter: Value, variant: Variant, number: int) -> Any:
    element = cast("TileType", parameter.type).element
    if isinstance(element, FloatType):
        return float(variant.values[0])
    if not isinstance(element, PtrType):
        return bool(variant.values[0]) if element is I1 else satisfying_value(parameter, number)
    pointee = _pointee_of_table(parameter)
    if pointee is not None:
        return _table(parameter, pointee, variant)
    return array(element.pointee, variant.values, number)


def array(element: Type, values: Sequence[int], size: int = 0) -> Any:
    """Return an array of at least `size` elements that repeats some values."""
    repeated = np.resize(np.array(values, np.float32), max(size, ELEMENTS))
    return repeated.astype(DTYPES[element])


def satisfying_value(parameter: Value, number: int) -> int:
    """Return the number nearest to another that satisfies all assumptions about a parameter."""
    predicates = [op.predicate for op in _assumptions(parameter)]
    divisor = max([p.divisor for p in predicates if isinstance(p, DivByAttr)], default=1)
    for predicate in predicates:
        if isinstance(predicate, BoundedAttr):
            number = max(number, number if predicate.lower is None else predicate.lower)
            number = min(number, number if predicate.upper is None else predicate.upper)
    return -(-number // divisor) * divisor


def _assumptions(value: Value) -> Iterator[AssumeOp]:
    """Yield the `assume` operations on a value, and on the results of those."""
    for op, _ in value.uses():
        if isinstance(op, AssumeOp):
            yield op
            yield from _assumptions(op.result)


def _pointee_of_table(value: Value) -> Type | None:
    """Return the pointee of the addresses that a kernel loads through a pointer, or `None`."""
    for op, operand in value.uses():
        if isinstance(op, IntToPtrOp):
            return cast("PtrType", cast("TileType", op.result.type).element).pointee
        if operand == 0 and op.results:
            # The first result is the loaded or extracted value; others are tokens.
            pointee = _pointee_of_table(op.results[0])
            if pointee is not None:
                return pointee
    return None


def _table(parameter: Value, pointee: Type, variant: Variant) -> Table:
    """Build rows as cuTile lays out lists of arrays: an address, extents, strides."""
    row = [array(pointee, variant.values), *[EXTENT] * (_row_width(parameter) - 1)]
    return Table([row] * ROWS)


def _row_width(parameter: Value) -> int:
    views = [op for op, _ in parameter.uses() if isinstance(op, MakeTensorViewOp)]
    return cast("TensorViewType", views[0].result.type).shape[-1]
