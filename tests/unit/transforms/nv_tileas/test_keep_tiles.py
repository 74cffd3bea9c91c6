"""keep-tiles: which loads are kept for later loops, how many tiles, and what the loops become."""

from __future__ import annotations

import numpy as np
import pytest
from kept_programs import (
    ADDED,
    FIRST,
    NORM,
    PERSISTENT,
    SECOND,
    SQUARED,
    THIRD,
    TILE,
    WIDTH,
    load,
    loop,
    matrices,
    one_row,
    program,
    reduced,
    rows,
    store,
    view,
)
from scheduled_loops import lowered_as_far_as

from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import (
    ConsumerReadOp,
    CreatePipelineOp,
    ProducerCopyOp,
    ProducerWriteOp,
)
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.driver.api import read_runnable
from tilewright.driver.compile import compile
from tilewright.driver.emulate import run_ptx
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation
from tilewright.support.diagnostics import Sink
from tilewright.transforms.nv_tileas.keep_tiles import RARELY

TILE_BYTES = 4 * WIDTH
LOOPS_ONLY = "single-trip=0"
"""No version of the loops for one iteration, which has no loops."""


def kept(text: str, schedule: str = "", arch: str = "sm_90") -> Operation:
    return lowered_as_far_as("keep-tiles", text, arch, schedule=schedule)


def pipelines(module: Operation) -> list[CreatePipelineOp]:
    return [op for op in module.walk() if isinstance(op, CreatePipelineOp)]


def capacities(module: Operation) -> list[int]:
    """How many tiles each pipeline holds."""
    return [pipeline(op.result).stages for op in pipelines(module)]


def count(module: Operation, kind: type[Operation]) -> int:
    return sum(isinstance(op, kind) for op in module.walk())


def test_each_loop_is_split_and_its_first_part_reads_the_stages() -> None:
    module = kept(NORM, LOOPS_ONLY)
    assert count(module, ConsumerReadOp) == 3
    assert count(module, ProducerCopyOp) == 1
    # The copies, and two parts of each loop; each second part prefetches its loads.
    assert count(module, ForOp) == 1 + 2 * 3
    assert count(module, TiledLoadOp) == 2 * 3


def test_nothing_is_loaded_outside_of_branches_for_long_rows() -> None:
    module = kept(NORM, LOOPS_ONLY)
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    guards = [next(op for op in load.ancestors() if isinstance(op, IfOp)) for load in loads]
    assert len(set(guards)) == 3
    assert all(guard.branch_weights == RARELY for guard in guards)


def test_threads_read_what_they_copied() -> None:
    assert all(op.private for op in pipelines(kept(NORM)))


def test_loops_in_a_loop() -> None:
    (create,) = pipelines(kept(PERSISTENT, LOOPS_ONLY))
    assert isinstance(create.parent_op, ForOp)


@pytest.mark.parametrize(("schedule", "tiles"), [
    # A block of nine has 228 / 9 - 1 KiB, less 256 bytes of scratch memory.
    ("", 12),
    ("kept-tiles=5", 5),
    ("kept-tiles=32", 32),
    ("kept-tiles=1", None),
    ("kept-tiles=0", None),
])  # fmt: skip
def test_forced_capacities(schedule: str, tiles: int | None) -> None:
    assert capacities(kept(NORM, schedule)) == ([] if tiles is None else [tiles])


@pytest.mark.parametrize(("hints", "tiles"), [
    ("optimization_hints=<sm_90 = {occupancy = 12}>", 8),
    ("optimization_hints=<sm_90 = {occupancy = 1}>", 12),
    ("optimization_hints=<sm_90 = {occupancy = 32}>", 2),
])  # fmt: skip
def test_the_program_asks_for_resident_blocks(hints: str, tiles: int) -> None:
    # A block of twelve has 228 / 12 - 1 KiB: 8 tiles of 2 KiB, and 256 bytes of scratch memory.
    text = program(f"%row = addi %x, %c0 : tile<i32>\n{rows()}", hints)
    assert capacities(kept(text)) == [tiles]


def test_smaller_shared_memory() -> None:
    # 100 KiB for nine blocks of 128 threads: 10 KiB each.
    assert capacities(kept(NORM, arch="sm_86")) == [4]


@pytest.mark.parametrize(("rows_of_tile", "tiles"), [(1, 12), (2, 9), (4, 5)])
def test_larger_tiles_need_fewer_blocks(rows_of_tile: int, tiles: int) -> None:
    # 24 KiB in flight are nine blocks at most, six of 4 KiB, and five at least: 37 and 44.6 KiB.
    text = (
        NORM.replace(f"1x{WIDTH}", f"{rows_of_tile}x{WIDTH}")
        .replace("tile<1xf32>", f"tile<{rows_of_tile}xf32>")
        .replace("1x1xf32", f"{rows_of_tile}x1xf32")
    )
    assert capacities(kept(text)) == [tiles]


@pytest.mark.parametrize("trips", [3, 5, 12, 16, 17])
def test_constant_trip_counts(trips: int) -> None:
    text = f"%trips = constant <i32: {trips}> : tile<i32>\n" + rows(
        bounds="%c0 to %trips, step %c1"
    )
    module = kept(one_row(text))
    if trips <= 4:
        # Such loops are unrolled, and their loads merged.
        assert count(module, ForOp) == 0
        return
    # Rows are known to be long enough for five blocks on an SM: 44.6 KiB each, more than 16 tiles.
    assert capacities(module) == [min(trips, 16)]
    assert count(module, ForOp) == 1 + (3 if trips <= 16 else 6)


OTHER_VIEW = load("p", source="%bv").replace(view(), view(""))
STEP_2 = "%start to %end, step %c2"
LATER = f"%later = addi %i, %c1 : tile<i32> {load('p', index='%later')}"
ORDERED = "%token = store_view_tko weak %none, %bv[%row, %c0] token = %t0 : " + (
    f"{TILE}, {view('')}, tile<i32> -> token\n"
)
RELAXED = load("p").replace("weak", "relaxed device")
IN_PLACE = load("p") + SQUARED + store("%square", "%aw", token="%t_p")
ALIAS = f"%aw = make_partition_view %at : {view('')}\n"


def two_loops(first: str = FIRST, second: str = SECOND, **bounds: str) -> str:
    """Two loops over tiles, the second one with bounds of its own, and a third one that stores."""
    return (
        loop(first, "%added")
        + reduced("%added", "s")
        + loop(second, "%squares", **bounds)
        + reduced("%squares", "q")
        + loop(store("%q"))
    )


NOT_KEPT = {
    "another view": two_loops(second=OTHER_VIEW + SQUARED),
    "another tile": two_loops(second=LATER + SQUARED),
    "another order": two_loops(first=RELAXED + ADDED),
    "the same order": two_loops(first=RELAXED + ADDED, second=RELAXED + SQUARED),
    "other bounds": two_loops(bounds=STEP_2),
    "one loop": two_loops(second="%next = addf %acc, %s : " + TILE),
    "after a store": ORDERED
    + two_loops(
        first=load("p", token="%token") + ADDED, second=load("p", token="%token") + SQUARED
    ),
    "before a store": ALIAS + two_loops(second=IN_PLACE),
    "the same in all blocks": two_loops().replace("[%row, %i]", "[%c0, %i]"),
}


def test_two_loops() -> None:
    assert capacities(kept(one_row(two_loops()))) == [12]


@pytest.mark.parametrize("name", NOT_KEPT)
def test_loads_that_are_not_kept(name: str) -> None:
    assert capacities(kept(one_row(NOT_KEPT[name]))) == []


def test_small_tiles_are_not_kept() -> None:
    narrow = NORM.replace(f"1x{WIDTH}", f"1x{WIDTH // 2}")
    assert capacities(kept(narrow)) == []
    assert capacities(kept(NORM)) == [12]


def test_tiles_with_other_padding_are_stored_from_registers() -> None:
    module = kept(NORM.replace("padding_value = zero", "padding_value = neg_inf"), LOOPS_ONLY)
    assert capacities(module) == [12]
    assert count(module, ProducerCopyOp) == 0
    assert count(module, ProducerWriteOp) == 1
    assert count(module, ConsumerReadOp) == 2
    # Two in each loop that still loads: the first part of the first one, and all second parts.
    assert count(module, TiledLoadOp) == 2 * 4


def test_a_loop_without_the_tile_lies_between() -> None:
    body = (
        loop(FIRST, "%added")
        + reduced("%added", "s")
        + loop(f"%twice = addf %acc, %s : {TILE} %next = addf %twice, %s : {TILE}", "%others")
        + reduced("%others", "q")
        + loop(THIRD)
    )
    module = kept(one_row(body))
    assert capacities(module) == [12]
    assert count(module, ConsumerReadOp) == 2


def test_a_store_to_the_same_memory_is_seen() -> None:
    """The second loop writes the tiles that the third one loads: its loads wait for the stores."""
    body = f"""{ALIAS}
    %added, %t1 = for %i in (%start to %end, step %c1) : tile<i32>
        iter_values(%acc = %none, %t = %t0) -> ({TILE}, token) {{
      {load("p", token="%t")} {ADDED} {store("%next", "%aw", token="%t_p")}
      continue %next, %stored : {TILE}, token }}
    {loop(load("p", token="%t1") + store("%p"))}"""
    text = one_row(body)
    assert capacities(kept(text)) == []
    a, b = matrices(1, 3 * WIDTH)
    numbers = a[:, : 3 * WIDTH].reshape(3, WIDTH).cumsum(0)
    made = compile(read_runnable(text, "kernel.mlir"), "sm_90", emit="ptx")
    run_ptx(
        made.ptx,
        read_runnable(text, "kernel.mlir"),
        "k",
        (1, 1, 1),
        [a, b, 1, 3 * WIDTH, 0, 3, 1],
        check=True,
    )
    np.testing.assert_array_equal(b[0, : 3 * WIDTH], numbers.ravel())


def remarks(text: str) -> list[tuple[str, str]]:
    module = lowered_as_far_as("move-conversions", text)
    sink = Sink(remarks=True)
    parse_pipeline("keep-tiles").run(module, sink)
    return [(each.kind, each.message) for each in sink.remarks if each.name == "RemarkKeptTiles"]


def test_remarks() -> None:
    size = f"{12 * TILE_BYTES} bytes of shared memory, for at least 9 blocks on an SM"
    text = f"Tiles kept for 2 later loops: the first 12, {size}"
    assert remarks(NORM) == [("passed", text)]
    assert remarks(one_row(NOT_KEPT["one loop"])) == []


def test_a_remark_says_why_tiles_are_not_kept() -> None:
    text = one_row(rows(bounds="%start to %end, step %blocks"))
    assert remarks(text) == [("missed", "Tiles not kept for later loops: the step is not constant")]
