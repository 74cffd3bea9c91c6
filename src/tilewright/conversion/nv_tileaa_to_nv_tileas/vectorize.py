"""Vectorization of memory accesses: the widest vector, and the dimension along which it lies.

A vector is one access: it has one address, which its size divides. So its elements must be
contiguous from an address that is known to be aligned. Through pointers it has one predicate: the
mask must be the same for all its elements. A vector of a tile may be partly out of bounds.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tilewright.analysis.runs import power
from tilewright.analysis.tensor_divisors import TensorDivisors
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import memory, view
from tilewright.dialects.nv_tileaa.attributes import MemSemantic
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.multimem import AnyMultimemOp, has_vectors
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.target.arch import MAX_ACCESS_BYTES

if TYPE_CHECKING:
    from tilewright.analysis.axis import AxisFacts
    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

Access: TypeAlias = memory.LoadOp | memory.StoreOp | view.TileLoadOp | view.TileStoreOp
"""A load or store of a tile."""


class MissingFact(Enum):
    """A fact about an access that would allow a wider vector."""

    WEAK = auto()
    """That the access is weak and not volatile."""
    UNIT_STRIDE = auto()
    """That a dimension of the tile is contiguous in memory."""
    ALIGNMENT = auto()
    """What divides the address."""
    INDEX = auto()
    """What divides an index."""
    STRIDE = auto()
    """What divides a stride."""
    BOUNDS = auto()
    """What divides the extent, where tiles may be cut off at both ends."""
    CONTIGUITY = auto()
    """That neighbouring pointers are contiguous."""
    MASK = auto()
    """That neighbouring elements of a mask are equal."""


class VectorLimit(NamedTuple):
    """The widest vector that is known to be correct as far as one fact goes."""

    width: int
    fact: MissingFact
    dim: int = 0
    """The dimension of the tensor that an index or a stride is of."""


class Vectorization(NamedTuple):
    """The dimension along which vectors lie, and the number of elements of each."""

    dim: int
    width: int
    whole: int
    """How many consecutive elements are certainly all in bounds, or all out of bounds."""


def vectorize(op: Operation, tile: Value, facts: AxisFacts) -> Vectorization:
    """The widest vectors that the facts allow."""
    match op:
        case memory.LoadOp() | memory.StoreOp():
            dim = _fastest(op.pointers, facts)
        case view.TileLoadOp() | view.TileStoreOp():
            dim = contiguous_dim(tiled_view(op.view))
        case view.TiledAtomicRmwOp():
            return Vectorization(contiguous_dim(tiled_view(op.view)), 1, 1)
        case _ if isinstance(op, AnyMultimemOp):
            return _multimem_vectors(op, facts)
        case _:
            return Vectorization(len(shape(tile.type)) - 1, 1, 1)
    if not _is_plain(op):
        return Vectorization(dim, 1, 1)
    width = min([each.width for each in vector_limits(op, dim, facts)])
    is_view = isinstance(op, view.TileLoadOp | view.TileStoreOp)
    whole = _whole_width(op, dim, facts) if is_view else width
    return Vectorization(dim, max(min(width, widest(tile, dim)), 1), whole)


def _multimem_vectors(op: AnyMultimemOp, facts: AxisFacts) -> Vectorization:
    """Vectors that are not partly out of bounds, whatever the order: PTX has one for each width."""
    dim = contiguous_dim(tiled_view(op.view))
    limits = [each.width for each in _view_limits(op, dim, facts)]
    width = min([*limits, _whole_width(op, dim, facts), widest(op.tile, dim)])
    width = max(width, 1) if has_vectors(op) else 1
    return Vectorization(dim, width, width)


def widest(tile: Value, dim: int) -> int:
    """The most elements of a tile along a dimension that one instruction can access."""
    size = pointee_bytes(element_of(tile.type))
    return min(MAX_ACCESS_BYTES // size, power(shape(tile.type)[dim]))


def vector_limits(op: Access, dim: int, facts: AxisFacts) -> list[VectorLimit]:
    """The limits of an access whose vectors lie along a dimension, one for each fact."""
    if not _is_plain(op):
        return [VectorLimit(1, MissingFact.WEAK)]
    if isinstance(op, memory.LoadOp | memory.StoreOp):
        return _pointer_limits(op, dim, facts)
    return _view_limits(op, dim, facts)


def _is_plain(op: Access) -> bool:
    return op.semantic is MemSemantic.WEAK and not op.volatile


def _fastest(pointers: Value, facts: AxisFacts) -> int:
    """The dimension with the longest contiguous runs of addresses; the last such dimension."""
    runs = facts.of(pointers).dims
    return max(range(len(runs)), key=lambda dim: (runs[dim].contiguity, dim))


def _pointer_limits(
    op: memory.LoadOp | memory.StoreOp, dim: int, facts: AxisFacts
) -> list[VectorLimit]:
    """Contiguity and alignment of the pointers, and constancy of the mask."""
    pointers = facts.of(op.pointers)
    vector = pointers.dims[dim].contiguity
    limits = [VectorLimit(vector, MissingFact.CONTIGUITY)]
    if op.mask is not None:
        constancy = facts.of(op.mask).dims[dim].constancy
        limits.append(VectorLimit(constancy, MissingFact.MASK))
        vector = min(vector, constancy)
    aligned = vector
    while aligned > 1 and pointers.start(dim, aligned) < aligned * pointers.unit:
        aligned //= 2
    if aligned < vector:
        limits.append(VectorLimit(aligned, MissingFact.ALIGNMENT))
    return limits


def contiguous_dim(type: TiledViewType) -> int:
    """The dimension of a tile that has stride one; the last dimension if none is known to."""
    ones = [number for number, dim in enumerate(type.dims) if type.source.strides[dim] == 1]
    return ones[-1] if ones else type.rank - 1


def _view_limits(
    op: view.TileLoadOp | view.TileStoreOp | AnyMultimemOp, dim: int, facts: AxisFacts
) -> list[VectorLimit]:
    """What divides the address, the indices and the strides, and where tiles are cut off."""
    type = tiled_view(op.view)
    memory = TensorDivisors(op.view, facts)
    along = type.dims[dim]
    if type.source.strides[along] != 1 or dim == type.sparse:
        return [VectorLimit(1, MissingFact.UNIT_STRIDE, along)]
    aligned = max(memory.alignment // pointee_bytes(type.source.element), 1)
    limits = [VectorLimit(aligned, MissingFact.ALIGNMENT)]
    for number, index in enumerate(op.indices):
        first = facts.of(index).divisor * power(type.counted[number])
        each = type.dims[number]
        if number == dim:
            limits.append(VectorLimit(first, MissingFact.INDEX, each))
        elif type.source.shape[each] != 1:
            start = first if type.tile[number] == 1 or number == type.sparse else 1
            limits.append(VectorLimit(start * memory.strides[each], MissingFact.STRIDE, each))
    if not _is_contiguous_range(type, dim):
        limits.append(VectorLimit(_whole_width(op, dim, facts), MissingFact.BOUNDS, along))
    return limits


def _whole_width(
    op: view.TileLoadOp | view.TileStoreOp | AnyMultimemOp, dim: int, facts: AxisFacts
) -> int:
    """Limited by what divides the extent, if bounds are checked."""
    if op.in_bounds and op.in_bounds[dim]:
        return MAX_ACCESS_BYTES
    return TensorDivisors(op.view, facts).sizes[tiled_view(op.view).dims[dim]]


def _is_contiguous_range(type: TiledViewType, dim: int) -> bool:
    """Whether a tile covers a range of indices that starts in bounds, or is all out of bounds."""
    return dim != type.sparse and type.counted[dim] % type.tile[dim] == 0
