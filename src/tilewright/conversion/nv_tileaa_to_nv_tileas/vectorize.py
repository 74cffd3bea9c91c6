"""Vectorization of memory accesses: the widest vector, and the dimension along which it lies.

A vector is one access: it has one address, which its size divides. So its elements must be
contiguous from an address that is known to be aligned. Through pointers it has one predicate: the
mask must be the same for all its elements. A vector of a tile may be partly out of bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.runs import power
from tilewright.analysis.tensor_divisors import TensorDivisors
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import memory, view
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.view import tiled_view

if TYPE_CHECKING:
    from tilewright.analysis.axis import AxisFacts
    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

WIDEST: Final = 16
"""The most bytes that one load or store instruction of a thread accesses."""


class Vectorization(NamedTuple):
    """The dimension along which vectors lie, and the number of elements of each."""

    dim: int
    width: int
    whole: int
    """How many consecutive elements are certainly all in bounds, or all out of bounds."""


def vectorize(op: Operation, tile: Value, facts: AxisFacts) -> Vectorization:
    """The widest vectors that the facts allow."""
    extents = shape(tile.type)
    match op:
        case memory.LoadOp() | memory.StoreOp():
            dim = _fastest(op.pointers, facts)
            width = whole = _pointer_width(op, dim, facts)
        case view.TileLoadOp() | view.TileStoreOp():
            dim = contiguous_dim(tiled_view(op.view))
            width, whole = _view_width(op, dim, facts), _whole_width(op, dim, facts)
            if not _is_contiguous_range(tiled_view(op.view), dim):
                width = min(width, whole)
        case view.TiledAtomicRmwOp():
            return Vectorization(contiguous_dim(tiled_view(op.view)), 1, 1)
        case _:
            return Vectorization(len(extents) - 1, 1, 1)
    is_plain = op.semantic is MemSemantic.WEAK and not op.volatile
    if not is_plain:
        return Vectorization(dim, 1, 1)
    size = pointee_bytes(element_of(tile.type))
    return Vectorization(dim, max(min(width, WIDEST // size, power(extents[dim])), 1), whole)


def _fastest(pointers: Value, facts: AxisFacts) -> int:
    """The dimension with the longest contiguous runs of addresses; the last such dimension."""
    runs = facts.of(pointers).dims
    return max(range(len(runs)), key=lambda dim: (runs[dim].contiguity, dim))


def _pointer_width(op: memory.LoadOp | memory.StoreOp, dim: int, facts: AxisFacts) -> int:
    """Limited by contiguity and alignment of the pointers, and by constancy of the mask."""
    pointers = facts.of(op.pointers)
    vector = pointers.dims[dim].contiguity
    if op.mask is not None:
        vector = min(vector, facts.of(op.mask).dims[dim].constancy)
    while vector > 1 and pointers.start(dim, vector) < vector * pointers.unit:
        vector //= 2
    return vector


def contiguous_dim(type: TiledViewType) -> int:
    """The dimension of a tile that has stride one; the last dimension if none is known to."""
    ones = [number for number, dim in enumerate(type.dims) if type.source.strides[dim] == 1]
    return ones[-1] if ones else type.rank - 1


def _view_width(op: view.TileLoadOp | view.TileStoreOp, dim: int, facts: AxisFacts) -> int:
    """Limited by what divides the address and the strides."""
    type = tiled_view(op.view)
    memory = TensorDivisors(op.view, facts)
    along = type.dims[dim]
    if type.source.strides[along] != 1 or dim == type.sparse:
        return 1
    vector = max(memory.alignment // pointee_bytes(type.source.element), 1)
    for number, index in enumerate(op.indices):
        first = facts.of(index).divisor * power(type.counted[number])
        if number == dim:
            vector = min(vector, first)
        elif type.source.shape[type.dims[number]] != 1:
            start = first if type.tile[number] == 1 or number == type.sparse else 1
            vector = min(vector, start * memory.strides[type.dims[number]])
    return vector


def _whole_width(op: view.TileLoadOp | view.TileStoreOp, dim: int, facts: AxisFacts) -> int:
    """Limited by what divides the extent, if bounds are checked."""
    if op.in_bounds and op.in_bounds[dim]:
        return WIDEST
    return TensorDivisors(op.view, facts).sizes[tiled_view(op.view).dims[dim]]


def _is_contiguous_range(type: TiledViewType, dim: int) -> bool:
    """Whether a tile covers a range of indices that starts in bounds, or is all out of bounds."""
    return dim != type.sparse and type.counted[dim] % type.tile[dim] == 0
