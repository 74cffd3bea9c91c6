"""Makes up arguments for kernels of the corpus that keep the promises the kernels rely on."""

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
"""More than any index reaches that is made from the scalars below."""
ROWS: Final = 64
EXTENT: Final = 16
"""Of arrays that stand in a table; divisible by all that anybody promises."""


class Variant(NamedTuple):
    """One way to choose arguments; a kernel may need several until all of it has run."""

    number: int
    """What scalars are, if no promise says otherwise."""
    values: tuple[int, ...]
    """What arrays hold, again and again."""
    grid: tuple[int, int, int]
    fits: bool = False
    """Whether tensors are so large that tiles lie in them; else most reach over their ends."""
    step: int = 0
    """How much larger the next scalar is: where one is the start and one the end of something."""


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
    """An argument for each parameter of a kernel."""
    sizes = extents(entry) if variant.fits else {}
    found: list[Any] = []
    for index, parameter in enumerate(entry.arguments):
        number = sizes.get(parameter, variant.number + variant.step * index)
        found.append(_argument(parameter, variant, number))
    return found


def _argument(parameter: Value, variant: Variant, number: int) -> Any:
    element = cast("TileType", parameter.type).element
    if isinstance(element, FloatType):
        return float(variant.values[0])
    if not isinstance(element, PtrType):
        return bool(variant.values[0]) if element is I1 else kept_promise(parameter, number)
    pointee = _pointee_of_table(parameter)
    if pointee is not None:
        return _table(parameter, pointee, variant)
    return array(element.pointee, variant.values, number)


def array(element: Type, values: Sequence[int], size: int = 0) -> Any:
    """An array that repeats some values, of at least so many elements."""
    repeated = np.resize(np.array(values, np.float32), max(size, ELEMENTS))
    return repeated.astype(DTYPES[element])


def kept_promise(parameter: Value, number: int) -> int:
    """The number nearest to another of which all promises about a parameter hold."""
    promises = [op.predicate for op in _promises(parameter)]
    divisor = max([p.divisor for p in promises if isinstance(p, DivByAttr)], default=1)
    for promise in promises:
        if isinstance(promise, BoundedAttr):
            number = max(number, number if promise.lower is None else promise.lower)
            number = min(number, number if promise.upper is None else promise.upper)
    return -(-number // divisor) * divisor


def _promises(value: Value) -> Iterator[AssumeOp]:
    """What is promised of a value, and of what was promised something already."""
    for op, _ in value.uses():
        if isinstance(op, AssumeOp):
            yield op
            yield from _promises(op.result)


def _pointee_of_table(value: Value) -> Type | None:
    """What the integers point to that a kernel loads through a pointer, if they are addresses."""
    for op, operand in value.uses():
        if isinstance(op, IntToPtrOp):
            return cast("PtrType", cast("TileType", op.result.type).element).pointee
        if operand == 0 and op.results:
            # The first result is what was loaded or picked; others are tokens.
            pointee = _pointee_of_table(op.results[0])
            if pointee is not None:
                return pointee
    return None


def _table(parameter: Value, pointee: Type, variant: Variant) -> Table:
    """Rows as cuTile lays out lists of arrays: an address, extents, strides."""
    row = [array(pointee, variant.values), *[EXTENT] * (_row_width(parameter) - 1)]
    return Table([row] * ROWS)


def _row_width(parameter: Value) -> int:
    views = [op for op, _ in parameter.uses() if isinstance(op, MakeTensorViewOp)]
    return cast("TensorViewType", views[0].result.type).shape[-1]
