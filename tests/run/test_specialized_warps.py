"""Warp-specialized kernels compute what the program says, on the emulator with its checks."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from cluster_programs import multicast_masks
from compiled_once import compiled
from gemm_operands import Array, Case, in_memory, operands_of
from repeats import keep, keep_first
from specialized_programs import COLUMNS, ROWS, Gemm

from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

SEED: Final = 1
"""The order in which the emulator schedules warps and completes copies."""
UNTOUCHED: Final = 99
TRIPS: Final = ((0, 3), (1, 0), (3, 1), (2, 3))
"""The tiles and iterations over K that `make test` tries."""


def run(text: str, arguments: list[Any], schedule: str = "agents=1") -> str:
    """Compile a kernel to agents and run it; returns its nv_tileas."""
    module = read_runnable(text, "kernel.mlir")
    made = compiled(text, schedule=schedule)
    assert made.nv_tileas.count("agent_switch") == 2
    run_ptx(made.ptx, module, "k", (1, 1, 1), arguments, check=True, seed=SEED)
    return made.nv_tileas


class Operands:
    """A, B and C of a case."""

    def __init__(self, gemm: Gemm, case: Case) -> None:
        self.gemm, self.case = gemm, case
        self.a, self.b = operands_of(case, gemm.element)
        kind = np.int32 if gemm.accumulator == "i32" else np.float32
        self.c: Array = np.full((ROWS, COLUMNS), UNTOUCHED, kind)

    def run(self, text: str) -> str:
        """Run a kernel on the operands."""
        a, b = in_memory(self.a, self.b, k_major=self.gemm.k_major)
        return run(text, [a, b, self.c, *self.case])

    def dot(self, row: int, first: int = 0, last: int | None = None) -> Array:
        """The tile of C in a row of tiles, from some tiles along K."""
        height, width, k = self.gemm.tile
        steps = slice(first * k, (self.case.steps if last is None else last) * k)
        wide = np.int32 if self.gemm.accumulator == "i32" else np.float32
        a = self.a[row * height : (row + 1) * height, steps].astype(wide)
        tile = np.zeros((height, width), wide)
        tile[: len(a), : self.case.n] = a @ self.b[steps].astype(wide)
        return tile

    def check(self, *tiles: Array | None) -> None:
        """Compare the rows of tiles of C; None: nothing is stored there."""
        height, width, _ = self.gemm.tile
        expected = np.full_like(self.c, UNTOUCHED)
        for row, tile in enumerate(tiles):
            if tile is not None:
                expected[row * height : (row + 1) * height, :width] = tile
        np.testing.assert_array_equal(self.c, expected)


@pytest.mark.parametrize(
    ("tiles", "steps"),
    keep(
        [(0, 3), (1, 0), (1, 1), (3, 0), (3, 1), (2, 3), (4, 2), (3, 8)], lambda case: case in TRIPS
    ),
)
def test_tiles_and_iterations(tiles: int, steps: int) -> None:
    gemm = Gemm()
    operands = Operands(gemm, Case(tiles=tiles, steps=steps))
    operands.run(gemm.persistent())
    operands.check(*[operands.dot(row) for row in range(tiles)])


@pytest.mark.parametrize("steps", keep_first([7, 1, 0]))
def test_one_tile(steps: int) -> None:
    gemm = Gemm()
    operands = Operands(gemm, Case(k=208, steps=steps))
    operands.run(gemm.one_shot())
    operands.check(operands.dot(0))


@pytest.mark.parametrize("case", keep_first(map(pytest.param, [Case(m=0), Case(k=0), Case(n=0)])))
def test_a_view_without_elements(case: Case) -> None:
    """All tiles are out of bounds then, and zero."""
    gemm = Gemm()
    operands = Operands(gemm, case)
    operands.run(gemm.persistent())
    operands.check(*[np.zeros((64, 64))] * 2)


def test_a_branch_that_only_some_tiles_take() -> None:
    """Neither agent counts stages of the tiles that skip the loop over K."""
    gemm = Gemm()
    text = gemm.persistent(f"""
      %rest = remi %i, %two signed : tile<i32>
      %odd = cmpi equal %rest, %one, signed : tile<i32> -> tile<i1>
      if %odd {{
        {gemm.k_loop()}
        {gemm.store()}
      }}""")
    operands = Operands(gemm, Case(tiles=4))
    operands.run(text)
    operands.check(None, operands.dot(1), None, operands.dot(3))


def test_a_branch_with_a_loop_on_both_sides() -> None:
    gemm = Gemm()
    text = gemm.persistent(f"""
      %rest = remi %i, %two signed : tile<i32>
      %odd = cmpi equal %rest, %one, signed : tile<i32> -> tile<i1>
      %chosen, %last = if %odd -> ({gemm.c}, tile<i32>) {{
        {gemm.k_loop()}
        yield %sum, %one : {gemm.c}, tile<i32>
      }} else {{
        {gemm.k_loop(bounds="%one to %steps, step %two")}
        yield %sum, %two : {gemm.c}, tile<i32>
      }}
      {gemm.k_loop("more", bounds="%zero to %last, step %one", start="%chosen")}
      {gemm.store("%more")}""")
    operands = Operands(gemm, Case())
    operands.run(text)
    operands.check(
        operands.dot(0, 1, 2) + operands.dot(0, 0, 2), operands.dot(1) + operands.dot(1, 0, 1)
    )


def test_copies_that_need_a_scalar_of_the_outer_loop() -> None:
    """The row of tiles is carried; so are the iterations over K, one more for each tile."""
    gemm = Gemm()
    text = gemm.program(f"""
    %end, %last = for %i in (%zero to %tiles, step %one) : tile<i32>
        iter_values(%row = %two, %count = %steps) -> (tile<i32>, tile<i32>) {{
      {gemm.k_loop(row="%row", bounds="%zero to %count, step %one")}
      {gemm.store()}
      %next = subi %row, %one : tile<i32>
      %more = addi %count, %one : tile<i32>
      continue %next, %more : tile<i32>, tile<i32>
    }}
    %least = subi %last, %one : tile<i32>
    {gemm.k_loop("after", row="%zero", bounds="%least to %last, step %one")}
    {gemm.store("%after", row="%two", name="stored2")}""")
    operands = Operands(gemm, Case(k=160, steps=1))
    operands.run(text)
    operands.check(operands.dot(2, 0, 1), operands.dot(1, 0, 2), operands.dot(0, 2, 3))


def test_copies_that_need_a_scalar_from_memory() -> None:
    """The producer loads it, too: a bit of numbers of A, the lowest one of the exponent."""
    gemm = Gemm()
    text = gemm.program(f"""
    %list = ptr_to_ptr %p : tile<ptr<f16>> -> tile<ptr<i32>>
    %scale = constant <i32: 1024> : tile<i32>
    for %i in (%zero to %tiles, step %one) : tile<i32> {{
      %address = offset %list, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %bits, %read = load_ptr_tko weak %address : tile<ptr<i32>> -> tile<i32>, token
      %exponent = divi %bits, %scale unsigned : tile<i32>
      %row = remi %exponent, %two unsigned : tile<i32>
      {gemm.k_loop(row="%row")}
      {gemm.store()}
      continue
    }}""")
    operands = Operands(gemm, Case(tiles=4))
    operands.a[0, :8:2] = [1, 0, 1, 1]
    operands.run(text)
    operands.check(*[operands.dot(row) for row in (1, 0, 1, 1)])


@pytest.mark.parametrize("split", keep_first([2, 0, 9]))
def test_consecutive_loops(split: int) -> None:
    """The second goes on where the first ends, as `loop-split` makes them; one may be empty."""
    gemm = Gemm()
    text = gemm.program(f"""
    %up = mini %tiles, %steps signed : tile<i32>
    %low = maxi %tiles, %zero signed : tile<i32>
    {gemm.k_loop("first", row="%zero", bounds="%zero to %up, step %one")}
    {gemm.k_loop("second", row="%zero", bounds="%low to %steps, step %one", start="%first")}
    {gemm.store("%second", row="%zero")}""")
    operands = Operands(gemm, Case(k=160, tiles=split, steps=5))
    assert operands.run(text).count("create_pipeline") == 1
    operands.check(operands.dot(0))


def test_tiles_before_and_after_the_loop() -> None:
    """They are copied to the pipeline of the loop, in the order of the program."""
    gemm = Gemm()
    a, b = "tile<64x32xf16>", "tile<32x64xf16>"

    def dot(name: str, k: str, start: str) -> str:
        return f"""
      %{name}x, %{name}tx = load_view_tko weak %av[%i, {k}] : {gemm.view("a")}, tile<i32> -> {a}, token
      %{name}y, %{name}ty = load_view_tko weak %bv[{k}, %zero] : {gemm.view("b")}, tile<i32> -> {b}, token
      %{name} = mmaf %{name}x, %{name}y, {start} : {a}, {b}, {gemm.c}"""  # noqa: E501

    text = gemm.persistent(f"""
      {dot("before", "%one", "%none")}
      {gemm.k_loop(start="%before")}
      {dot("after", "%steps", "%sum")}
      {gemm.store("%after")}""")
    operands = Operands(gemm, Case(k=160, steps=3))
    made = operands.run(text)
    assert (made.count("create_pipeline"), made.count("producer_copy")) == (1, 6)
    operands.check(*[operands.dot(row, 1, 2) + operands.dot(row, 0, 4) for row in range(2)])


def test_a_loop_around_that_loses_its_pipeline() -> None:
    """Consumers load its tiles when they need them."""
    gemm = Gemm()
    operands = Operands(gemm, Case(k=160, steps=3))
    assert operands.run(gemm.after_another_dot()).count("create_pipeline") == 1
    starts = [
        operands.a[row * 64 : (row + 1) * 64, :64].astype(np.float32)
        @ operands.b[row * 64 : (row + 1) * 64].astype(np.float32)
        for row in range(2)
    ]
    tiles = [operands.dot(row) for row in range(2)]
    for tile, start in zip(tiles, starts, strict=True):
        tile[: len(start), : start.shape[1]] += start
    operands.check(*tiles)


def test_loops_that_copy_different_tiles() -> None:
    """Each has a pipeline of its own, and both pass through the outer loop."""
    gemm, other = Gemm(), Gemm(tile=(64, 64, 64))
    wide = other.k_loop("second", bounds="%zero to %two, step %one", start="%sum")
    wide = wide.replace("%av", "%wide").replace("%bv", "%high")
    text = gemm.program(f"""
    %wide = make_partition_view %at : {other.view("a")}
    %high = make_partition_view %bt : {other.view("b")}
    for %i in (%zero to %tiles, step %one) : tile<i32> {{
      {gemm.k_loop()}
      {wide}
      {gemm.store("%second")}
      continue
    }}""")
    operands = Operands(gemm, Case(k=160, tiles=3, steps=3))
    assert operands.run(text).count("create_pipeline") == 2
    operands.check(*[operands.dot(row) + operands.dot(row, 0, 4) for row in range(3)])


@pytest.mark.exhaustive
def test_accumulators_that_are_split() -> None:
    """A loop runs that over K once for each half of the columns."""
    gemm = Gemm(tile=(256, 256, 16))
    operands = Operands(gemm, Case(m=256, n=256, k=32, tiles=1, steps=2))
    made = operands.run(gemm.persistent())
    assert "tensor<256x128xf32" in next(
        line for line in made.splitlines() if "nv_tileas.dot" in line
    )
    operands.check(operands.dot(0))


def reduced(gemm: Gemm) -> str:
    """Replace each column of the result by its sum: `%z`."""
    _, n, _ = gemm.tile
    return f"""
      %s = reduce %sum dim=0 identities=[0.0 : f32] : {gemm.c} -> tile<{n}xf32>
      (%e: tile<f32>, %f: tile<f32>) {{
        %g = addf %e, %f : tile<f32>
        yield %g : tile<f32>
      }}
      %s1 = reshape %s : tile<{n}xf32> -> tile<1x{n}xf32>
      %z = broadcast %s1 : tile<1x{n}xf32> -> {gemm.c}"""


@pytest.mark.parametrize("height", keep_first([64, 128]))
def test_a_reduction_in_the_epilogue(height: int) -> None:
    """Four or eight warps exchange their parts through scratch memory of the agent."""
    gemm = Gemm(tile=(height, height, 32))
    text = gemm.persistent(f"{gemm.k_loop()}\n{reduced(gemm)}\n{gemm.store('%z')}")
    operands = Operands(gemm, Case(tiles=2))
    assert "scratch" in next(
        line for line in operands.run(text).splitlines() if "nv_tileas.reduce" in line
    )
    columns = [operands.dot(row).sum(axis=0) for row in range(2)]
    operands.check(*[np.broadcast_to(each, (height, height)) for each in columns])


@pytest.mark.parametrize("height", keep_first([64, 128]))
def test_a_layout_conversion_in_the_epilogue(height: int) -> None:
    """A result that is added to its transpose changes threads."""
    gemm = Gemm(tile=(height, height, 32))
    text = gemm.persistent(f"""{gemm.k_loop()}
      %turned = permute %sum [1, 0] : {gemm.c} -> {gemm.c}
      %z = addf %turned, %sum : {gemm.c}
      {gemm.store("%z")}""")
    operands = Operands(gemm, Case(tiles=2, m=256))
    assert "scratch" in next(
        line for line in operands.run(text).splitlines() if "nv_tileas.convert_layout" in line
    )
    dots = [operands.dot(row) for row in range(2)]
    operands.check(*[each + each.T for each in dots])


@pytest.mark.parametrize("gemm", keep_first(map(pytest.param, [
    Gemm("i8", (64, 64, 64), k_major=True),
    Gemm("f8E4M3FN", (64, 64, 64), k_major=False),
    Gemm("f8E4M3FN", (64, 64, 128), k_major=True),
    Gemm("f8E4M3FN", (128, 64, 128), k_major=False),
    Gemm("i8", (64, 64, 64), k_major=False),
    Gemm("f16", k_major=True),
    ]), 2))  # fmt: skip
def test_types_and_majors(gemm: Gemm) -> None:
    """Accumulators of fp8 are promoted; an N-major B of 8 bits passes through registers."""
    operands = Operands(gemm, Case(m=144, n=48, k=304))
    operands.run(gemm.persistent())
    operands.check(operands.dot(0), operands.dot(1))


def rounded(array: Array) -> Array:
    """F32 rounded to tf32, to nearest even: 10 of 23 bits of the mantissa remain."""
    bits = array.view(np.uint32)
    low = bits & 0x1FFF
    up = (low > 0x1000) | ((low == 0x1000) & ((bits >> 13) & 1 == 1))
    return ((bits & ~np.uint32(0x1FFF)) + (up.astype(np.uint32) << 13)).view(np.float32)


UNIT: Final = 2.0**-10
"""Of tf32, for numbers from 1 to 2."""


@pytest.mark.parametrize(
    ("fine", "k_major"), keep_first([("a", True), ("b", False), ("b", True), ("a", False)], 2)
)
def test_f32_is_rounded_to_tf32(fine: str, k_major: bool) -> None:
    """Ties are rounded to even. One operand becomes integers, so that accumulation is exact."""
    gemm = Gemm("f32", precision="tf32", k_major=k_major)
    operands = Operands(gemm, Case(m=136, n=48, k=80))
    numbers = np.random.default_rng(9)
    steps = np.array([0, 0.5, 0.75, 1.5, 1.25, 2.5, 2.75]) * UNIT
    for name in "ab":
        shape = getattr(operands, name).shape
        chosen = steps if name == fine else steps[:2]
        signs = numbers.choice([-1.0, 1.0], shape)
        setattr(operands, name, ((1 + numbers.choice(chosen, shape)) * signs).astype(np.float32))
    assert not np.array_equal(rounded(operands.a), operands.a)
    assert not np.array_equal(rounded(operands.b), operands.b)
    text = operands.run(gemm.persistent())
    assert "tf32" in text.partition("create_pipeline")[2].splitlines()[0]
    operands.a, operands.b = rounded(operands.a), rounded(operands.b)
    operands.check(operands.dot(0), operands.dot(1))


@pytest.mark.parametrize(("ctas", "tile", "k_major", "copies"), keep_first([
    (4, (128, 128, 32), True, [2, 1]),
    (2, (128, 64, 32), False, [0, 1]),
    (4, (256, 64, 64), False, [0, 3]),
    (2, (128, 128, 64), True, [0, 1]),
    ]))  # fmt: skip
def test_ctas_that_share_tiles(
    ctas: int, tile: tuple[int, int, int], k_major: bool, copies: list[int]
) -> None:
    """CTAs of a cluster split the accumulator, and multicast the tiles that they share."""
    hints = f"optimization_hints=<sm_90 = {{num_cta_in_cga = {ctas}}}>"
    gemm = Gemm(tile=tile, k_major=k_major, hints=hints)
    operands = Operands(gemm, Case(n=48, k=208, tiles=256 // tile[0], steps=4))
    assert multicast_masks(operands.run(gemm.persistent())) == copies
    operands.check(*[operands.dot(row) for row in range(256 // tile[0])])
