from __future__ import annotations

import numpy as np
from each_case import each_case
from matrix_probes import coordinate_a, coordinate_b, coordinate_c

from tilewright.ptxsim.matrix.descriptors import Layout, chunk_offsets, swizzle
from tilewright.ptxsim.matrix.elements import ELEMENTS
from tilewright.ptxsim.matrix.fragments import (
    Fragment,
    accumulator,
    multiplicand_a,
    multiplicand_b,
    quarter_accumulator,
    quarter_multiplicand,
)


def element(fragment: Fragment, lane: int, index: int) -> tuple[int, int]:
    return int(fragment.row[lane, index]), int(fragment.column[lane, index])


# Coordinates from the figures of the PTX manual: lane, element, row, column.
@each_case(
    ("fragment", "facts"),
    [
        (multiplicand_a(16, 16, 16), [(0, 0, 0, 0), (0, 1, 0, 1), (0, 2, 8, 0), (0, 4, 0, 8),
                                      (0, 7, 8, 9), (5, 0, 1, 2), (31, 7, 15, 15)]),
        (multiplicand_a(16, 8, 16), [(1, 1, 0, 3), (1, 2, 8, 2), (31, 3, 15, 7)]),
        (multiplicand_a(16, 8, 32), [(0, 1, 8, 0), (0, 2, 0, 4), (0, 3, 8, 4), (30, 3, 15, 6)]),
        (multiplicand_a(16, 4, 32), [(3, 0, 0, 3), (3, 1, 8, 3)]),
        (multiplicand_a(16, 32, 8), [(0, 3, 0, 3), (0, 4, 8, 0), (1, 8, 0, 20), (31, 15, 15, 31)]),
        (multiplicand_a(16, 64, 4), [(0, 7, 0, 7), (0, 8, 8, 0), (1, 16, 0, 40)]),
        (multiplicand_a(16, 256, 1), [(0, 31, 0, 31), (0, 32, 8, 0), (2, 64, 0, 192)]),
        (multiplicand_a(16, 16, 64), [(0, 1, 8, 0), (0, 2, 0, 4), (0, 7, 8, 12), (31, 7, 15, 15)]),
        (multiplicand_a(8, 4, 64), [(0, 0, 0, 0), (7, 0, 1, 3), (31, 0, 7, 3)]),
        (multiplicand_a(8, 16, 8), [(1, 2, 0, 6), (31, 3, 7, 15)]),
        (accumulator(16, 8), [(0, 1, 0, 1), (0, 2, 8, 0), (6, 3, 9, 5), (31, 3, 15, 7)]),
        (accumulator(8, 8), [(0, 1, 0, 1), (31, 1, 7, 7)]),
        (accumulator(16, 256), [(0, 4, 0, 8), (0, 6, 8, 8), (31, 127, 15, 255)]),
    ],
)  # fmt: skip
def test_fragments_match_the_figures_of_the_manual(
    fragment: Fragment, facts: list[tuple[int, int, int, int]]
) -> None:
    for lane, index, row, column in facts:
        assert element(fragment, lane, index) == (row, column)


def test_columns_of_b_belong_to_groups_of_lanes() -> None:
    # b0 and b1 of lane 5 in m16n8k16: k = 2 and 3, n = 1; b2 is eight steps further.
    fragment = multiplicand_b(16, 8, 16)
    assert [element(fragment, 5, at) for at in range(4)] == [(1, 2), (1, 3), (1, 10), (1, 11)]


@each_case(("m", "k", "bits"), [(16, 16, 16), (16, 8, 32), (8, 16, 8), (16, 64, 4)])
def test_formulas_and_tables_agree(m: int, k: int, bits: int) -> None:
    a, b, c = multiplicand_a(m, k, bits), multiplicand_b(k, 8, bits), accumulator(m, 8)
    for lane in range(32):
        for at in range(a.per_lane):
            assert element(a, lane, at) == coordinate_a(m, bits)(lane, at)
        for at in range(b.per_lane):
            assert element(b, lane, at) == coordinate_b(bits)(lane, at)[::-1]
        for at in range(c.per_lane):
            assert element(c, lane, at) == coordinate_c(m)(lane, at)


@each_case(
    "fragment",
    [multiplicand_a(16, 32, 8), accumulator(16, 64), quarter_multiplicand(True),
     quarter_multiplicand(False), quarter_accumulator(16), quarter_accumulator(32)],
)  # fmt: skip
def test_collect_inverts_distribute(fragment: Fragment) -> None:
    size = fragment.rows * fragment.columns
    matrices = np.arange(3 * size).reshape(3, fragment.rows, fragment.columns)
    elements = fragment.distribute(matrices)
    assert elements.shape == (3, 32, size // 32)
    assert np.array_equal(fragment.collect(elements), matrices)
    assert elements[2, 7, 1] == matrices[2, fragment.row[7, 1], fragment.column[7, 1]]


def test_the_bit_fields_of_a_descriptor() -> None:
    bits = 0x123 | 5 << 16 | 64 << 32 | 3 << 49 | 1 << 62
    assert Layout.of(bits) == Layout(leading=80, stride=1024, base_offset=3, row_bytes=128)
    assert [Layout.of(code << 62).row_bytes for code in range(4)] == [16, 128, 64, 32]


def test_the_128_byte_swizzle_permutes_chunks() -> None:
    layout = Layout(16, 1024, 0, 128)
    offsets = chunk_offsets(64, ELEMENTS["bf16"], layout, across=False)
    # Row 9 is row 1 of the second block: chunk 0 lies where chunk 1 would.
    assert offsets[9].tolist() == [1024 + 128, 1024 + 144]
    assert swizzle(offsets[9], layout).tolist() == [1024 + 128 + 16, 1024 + 128]
    # Row 5 of rows of 64 bytes lies at 320: the second 128 bytes, so chunk 0 becomes chunk 2.
    narrow = Layout(16, 512, 0, 64)
    assert swizzle(np.array([5 * 64]), narrow).tolist() == [320 ^ (2 << 4)]


def test_a_pattern_that_begins_later_counts_rows_from_there() -> None:
    assert swizzle(np.array([128]), Layout(16, 1024, 1, 128)).tolist() == [128]
