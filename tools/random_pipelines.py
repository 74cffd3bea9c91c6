"""Compare random loops with dots, under random schedules, with the reference executor.

    python tools/random_pipelines.py --count 1000

Each program is a GEMM of random shape, types, majors, alignment and trip count, with or without
element-wise operations before the dot, other uses of the accumulator, a loop around it, and a
reduction after it. It is compiled under a random schedule and run on the emulator with its race,
proxy and barrier checks, in two orders of warps. All numbers are small integers, so that every
order of summation gives the same result, bit for bit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.driver.progress import progress

ORDERS: Final = (1, 2)
DTYPES: Final[dict[str, Any]] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "i8": np.int8,
}
STAGES: Final = (1, 2, 3, 3, 4, 4, 5, 6)
SCHEDULES: Final = ("", *(f"stages={n}" for n in STAGES), "in-flight=0", "stages=4,in-flight=0")


class Loop(NamedTuple):
    """A random program and its schedule."""

    arch: str
    schedule: str
    element: str
    tile: tuple[int, int, int]
    extents: tuple[int, int, int]
    """M, N and K, which need not be multiples of the tile."""
    k_major: tuple[bool, bool]
    """Whether A and B are contiguous along K."""
    aligned: bool
    trips: tuple[int, int]
    """The first tile along K, and the step."""
    doubled: bool
    """Whether A is added to itself before the dot."""
    is_read: bool
    """Whether the loop reads the accumulator, too."""
    tiles: int
    """How many tiles of rows an outer loop computes."""
    reduced: bool
    """Whether the rows of the result are reduced before they are stored."""

    @property
    def accumulator(self) -> str:
        """The element type of the result."""
        return "i32" if self.element == "i8" else "f32"


def random_loop(seed: int) -> Loop:
    """The program of a seed."""
    pick = random.Random(seed)
    element = pick.choice(("f16", "f16", "bf16", "f8E4M3FN", "i8"))
    m = pick.choice((16, 64, 64, 128))
    n, k = pick.choice((16, 32, 64)), pick.choice((16, 32, 64))
    aligned = pick.random() < 0.8
    unit = 16 if aligned else 1
    extents = (
        max(1, pick.randrange(1, 2 * m) // unit) * unit,
        max(1, pick.randrange(1, 2 * n) // unit) * unit,
        pick.randrange(0, 5 * k) // unit * unit,
    )
    return Loop(
        pick.choice(("sm_90", "sm_90", "sm_90", "sm_80")),
        pick.choice(SCHEDULES),
        element,
        (m, n, k),
        extents,
        (pick.random() < 0.6, pick.random() < 0.5),
        aligned,
        (pick.choice((0, 0, 1)), pick.choice((1, 1, 2))),
        # There is no arithmetic on 8-bit floats.
        pick.random() < 0.2 and element != "f8E4M3FN",
        pick.random() < 0.2,
        pick.choice((1, 1, 2)),
        pick.random() < 0.2,
    )


def text_of(loop: Loop) -> str:
    """The program as Tile IR text."""
    (m, n, k), element, sum_type = loop.tile, loop.element, loop.accumulator
    is_integer = element == "i8"
    a_strides = "[?,1]" if loop.k_major[0] else "[1,?]"
    b_strides = "[1,?]" if loop.k_major[1] else "[?,1]"
    a_stride = "%k_extent, 1" if loop.k_major[0] else "1, %rows"
    b_stride = "1, %k_extent" if loop.k_major[1] else "%columns, 1"
    a_tensor = f"tensor_view<?x?x{element}, strides={a_strides}>"
    b_tensor = f"tensor_view<?x?x{element}, strides={b_strides}>"
    c_tensor = f"tensor_view<?x?x{sum_type}, strides=[?,1]>"
    a_view = f"partition_view<tile=({m}x{k}), padding_value = zero, {a_tensor}>"
    b_view = f"partition_view<tile=({k}x{n}), padding_value = zero, {b_tensor}>"
    c_view = f"partition_view<tile=({m}x{n}), {c_tensor}>"
    a, b, c = f"tile<{m}x{k}x{element}>", f"tile<{k}x{n}x{element}>", f"tile<{m}x{n}x{sum_type}>"
    zero = "0" if is_integer else "0.0"
    add = "addi" if is_integer else "addf"
    dot = "mmai %u, %y, %acc signed signed" if is_integer else "mmaf %u, %y, %acc"
    double = f"%u = {add} %x, %x : {a}" if loop.doubled else ""
    dot = dot if loop.doubled else dot.replace("%u", "%x")
    assume = "assume div_by<16>," if loop.aligned else "assume div_by<1>,"
    read = f"%v = {add} %w, %d : {c}" if loop.is_read else ""
    carried = "%v" if loop.is_read else "%w"
    reduce = f"""
        %r = reduce %sum dim=1 identities=[{zero} : {sum_type}] : {c} -> tile<{m}x{sum_type}>
        (%e: tile<{sum_type}>, %f: tile<{sum_type}>) {{
          %g = {add} %e, %f : tile<{sum_type}>
          yield %g : tile<{sum_type}>
        }}
        %q = reshape %r : tile<{m}x{sum_type}> -> tile<{m}x1x{sum_type}>
        %z = broadcast %q : tile<{m}x1x{sum_type}> -> {c}"""
    stored = "%z" if loop.reduced else "%sum"
    return f"""
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<{element}>>, %q0: tile<ptr<{element}>>, %o: tile<ptr<{sum_type}>>,
           %m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>) {{
    %pa = {assume} %p : tile<ptr<{element}>>
    %pb = {assume} %q0 : tile<ptr<{element}>>
    %rows = {assume} %m0 : tile<i32>
    %columns = {assume} %n0 : tile<i32>
    %k_extent = {assume} %k0 : tile<i32>
    %at = make_tensor_view %pa, shape = [%rows, %k_extent], strides = [{a_stride}]
        : tile<i32> -> {a_tensor}
    %bt = make_tensor_view %pb, shape = [%k_extent, %columns], strides = [{b_stride}]
        : tile<i32> -> {b_tensor}
    %ct = make_tensor_view %o, shape = [%rows, %columns], strides = [%columns, 1]
        : tile<i32> -> {c_tensor}
    %av = make_partition_view %at : {a_view}
    %bv = make_partition_view %bt : {b_view}
    %cv = make_partition_view %ct : {c_view}
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = constant <i32: {loop.trips[0]}> : tile<i32>
    %step = constant <i32: {loop.trips[1]}> : tile<i32>
    %tiles = constant <i32: {loop.tiles}> : tile<i32>
    %extent = constant <i32: {k}> : tile<i32>
    %count = divi %k_extent, %extent signed rounding<positive_inf> : tile<i32>
    %none = constant <{sum_type}: {zero}> : {c}
    for %i in (%zero to %tiles, step %one) : tile<i32> {{
      %s, %w2 = for %j in (%first to %count, step %step) : tile<i32>
          iter_values(%acc = %none, %w = %none) -> ({c}, {c}) {{
        %x, %t0 = load_view_tko weak %av[%i, %j] : {a_view}, tile<i32> -> {a}, token
        %y, %t1 = load_view_tko weak %bv[%j, %zero] : {b_view}, tile<i32> -> {b}, token
        {double}
        %d = {dot} : {a}, {b}, {c}
        {read}
        continue %d, {carried} : {c}, {c}
      }}
      %sum = {add} %s, %w2 : {c}
      {reduce if loop.reduced else ""}
      %t2 = store_view_tko weak {stored}, %cv[%i, %zero] : {c}, {c_view}, tile<i32> -> token
      continue
    }}
    return
  }}
}}"""


def arguments_of(loop: Loop, seed: int) -> list[Any]:
    """Matrices of small integers, a result to overwrite, and the extents."""
    numbers = np.random.default_rng(seed)
    m, n, k = loop.extents
    kind = DTYPES[loop.element]
    a, b = (numbers.integers(-2, 3, (size,)).astype(kind) for size in (m * k, k * n))
    c = np.full((m * n,), 99, np.int32 if loop.accumulator == "i32" else np.float32)
    # An empty array has no address.
    a, b = (each if each.size else np.zeros(16, kind) for each in (a, b))
    return [a, b, c, m, n, k]


def problem(seed: int) -> str | None:
    """What is wrong with the compiled program of a seed; nothing if all is well."""
    loop = random_loop(seed)
    try:
        module = read_runnable(text_of(loop), f"seed{seed}.mlir")
        expected = arguments_of(loop, seed)
        tilewright.execute(module, "k", (1, 1, 1), expected)
        ptx = tilewright.compile(module, loop.arch, emit="ptx", schedule=loop.schedule).ptx
        for order in ORDERS:
            actual = arguments_of(loop, seed)
            run_ptx(ptx, module, "k", (1, 1, 1), actual, check=True, seed=order)
            wrong = np.flatnonzero(actual[2] != expected[2])
            if len(wrong):
                first = wrong[0]
                values = f"{actual[2][first]} instead of {expected[2][first]}"
                return f"seed {seed}: {len(wrong)} wrong, [{first}] is {values}: {loop}"
    except tilewright.UserError as error:
        return f"seed {seed}: {error.render().strip().splitlines()[0]}: {loop}"
    except Exception as error:
        return f"seed {seed}: {type(error).__name__}: {error}: {loop}"
    return None


def main() -> int:
    """Run the programs of many seeds; the exit code says whether all agree."""
    parser = argparse.ArgumentParser(description="Random loops under random schedules.")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.count)
    with multiprocessing.Pool(given.jobs) as pool:
        results = list(progress(pool.imap_unordered(problem, seeds), len(seeds)))
    problems = [result for result in results if result is not None]
    print("\n".join(sorted(problems)))
    print(f"{len(seeds)} programs, {len(problems)} failures")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
