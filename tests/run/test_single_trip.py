"""version-single-trip on the emulator: loops that load the same tiles, with all trip counts."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_once import compiled
from kept_programs import (
    NORM,
    PERSISTENT,
    TILE,
    UNDEFINED,
    UNPADDED,
    WIDTH,
    WRITTEN,
    expected,
    load,
    loop,
    matrices,
    one_row,
    reduced,
    rows,
    store,
)
from repeats import keep, keep_first

from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

TRIPS = [1, 0, 2, 5]


def run(text: str, columns: int, tiles: range, *, blocks: int = 1, height: int = 1) -> None:
    """Run a kernel on some tiles of each row, and compare the result with NumPy's."""
    a, b = matrices(height, columns)
    arguments = [a, b, height, columns, tiles.start, tiles.stop, blocks]
    module = read_runnable(text, "kernel.mlir")
    run_ptx(compiled(text).ptx, module, "k", (blocks, 1, 1), arguments, check=True)
    np.testing.assert_array_equal(b, expected(a, columns, tiles))


@pytest.mark.parametrize("trips", TRIPS)
def test_trip_counts(trips: int) -> None:
    run(NORM, trips * WIDTH, range(trips), blocks=2, height=2)


@pytest.mark.parametrize("columns", [1, WIDTH - 3, WIDTH + 1])
def test_tiles_that_are_partly_out_of_bounds(columns: int) -> None:
    run(NORM, columns, range(-(-columns // WIDTH)))


@pytest.mark.parametrize(("start", "end"), [(2, 3), (3, 2), (-1, 0), (-1, 1)])
def test_lower_bounds(start: int, end: int) -> None:
    a, b = matrices(1, 3 * WIDTH)
    module = read_runnable(NORM, "kernel.mlir")
    arguments = [a, b, 1, 3 * WIDTH, start, end, 1]
    run_ptx(compiled(NORM).ptx, module, "k", (1, 1, 1), arguments, check=True)
    np.testing.assert_array_equal(b, expected(a, 3 * WIDTH, range(max(start, 0), end)))


def test_bounds_at_both_ends_of_the_numbers() -> None:
    """The difference of the bounds wraps around to one: there is no iteration."""
    a, b = matrices(1, WIDTH)
    module = read_runnable(NORM, "kernel.mlir")
    arguments = [a, b, 1, WIDTH, 2**31 - 1, -(2**31), 1]
    run_ptx(compiled(NORM).ptx, module, "k", (1, 1, 1), arguments, check=True)
    np.testing.assert_array_equal(b, expected(a, WIDTH, range(0)))


FROM_ZERO = one_row(rows(bounds="%c0 to %end, step %c1"))


@pytest.mark.parametrize("trips", keep_first(TRIPS, 2))
def test_constant_lower_bounds(trips: int) -> None:
    run(FROM_ZERO, trips * WIDTH, range(trips))


STEPS = one_row(rows(bounds="%start to %end, step %c2"))


@pytest.mark.parametrize("end", [0, 1, 2, 3])
def test_steps(end: int) -> None:
    run(STEPS, 4 * WIDTH, range(0, end, 2))


@pytest.mark.parametrize("trips", keep(TRIPS, (1, 5).__contains__))
def test_persistent_blocks(trips: int) -> None:
    run(PERSISTENT, trips * WIDTH, range(trips), blocks=2, height=3)


PADDED_ONCE = one_row(UNDEFINED + rows(third=UNPADDED + WRITTEN + store("%value")))
"""The third loop leaves padding undefined, and stores no element that is out of bounds."""


@pytest.mark.parametrize("columns", [WIDTH - 5, 2 * WIDTH + 5])
def test_undefined_padding(columns: int) -> None:
    run(PADDED_ONCE, columns, range(-(-columns // WIDTH)))


USED_AFTER = one_row(
    loop(load("p") + f"%next = addf %acc, %p : {TILE}", "%added")
    + reduced("%added", "s")
    + loop(load("p") + f"%square = mulf %p, %p : {TILE} %next = addf %acc, %square : {TILE}",
           "%squares")
    + reduced("%squares", "q")
    + f"%value = addf %s, %q : {TILE}\n"
    + store("%value", index="%c0")
)  # fmt: skip
"""What both loops compute is stored after them."""


@pytest.mark.parametrize("trips", keep_first(TRIPS, 3))
def test_results(trips: int) -> None:
    a, b = matrices(2, 5 * WIDTH)
    module = read_runnable(USED_AFTER, "kernel.mlir")
    arguments = [a, b, 2, 5 * WIDTH, 0, trips, 2]
    run_ptx(compiled(USED_AFTER).ptx, module, "k", (2, 1, 1), arguments, check=True)
    x = a[:, : trips * WIDTH]
    value = x.sum(1, keepdims=True) + (x * x).sum(1, keepdims=True)
    np.testing.assert_array_equal(b[:, :WIDTH], np.broadcast_to(value, (2, WIDTH)))
