"""Kernels whose consumers store by TMA compute what the program says, on the emulator."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from compiled_once import compile_anew, compiled, lowered_to
from repeats import keep, keep_first
from specialized_programs import Gemm
from tma_store_programs import PITCH, StoredGemm

import tilewright
from tilewright.conversion.nv_tileas_to_nvgpu.pipelines import tma_stores
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.transforms.nv_tileas import agents, global_accesses

Array = np.ndarray[Any, Any]
DTYPES: Final[dict[str, Any]] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "i32": np.int32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
UNTOUCHED: Final = 9
ROWS: Final = 192
"""Of the memory of C and D, all of which is compared."""
SCHEDULE: Final = "agents=1,tma-stores=1"


@pytest.fixture(params=keep_first([1, 2, 3]))
def seed(request: pytest.FixtureRequest) -> int:
    """The order in which the emulator schedules warps and completes copies."""
    return request.param


class Case(NamedTuple):
    """The extents of C and D, the rows of tiles, and the iterations over K."""

    rows: int = 112
    columns: int = 48
    tiles: int = 2
    steps: int = 2


class Run:
    """A run of a kernel on small integers, so that every order of summation is exact."""

    def __init__(
        self,
        seed: int,
        stored: StoredGemm,
        case: Case,
        text: str,
        *,
        stores: int = 1,
        anew: bool = False,
    ) -> None:
        module = read_runnable(text, "kernel.mlir")
        made = (compile_anew if anew else compiled)(text, schedule=SCHEDULE)
        self.text = made.nv_tileas
        assert self.text.count("nv_tileas.async.tiled_store") == stores
        self.case, (self.height, self.width, self.k) = case, stored.gemm.tile
        numbers = np.random.default_rng(7)
        extent = max(self.k * case.steps, 16)
        element, output = DTYPES[stored.gemm.element], DTYPES[stored.output]
        self.a = numbers.integers(-2, 3, (ROWS, extent)).astype(element)
        self.b = numbers.integers(-2, 3, (extent, self.width)).astype(element)
        self.e = numbers.integers(-3, 4, self.width).astype(np.float32)
        self.c, self.d = (np.full((ROWS, PITCH), UNTOUCHED, output) for _ in range(2))
        arguments = [self.a, self.b, self.c, self.d, self.e, ROWS, self.width, extent, *case]
        run_ptx(made.ptx, module, "k", (1, 1, 1), arguments, check=True, seed=seed)

    def dot(self) -> Array:
        """A times B, for all rows that have a tile."""
        steps = self.k * self.case.steps
        a, b = self.a[:, :steps].astype(np.float32), self.b[:steps].astype(np.float32)
        return a @ b

    def check(self, actual: Array, values: Array, tiles: int | None = None) -> None:
        """Compare C or D: tiles of values within the extents, and nothing else is written."""
        count = self.case.tiles if tiles is None else tiles
        rows = min(self.case.rows, count * self.height)
        columns = min(self.case.columns, self.width)
        expected = np.full_like(actual, UNTOUCHED)
        expected[:rows, :columns] = values[:rows, :columns].astype(actual.dtype)
        np.testing.assert_array_equal(actual.astype(np.float32), expected.astype(np.float32))


def stored_gemm(output: str = "f16", tile: tuple[int, int, int] = (64, 64, 32)) -> StoredGemm:
    """A kernel with A and B of f16."""
    return StoredGemm(Gemm(tile=tile), output)


@pytest.mark.parametrize("output", keep_first(["f16", "f8E4M3FN", "f32", "bf16", "f8E5M2"], 2))
@pytest.mark.parametrize("columns", keep_first([48, 64, 16]))
def test_types_and_ragged_extents(output: str, columns: int, seed: int) -> None:
    """TMA drops rows and columns that are out of bounds."""
    stored = stored_gemm(output)
    text = stored.persistent(f"{stored.converted()}\n{stored.store()}")
    run = Run(seed, stored, Case(rows=144, columns=columns, tiles=3), text)
    run.check(run.c, run.dot())


TILES: Final = ((64, 256, 32), (128, 128, 16), (64, 32, 32))


@pytest.mark.parametrize("tile", keep_first(map(pytest.param, TILES), 2))
def test_boxes_of_several_stages(tile: tuple[int, int, int], seed: int) -> None:
    """A warp has several boxes, more than stages; or rows of half a span."""
    stored = stored_gemm(tile=tile)
    text = stored.persistent(f"{stored.converted()}\n{stored.store()}")
    run = Run(seed, stored, Case(columns=tile[1] - 16, tiles=2), text)
    run.check(run.c, run.dot())


@pytest.mark.parametrize("steps", keep_first([2, 0]))
def test_one_tile(steps: int, seed: int) -> None:
    stored = stored_gemm()
    text = stored.one_tile(f"{stored.converted()}\n{stored.store(row='%zero')}")
    run = Run(seed, stored, Case(tiles=1, steps=steps), text)
    run.check(run.c, run.dot())


@pytest.mark.parametrize(("tiles", "steps"), keep_first([(3, 0), (0, 2), (1, 1)], 2))
def test_loops_without_iterations(tiles: int, steps: int, seed: int) -> None:
    stored = stored_gemm()
    text = stored.persistent(f"{stored.converted()}\n{stored.store()}")
    run = Run(seed, stored, Case(tiles=tiles, steps=steps), text)
    run.check(run.c, run.dot())


@pytest.mark.parametrize("case", keep_first(map(pytest.param, [Case(rows=0), Case(columns=0)])))
def test_a_view_without_elements(case: Case, seed: int) -> None:
    """The tensor map has one element then, which is not stored to."""
    stored = stored_gemm()
    text = stored.persistent(f"{stored.converted()}\n{stored.store()}")
    run = Run(seed, stored, case, text)
    run.check(run.c, run.dot())


def test_an_index_far_out_of_bounds(seed: int) -> None:
    """A store may not begin at a negative coordinate."""
    stored = stored_gemm()
    text = stored.persistent(f"""
      %far = constant <i32: 2147483647> : tile<i32>
      {stored.converted()}
      {stored.store(row="%far")}""")
    run = Run(seed, stored, Case(), text)
    run.check(run.c, run.dot(), tiles=0)


def test_an_epilogue_with_bias_and_activation(seed: int) -> None:
    stored = stored_gemm()
    text = stored.persistent(
        f"{stored.bias_and_relu}\n{stored.converted(value='%z')}\n{stored.store()}"
    )
    run = Run(seed, stored, Case(), text)
    run.check(run.c, np.maximum(run.dot() + run.e, 0))


def test_two_outputs(seed: int) -> None:
    """Stores of equal tiles share their stages."""
    stored = stored_gemm(tile=(64, 128, 16))
    text = stored.persistent(f"""
      {stored.converted()}
      %twice = addf %sum, %sum : {stored.gemm.c}
      {stored.converted("o2", "%twice")}
      {stored.store()}
      {stored.store("%o2", "%dv", name="stored2")}""")
    run = Run(seed, stored, Case(columns=112, tiles=2), text, stores=2)
    assert run.text.count("nv_tileas.alloc_tensor") == 1
    run.check(run.c, run.dot())
    run.check(run.d, 2 * run.dot())


def test_stores_in_a_branch(seed: int) -> None:
    """Each side stores other tiles, and some iterations store nothing."""
    stored = stored_gemm()
    text = stored.persistent(f"""
      {stored.converted()}
      %first = cmpi less_than %i, %one, signed : tile<i32> -> tile<i1>
      if %first {{
        {stored.store()}
      }} else {{
        {stored.store("%o", "%dv", name="other")}
      }}""")
    run = Run(seed, stored, Case(rows=192, tiles=3), text, stores=2)
    run.check(run.c, run.dot(), tiles=1)
    expected = run.dot()
    expected[:64] = UNTOUCHED
    run.check(run.d, expected)


def test_a_load_after_a_store(seed: int) -> None:
    """A load that a token orders after the store waits until the store is complete.

    The layout of the load is not one of boxes, so threads store the second tile.
    """
    stored = stored_gemm()
    text = stored.persistent(f"""
      {stored.converted()}
      {stored.store()}
      {stored.load("again", "%cv", "%i", "%stored")}
      %twice = addf %again, %again : {stored.tile}
      {stored.store("%twice", "%dv", name="stored2")}""")
    run = Run(seed, stored, Case(rows=192), text, stores=1)
    assert run.text.count("nv_tileas.async.store_wait") == 2
    run.check(run.c, run.dot())
    run.check(run.d, 2 * run.dot())


def test_a_load_of_what_another_warp_has_stored(seed: int) -> None:
    """The load has another layout: a barrier follows the wait."""
    stored = stored_gemm(tile=(64, 64, 16))
    text = stored.persistent(f"""
      {stored.converted()}
      {stored.store()}
      {stored.load("again", "%cv", "%i", "%stored")}
      %turned = permute %again [1, 0] : {stored.tile} -> {stored.tile}
      {stored.store("%turned", "%dv", name="stored2")}""")
    run = Run(seed, stored, Case(rows=192, columns=64), text, stores=1)
    run.check(run.c, run.dot())
    tiles = [each.T for each in np.split(run.dot(), 3)]
    run.check(run.d, np.concatenate(tiles))


def test_stores_of_the_same_tile_in_order(seed: int) -> None:
    """Each iteration stores to the same tile, after that of the iteration before."""
    stored = stored_gemm()
    text = stored.program(f"""
    %start = make_token : token
    %end = for %i in (%zero to %tiles, step %one) : tile<i32>
        iter_values(%before = %start) -> (token) {{
      {stored.gemm.k_loop()}
      {stored.converted()}
      {stored.store(row="%zero", token="%before")}
      continue %stored : token
    }}""")
    run = Run(seed, stored, Case(rows=192, tiles=3), text)
    assert run.text.count("nv_tileas.async.store_wait") == 2
    assert "nv_tileas.barrier" not in run.text
    run.check(run.c, run.dot()[128:], tiles=1)


def test_a_store_after_one_by_threads(seed: int) -> None:
    """The one that follows threads is left to threads."""
    stored = stored_gemm()
    hints = "optimization_hints=<sm_90 = {allow_tma = false}> "
    text = stored.persistent(f"""
      {stored.converted()}
      %twice = addf %sum, %sum : {stored.gemm.c}
      {stored.converted("o2", "%twice")}
      {stored.store("%o2", hints=hints)}
      {stored.store(name="stored2", token="%stored")}
      {stored.store("%o2", "%dv", name="stored3")}""")
    run = Run(seed, stored, Case(rows=192), text, stores=1)
    run.check(run.c, run.dot())
    run.check(run.d, 2 * run.dot())


def test_rows_that_are_no_multiple_of_16_bytes(seed: int) -> None:
    """TMA would write beyond the last element, so threads store."""
    stored = StoredGemm(Gemm(), column_divisor=2)
    text = stored.persistent(f"{stored.converted()}\n{stored.store()}")
    run = Run(seed, stored, Case(columns=42), text, stores=0)
    run.check(run.c, run.dot())


def nothing(*arguments: object) -> None:
    """Do nothing."""


@pytest.mark.parametrize(("owner", "step", "report"), [
    (tma_stores.BoxStore, "wait_for_stage", "nothing orders this write after an earlier read"),
    (tma_stores, "fence_proxy", "with no fence.proxy.async in between"),
    (agents, "wait_for_stores", "the CTA exits before any thread waits for this copy"),
])  # fmt: skip
def test_what_is_missing_is_reported(
    monkeypatch: pytest.MonkeyPatch, owner: object, step: str, report: str, seed: int
) -> None:
    """The emulator sees if a stage is not waited for, a fence is missing, or the last wait."""
    monkeypatch.setattr(owner, step, nothing)
    stored = stored_gemm(tile=(64, 128, 32))
    text = stored.persistent(f"{stored.converted()}\n{stored.store()}")
    with pytest.raises(tilewright.UserError, match=report):
        Run(seed, stored, Case(columns=128), text, anew=True)


def test_a_missing_wait_before_a_load_is_reported(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """That the source of a store has been read does not say that the store is complete."""
    monkeypatch.setattr(global_accesses, "in_flight", lambda pending: frozenset())
    stored = stored_gemm()
    text = stored.persistent(f"""
      {stored.converted()}
      {stored.store()}
      {stored.load("again", "%cv", "%i", "%stored")}
      {stored.store("%again", "%dv", name="stored2")}""")
    with pytest.raises(tilewright.UserError, match="a bulk copy may still write it"):
        Run(seed, stored, Case(), text, anew=True)


REDUCED = {
    ("f32", "addf"): np.add,
    ("i32", "add"): np.add,
    ("i32", "and"): np.bitwise_and,
    ("i32", "or"): np.bitwise_or,
    ("i32", "xor"): np.bitwise_xor,
}


@pytest.mark.parametrize(
    ("output", "mode"), keep(REDUCED, (("f32", "addf"), ("i32", "xor")).__contains__)
)
def test_reductions(output: str, mode: str, seed: int) -> None:
    """TMA combines the elements within bounds with those in memory."""
    stored = stored_gemm(output=output)
    text = stored.persistent(f"{stored.converted()}\n{stored.reduce(mode)}")
    run = Run(seed, stored, Case(), text)
    before = np.full_like(run.c, UNTOUCHED)[:, : run.width]
    run.check(run.c, REDUCED[output, mode](before, run.dot().astype(run.c.dtype)))


def test_reductions_that_tma_does_not_have(seed: int) -> None:
    """Threads compute maxima."""
    stored = stored_gemm(output="i32")
    text = stored.persistent(f"{stored.converted()}\n{stored.reduce('max')}")
    run = Run(seed, stored, Case(), text, stores=0)
    run.check(run.c, np.maximum(run.dot(), UNTOUCHED))


def test_chosen_stores() -> None:
    """If nothing is forced, persistent kernels reduce by TMA, and store by threads."""
    stored = stored_gemm(output="f32")
    for text, count in ((stored.store(), 0), (stored.reduce("addf"), 1)):
        program = stored.persistent(f"{stored.converted()}\n{text}")
        made = lowered_to("nv_tileas", program, schedule="agents=1")
        assert made.count("nv_tileas.async.tiled_store") == count
