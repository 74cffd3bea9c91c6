"""keep-tiles on the emulator: loops that load the same tiles, with all sorts of trip counts."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_once import compiled
from kept_programs import NORM, PERSISTENT, WIDTH, expected, matrices, one_row, rows
from repeats import keep_first

from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

CAPACITY = 3
SCHEDULE = f"kept-tiles={CAPACITY}"
TRIPS = [CAPACITY + 1, 0, 1, CAPACITY - 1, CAPACITY, CAPACITY + 3]


def run(
    text: str, columns: int, tiles: range, *, blocks: int = 2, height: int = 2, arch: str = "sm_90"
) -> None:
    """Run a kernel on some tiles of each row, and compare the result with NumPy's."""
    a, b = matrices(height, columns)
    made = compiled(text, arch, SCHEDULE)
    assert "cp.async.wait_group" in made.ptx
    arguments = [a, b, height, columns, tiles.start, tiles.stop, blocks]
    module = read_runnable(text, "kernel.mlir")
    run_ptx(made.ptx, module, "k", (blocks, 1, 1), arguments, check=True)
    np.testing.assert_array_equal(b, expected(a, columns, tiles))


@pytest.mark.parametrize("arch", keep_first(["sm_90", "sm_80"]))
@pytest.mark.parametrize("trips", TRIPS)
def test_trip_counts(trips: int, arch: str) -> None:
    run(NORM, trips * WIDTH, range(trips), arch=arch)


@pytest.mark.parametrize("columns", [1, WIDTH - 3, CAPACITY * WIDTH + 5])
def test_tiles_that_are_partly_out_of_bounds(columns: int) -> None:
    run(NORM, columns, range(-(-columns // WIDTH)))


def test_tiles_out_of_bounds() -> None:
    run(NORM, 2 * WIDTH, range(6))


@pytest.mark.parametrize(("start", "end"), [(2, 7), (4, 2), (-2, 3)])
def test_lower_bounds(start: int, end: int) -> None:
    a, b = matrices(1, 7 * WIDTH)
    made = compiled(NORM, "sm_90", SCHEDULE)
    module = read_runnable(NORM, "kernel.mlir")
    run_ptx(made.ptx, module, "k", (1, 1, 1), [a, b, 1, 7 * WIDTH, start, end, 1], check=True)
    np.testing.assert_array_equal(b, expected(a, 7 * WIDTH, range(max(start, 0), end)))


@pytest.mark.parametrize("end", [1, 5, 6, 7, 8])
def test_steps(end: int) -> None:
    text = one_row(rows(bounds="%start to %end, step %c2"))
    run(text, 8 * WIDTH, range(0, end, 2))


@pytest.mark.parametrize("trips", [0, CAPACITY, CAPACITY + 2])
def test_persistent_blocks(trips: int) -> None:
    run(PERSISTENT, trips * WIDTH, range(trips), height=5)


def test_bounds_near_the_largest_number() -> None:
    # The copies of iterations past the end would wrap around to tiles that exist.
    largest = 2**31 - 1
    a, b = matrices(1, WIDTH)
    made = compiled(NORM, "sm_90", SCHEDULE)
    arguments = [a, b, 1, WIDTH, largest - 1, largest, 1]
    run_ptx(made.ptx, read_runnable(NORM, "kernel.mlir"), "k", (1, 1, 1), arguments, check=True)
    np.testing.assert_array_equal(b, expected(a, WIDTH, range(0)))
