"""Tests of dots on several warps: operand and accumulator layouts, staging in shared memory."""

from __future__ import annotations

from itertools import product

import pytest
from each_case import each_case
from layouts import is_injective

from tilewright.layout.fma_smem import slice_extent, slice_smem
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.layout.matrices import matrix_access, matrix_memory
from tilewright.layout.mma_tiling import Grid, fma_accumulator, fragment_tile, warp_grid
from tilewright.layout.pieces import LIMIT, one_piece, piece_bits, piece_of_thread, piece_registers
from tilewright.layout.spread import spread
from tilewright.layout.staging import common_vector

SHAPES = [
    ((1, 1), 1),
    ((16, 8), 16),
    ((64, 64), 32),
    ((32, 128), 8),
    ((128, 16), 64),
    ((2, 4), 4),
    ((4, 8, 16), 32),
    ((2, 64, 1), 2),
]


@pytest.mark.parametrize(("shape", "k_extent"), SHAPES)
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_every_thread_holds_the_operands_of_its_accumulators(
    shape: tuple[int, ...], k_extent: int, warps: int
) -> None:
    """The lanes of an accumulator row together hold A's row, likewise for columns of B."""
    *batch, m, n = shape
    grid = warp_grid(shape, (16, 8), warps)
    assert grid.down * grid.across * grid.batch <= warps
    accumulator = fragment_tile(mma_accumulator(), shape, grid, rows=True, columns=True)
    left = fragment_tile(mma_left(16), (*batch, m, k_extent), grid, rows=True, columns=False)
    right = fragment_tile(mma_right(16), (*batch, k_extent, n), grid, rows=False, columns=True)
    for layout in (accumulator, left, right):
        assert layout.is_surjective
        assert layout.extent(WARP) == warps
        assert layout.distinct_registers() == layout
    for warp in range(warps):
        mine = _held(accumulator, warp)
        rows, columns = _held(left, warp), _held(right, warp)
        for *which, row, column in mine:
            assert all((*which, row, k) in rows for k in range(k_extent))
            assert all((*which, k, column) in columns for k in range(k_extent))


def _held(layout: Layout, warp: int) -> set[tuple[int, ...]]:
    lanes, registers = range(layout.extent(LANE)), range(layout.extent(REGISTER))
    return {layout.at(register=r, lane=t, warp=warp) for r, t in product(registers, lanes)}


def test_accumulators_are_split_over_warps_before_they_are_replicated() -> None:
    assert warp_grid((128, 128), (16, 8), 4) == Grid(2, 2, 1, 4)
    assert warp_grid((16, 128), (16, 8), 4) == Grid(1, 4, 1, 4)
    assert warp_grid((64, 8), (16, 8), 4) == Grid(4, 1, 1, 4)
    assert warp_grid((8, 16, 8), (16, 8), 4) == Grid(1, 1, 4, 4)
    assert warp_grid((2, 2), (16, 8), 4) == Grid(1, 1, 1, 4)


def test_a_tile_smaller_than_the_fragment_is_repeated() -> None:
    layout = fragment_tile(mma_accumulator(), (8, 8), Grid(1, 1, 1, 1), rows=True, columns=True)
    assert layout.extent(REGISTER) == 2
    assert is_injective(layout)


@each_case("shape", [(1, 1), (2, 8), (64, 64), (128, 32), (4, 16, 8)])
@each_case("warps", [1, 4, 16])
def test_patches_hold_every_element_once_for_each_thread(
    shape: tuple[int, ...], warps: int
) -> None:
    layout = fma_accumulator(shape, warps)
    assert layout.is_surjective
    threads = 32 * warps
    assert layout.extent(REGISTER) == max(1, layout.size // threads)


def test_slices_of_k_fit() -> None:
    for batch, rows, columns, k_extent in product((1, 4), (1, 64, 256), (8, 128), (1, 16, 512)):
        extent = slice_extent(batch * (rows + columns) * 4, k_extent)
        assert k_extent % extent == 0
        assert extent == 1 or batch * (rows + columns) * 4 * extent <= 16 * 1024


@pytest.mark.parametrize("along", [1, 2])
@pytest.mark.parametrize("vector", [1, 4])
def test_a_slice_is_contiguous_for_each_k(along: int, vector: int) -> None:
    shape = (2, 32, 64)
    memory = slice_smem(spread(shape, 4, vector=vector), along, 16)
    assert is_injective(memory)
    line = shape[3 - along]
    for b, row, column in product(range(2), range(0, 32, 5), range(0, 64, 7)):
        packed = memory.packed(element=(b * 32 + row) * 64 + column)
        k = column if along == 2 else row
        assert packed // line == k * 2 + b


@each_case("along", [1, 2])
@each_case("vector", [1, 4])
def test_all_slices_have_one_order(along: int, vector: int) -> None:
    shape, slab = (1, 64, 64), 16
    memory = slice_smem(spread(shape, 4, vector=vector), along, slab)
    for row, column in product(range(64), repeat=2):
        first = (row, column % slab) if along == 2 else (row % slab, column)
        later = memory.packed(element=row * 64 + column)
        assert later % (slab * 64) == memory.packed(element=first[0] * 64 + first[1])


def test_lanes_along_k_write_to_several_banks() -> None:
    rows = spread((1, 64, 64), 4)
    offsets = rows.then(slice_smem(rows, 2, 16))
    banks = {offsets.packed(lane=lane) % 32 for lane in range(32)}
    assert len(banks) == 8


@each_case(
    ("source", "wanted"),
    [
        (spread((128, 128), 4), spread((128, 128), 4, order=(0, 1))),
        (
            fragment_tile(mma_accumulator(), (128, 256), Grid(4, 2, 1, 8), rows=True, columns=True),
            spread((128, 256), 8, vector=4),
        ),
        (spread((4096,), 1, vector=4), spread((4096,), 1)),
    ],
)
def test_pieces_are_small_and_make_up_the_tile(source: Layout, wanted: Layout) -> None:
    bits = piece_bits(source, wanted, 8)
    assert source.size * 8 >> len(bits) == LIMIT
    for layout in (source, wanted):
        small = one_piece(layout, bits)
        assert small.is_surjective
        assert small.size == layout.size >> len(bits)
    seen: list[int] = []
    for piece in range(1 << len(bits)):
        seen += piece_registers(wanted, bits, piece)
    assert sorted(seen) == list(range(wanted.extent(REGISTER)))
    assert not any(piece_of_thread(wanted, bits))


def test_all_threads_write_whole_rows_of_every_piece() -> None:
    """B of a decoding step, 128 by 128 of f16: 16 rows for a thread, eight in each piece."""
    source = spread((128, 128), 4, vector=16)
    grid = Grid(1, 4, 1, 4)
    wanted = fragment_tile(mma_right(16), (128, 128), grid, rows=False, columns=True)
    bits = piece_bits(source, wanted, 2)
    assert not any(piece_of_thread(source, bits))
    assert matrix_memory(one_piece(source, bits), one_piece(wanted, bits), 2) is not None


@each_case(
    ("source", "wanted", "transposed"),
    [
        (spread((64, 64), 4, vector=8), mma_left(16), False),
        (spread((64, 64), 4, vector=8), mma_right(16), True),
        (spread((64, 64), 4, vector=8, order=(0, 1)), mma_right(16), False),
    ],
)
def test_f16_operands_are_loaded_with_ldmatrix(
    source: Layout, wanted: Layout, transposed: bool
) -> None:
    rows = wanted.shape[0] == 16 and wanted.shape[1] == 16
    tile = fragment_tile(wanted, (64, 64), Grid(2, 2, 1, 4), rows=rows, columns=not rows)
    memory = matrix_memory(source, tile, 2)
    assert memory is not None
    access = matrix_access(tile.then(memory.inverse()), 2)
    assert access is not None
    assert access.transposed is transposed
    # Eight lanes read a row of 16 bytes each, all in different banks.
    parts = {_xor(access.rows, lane) % 128 // 16 for lane in range(8)}
    assert parts == set(range(8))
    # Threads write whole rows, eight of them at once, without conflicts as well.
    written = source.then(memory.inverse())
    assert {written.packed(lane=lane) * 2 % 128 // 16 for lane in range(8)} == set(range(8))


def _xor(vectors: tuple[int, ...], number: int) -> int:
    combined = 0
    for bit, vector in enumerate(vectors):
        combined ^= vector if number >> bit & 1 else 0
    return combined


def test_rows_that_no_thread_holds_are_not_read_as_matrices() -> None:
    tile = fragment_tile(mma_left(16), (64, 64), Grid(2, 2, 1, 4), rows=True, columns=False)
    source = spread((64, 64), 4, vector=4)
    assert matrix_memory(source, tile, 2) is None
    assert common_vector(source, tile, 2)
