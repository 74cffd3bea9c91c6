"""Tests of operand layouts: against the formulas of the PTX manual, and by ranges of a CTA."""

from __future__ import annotations

import pytest
from each_case import each_case

from tilewright.layout.fragments import (
    mma_accumulator,
    mma_left,
    mma_right,
    wgmma_accumulator,
    wgmma_left,
)
from tilewright.layout.linear import LANE, REGISTER, WARP, elements
from tilewright.layout.spread import spread


def test_accumulator_of_m16n8() -> None:
    for indices, element in elements(mma_accumulator()):
        group, thread = divmod(indices[LANE], 4)
        register = indices[REGISTER]
        assert element == (group + 8 * (register >= 2), thread * 2 + register % 2)


def test_left_operand_of_m16n8k16() -> None:
    for indices, (row, k) in elements(mma_left(16)):
        group, thread = divmod(indices[LANE], 4)
        register = indices[REGISTER]
        assert row == (group if register in (0, 1, 4, 5) else group + 8)
        assert k == thread * 2 + register % 2 + (8 if register >= 4 else 0)


def test_right_operand_of_m16n8k16() -> None:
    for indices, (k, column) in elements(mma_right(16)):
        group, thread = divmod(indices[LANE], 4)
        register = indices[REGISTER]
        assert column == group
        assert k == thread * 2 + register % 2 + (8 if register >= 2 else 0)


def test_left_operand_of_m16n8k32_in_bytes() -> None:
    for indices, (row, k) in elements(mma_left(8)):
        group, thread = divmod(indices[LANE], 4)
        register = indices[REGISTER]
        assert row == (group if register < 4 or 8 <= register < 12 else group + 8)
        assert k == thread * 4 + register % 4 + (16 if register >= 8 else 0)


def test_left_operand_of_m16n8k8_in_words() -> None:
    for indices, (row, k) in elements(mma_left(32)):
        group, thread = divmod(indices[LANE], 4)
        register = indices[REGISTER]
        assert row == group + 8 * (register % 2)
        assert k == thread + 4 * (register // 2)


def test_operands_of_m8n8k4_in_doubles() -> None:
    left = mma_left(64, rows=8, k=4)
    right = mma_right(64, k=4)
    for lane in range(32):
        assert left.at(lane=lane) == (lane // 4, lane % 4)
        assert right.at(lane=lane) == (lane % 4, lane // 4)


@pytest.mark.parametrize("columns", [8, 32, 256])
def test_accumulator_of_wgmma(columns: int) -> None:
    for indices, (row, column) in elements(wgmma_accumulator(columns)):
        register, lane = indices[REGISTER], indices[LANE]
        assert row == indices[WARP] * 16 + lane // 4 + 8 * (register // 2 % 2)
        assert column == register // 4 * 8 + lane % 4 * 2 + register % 2


def test_left_operand_of_wgmma_in_registers() -> None:
    for indices, (row, k) in elements(wgmma_left(16)):
        register, lane = indices[REGISTER], indices[LANE]
        assert row == indices[WARP] * 16 + lane // 4 + 8 * (register // 2 % 2)
        assert k == lane % 4 * 2 + register % 2 + register // 4 * 8


@each_case("shape", [(1,), (8,), (4096,), (16, 16), (1, 1024), (2, 4, 8, 16)])
@each_case("warps", [1, 4, 8])
@each_case("vector", [1, 4])
def test_spread_tiles_hold_every_element_in_contiguous_vectors(
    shape: tuple[int, ...], warps: int, vector: int
) -> None:
    layout = spread(shape, warps, vector=vector)
    assert layout.is_surjective
    assert layout.extent(WARP) == warps
    assert layout.extent(LANE) == 32
    for register in range(min(vector, layout.size)):
        assert layout.packed(register=register) == register
    if layout.size >= 32 * vector:
        assert [layout.packed(lane=lane) for lane in range(32)] == [
            vector * lane for lane in range(32)
        ]
