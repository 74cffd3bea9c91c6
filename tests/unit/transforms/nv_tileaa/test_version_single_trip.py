"""version-single-trip: which loops get a version for one iteration, and what it loads."""

from __future__ import annotations

import re

import pytest
from compiled_once import compiled
from kept_programs import (
    ADDED,
    FIRST,
    NORM,
    PERSISTENT,
    SECOND,
    SQUARED,
    THIRD,
    TILE,
    UNDEFINED,
    UNPADDED,
    WIDTH,
    WRITTEN,
    load,
    loop,
    one_row,
    reduced,
    rows,
    store,
    view,
)
from scheduled_loops import lowered_as_far_as

from tilewright.analysis.loop_bounds import integer_of
from tilewright.dialects.nv_tileaa.integer import CmpIOp
from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.dialects.nv_tileaa.view import TileLoadOp
from tilewright.dialects.nv_tileas.attribute_names import SCRATCH_BYTES
from tilewright.dialects.nv_tileas.pipeline import CreatePipelineOp
from tilewright.dialects.nv_tileas.types import pipeline
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.ir.operation import Operation, Region
from tilewright.ir.values import BlockArgument
from tilewright.support.diagnostics import Sink


def versioned(text: str, schedule: str = "") -> Operation:
    return lowered_as_far_as("version-single-trip", text, schedule=schedule)


def branches(module: Operation) -> list[IfOp]:
    return [op for op in module.walk() if isinstance(op, IfOp)]


def count(region: Region | Operation, kind: type[Operation]) -> int:
    return sum(isinstance(op, kind) for op in region.walk())


@pytest.mark.parametrize("text", [NORM, PERSISTENT], ids=["one row", "persistent"])
def test_one_iteration_loads_once_and_has_no_loop(text: str) -> None:
    (branch,) = branches(versioned(text))
    assert count(branch.then_region, ForOp) == 0
    assert count(branch.then_region, TileLoadOp) == 1
    assert count(branch.else_region, ForOp) == 3
    assert count(branch.else_region, TileLoadOp) == 3


def test_the_condition_is_one_comparison() -> None:
    (branch,) = branches(versioned(one_row(rows(bounds="%c0 to %end, step %c1"))))
    condition = branch.condition.defined_by(CmpIOp)
    assert condition is not None
    assert integer_of(condition.rhs) == 1
    assert isinstance(condition.lhs, BlockArgument)


WEIGHTS = load("w", source="%bw").replace("%row, %i", "%c0, %i")
"""Load what all rows have in common."""
WEIGHTED = one_row(
    f"%bw = make_partition_view %bt : {view()}\n"
    + rows(third=WEIGHTS + load("p") + f"%u = mulf %p, %w : {TILE} "
           + WRITTEN.replace("mulf %p", "mulf %u") + store("%value"))
)  # fmt: skip


def test_other_tiles_are_loaded_before_the_reduction() -> None:
    (branch,) = branches(versioned(WEIGHTED))
    names = [op.name for op in branch.then_region.block]
    loads = [n for n, name in enumerate(names) if name == "nv_tileaa.tiled_load"]
    assert len(loads) == 2
    assert max(loads) < names.index("nv_tileaa.reduce")


def test_ordered_loads_stay_where_they_are() -> None:
    ordered = store("%s", index="%c0") + WEIGHTS.replace("token = %t0", "token = %stored")
    text = WEIGHTED.replace(WEIGHTS, ordered).replace(store("%value"), "")
    (branch,) = branches(versioned(text))
    names = [op.name for op in branch.then_region.block]
    assert names.index("nv_tileaa.reduce") < names.index("nv_tileaa.tiled_store")
    last = max(n for n, name in enumerate(names) if name == "nv_tileaa.tiled_load")
    assert names.index("nv_tileaa.tiled_store") < last


def two_loops(first: str = FIRST, second: str = SECOND) -> str:
    return loop(first, "%added") + reduced("%added", "s") + loop(second, "%squares")


UNKEPT = one_row(UNDEFINED + two_loops(second=UNPADDED + SQUARED) + store("%squares", index="%c0"))
"""Loops whose loads differ in padding, so that shared memory keeps no tiles."""


def test_a_load_that_leaves_padding_undefined_is_the_first_one() -> None:
    (branch,) = branches(versioned(UNKEPT))
    assert count(branch.then_region, TileLoadOp) == 1


@pytest.mark.parametrize(("text", "expected"), [
    (UNKEPT, 16),  # rows of 2 KiB, four warps
    (NORM, None),
], ids=["not kept", "kept"])  # fmt: skip
def test_blocks_load_enough_bytes_where_shared_memory_keeps_no_tiles(
    text: str, expected: int | None
) -> None:
    (kernel,) = (op for op in versioned(text).walk() if isinstance(op, FuncOp))
    assert kernel.kernel_spec is not None
    assert kernel.kernel_spec.occupancy == expected


NEG_INF = view("neg_inf")
NOT_VERSIONED = {
    "one loop": loop(FIRST, "%added") + store("%added", index="%c0"),
    "padding that the first load leaves undefined": UNDEFINED
    + two_loops(first=UNPADDED + ADDED)
    + store("%squares", index="%c0"),
    "other padding": UNDEFINED.replace(view(""), NEG_INF)
    + two_loops(second=UNPADDED.replace(view(""), NEG_INF) + SQUARED)
    + store("%squares", index="%c0"),
    "constant trip count": "%six = constant <i32: 6> : tile<i32>\n"
    + rows(bounds="%c0 to %six, step %c1"),
    "an assertion": rows(second='%ok = cmpi less_than %i, %end, signed : tile<i32> -> tile<i1> '
                         'assert %ok, "bound" : tile<i1>\n' + SECOND),
    "two pairs of loops that overlap": two_loops()
    + reduced("%squares", "q")
    + loop(load("p", index="%c0") + load("o", source="%bw") + f"%next = addf %acc, %o : {TILE}",
           "%others", bounds="%c0 to %rows, step %c1")
    + loop(THIRD)
    + loop(load("o", source="%bw") + store("%o"), bounds="%c0 to %rows, step %c1"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_VERSIONED)
def test_loops_that_have_one_version(name: str) -> None:
    text = f"%bw = make_partition_view %bt : {view()}\n" + NOT_VERSIONED[name]
    assert branches(versioned(one_row(text))) == []


LARGE = (
    NORM.replace(f"1x{WIDTH}", f"128x{WIDTH}")
    .replace("tile<1xf32>", "tile<128xf32>")
    .replace("1x1xf32", "128x1xf32")
)
"""Tiles of 64 registers of each of 1,024 threads."""


def test_schedules() -> None:
    assert branches(versioned(NORM, "single-trip=0")) == []
    assert branches(versioned(LARGE)) == []
    assert len(branches(versioned(LARGE, "single-trip=1"))) == 1


def remarks(text: str) -> list[tuple[str, str]]:
    module = lowered_as_far_as("unroll-loops", text)
    sink = Sink(remarks=True)
    parse_pipeline("version-single-trip").run(module, sink)
    return [(each.kind, each.message) for each in sink.remarks if each.name == "RemarkSingleTrip"]


def test_remarks() -> None:
    text = "3 loops versioned for one iteration, with loads of later loops: 2 taken from the first"
    assert remarks(WEIGHTED) == [("passed", f"{text} loop, 1 issued with its loads")]
    text = "Loops not versioned for one iteration: tiles take more than 32 registers of a thread"
    assert remarks(LARGE) == [("missed", text)]


@pytest.mark.parametrize("text", [NORM, PERSISTENT], ids=["one row", "persistent"])
def test_the_loops_keep_the_same_tiles_and_shared_memory_stays_the_same(text: str) -> None:
    stages: list[list[int]] = []
    sizes: list[object] = []
    for schedule in ("", "single-trip=0"):
        module = lowered_as_far_as("synchronize", text, schedule=schedule)
        creates = [op for op in module.walk() if isinstance(op, CreatePipelineOp)]
        stages.append([pipeline(op.result).stages for op in creates])
        sizes += [op.attributes[SCRATCH_BYTES] for op in module.walk()
                  if SCRATCH_BYTES in op.attributes]  # fmt: skip
    assert stages[0] == stages[1] != []
    assert sizes[0] == sizes[1]


def test_barriers_of_one_iteration() -> None:
    """One for each of the two reductions, in each version."""
    assert len(re.findall(r"bar\.sync|barrier\.sync", compiled(NORM).ptx)) == 2 * 2


def test_bounds_checks_stay_beside_their_loads() -> None:
    module = lowered_as_far_as("version-single-trip", NORM, checked=True)
    assert not branches(module)
    assert count(module, TileLoadOp) == 3
