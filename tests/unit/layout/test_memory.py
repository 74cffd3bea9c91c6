"""Tests of memory layouts: staging, bank conflicts, swizzles, descriptors, 8x8 matrices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared.layouts import is_injective, layouts, wavefronts
from tilewright.layout.descriptors import Refusal, describe
from tilewright.layout.fragments import mma_accumulator, mma_left, mma_right
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.layout.matrices import matrix_access
from tilewright.layout.mma_tiling import Grid, fragment_tile
from tilewright.layout.spread import spread
from tilewright.layout.staging import common_vector, staging
from tilewright.layout.swizzle import row_major, swizzle, swizzled


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


def test_a_transpose_through_plain_rows_conflicts() -> None:
    columns = spread((64, 64), 4, order=(0, 1))
    offsets = columns.then(row_major((64, 64)).inverse())
    assert wavefronts([4 * vector for vector in offsets.vectors(LANE)], 4) == 32


@pytest.mark.parametrize("span", [128, 64, 32])
@pytest.mark.parametrize("element", [1, 2, 4])
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


@pytest.mark.parametrize("span", [128, 64, 32])
def test_descriptor_along_k(span: int) -> None:
    descriptor = describe(swizzled((64, span // 2), 2, span), 2)
    assert (descriptor.span, descriptor.stride, descriptor.across) == (span, 8 * span, False)


@pytest.mark.parametrize("span", [128, 64, 32])
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
    assert access == (True, (32, 64, 128), (256, 16), ())


def test_elements_not_in_rows_are_not_loaded_as_matrices() -> None:
    assert matrix_access(spread((16, 16), 1).then(row_major((16, 16)).inverse()), 2) is None
