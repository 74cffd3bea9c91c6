"""Tests of FMA dots whose threads have whole lines of the result, against tables of elements."""

from __future__ import annotations

from itertools import product

from each_case import each_case

from tilewright.layout.fma_lines import COLUMNS, ROWS, held_operand, line_tiling
from tilewright.layout.linear import LANE, REGISTER, WARP, Layout
from tilewright.layout.spread import spread
from tilewright.layout.wgmma import batched

SHAPES = [
    ((16, 256), 16, 4, COLUMNS),
    ((2, 16, 256), 16, 8, COLUMNS),
    ((256, 16), 16, 4, ROWS),
    ((4, 64, 8), 4, 4, ROWS),
    ((1, 512), 2, 2, COLUMNS),
]
"""The shape of a result, K, warps, and what threads have."""


@each_case(("shape", "k", "warps", "along"), SHAPES)
@each_case("shared", [False, True])
def test_threads_have_whole_lines(
    shape: tuple[int, ...], k: int, warps: int, along: int, shared: bool
) -> None:
    tiling = line_tiling(shape, k, warps, is_shared=(shared, shared))
    assert tiling is not None
    assert tiling.along == along
    accumulator, operand = batched(tiling.accumulator), batched(tiling.operand)
    for layout in (accumulator, operand):
        assert layout.is_surjective
        assert not layout.replicas()
    across = 3 - along
    for lane, warp in product((0, 7, 31), range(warps)):
        registers = range(accumulator.extent(REGISTER))
        held = [accumulator.at(register=r, lane=lane, warp=warp) for r in registers]
        lines = {(b, (row, column)[along - 1]) for b, row, column in held}
        assert len(held) == len(lines) * accumulator.shape[across]
        registers = range(operand.extent(REGISTER))
        needed = [operand.at(register=r, lane=lane, warp=warp) for r in registers]
        assert lines == {(b, (row, column)[along - 1]) for b, row, column in needed}


@each_case(("shape", "k", "warps", "along"), SHAPES)
def test_each_accumulator_finds_its_operand(
    shape: tuple[int, ...], k: int, warps: int, along: int
) -> None:
    tiling = line_tiling(shape, k, warps)
    assert tiling is not None
    accumulator, operand = batched(tiling.accumulator), batched(tiling.operand)
    held = held_operand(accumulator, operand, 3 - along)
    assert held is not None
    for register, lane, warp in product(
        range(accumulator.extent(REGISTER)), (0, 21), (0, warps - 1)
    ):
        at = list(accumulator.at(register=register, lane=lane, warp=warp))
        for each in range(k):
            at[3 - along] = each
            number = held.register(register, each)
            assert operand.at(register=number, lane=lane, warp=warp) == tuple(at)


def test_lanes_of_a_warp_need_one_matrix() -> None:
    """All lanes read the same element of the operand that is in shared memory."""
    tiling = line_tiling((4, 8, 64), 8, 4)
    assert tiling is not None
    lanes = tiling.accumulator.only(LANE).drop(2)
    assert not any(lanes.vectors(LANE))
    assert line_tiling((16, 4, 32), 4, 8) is None
    assert line_tiling((16, 4, 32), 4, 8, is_shared=(True, False)) is not None


@each_case("shape", [(16, 128), (64, 64), (128, 128), (16, 512)])
def test_few_lines_or_many_registers_are_not_for_it(shape: tuple[int, int]) -> None:
    assert line_tiling(shape, 16, 4) is None


def test_lanes_follow_the_order_of_memory() -> None:
    order = [1 << bit for bit in (4, 5, 6, 7, 0, 1, 2, 3, *range(8, 13))]
    tiling = line_tiling((2, 16, 256), 16, 8, is_shared=(True, False), order=order)
    assert tiling is not None
    assert tiling.accumulator.vectors(LANE) == (16, 32, 64, 128, 1)
    assert tiling.accumulator.vectors(WARP) == (2, 4, 8)


def test_a_matrix_of_the_whole_batch_may_be_held() -> None:
    accumulators = Layout.build({REGISTER: [(1, 0, 0)], LANE: [(0, 1, 0)]}, (2, 2, 1))
    one = Layout.build({REGISTER: [(0, 0, 1)], LANE: [(0, 1, 0)]}, (1, 2, 2))
    held = held_operand(accumulators, one, 2)
    assert held is not None
    assert [held.register(r, k) for r in range(2) for k in range(2)] == [0, 1, 0, 1]


def test_what_other_threads_have_is_not_held() -> None:
    accumulators = batched(spread((16, 64), 1))
    assert held_operand(accumulators, batched(spread((4, 64), 1, vector=4)), 1) is None
