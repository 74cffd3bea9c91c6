"""The order of the columns of a dot: which columns of a tile one mma.sync multiplies.

Any columns of B make up the columns of an instruction, as long as B and the accumulator agree. An
order lists the bits of the column index: first those of the columns of an instruction, then those
of warps, then those of further instructions. The default is 0, 1, 2 and so on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.layout.linear import LANE, REGISTER, Layout, log2, unpack

if TYPE_CHECKING:
    from collections.abc import Sequence


def column_order(accumulator: Layout, fragment: Layout) -> tuple[int, ...]:
    """The order of the columns of an accumulator that consists of fragments.

    >>> from tilewright.layout.fragments import mma_accumulator
    >>> column_order(reordered_columns(mma_accumulator(), (2, 0, 1)), mma_accumulator())
    (2, 0, 1)
    """
    default = tuple(range(log2(accumulator.shape[-1])))
    first: dict[int, int] = {}
    for name in (REGISTER, LANE):
        pairs = zip(fragment.vectors(name), accumulator.vectors(name), strict=False)
        for inner, outer in pairs:
            column = unpack(inner, fragment.shape)[1]
            if column:
                first[log2(column)] = outer
    columns = [first.get(bit, 0) for bit in range(log2(fragment.shape[1]))]
    units = {1 << bit: bit for bit in default}
    if len(set(columns)) < len(columns) or any(column not in units for column in columns):
        return default
    chosen = [units[column] for column in columns]
    return (*chosen, *(bit for bit in default if bit not in chosen))


def reordered_columns(layout: Layout, order: Sequence[int]) -> Layout:
    """The layout of a tile in the default order as one whose columns have an order."""
    return _mapped_columns(layout, order)


def default_columns(layout: Layout, order: Sequence[int]) -> Layout:
    """The layout of a tile whose columns have an order as one in the default order."""
    return _mapped_columns(layout, [order.index(bit) for bit in range(len(order))])


def _mapped_columns(layout: Layout, bits: Sequence[int]) -> Layout:
    """The layout with each bit of the column index moved."""
    if list(bits) == list(range(len(bits))):
        return layout
    width = layout.shape[-1]

    def moved(vector: int) -> int:
        column = sum(1 << to for bit, to in enumerate(bits) if vector >> bit & 1)
        return vector // width * width + column

    inputs = [(name, [moved(v) for v in vectors]) for name, vectors in layout.inputs]
    return Layout(inputs, layout.shape)
