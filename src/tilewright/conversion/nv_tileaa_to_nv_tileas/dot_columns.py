"""The order of the columns of dots by mma.sync whose result has one row of fragments.

Each warp has whole columns of B and of the result, and any order of the columns suits the dot. If K
of a second dot lies along the columns of the first, an order exists in which each thread holds
the same elements as accumulators of the first dot and as B of the second: lanes of an accumulator
are at rows and columns where those of B are at columns and rows. Then no data is exchanged between
the two.

The columns that remain are assigned to warps as the first dot's B is loaded. The last dot of
several has its columns in the order in which they are stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tilewright.conversion.nv_tileaa_to_nv_tileas.element_paths import (
    loaded_images,
    stored_images,
    uses_of,
)
from tilewright.dialects.elements import element_of, pointee_bytes
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileas.matrix import mma_instruction
from tilewright.dialects.scf import ForOp, WhileOp
from tilewright.layout.fragments import mma_right
from tilewright.layout.linear import LANE, log2, unpack
from tilewright.layout.mma_tiling import Grid
from tilewright.target.arch import MAX_ACCESS_BYTES
from tilewright.target.memories import SECTOR
from tilewright.target.tensor_cores import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tilewright.conversion.nv_tileaa_to_nv_tileas.element_paths import Use
    from tilewright.ir.operation import Operation

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
        (*batch, m, n), k = shape(op.c.type), shape(op.a.type)[-1]
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
        uses = [use for use in uses_of(op.result) if _is_b(use) and use.user in candidates]
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


def _is_b(use: Use) -> bool:
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
    images = loaded_images(op.b)
    if images is None:
        return columns
    sector = SECTOR // pointee_bytes(element_of(op.b.type))
    outside = sorted((b for b in columns if images[b] >= sector), key=images.__getitem__)
    inside = sorted((b for b in columns if images[b] < sector), key=images.__getitem__)
    return [*outside, *reversed(inside)]


def _stored(op: DotOp, bits: _DotBits) -> ColumnTiling | None:
    """The tiling in which vectors of registers, then lanes are neighbours in a stored tile."""
    images = stored_images(op.result)
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
