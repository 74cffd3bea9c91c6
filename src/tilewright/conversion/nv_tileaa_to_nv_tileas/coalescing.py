"""Coalesced accesses: neighbouring lanes access neighbouring elements, in vectors where possible.

A vector is one access: it has one address, which its size divides. So its elements must be
contiguous from an address that is known to be aligned. Through pointers it has one predicate: the
mask must be the same for all its elements. A vector of a tile may be partly out of bounds. Remarks
report the facts without which vectors are narrower than they could be.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from tilewright.analysis.axis import AxisFacts
from tilewright.analysis.runs import power
from tilewright.analysis.tensor_divisors import TensorDivisors
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import memory, view
from tilewright.dialects.nv_tileaa.constraints import count, shape
from tilewright.dialects.nv_tileaa.multimem import MULTIMEM_WORD, AnyMultimemOp, has_vectors
from tilewright.dialects.nv_tileaa.view import tiled_view
from tilewright.layout.linear import REGISTER
from tilewright.layout.spread import spread
from tilewright.support import remark_catalogue as catalogue
from tilewright.support.remarks import Remark
from tilewright.target.arch import MAX_ACCESS_BYTES, WARP_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tilewright.dialects.nv_tileaa.structure import FuncOp
    from tilewright.dialects.nv_tileaa.types import TiledViewType
    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value
    from tilewright.layout.linear import Layout
    from tilewright.support.remark_catalogue import RemarkEntry

Access: TypeAlias = memory.LoadOp | memory.StoreOp | view.TileLoadOp | view.TileStoreOp
"""A load or store of a tile."""
MISALIGNED: Final = "the address is not known to be a multiple of {bytes} bytes"
UNKNOWN: Final = "is not known to be a multiple of {wanted}"


class MemoryAccess(NamedTuple):
    """How the threads of a block access a tile in memory."""

    tile: Value
    layout: Layout
    vector: int
    """The number of elements of one load or store instruction."""
    dim: int
    """The dimension of the tile along which these are contiguous."""
    whole: int
    """How many of them are certainly all in bounds, or all out of bounds."""
    least: int = 1
    """The fewest elements that an instruction can access, if there are as many at once."""

    @property
    def is_partial(self) -> bool:
        """Whether only some elements of an instruction may be in bounds."""
        return self.vector > self.whole


def coalesced(op: Operation, tile: Value, warps: int, facts: AxisFacts) -> MemoryAccess:
    """The coalesced access of `warps` warps to a tile; no warp is idle for a wider vector."""
    extents = shape(tile.type)
    dim, vector, whole = vectorize(op, tile, facts)
    least = min(_least(op, tile), vector)
    vector = max(min(vector, count(tile.type) // (warps * WARP_SIZE)), least)
    layout = _spread_along(extents, warps, vector, dim)
    return MemoryAccess(tile, layout, vector, dim, whole, least)


def _least(op: Operation, tile: Value) -> int:
    """Accesses of multimem addresses are of 4 bytes or more."""
    size = pointee_bytes(element_of(tile.type))
    return max(MULTIMEM_WORD // size, 1) if isinstance(op, AnyMultimemOp) else 1


def in_layout(access: MemoryAccess, layout: Layout) -> MemoryAccess:
    """The same access in another layout, with the widest vector that layout allows."""
    vector = min(access.vector, _contiguous(layout, access.dim))
    return access._replace(layout=layout, vector=vector)


def is_narrowed(access: MemoryAccess, layout: Layout, warps: int) -> bool:
    """Whether a layout is a coalesced one for an access, with vectors that are at most as wide."""
    vector = _contiguous(layout, access.dim)
    coalesced = _spread_along(layout.shape, warps, vector, access.dim)
    return access.least <= vector <= access.vector and layout == coalesced


def _spread_along(extents: Sequence[int], warps: int, vector: int, dim: int) -> Layout:
    """A tile spread over all threads, neighbours along a dimension side by side."""
    order = [dim, *(other for other in reversed(range(len(extents))) if other != dim)]
    return spread(extents, warps, vector=vector, order=order)


def _contiguous(layout: Layout, dim: int) -> int:
    """The number of a thread's first registers that are contiguous along a dimension."""
    stride = prod(layout.shape[dim + 1 :])
    length = 1
    for vector in layout.vectors(REGISTER):
        if vector != length * stride or length == layout.shape[dim]:
            break
        length *= 2
    return length


class VectorLimit(NamedTuple):
    """The widest vector that is known to be correct as far as one fact goes."""

    width: int
    entry: RemarkEntry
    """The remark if it is too narrow."""
    missing: str
    """The fact that would allow a wider one: a multiple of `wanted` elements, or of `bytes`."""


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
            dim = _contiguous_dim(tiled_view(op.view))
        case view.TiledAtomicRmwOp():
            return Vectorization(_contiguous_dim(tiled_view(op.view)), 1, 1)
        case _ if isinstance(op, AnyMultimemOp):
            return _multimem_vectors(op, facts)
        case _:
            return Vectorization(len(shape(tile.type)) - 1, 1, 1)
    if not op.is_plain:
        return Vectorization(dim, 1, 1)
    width = min([each.width for each in _vector_limits(op, dim, facts)])
    is_view = isinstance(op, view.TileLoadOp | view.TileStoreOp)
    whole = _whole_width(op, dim, facts) if is_view else width
    return Vectorization(dim, max(min(width, _widest(tile, dim)), 1), whole)


def _multimem_vectors(op: AnyMultimemOp, facts: AxisFacts) -> Vectorization:
    """Vectors that are not partly out of bounds, whatever the order: PTX has one for each width."""
    dim = _contiguous_dim(tiled_view(op.view))
    limits = [each.width for each in _view_limits(op, dim, facts)]
    width = min([*limits, _whole_width(op, dim, facts), _widest(op.tile, dim)])
    width = max(width, 1) if has_vectors(op) else 1
    return Vectorization(dim, width, width)


def _widest(tile: Value, dim: int) -> int:
    """The most elements of a tile along a dimension that one instruction can access."""
    size = pointee_bytes(element_of(tile.type))
    return min(MAX_ACCESS_BYTES // size, power(shape(tile.type)[dim]))


def _vector_limits(op: Access, dim: int, facts: AxisFacts) -> list[VectorLimit]:
    """The limits of an access whose vectors lie along a dimension, one for each fact."""
    if not op.is_plain:
        return [VectorLimit(1, catalogue.VECTOR_ORDER, "the access is not weak, or volatile")]
    if isinstance(op, memory.LoadOp | memory.StoreOp):
        return _pointer_limits(op, dim, facts)
    return _view_limits(op, dim, facts)


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
    missing = f"only {vector} neighbouring pointers are known to be contiguous"
    limits = [VectorLimit(vector, catalogue.VECTOR_CONTIGUITY, missing)]
    if op.mask is not None:
        constancy = facts.of(op.mask).dims[dim].constancy
        missing = f"the mask is known to be the same for {constancy} neighbours only"
        limits.append(VectorLimit(constancy, catalogue.VECTOR_MASK, missing))
        vector = min(vector, constancy)
    aligned = vector
    while aligned > 1 and pointers.start(dim, aligned) < aligned * pointers.unit:
        aligned //= 2
    if aligned < vector:
        limits.append(VectorLimit(aligned, catalogue.VECTOR_ALIGNMENT, MISALIGNED))
    return limits


def _contiguous_dim(type: TiledViewType) -> int:
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
        missing = f"dimension {along} is not known to have stride 1, or is gathered"
        return [VectorLimit(1, catalogue.VECTOR_STRIDE, missing)]
    aligned = max(memory.alignment // pointee_bytes(type.source.element), 1)
    limits = [VectorLimit(aligned, catalogue.VECTOR_ALIGNMENT, MISALIGNED)]
    for number, index in enumerate(op.indices):
        first = facts.of(index).divisor * power(type.counted[number])
        each = type.dims[number]
        if number == dim:
            missing = f"the first element along dimension {each} {UNKNOWN}"
            limits.append(VectorLimit(first, catalogue.VECTOR_DIVISIBILITY, missing))
        elif type.source.shape[each] != 1:
            start = first if type.tile[number] == 1 or number == type.sparse else 1
            width = start * memory.strides[each]
            missing = f"the stride of dimension {each} {UNKNOWN}"
            limits.append(VectorLimit(width, catalogue.VECTOR_DIVISIBILITY, missing))
    if not _is_contiguous_range(type, dim):
        missing = f"the extent of dimension {along} {UNKNOWN}"
        limits.append(VectorLimit(_whole_width(op, dim, facts), catalogue.VECTOR_BOUNDS, missing))
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


def vectorization_remarks(
    kernel: FuncOp, accesses: Mapping[Operation, MemoryAccess], warps: int, by: str
) -> Iterator[Remark]:
    """Report each fact without which the vectors of an access are narrower than they could be."""
    facts: AxisFacts | None = None
    for op, access in accesses.items():
        if not isinstance(op, Access):
            continue
        tile = access.tile
        wanted = min(_widest(tile, access.dim), count(tile.type) // (warps * WARP_SIZE))
        if access.vector >= wanted:
            continue
        facts = facts or AxisFacts(kernel)
        size = pointee_bytes(element_of(tile.type))
        verb = "Load" if tile in op.results else "Store"
        text = f"{verb} of {access.vector * size} bytes at a time instead of {wanted * size}"
        details = (("ElementsAtOnce", str(access.vector)), ("Possible", str(wanted)))
        for width, entry, missing in _vector_limits(op, access.dim, facts):
            if width < wanted:
                reason = missing.format(wanted=wanted, bytes=wanted * size)
                yield Remark(entry, text, by, kernel.sym_name, op.location, reason, details)
