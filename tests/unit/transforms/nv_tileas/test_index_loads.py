"""Tiles whose indices a loop loads: which are copied early, and when their indices are loaded."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np
import pytest
from compiled_once import compiled
from indexed_loops import (
    B_VIEW,
    DIVIDED,
    LIST_VIEW,
    MATRIX,
    NESTED,
    POINTER,
    VIEW,
    indexed_matmul,
    paged_attention,
)
from repeats import keep
from scheduled_loops import engines, lowered_as_far_as, materialized, scheduled

from tilewright.dialects.nv_tileaa.integer import CmpIOp, DivIOp
from tilewright.dialects.nv_tileas.attribute_names import LATE
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.memory import LoadOp
from tilewright.dialects.nv_tileas.pipeline import ProducerCopyOp
from tilewright.dialects.scf import ForOp, IfOp
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.ir.operation import Operation
from tilewright.ir.values import BlockArgument

Array = np.ndarray[Any, Any]
TRIPS: Final = (0, 1, 2, 5)
COPIED: Final = [CopyEngine.CP_ASYNC] * 2
STORED: Final = "%t5 = store_ptr_tko weak %lp, %one token = {} : tile<ptr<i32>>, tile<i32> -> token"


def the_loop(module: Operation) -> ForOp:
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    return loop


def index_loads(inside: Operation) -> list[LoadOp]:
    return [op for op in inside.walk() if isinstance(op, LoadOp)]


def run(text: str, arguments: list[Any], schedule: str, instruction: str = "cp.async.cg") -> None:
    """Run a kernel on the emulator, which checks races and bounds of arrays."""
    module = read_runnable(text, "kernel.mlir")
    ptx = compiled(text, schedule=schedule).ptx
    assert instruction in ptx
    run_ptx(ptx, module, "k", (1, 1, 1), arguments, check=True, seed=1)


def small(numbers: np.random.Generator, *shape: int) -> Array:
    """Small integers, so that every order of summation is exact."""
    return numbers.integers(-2, 3, shape).astype(np.float16)


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_the_loop_carries_the_index_of_its_copies(distance: int) -> None:
    module = materialized(indexed_matmul(), schedule=f"stages={distance + 1},in-flight=0")
    loop = the_loop(module)
    copies = [op for op in loop.body.walk() if isinstance(op, ProducerCopyOp)]
    carried = [copies[0].indices[1], copies[1].indices[0]]
    assert carried[0] is carried[1]
    assert isinstance(carried[0], BlockArgument)
    assert carried[0].owner is loop.body.block
    (load,) = index_loads(loop)
    last = loop.body.block.last
    assert last is not None
    assert load.parent_op is last.operands[carried[0].index - 1].defining_op()


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_indices_are_loaded_before_the_first_copy(distance: int) -> None:
    """One for each copy of the prologue, and one for the first copy of the loop."""
    module = materialized(indexed_matmul(), schedule=f"stages={distance + 1},in-flight=0")
    kinds = [type(op) for op in module.walk() if isinstance(op, LoadOp | ProducerCopyOp)]
    early = [LoadOp] * (distance + 1) + [ProducerCopyOp] * 2 * distance
    assert kinds == [*early, ProducerCopyOp, ProducerCopyOp, LoadOp]


@pytest.mark.parametrize("index", [POINTER, NESTED, DIVIDED])
def test_what_must_not_be_speculated_is_in_a_branch(index: str) -> None:
    module = materialized(indexed_matmul(index), schedule="stages=3")
    ops = [op for op in module.walk() if isinstance(op, LoadOp | DivIOp)]
    guards = [op.parent_op for op in ops]
    assert len(ops) >= 2
    for guard in guards:
        assert isinstance(guard, IfOp)
        assert guard.condition.defining_op() is not None
    # In the loop: one comparison with a limit, which is another one than that of the copies.
    loop = the_loop(module)
    inside = [guard for guard in guards if guard is not None and loop.is_ancestor_of(guard)]
    compared = [each.condition.defining_op() for each in inside if isinstance(each, IfOp)]
    assert all(isinstance(op, CmpIOp) and op.lhs is loop.induction_variable for op in compared)


@pytest.mark.parametrize("index", [POINTER, VIEW, NESTED, DIVIDED])
def test_tiles_with_loaded_indices_are_copied(index: str) -> None:
    module = scheduled(indexed_matmul(index))
    assert [engine for engine in engines(module) if engine is not None] == COPIED


@pytest.mark.parametrize(("index", "after"), [
    (POINTER, STORED.format("%t0")),
    (POINTER.replace("weak", "relaxed device"), ""),
    (POINTER.replace("weak %lp", "weak %lp token = %before"), ""),
], ids=["store after it", "relaxed", "after another access"])  # fmt: skip
def test_ordered_index_loads_stay(index: str, after: str) -> None:
    text = indexed_matmul(index, after)
    stored = "%before = store_ptr_tko weak %list, %one : tile<ptr<i32>>, tile<i32> -> token"
    module = scheduled(text.replace("%sum = for", f"{stored}\n%sum = for"))
    assert [engine for engine in engines(module) if engine is not None] == []


INDICES: Final = {
    "pointer": (POINTER, "stages=2"),
    "view": (VIEW, "stages=4"),
    "nested": (NESTED, "stages=4,in-flight=0"),
}


@pytest.mark.parametrize(
    ("name", "iterations"),
    keep(product(INDICES, TRIPS), lambda case: case[0] == "view" or case[1] in (0, 5)),
)
def test_a_list_of_tiles(name: str, iterations: int) -> None:
    """The list ends with the last index that is read."""
    index, schedule = INDICES[name]
    numbers = np.random.default_rng(iterations)
    tiles = max(iterations, 1)
    a, b = small(numbers, 64, 32 * tiles), small(numbers, 32 * tiles, 64)
    listed = numbers.permutation(tiles).astype(np.int32)
    chosen = (listed[listed] if index is NESTED else listed)[:iterations]
    c = np.full((64, 64), 99, np.float32)
    run(indexed_matmul(index), [a, b, c, listed, 32 * tiles, iterations, 1], schedule)
    expected = np.zeros((64, 64), np.float32)
    for tile in chosen:
        k = slice(32 * tile, 32 * (tile + 1))
        expected += a[:, k].astype(np.float32) @ b[k].astype(np.float32)
    assert np.array_equal(c, expected)


@pytest.mark.parametrize("iterations", TRIPS)
def test_division_by_an_argument(iterations: int) -> None:
    numbers = np.random.default_rng(iterations)
    a, b = small(numbers, 64, 128), small(numbers, 128, 64)
    c = np.full((64, 64), 99, np.float32)
    unread = np.zeros(1, np.int32)
    run(indexed_matmul(DIVIDED), [a, b, c, unread, 128, iterations, 2], "stages=3")
    expected = np.zeros((64, 64), np.float32)
    for tile in [number // 2 for number in range(iterations)]:
        k = slice(32 * tile, 32 * (tile + 1))
        expected += a[:, k].astype(np.float32) @ b[k].astype(np.float32)
    assert np.array_equal(c, expected)


@pytest.mark.parametrize(
    ("schedule", "iterations"),
    keep(
        product(("stages=1,rotate=0,agents=0", "stages=3,rotate=0,agents=0", "agents=1"), TRIPS),
        lambda case: "stages=1" in case[0] or case[1] in (0, 5),
    ),
)
def test_a_table_of_pages(iterations: int, schedule: str) -> None:
    """With one stage, V is copied in its own iteration and K in the one before.

    A producer loads the numbers, and copies by TMA.
    """
    text = paged_attention()
    if "stages=1" in schedule:
        lowered = lowered_as_far_as("schedule-loops", text, schedule=schedule)
        assert sum(LATE in op.attributes for op in lowered.walk()) == 1
    numbers = np.random.default_rng(iterations)
    pages = max(iterations, 1)
    q, k, v = (small(numbers, 64 * pages, 16) for _ in range(3))
    table, o = numbers.permutation(pages).astype(np.int32), np.full((64, 16), 99, np.float32)
    instruction = "cp.async.bulk.tensor" if schedule == "agents=1" else "cp.async.cg"
    run(text, [q, k, v, o, table, 64 * pages, iterations], schedule, instruction)
    expected = np.zeros((64, 16), np.float32)
    for page in table[:iterations]:
        rows = slice(64 * page, 64 * (page + 1))
        scores = q[:64].astype(np.float32) @ k[rows].astype(np.float32).T
        expected += scores @ v[rows].astype(np.float32)
    assert np.array_equal(o, expected)


GATHERED: Final = f"gather_scatter_view<tile=(32x64), padding_value = zero, {MATRIX}, sparse_dim=0>"
ROWS: Final = "partition_view<tile=(32), padding_value = zero, tensor_view<?xi32, strides=[1]>>"


def gathered_matmul() -> str:
    """`c = a @ b[list]`: the rows of B are loaded in the loop, 32 at a time."""
    text = indexed_matmul(f"""%k, %t0 = load_view_tko weak %lv[%i]
                : {ROWS}, tile<i32> -> tile<32xi32>, token""")
    text = text.replace("shape = [%n], strides = [1]", "shape = [%extent], strides = [1]")
    text = text.replace(
        f"make_partition_view %lt : {LIST_VIEW}", f"make_partition_view %lt : {ROWS}"
    )
    text = text.replace(
        f"make_partition_view %qt : {B_VIEW}", f"make_gather_scatter_view %qt : {GATHERED}"
    )
    text = text.replace("%pv[%zero, %k]", "%pv[%zero, %i]")
    return text.replace(
        f": {B_VIEW}, tile<i32> -> tile<32x64xf16>",
        f": {GATHERED}, tile<32xi32>, tile<i32> -> tile<32x64xf16>",
    )


@pytest.mark.parametrize("iterations", TRIPS)
def test_a_list_of_rows(iterations: int) -> None:
    numbers = np.random.default_rng(iterations)
    extent = max(32 * iterations - 16, 16)
    a, b = small(numbers, 64, extent), small(numbers, extent, 64)
    rows = numbers.permutation(extent).astype(np.int32)
    c = np.full((64, 64), 99, np.float32)
    run(gathered_matmul(), [a, b, c, rows, extent, iterations, 1], "stages=4")
    expected = (
        a.astype(np.float32) @ b[rows].astype(np.float32) if iterations else np.zeros((64, 64))
    )
    assert np.array_equal(c, expected)
