"""Layout conversions of large tiles piece by piece: the element bits that select the piece."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tilewright.layout.linear import LANE, REGISTER, WARP, Layout, log2
from tilewright.layout.matrices import ROW, matrix_memory
from tilewright.layout.staging import common_vector
from tilewright.layout.transfer import Move, transfer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LIMIT: Final = 16 * 1024
"""Bytes of shared memory that a layout conversion should take at most."""


@lru_cache(maxsize=256)
def piece_bits(source: Layout, wanted: Layout, element: int) -> tuple[int, ...]:
    """The bits of the packed element that number its piece; none if the tile is small enough.

    `element` is the bytes of an element, or of several that are exchanged together: any number.
    Registers of the destination count the pieces, and those of the source too if there are such:
    then all threads write and read in every piece.

    >>> from tilewright.layout.spread import spread
    >>> piece_bits(spread((128, 64), 4), spread((128, 64), 4, vector=4), element=4)
    (4096,)
    """
    missing = (-(-source.size * element // LIMIT) - 1).bit_length()
    if not missing:
        return ()
    ours = source.vectors(REGISTER)
    together = common_vector(source, wanted, element)
    candidates = [v for v in wanted.vectors(REGISTER) if _is_alone(v, (source, wanted))]
    if transfer(source, wanted).move <= Move.SHUFFLES:
        # All lanes of a warp take part in every piece.
        candidates.sort(key=lambda v: (v not in ours, v in together, -v))
    elif _exchanges_matrices(source, wanted, element):
        # Rows of matrices are whole in every piece, and so are the warps that write it.
        row, lanes = ROW // element, source.vectors(LANE)
        candidates.sort(key=lambda v: (v < row, v in lanes, v not in ours, -v))
    else:
        candidates.sort(key=lambda v: (v in together, v not in ours, -v))
    return tuple(candidates[:missing])


def _exchanges_matrices(source: Layout, wanted: Layout, element: int) -> bool:
    """Whether ldmatrix could read a tile that is converted, or stmatrix write it."""
    either = ((source, wanted), (wanted, source))
    return any(matrix_memory(*layouts, element) is not None for layouts in either)


def _is_alone(bit: int, layouts: Iterable[Layout]) -> bool:
    """Whether a bit of the element is never one of several that change together."""
    if not bit or bit & (bit - 1):
        return False
    return all(not v & bit or v == bit for each in layouts for v in each.columns())


def one_piece(layout: Layout, bits: Sequence[int]) -> Layout:
    """The layout of each piece, as a flat tile; threads that have none of it hold replicas.

    >>> one_piece(Layout.build({"register": [(1,), (2,)], "lane": [(4,)]}, (8,)), [2])
    <register: (1); lane: (2) -> 4>
    """
    mask = sum(bits)
    kept = [bit for bit in range(log2(layout.size)) if not mask >> bit & 1]
    inputs: list[tuple[str, list[int]]] = []
    for name, vectors in layout.inputs:
        left = [v for v in vectors if not (name == REGISTER and v & mask)]
        inputs.append(
            (name, [sum(1 << n for n, bit in enumerate(kept) if v >> bit & 1) for v in left])
        )
    return Layout(inputs, (layout.size >> len(bits),))


def piece_registers(layout: Layout, bits: Sequence[int], piece: int) -> list[int]:
    """The registers that belong to a piece, in the order of `one_piece`, where threads allow it."""
    wanted = sum(bit for number, bit in enumerate(bits) if piece >> number & 1)
    counted = sum(bit for bit in bits if bit in layout.vectors(REGISTER))
    return [
        register
        for register in range(layout.extent(REGISTER))
        if layout.packed(register=register) & counted == wanted & counted
    ]


def piece_of_thread(layout: Layout, bits: Sequence[int]) -> list[int]:
    """The contribution of each bit of the thread index to the index of its piece."""
    vectors = (*layout.vectors(LANE), *layout.vectors(WARP))
    return [sum(1 << n for n, bit in enumerate(bits) if vector & bit) for vector in vectors]
