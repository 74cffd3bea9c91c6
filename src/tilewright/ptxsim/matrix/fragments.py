"""Fragment layouts: the lane and register of each matrix element.

A lane is `4 * group + thread_in_group`, as in the PTX manual. Operand matrices are split into
blocks of eight rows (columns, for B), one row per group; along the other dimension the four
threads of a group are consecutive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from tilewright.ptxsim.lanes import WARP
from tilewright.ptxsim.scalar_types import Array

_LANE: Final = np.arange(WARP)[:, None]
_GROUP: Final = _LANE // 4
_THREAD_IN_GROUP: Final = _LANE % 4


@dataclass(frozen=True, eq=False, slots=True)
class Fragment:
    """A matrix of `rows` × `columns` distributed over the lanes of a warp.

    `row[lane, element]` and `column[lane, element]` are the coordinates of the elements of a lane's
    registers, lowest bits of the first register first.
    """

    rows: int
    columns: int
    row: Array
    column: Array
    _gather: Array
    _scatter: Array

    @property
    def per_lane(self) -> int:
        """The number of elements per lane."""
        return self.row.shape[1]

    def collect(self, elements: Array) -> Array:
        """Elements as (warps, lanes, elements of a lane) to matrices (warps, rows, columns)."""
        flat = elements.reshape(len(elements), -1)
        return flat[:, self._gather].reshape(-1, self.rows, self.columns)

    def distribute(self, matrices: Array) -> Array:
        """Matrices (warps, rows, columns) to elements as (warps, lanes, elements of a lane)."""
        flat = matrices.reshape(len(matrices), -1)
        return flat[:, self._scatter].reshape(-1, WARP, self.per_lane)


def _fragment(rows: int, columns: int, row: Array, column: Array) -> Fragment:
    row, column = np.broadcast_arrays(row, column)
    scatter = (row * columns + column).reshape(-1)
    gather = np.empty_like(scatter)
    gather[scatter] = np.arange(len(scatter))
    return Fragment(rows, columns, row, column, gather, scatter)


@cache
def multiplicand_a(rows: int, k: int, bits: int) -> Fragment:
    """A: registers are ordered along the blocks of rows first, then along K."""
    per_register = max(1, 32 // bits)
    blocks = rows // 8
    element = np.arange(rows * k // WARP)
    register, within = element // per_register, element % per_register
    row = _GROUP + 8 * (register % blocks)
    column = (4 * (register // blocks) + _THREAD_IN_GROUP) * per_register + within
    return _fragment(rows, k, row, column)


@cache
def multiplicand_b(k: int, columns: int, bits: int) -> Fragment:
    """B, as its transpose: rows of the fragment are columns of B."""
    assert columns == 8, "B has eight columns, one for each group"
    return multiplicand_a(columns, k, bits)


@cache
def accumulator(rows: int, columns: int) -> Fragment:
    """C and D: two neighbours of a row, then the next block of rows, then the next 8 columns."""
    blocks = rows // 8
    element = np.arange(rows * columns // WARP)
    row = _GROUP + 8 * (element // 2 % blocks)
    column = 8 * (element // (2 * blocks)) + 2 * _THREAD_IN_GROUP + element % 2
    return _fragment(rows, columns, row, column)


# m8n8k4 is four mmas at once: lanes 4q to 4q + 3 and 16 more of each compute mma q. The
# matrices of all four are stacked along the rows.
_MMA: Final = _LANE % 16 // 4
_HALF: Final = _LANE // 16


@cache
def quarter_multiplicand(column_major: bool) -> Fragment:
    """A of m8n8k4, or B as its transpose: four 8×4 matrices, as one of 32 rows."""
    element = np.arange(4)
    row, column = _LANE % 4 + 4 * _HALF, element
    if column_major:
        row, column = element + 4 * _HALF, _LANE % 4
    return _fragment(32, 4, 8 * _MMA + row, column)


@cache
def quarter_accumulator(bits: int) -> Fragment:
    """C and D of m8n8k4: four 8×8 matrices, as one of 32 rows."""
    element = np.arange(8)
    if bits == 16:
        return _fragment(32, 8, 8 * _MMA + _LANE % 4 + 4 * _HALF, element)
    row = (_LANE & 1) + (element & 2) + 4 * _HALF
    column = (element & 4) + (_LANE & 2) + (element & 1)
    return _fragment(32, 8, 8 * _MMA + row, column)
