"""keep-tiles on the emulator: loops that load the same tiles, with all sorts of trip counts."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_once import compiled
from kept_programs import (
    NORM,
    PERSISTENT,
    STRIDE,
    TILE,
    UNTOUCHED,
    WIDTH,
    WRITTEN,
    expected,
    load,
    loop,
    matrices,
    one_row,
    persistent,
    reduced,
    rows,
    store,
)
from repeats import keep_first

from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

CAPACITY = 3
SCHEDULE = f"kept-tiles={CAPACITY}"
TRIPS = [CAPACITY + 1, 0, 1, CAPACITY - 1, CAPACITY, CAPACITY + 3]


def run(
    text: str, columns: int, tiles: range, *, blocks: int = 1, height: int = 1, arch: str = "sm_90"
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
    run(NORM, trips * WIDTH, range(trips), blocks=2, height=2, arch=arch)


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


@pytest.mark.parametrize("end", keep_first([1, 6, 7, 5, 8], 3))
def test_steps(end: int) -> None:
    text = one_row(rows(bounds="%start to %end, step %c2"))
    run(text, 8 * WIDTH, range(0, end, 2))


@pytest.mark.parametrize("trips", [0, CAPACITY, CAPACITY + 2])
def test_persistent_blocks(trips: int) -> None:
    run(PERSISTENT, trips * WIDTH, range(trips), blocks=2, height=4)


REDUCED = load("p") + reduced("%p", "t") + f"%next = addf %acc, %t : {TILE} "
SCRATCH = persistent(rows(first=REDUCED))
"""The first loop reduces each tile, through scratch memory beside the stages."""


def test_scratch_memory_in_a_loop() -> None:
    columns = (CAPACITY + 1) * WIDTH
    a, b = matrices(5, columns)
    made = compiled(SCRATCH, "sm_90", SCHEDULE)
    module = read_runnable(SCRATCH, "kernel.mlir")
    run_ptx(made.ptx, module, "k", (2, 1, 1), [a, b, 5, columns, 0, CAPACITY + 1, 2], check=True)
    x = a[:, :columns]
    s, q = WIDTH * x.sum(1, keepdims=True), (x * x).sum(1, keepdims=True)
    np.testing.assert_array_equal(b[:, :columns], x * s + q)


def test_bounds_near_the_largest_number() -> None:
    # The copies of iterations past the end would wrap around to tiles that exist.
    largest = 2**31 - 1
    a, b = matrices(1, WIDTH)
    made = compiled(NORM, "sm_90", SCHEDULE)
    arguments = [a, b, 1, WIDTH, largest - 1, largest, 1]
    run_ptx(made.ptx, read_runnable(NORM, "kernel.mlir"), "k", (1, 1, 1), arguments, check=True)
    np.testing.assert_array_equal(b, expected(a, WIDTH, range(0)))


def of_mirrored_row(text: str) -> str:
    return text.replace("%row", "%mirrored")


SECOND_TILE = of_mirrored_row(load("r"))
TWO_TILES = one_row(
    "%up = subi %rows, %c1 : tile<i32> %mirrored = subi %up, %row : tile<i32>\n"
    + loop(f"{load('p')} {SECOND_TILE} %pr = addf %p, %r : {TILE} "
           f"%next = addf %acc, %pr : {TILE}", "%added")
    + reduced("%added", "s")
    + loop(f"{SECOND_TILE} %next = addf %acc, %r : {TILE}", "%others")
    + reduced("%others", "q")
    + loop(load("p") + WRITTEN + store("%value"))
)  # fmt: skip
"""Of two tiles that the first loop loads, each later loop loads one."""


@pytest.mark.parametrize("trips", [CAPACITY, CAPACITY + 1])
def test_two_tiles(trips: int) -> None:
    columns = trips * WIDTH
    a, b = matrices(3, columns)
    made = compiled(TWO_TILES, "sm_90", SCHEDULE)
    assert made.ptx.count("cp.async.cg.shared.global") == 2
    module = read_runnable(TWO_TILES, "kernel.mlir")
    run_ptx(made.ptx, module, "k", (3, 1, 1), [a, b, 3, columns, 0, trips, 3], check=True)
    x = a[:, :columns]
    q = x[::-1].sum(1, keepdims=True)
    np.testing.assert_array_equal(b[:, :columns], x * (x.sum(1, keepdims=True) + q) + q)


LARGE = (
    NORM.replace(f"1x{WIDTH}", f"4x{WIDTH}")
    .replace("tile<1xf32>", "tile<4xf32>")
    .replace("1x1xf32", "4x1xf32")
)
"""Tiles of four rows: software pipelines copy those that are not kept."""


@pytest.mark.parametrize("trips", [CAPACITY, CAPACITY + 4])
def test_large_tiles(trips: int) -> None:
    columns = trips * WIDTH - 4
    a, b = matrices(7, columns)
    made = compiled(LARGE, "sm_90", SCHEDULE)
    # One to keep tiles, and two of each of three pipelines.
    assert made.ptx.count("cp.async.cg.shared.global") > 4
    module = read_runnable(LARGE, "kernel.mlir")
    run_ptx(made.ptx, module, "k", (2, 1, 1), [a, b, 7, columns, 0, trips, 2], check=True)
    np.testing.assert_array_equal(b, expected(a, columns, range(trips)))


LINE = f"tile<{WIDTH}xi32>"
POINTERS = f"tile<{WIDTH}xptr<f32>>"
POINTER_LOAD = f"""
      %column = muli %i, %width : tile<i32>
      %column_1 = reshape %column : tile<i32> -> tile<1xi32>
      %first = broadcast %column_1 : tile<1xi32> -> {LINE}
      %at_column = addi %first, %lanes : {LINE}
      %real = cmpi less_than %at_column, %limit, signed : {LINE} -> tile<{WIDTH}xi1>
      %from = offset %line, %at_column : {POINTERS}, {LINE} -> {POINTERS}
      %line_p, %t_p = load_ptr_tko weak %from, %real, %outside :
        {POINTERS}, tile<{WIDTH}xi1>, tile<{WIDTH}xf32> -> tile<{WIDTH}xf32>, token
      %p = reshape %line_p : tile<{WIDTH}xf32> -> {TILE}
"""
BY_POINTERS = one_row(f"""
    %width = constant <i32: {WIDTH}> : tile<i32>
    %stride = constant <i32: {STRIDE}> : tile<i32>
    %outside = constant <f32: 0.0> : tile<{WIDTH}xf32>
    %lanes = iota : {LINE}
    %columns_1 = reshape %columns : tile<i32> -> tile<1xi32>
    %limit = broadcast %columns_1 : tile<1xi32> -> {LINE}
    %begin = muli %row, %stride : tile<i32>
    %row_pointer = offset %ap, %begin : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %line_1 = reshape %row_pointer : tile<ptr<f32>> -> tile<1xptr<f32>>
    %line = broadcast %line_1 : tile<1xptr<f32>> -> {POINTERS}
    """ + rows().replace(load("p"), POINTER_LOAD)
).replace("%columns: tile<i32>", "%columns_0: tile<i32>").replace(
    "%c0 = constant",
    "%columns = assume div_by<16>, %columns_0 : tile<i32>\n    %c0 = constant",
)  # fmt: skip
"""The same program, whose loads are through pointers with masks."""


@pytest.mark.parametrize(
    "columns", keep_first([WIDTH + 16, (CAPACITY + 2) * WIDTH, CAPACITY * WIDTH], 2)
)
def test_pointers(columns: int) -> None:
    run(BY_POINTERS, columns, range(-(-columns // WIDTH)))


LOW = "-1000.0"
MAXIMA = (
    NORM.replace("padding_value = zero", "padding_value = neg_inf")
    .replace(f"%none = constant <f32: 0.0> : {TILE}", f"%none = constant <f32: {LOW}> : {TILE}")
    .replace("identities=[0.0 : f32]", f"identities=[{LOW} : f32]")
    .replace("%lr = addf", "%lr = maxf")
    .replace("%next = addf %acc, %square", "%next = maxf %acc, %p")
    .replace("%next = addf", "%next = maxf")
)
"""Each row times its largest element, plus it, of two loops: `cp.async` cannot pad with -inf."""


@pytest.mark.parametrize("columns", keep_first([
    1, CAPACITY * WIDTH, CAPACITY * WIDTH + 1, WIDTH + 3, (CAPACITY + 2) * WIDTH,
    ], 3))  # fmt: skip
def test_other_padding(columns: int) -> None:
    a, b = matrices(2, columns)
    a -= 8
    tiles = -(-columns // WIDTH)
    made = compiled(MAXIMA, "sm_90", SCHEDULE)
    assert "st.shared.v4" in made.ptx
    module = read_runnable(MAXIMA, "kernel.mlir")
    run_ptx(made.ptx, module, "k", (2, 1, 1), [a, b, 2, columns, 0, tiles, 2], check=True)
    x = a[:, :columns]
    largest = x.max(1, keepdims=True)
    np.testing.assert_array_equal(b[:, :columns], x * largest + largest)
    assert (b[:, columns:] == UNTOUCHED).all()


@pytest.mark.parametrize("tiles", [4, 8])
def test_constant_trip_counts(tiles: int) -> None:
    """Of six tiles some are kept, or all: then no loop is split."""
    constant = "%six = constant <i32: 6> : tile<i32>\n"
    text = one_row(constant + rows(bounds="%c0 to %six, step %c1"))
    made = compiled(text, "sm_90", f"kept-tiles={tiles}")
    # One for the copies, and one in each loop, which waits for nothing more.
    assert made.ptx.count("cp.async.wait_group") == 4
    assert ("ld.global" in made.ptx) == (tiles < 6)
    a, b = matrices(2, 6 * WIDTH - 4)
    arguments = [a, b, 2, 6 * WIDTH - 4, 0, 0, 2]
    run_ptx(made.ptx, read_runnable(text, "kernel.mlir"), "k", (2, 1, 1), arguments, check=True)
    np.testing.assert_array_equal(b, expected(a, 6 * WIDTH - 4, range(6)))
