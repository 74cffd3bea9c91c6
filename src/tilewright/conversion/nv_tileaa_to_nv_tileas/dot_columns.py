"""The order of the columns of dots by mma.sync whose result has one row of fragments.

Each warp has whole columns of B and of the result, and any order of the columns suits the dot. If K
of a second dot lies along the columns of the first, an order exists in which each thread holds
the same elements as accumulators of the first dot and as B of the second: lanes of an accumulator
are at rows and columns where those of B are at columns and rows. Then no data is exchanged between
the two.

The columns that remain are assigned to warps as the first dot's B is loaded. The last dot of
several has its columns in the order in which they are stored.

The order follows from paths of elements, from loads to dots, between dots and to stores, bit by
bit. Rearrangements and element-wise operations map each bit of the packed index of an element to an
index in their result: its image. Images of all bits say where a tile has the elements of another.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.analysis.elementwise import is_elementwise, is_tile
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa import shape
from tilewright.dialects.nv_tileaa.constraints import shape as extents
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp, TileStoreOp
from tilewright.dialects.nv_tileas.matrix import mma_instruction
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.layout.fragments import mma_right
from tilewright.layout.linear import LANE, log2, pack, repack, unpack
from tilewright.layout.mma_tiling import Grid
from tilewright.target.arch import MAX_ACCESS_BYTES
from tilewright.target.memories import SECTOR
from tilewright.target.tensor_cores import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tilewright.ir.operation import Operation
    from tilewright.ir.values import Value

SEARCH_LIMIT: Final = 64
"""The most tiles that are visited from one."""
FRAGMENT_BITS: Final = 3
"""An instruction multiplies eight columns: two of a thread, of four lanes each."""


class ColumnTiling(NamedTuple):
    """How the columns of a dot are assigned to instructions and warps."""

    grid: Grid
    order: tuple[int, ...]
    """The bits of the column index: of an instruction, of warps, and of further instructions."""


class _DotBits(NamedTuple):
    """The bits of the packed indices of a dot's operands and of its result."""

    batch: int
    m: int
    n: int
    k: int
    fragment_k: tuple[int, int, int]
    """The lowest bit of K that registers of B count, and the two bits that lanes do."""
    grid: Grid

    @property
    def warps(self) -> int:
        """The bits of columns that choose the warp."""
        return log2(self.grid.across)

    @staticmethod
    def of(op: DotOp, warps: int) -> _DotBits | None:
        """The bits of a dot; None if its columns stay in the default order."""
        instruction = mma_instruction(op)
        if instruction is None or any(isinstance(o, ForOp | WhileOp) for o in op.ancestors()):
            # The loads of a loop are copied to shared memory, which ldmatrix reads.
            return None
        rows, columns, fragment_k = instruction.shape
        (*batch, m, n), k = extents(op.c.type), extents(op.a.type)[-1]
        # All warps have the same rows: one that has whole matrices needs A of fewer of them.
        matrices = min(batch[0] if batch else 1, warps)
        grid = Grid(1, warps // matrices, matrices, warps)
        if m != rows or n < columns * grid.across or k < max(fragment_k, 1 << FRAGMENT_BITS):
            return None
        fragment = mma_right(BITS[instruction.a], fragment_k)
        lanes = [log2(unpack(v, fragment.shape)[0]) for v in fragment.vectors(LANE)[:2]]
        register = next(bit for bit in range(FRAGMENT_BITS) if bit not in lanes)
        batch_bits = log2(batch[0]) if batch else 0
        return _DotBits(batch_bits, log2(m), log2(n), log2(k), (register, lanes[0], lanes[1]), grid)


def column_tilings(dots: Iterable[DotOp], warps: int) -> dict[Operation, ColumnTiling]:
    """The dots whose columns are in another order than the default one."""
    candidates = {op: bits for op in dots if (bits := _DotBits.of(op, warps)) is not None}
    if len(candidates) < 2:
        return {}
    tilings: dict[Operation, ColumnTiling] = {}
    following: set[Operation] = set()
    for op, bits in candidates.items():
        uses = [use for use in _uses_of(op.result) if _is_b(use) and use.user in candidates]
        if op not in tilings:
            for use in uses:
                assert isinstance(use.user, DotOp)
                pair = _chained(op, bits, candidates[use.user], use.images)
                if pair is not None and tilings.setdefault(op, pair[0]) == pair[0]:
                    tilings.setdefault(use.user, pair[1])
        if op not in tilings and op in following and (tiling := _stored(op, bits)) is not None:
            tilings[op] = tiling
        following.update(use.user for use in uses)
    return tilings


def _is_b(use: _Use) -> bool:
    return isinstance(use.user, DotOp) and use.user.b is use.tile and use.user.a is not use.tile


def _chained(
    op: DotOp, first: _DotBits, second: _DotBits, images: Sequence[int]
) -> tuple[ColumnTiling, ColumnTiling] | None:
    """The tilings of two dots if threads can hold accumulators of the first as B of the second.

    `images` are those of the bits of the first result in B of the second.
    """
    sources = {image: bit for bit, image in enumerate(images)}
    along_k = [sources.get(1 << second.n + bit, first.n) for bit in range(second.k)]
    rows = images[first.n : first.n + FRAGMENT_BITS]
    matrices = images[first.n + first.m :]
    starts = [1 << second.n + second.k + bit for bit in range(second.batch)]
    is_along_columns = all(bit < first.n for bit in along_k) and not max(rows) >> second.n
    if first.grid != second.grid or not is_along_columns or list(matrices) != starts:
        return None
    others = [bit for bit in range(first.n) if bit not in along_k]
    warps = _by_memory(op, others)[: first.warps]
    if len(warps) < first.warps or any(images[bit] >> second.n for bit in warps):
        return None
    fragment = [along_k[bit] for bit in second.fragment_k]
    across = [log2(image) for image in (*rows, *(images[bit] for bit in warps))]
    return (
        ColumnTiling(first.grid, _completed([*fragment, *warps], first.n)),
        ColumnTiling(second.grid, _completed(across, second.n)),
    )


def _by_memory(op: DotOp, columns: Sequence[int]) -> Sequence[int]:
    """Bits of columns, those first that are to choose the warp.

    Neighbouring sectors of memory come first, parts of a sector last, the largest of them first.
    """
    images = _loaded_images(op.b)
    if images is None:
        return columns
    sector = SECTOR // pointee_bytes(element_of(op.b.type))
    outside = sorted((b for b in columns if images[b] >= sector), key=images.__getitem__)
    inside = sorted((b for b in columns if images[b] < sector), key=images.__getitem__)
    return [*outside, *reversed(inside)]


def _stored(op: DotOp, bits: _DotBits) -> ColumnTiling | None:
    """The tiling in which vectors of registers, then lanes are neighbours in a stored tile."""
    images = _stored_images(op.result)
    if images is None:
        return None
    vector = MAX_ACCESS_BYTES // pointee_bytes(element_of(op.result.type))
    columns = sorted(range(bits.n), key=images.__getitem__)
    held = [bit for bit in columns if images[bit] < vector]
    lanes = columns[len(held) :][: FRAGMENT_BITS - 1]
    warps = columns[len(held) + len(lanes) :][: bits.warps]
    is_contiguous = [images[bit] for bit in lanes] == [vector, 2 * vector]
    # Rows within a vector would be in other lanes.
    has_rows = any(image < vector for image in images[bits.n :])
    if not held or has_rows or not is_contiguous or len(warps) < bits.warps:
        return None
    return ColumnTiling(bits.grid, _completed([held[0], *lanes, *warps], bits.n))


def _completed(bits: Sequence[int], count: int) -> tuple[int, ...]:
    return (*bits, *(bit for bit in range(count) if bit not in bits))


class _Use(NamedTuple):
    """A use of a tile, or of one that has its elements in another order."""

    user: Operation
    tile: Value
    images: list[int]
    """By bit of the packed index in the first tile, the packed index in the tile that is used."""


def _uses_of(value: Value) -> Iterator[_Use]:
    """The operations that use the elements of a tile, other than to rearrange or compute them."""
    pending, seen = [(value, _units(value))], {value}
    while pending:
        tile, images = pending.pop()
        for user in tile.users:
            moved = _forward(user, images)
            if moved is None:
                yield _Use(user, tile, images)
                continue
            for result in user.results:
                if result not in seen and len(seen) <= SEARCH_LIMIT:
                    seen.add(result)
                    pending.append((result, moved))


def _stored_images(value: Value) -> list[int] | None:
    """By bit of the packed index, the packed index in a tile that is stored.

    None if the tile is not stored, or not only rearranged on its way there.
    """
    uses = (use.images for use in _uses_of(value) if isinstance(use.user, TileStoreOp))
    return next(uses, None)


def stored_order(value: Value) -> list[int] | None:
    """The bits of the packed index of an element, in their order in a tile that is stored."""
    images = _stored_images(value)
    if images is None:
        return None
    return [1 << bit for bit in sorted(range(len(images)), key=images.__getitem__)]


def _loaded_images(value: Value) -> list[int] | None:
    """By bit of the packed index, the packed index in the loaded tile that a tile is a part of."""
    images = _units(value)
    while True:
        op = value.defining_op()
        match op:
            case TileLoadOp():
                return images
            case shape.ViewOp() | shape.ExpandDimsOp():
                value = op.source
            case shape.PermuteOp():
                inverse = [op.order.index(dim) for dim in range(len(op.order))]
                images = _permuted(images, extents(op.result.type), inverse)
                value = op.source
            case shape.ExtractSliceOp():
                part, whole = extents(op.result.type), extents(op.source.type)
                images = [repack(image, part, whole) for image in images]
                value = op.source
            case _:
                return None


def _units(value: Value) -> list[int]:
    return [1 << bit for bit in range(log2(prod(extents(value.type))))]


def _permuted(images: list[int], source: tuple[int, ...], order: list[int]) -> list[int]:
    result = [source[dim] for dim in order]
    coordinates = [unpack(image, source) for image in images]
    return [pack([each[dim] for dim in order], result) for each in coordinates]


def _forward(op: Operation, images: list[int]) -> list[int] | None:
    """The packed indices of elements after a shape or element-wise operation; None for others."""
    match op:
        case shape.ViewOp() | shape.ExpandDimsOp():
            return images
        case shape.PermuteOp():
            return _permuted(images, extents(op.source.type), list(op.order))
        case shape.CatOp():
            source, result = extents(op.lhs.type), extents(op.result.type)
            return [repack(image, source, result) for image in images]
        case _ if is_elementwise(op) and all(is_tile(result) for result in op.results):
            return images
        case _:
            return None
