"""Tests of the order of the columns of dots by mma.sync."""

from __future__ import annotations

from itertools import permutations, product

from each_case import each_case

from tilewright.layout.fragments import mma_accumulator, mma_right
from tilewright.layout.linear import REGISTER
from tilewright.layout.mma_columns import column_order, default_columns, reordered_columns
from tilewright.layout.mma_tiling import Grid, consists_of, fragment_tile
from tilewright.layout.spread import spread

GRID = Grid(down=1, across=2, batch=1, warps=2)
SHAPE = (16, 32)
ORDERS = [order for order in permutations(range(5)) if order[0] < order[4]]


@each_case("order", ORDERS[::7])
def test_the_order_is_that_of_the_first_columns(order: tuple[int, ...]) -> None:
    default = fragment_tile(mma_accumulator(), SHAPE, GRID, rows=True, columns=True)
    tile = reordered_columns(default, order)
    first = column_order(tile, mma_accumulator())
    assert first[:3] == order[:3]
    assert sorted(first) == list(range(5))
    assert default_columns(tile, order) == default
    assert consists_of(default_columns(tile, first), mma_accumulator())


@each_case("order", ORDERS[::7])
def test_b_and_the_accumulator_agree(order: tuple[int, ...]) -> None:
    """Lane `4 * c` has column c of an instruction in B, lane `c // 2` has it in the result."""
    tiles = [
        fragment_tile(mma_right(16), SHAPE, GRID, rows=False, columns=True),
        fragment_tile(mma_accumulator(), SHAPE, GRID, rows=True, columns=True),
    ]
    b, c = (reordered_columns(tile, order) for tile in tiles)
    # Registers of B count two bits of K first, those of the result a column and a row.
    instructions = b.extent(REGISTER) >> 2
    assert instructions == c.extent(REGISTER) >> 2
    for warp, instruction, column in product(range(2), range(instructions), range(8)):
        _, ours = b.at(register=instruction << 2, lane=4 * column, warp=warp)
        register = (instruction << 2) + column % 2
        assert c.at(register=register, lane=column // 2, warp=warp) == (0, ours)


def test_other_layouts_have_the_default_order() -> None:
    assert column_order(spread((16, 32), warps=1), mma_accumulator()) == (0, 1, 2, 3, 4)
    assert column_order(spread((16, 4), warps=1), mma_accumulator()) == (0, 1)


def test_the_default_order_changes_nothing() -> None:
    tile = fragment_tile(mma_accumulator(), (2, 16, 64), GRID, rows=True, columns=True)
    assert column_order(tile, mma_accumulator()) == tuple(range(6))
    assert reordered_columns(tile, range(6)) is tile
