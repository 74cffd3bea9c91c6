"""Tests of memory layouts: staging, bank conflicts, swizzles, descriptors, 8x8 matrices."""

from __future__ import annotations

import pytest
from each_case import each_case
from hypothesis import given
from hypothesis import strategies as st
from layouts import is_injective, layouts, wavefronts

from tilewright.layout import gf2
from tilewright.layout.descriptors import Refusal, describe
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right, wgmma_left
from tilewright.layout.linear import LANE, OFFSET, REGISTER, WARP, Layout
from tilewright.layout.matrices import exchange_memory, matrix_access
from tilewright.layout.mma_tiling import Grid, fragment_tile
from tilewright.layout.spread import spread
from tilewright.layout.staging import common_vector, copy_staging, staging
from tilewright.layout.swizzle import row_major, swizzle, swizzled
from tilewright.layout.vector_access import contiguous_offsets, copied_registers
from tilewright.layout.wgmma import left_fragments


def accumulators(shape: tuple[int, int], grid: Grid) -> Layout:
    return fragment_tile(mma_accumulator(), shape, grid, rows=True, columns=True)


def left(shape: tuple[int, int], grid: Grid) -> Layout:
    return fragment_tile(mma_left(16), shape, grid, rows=True, columns=False)


PAIRS = [
    (spread((64, 64), 4), spread((64, 64), 4, order=(0, 1))),
    (spread((64, 64), 4, vector=4), spread((64, 64), 4, order=(0, 1), vector=4)),
    (accumulators((64, 64), Grid(2, 2, 1, 4)), spread((64, 64), 4, vector=4)),
    (accumulators((128, 32), Grid(4, 1, 1, 4)), spread((128, 32), 4, vector=2)),
    (spread((32, 128), 8), left((32, 128), Grid(2, 4, 1, 8))),
]


@pytest.mark.parametrize("element", [1, 2, 4, 8])
@pytest.mark.parametrize("pair", PAIRS)
def test_a_round_trip_has_no_bank_conflict(pair: tuple[Layout, Layout], element: int) -> None:
    """Each access of a warp takes as many wavefronts as its bytes need, on either side."""
    source, destination = pair
    memory = staging(source, destination, element)
    assert is_injective(memory)
    assert memory.is_surjective
    width = element << len(common_vector(source, destination, element))
    for side in pair:
        offsets = [v * element for v in side.then(memory.inverse()).vectors(LANE)]
        assert wavefronts(offsets, width) == max(1, 32 * max(width, 4) // 128)


@given(layouts(surjective=True, shape=(8, 8)), layouts(surjective=True, shape=(8, 8)))
def test_staging_gives_every_element_its_own_offset(one: Layout, two: Layout) -> None:
    memory = staging(one, two, 4)
    assert is_injective(memory)
    assert memory.is_surjective


def test_registers_that_repeat_elements_take_no_more_memory() -> None:
    columns = [(0, 1), (0, 2), (0, 4), (1, 0), (4, 0)]
    repeated = Layout.build({REGISTER: [(2, 0), (2, 0)], WARP: columns}, (8, 8))
    plain = Layout.build({REGISTER: [*columns[:4], (2, 0)], WARP: columns[4:]}, (8, 8))
    assert common_vector(repeated, plain, 4) == [16]
    assert is_injective(staging(repeated, plain, 4))


GRID = Grid(2, 2, 1, 4)


def fragments(side: str, shape: tuple[int, int], bits: int) -> Layout:
    """A or B of mma.sync, or A of wgmma, in registers."""
    if side == "a":
        return fragment_tile(mma_left(bits), shape, GRID, rows=True, columns=False)
    if side == "b":
        return fragment_tile(mma_right(bits), shape, GRID, rows=False, columns=True)
    return left_fragments(shape, (shape[0], 64), bits, warps=4)


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("order", [(1, 0), (0, 1)], ids=["rows", "columns"])
@pytest.mark.parametrize("side", ["a", "b", "wgmma"])
@pytest.mark.parametrize("shape", [(64, 64), (128, 32)], ids=str)
def test_a_stage_is_copied_in_vectors_and_read_as_fragments(
    shape: tuple[int, int], side: str, order: tuple[int, int], bits: int
) -> None:
    """16 bytes a lane are copied in 4 wavefronts, and at most a word a lane is read in 1."""
    element, vector = bits // 8, 128 // bits
    source = spread(shape, 4, order=order, vector=vector)
    destination = fragments(side, shape, bits)
    memory = copy_staging(source, vector, destination, element)
    assert is_injective(memory)
    assert memory.is_surjective
    written, read = source.then(memory.inverse()), destination.then(memory.inverse())
    assert copied_registers(written, vector) == vector
    assert wavefronts([v * element for v in written.vectors(LANE)], 16) == 4
    # Neighbours along K share a register of A or B: a stage that is K-major is read by words.
    is_k_major = (order == (1, 0)) == (side != "b")
    width = element * contiguous_offsets(read, element)
    assert width == (4 if is_k_major else element)
    assert wavefronts([v * element for v in read.vectors(LANE)], width) == 1


def test_a_stage_of_few_copied_elements() -> None:
    """Vectors of 4 bytes, in a layout whose lanes copy a column."""
    source = spread((64, 32), 4, order=(0, 1), vector=2)
    destination = fragments("a", (64, 32), 16)
    memory = copy_staging(source, 2, destination, 2)
    assert is_injective(memory)
    written, read = source.then(memory.inverse()), destination.then(memory.inverse())
    assert copied_registers(written, 2) == 2
    assert wavefronts([2 * v for v in written.vectors(LANE)], 4) == 1
    assert wavefronts([2 * v for v in read.vectors(LANE)], 2) == 1


def test_a_transpose_through_plain_rows_conflicts() -> None:
    columns = spread((64, 64), 4, order=(0, 1))
    offsets = columns.then(row_major((64, 64)).inverse())
    assert wavefronts([4 * vector for vector in offsets.vectors(LANE)], 4) == 32


@each_case("span", [128, 64, 32])
@each_case("element", [1, 2, 4])
def test_swizzled_memory_as_the_address_says(span: int, element: int) -> None:
    rows, columns = 64, 2 * span // element
    memory = swizzled((rows, columns), element, span)
    width = span // element
    for row in range(rows):
        for column in range(0, columns, 16 // element):
            box, within = divmod(column, width)
            address = box * rows * span + row * span + within * element
            row_in_line = address // 128 % (span // 16)
            moved = address ^ (row_in_line * 16)
            assert memory.at(offset=moved // element) == (row, column)


@given(st.integers(0, 1 << 16), st.sampled_from((128, 64, 32, 16)))
def test_a_swizzle_undoes_itself(address: int, span: int) -> None:
    assert swizzle(swizzle(address, span), span) == address


@each_case("span", [128, 64, 32])
def test_descriptor_along_k(span: int) -> None:
    descriptor = describe(swizzled((64, span // 2), 2, span), 2)
    assert (descriptor.span, descriptor.stride, descriptor.across) == (span, 8 * span, False)


@each_case("span", [128, 64, 32])
def test_descriptor_across_k(span: int) -> None:
    """N-major: boxes along N are `leading` bytes apart, 8 rows along K are `stride` bytes apart."""
    memory = swizzled((64, 128), 2, span).permute((1, 0))
    descriptor = describe(memory, 2)
    assert descriptor == (span, 64 * span, 8 * span, True)


def test_descriptor_of_core_matrices_without_a_swizzle() -> None:
    # 8 rows of 16 bytes together, first all groups of rows, then the next chunk of K.
    vectors = [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (0, 8)]
    descriptor = describe(Layout.build({"offset": vectors}, (64, 16)), 2)
    assert descriptor == (16, 64 * 16, 8 * 16, False)


def test_plain_rows_are_rejected() -> None:
    with pytest.raises(Refusal, match="expected memory in core matrices"):
        describe(row_major((64, 64)), 2)
    with pytest.raises(Refusal, match="expected at least 32 bytes of k, got 16"):
        describe(row_major((64, 8)), 2)


def test_right_operand_in_rows_is_loaded_transposed() -> None:
    """N-major B of mma.sync: ldmatrix.trans, one row of memory per index along K."""
    right = fragment_tile(mma_right(16), (16, 16), Grid(1, 1, 1, 1), rows=False, columns=True)
    offsets = right.then(row_major((16, 16)).inverse())
    access = matrix_access(offsets, 2)
    assert access == (True, (32, 64, 128), (256, 16), (), None)


def test_bytes_are_loaded_transposed_in_pairs() -> None:
    """A of wgmma, 32 along K, from rows of memory along M, by the definition of ldmatrix.trans.

    A thread has rows r and r + 8 of a fragment: here these are neighbours in memory.
    """
    fragment = wgmma_left(8)
    memory_row = [(row & 7) * 2 + (row >> 3) for row in range(16)]
    address: dict[tuple[int, ...], int] = {
        (row, k): k * 64 + (row // 16) * 16 + memory_row[row % 16]
        for row in range(64)
        for k in range(32)
    }
    # The same as a linear layout: the element at each offset.
    rows = [(8, 0), (1, 0), (2, 0), (4, 0), (16, 0), (32, 0)]
    offsets = [*rows, *[(0, 1 << bit) for bit in range(5)]]
    memory = Layout.build({OFFSET: offsets}, (64, 32))
    access = matrix_access(fragment.then(memory.inverse()), 1)
    assert access is not None
    assert access.transposed
    order = access.fill_order(fragment.extent(REGISTER))
    warp_images = fragment.then(memory.inverse()).vectors(WARP)
    for warp in range(4):
        start = gf2.combine(warp_images, warp)
        for lane in range(32):
            filled: list[int] = []
            for matrix in range(4):
                # Lane i gets, of each of the rows 2 (i % 4) and the next, the two bytes i // 4.
                for row in (2 * (lane % 4), 2 * (lane % 4) + 1):
                    chosen = [*access.rows, *access.matrices]
                    first = start ^ gf2.combine(chosen, row | matrix << 3)
                    filled += [first + 2 * (lane // 4), first + 2 * (lane // 4) + 1]
            for register in range(fragment.extent(REGISTER)):
                wanted = address[fragment.at(register=register, lane=lane, warp=warp)]
                assert filled[order[register]] == wanted


def test_elements_not_in_rows_are_not_loaded_as_matrices() -> None:
    assert matrix_access(spread((16, 16), 1).then(row_major((16, 16)).inverse()), 2) is None


def test_accumulators_are_exchanged_as_matrices() -> None:
    """Four warps with columns of their own need all columns as A: rows of stmatrix and ldmatrix."""
    lanes = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    columns = [(0, 8), (0, 16), (0, 32), (0, 64)]
    accumulators = {REGISTER: [(0, 1), (8, 0), *columns[2:]], LANE: lanes, WARP: columns[:2]}
    left = {REGISTER: [(0, 1), (8, 0), *columns], LANE: lanes, WARP: [(0, 0), (0, 0)]}
    source, wanted = (Layout.build(each, (16, 128)) for each in (accumulators, left))
    memory = exchange_memory(source, wanted, 2)
    assert memory is not None
    for layout in (source, wanted):
        access = matrix_access(layout.then(memory.inverse()), 2)
        assert access is not None
        # The eight rows of a matrix are in different banks: 16 bytes of each 128.
        starts = {gf2.combine(access.rows, row) % 128 for row in range(8)}
        assert starts == set(range(0, 128, 16))


def test_rows_of_other_lanes_are_not_exchanged_as_matrices() -> None:
    assert exchange_memory(spread((16, 16), 1), mma_left(16), 2) is None
