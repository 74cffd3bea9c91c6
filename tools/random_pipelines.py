"""Compare random loops with loads and dots, under random schedules, with the reference executor.

    python tools/random_pipelines.py --count 1000 [--schedule agents=1] [--ctas 2] [--gpu]

Each program is a GEMM of random shape, types, majors, alignment, strides, padding and trip count,
or a sum of tiles. Operands may be converted, scaled, gathered through pointers with a mask, or
computed; the index of a tile along K, or the rows that are gathered, may be loaded from a list in
the loop; it may read the accumulator, too, or have a second one that a condition on the counter
chooses, so that it is split; a loop may be around it, a reduction after it, and a store that
overwrites what it loaded. Views may have extents and coordinates near 2**31 and 2**32. The CTAs of
a cluster may share its tiles. It is compiled under a random schedule and run on the emulator with
its race, proxy and barrier checks, in two orders of warps; with `--gpu`, for sm_90 alone, on the
GPU of this machine instead (compute-sanitizer may watch it with `--jobs 0`).
All numbers are small integers, smaller ones where f16 accumulates them, so that every order of
summation gives the same result, bit for bit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import ml_dtypes
import numpy as np
from pipeline_text import Loop, Operand, Split, text_of
from pipeline_views import random_views

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.driver.launch import Plan, start
from tilewright.driver.progress import progress
from tilewright.driver.signatures import signature_of
from tilewright.emit.cubin import assemble
from tilewright.ir.operation import Operation
from tilewright.support.tensor_map_parameters import ENCODERS
from tilewright.target.arch import ARCHES

ORDERS: Final = (1, 2)
DTYPES: Final[dict[str, Any]] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "i8": np.int8,
    "i32": np.int32,
}
LOADED: Final = {
    "f16": ("f16", "f16", "i8", "f32"),
    "bf16": ("bf16", "bf16", "i8"),
    "tf32": ("f32",),
    "f32": ("f32", "f16"),
    "f8E4M3FN": ("f8E4M3FN",),
    "i8": ("i8",),
}
"""The types of A and B in memory, by their type in the dot; others are converted."""
ELEMENTS: Final = ("f16",) * 5 + ("bf16",) * 2 + ("tf32",) * 2 + ("f8E4M3FN", "i8")
CHANGES: Final = ("", "", "", "double", "scale", "ramp")
"""What is done to an operand: it is added to itself, or multiplied by a number or a row of them."""
STAGES: Final = (1, 2, 3, 3, 4, 4, 5, 6)
SCHEDULES: Final = ("", *(f"stages={n}" for n in STAGES), "in-flight=0", "stages=4,in-flight=0")
CTAS: Final = (1,) * 6 + (1, 2, 4)
"""Hints how many CTAs of a cluster share the tiles, on GPUs with clusters."""
AGENTS: Final = ("", "", "agents=1")
STORES: Final = ("", "tma-stores=1", "tma-stores=1")
OUTPUTS: Final = ("", "", "f16", "bf16")
"""The element types of C, if accumulators are floats; the first is that of the accumulator."""
K_PARTS: Final = (0, 0, 0, 1, 2, 2, 4, 8)
"""Into how many iterations one over K is split; 0: as chosen."""
GAPS: Final = (0,) * 5 + (1, 2, 3, 8)
PADDINGS: Final = {
    "f8E4M3FN": ("neg_zero", "nan"),
    "i8": ("zero",),
}
"""The padding that a type has besides zero, where it is not that of other floats."""
FLOAT_PADDINGS: Final = ("neg_zero", "nan", "pos_inf", "neg_inf")
INDICES: Final = ("",) * 5 + ("view", "pointer", "mask", "rows")
COMPUTED: Final = ("constant", "ramp", "counter")
PREDICATES: Final = ("less_than", "less_than", "less_than_or_equal", "greater_than_or_equal")


def random_operand(pick: random.Random, name: str, element: str, *, is_plain: bool) -> Operand:
    """A or B of a dot of some element type; multiplied as it is in memory if it is plain."""
    k_major = pick.random() < (0.6 if name == "a" else 0.5)
    gathered = name == "a" and pick.random() < 0.2
    loaded, change = pick.choice(LOADED[element]), pick.choice(CHANGES)
    if is_plain:
        loaded, change = LOADED[element][0], ""
    # There is no arithmetic on 8-bit floats.
    change = "" if element == "f8E4M3FN" else change
    return Operand(name, loaded, element, change, k_major, gathered)


def random_loop(seed: int) -> Loop:
    """The program of a seed."""
    pick = random.Random(seed)
    has_dot = pick.random() < 0.85
    element = pick.choice(ELEMENTS) if has_dot else pick.choice(("f32", "f32", "i8"))
    m = pick.choice((16, 64, 64, 64, 128))
    n, k = pick.choice((16, 32, 64)), pick.choice((16, 32, 64, 64, 64))
    if not has_dot:
        m, k = max(m, 64), 64  # smaller tiles are not copied to shared memory
    aligned = pick.random() < 0.85
    unit = 16 if aligned else 1
    extents = (
        max(1, pick.randrange(1, 2 * m) // unit) * unit,
        max(1, pick.randrange(1, 2 * n) // unit) * unit,
        pick.randrange(0, 5 * k) // unit * unit,
    )
    is_plain = pick.random() < 0.4
    a = random_operand(pick, "a", element, is_plain=is_plain)
    b = random_operand(pick, "b", element, is_plain=is_plain)
    overwrites = pick.choice(("", "", "", "", "", "after", "after", "" if a.gathered else "inside"))
    loop = Loop(
        pick.choice(("sm_90", "sm_90", "sm_80")),
        pick.choice(SCHEDULES),
        a,
        b if has_dot else None,
        (m, n, k),
        extents,
        aligned,
        (pick.choice((0, 0, 1)), pick.choice((1, 1, 2))),
        pick.random() < 0.2,
        # Rows that are gathered for a tile may be those that an earlier tile overwrites.
        1 if a.gathered and overwrites else pick.choice((1, 1, 2)),
        pick.random() < 0.2,
        overwrites,
    )
    return varied(pick, loop)


def varied(pick: random.Random, loop: Loop) -> Loop:
    """A program with strides, padding, a condition on the counter, and a split of its iterations.

    These are drawn last, so that the rest of a seed's program stays as it is without them.
    """
    k_parts = pick.choice(K_PARTS)
    split = Split(pick.choice(PREDICATES), pick.randrange(-1, 6), pick.random() < 0.2)
    is_split = pick.random() < 0.35
    a, b = spaced(pick, loop.a), spaced(pick, loop.b) if loop.b else None
    agents = pick.choice(AGENTS)
    if agents and pick.random() < 0.8:
        m, n, k = (-(-extent // 16) * 16 for extent in loop.extents)
        loop = loop._replace(aligned=True, extents=(m, n, k))
        a, b = for_tma(a), for_tma(b) if b else None
    ctas = pick.choice(CTAS)
    stores, output = pick.choice(STORES), pick.choice(OUTPUTS)
    if agents and stores and pick.random() < 0.8:
        loop = for_tma_stores(loop)
    indices = pick.choice(INDICES)
    if indices == "rows" and not (a.gathered and a.k_major):
        indices = "pointer"
    parts = (loop.schedule, f"k-parts={k_parts}" if k_parts else "", agents, stores)
    loop = loop._replace(
        schedule=",".join(filter(None, parts)),
        a=a,
        b=b,
        is_read=loop.is_read and not is_split,
        split=split if is_split else None,
        ctas=ctas if loop.arch == "sm_90" else 1,
        output=output if loop.accumulator == "f32" else "",
        indices=indices,
    )
    loop = halved(loop) if loop.a.element == "f16" and pick.random() < 0.4 else loop
    if pick.random() < 0.3:
        loop = loop._replace(schedule=",".join(filter(None, (loop.schedule, "evict-first=0"))))
    if loop.b and pick.random() < 0.1:
        # No integer is converted to 8-bit floats, and ramps add up to more than f16 has.
        is_limited = loop.half or loop.b.loaded == "f8E4M3FN"
        computed = pick.choice(("constant",) if is_limited else COMPUTED)
        loop = loop._replace(b=loop.b._replace(computed=computed))
    views = random_views(pick, loop.tile, loop.tiles)
    if views.is_large and loop.b and pick.random() < 0.7:
        loop = by_tma(loop)
        views = random_views(pick, loop.tile, loop.tiles, is_large=True)
    return loop._replace(views=views)


def by_tma(loop: Loop) -> Loop:
    """A program whose dots use wgmma, of operands as TMA copies them."""
    assert loop.b is not None
    a, b = (
        for_tma(each)._replace(loaded="f16", element="f16", change="", computed="")
        for each in (loop.a, loop.b)
    )
    m, n, k = (-(-extent // 16) * 16 for extent in loop.extents)
    stores = ",tma-stores=1" if "tma-stores" in loop.schedule else ""
    return for_tma_stores(loop)._replace(
        schedule=f"agents=1{stores}",
        a=a,
        b=b,
        tile=(max(loop.tile[0], 64), max(loop.tile[1], 32), 64),
        extents=(m, n, k),
        aligned=True,
        overwrites="",
        indices="" if loop.indices == "rows" else loop.indices,
    )


def halved(loop: Loop) -> Loop:
    """A program that accumulates in f16; what would take more than 11 bits is not computed."""
    doubles = "" if loop.reduced else "double"
    a = loop.a._replace(change=doubles if loop.a.change else "")
    b = loop.b._replace(change="") if loop.b else None
    return loop._replace(a=a, b=b, half=True, output="")


def spaced(pick: random.Random, operand: Operand) -> Operand:
    """An operand with another stride, and perhaps padding other than zero."""
    others = PADDINGS.get(operand.loaded, FLOAT_PADDINGS)
    padding = pick.choice(others) if pick.random() < 0.2 else "zero"
    return operand._replace(gap=pick.choice(GAPS), padding=padding)


def for_tma(operand: Operand) -> Operand:
    """An operand that TMA can copy: strides are multiples of 16 bytes, and zeros pad it."""
    return operand._replace(gap=16 * operand.gap, padding="zero", gathered=False)


def for_tma_stores(loop: Loop) -> Loop:
    """A program for wgmma, whose warps hold whole rows of the result."""
    m, n, k = loop.tile
    tile = (max(m, 64), max(n, 32), max(k, 32))
    return loop._replace(arch="sm_90", tile=tile, reduced=False)


def elements_of(operand: Operand, width: int, k: int) -> int:
    """The elements of A or B in memory, with the gaps between its lines."""
    lines, length = (width, k) if operand.k_major else (k, width)
    return lines * (length + operand.gap)


def arguments_of(loop: Loop, seed: int) -> list[Any]:
    """Matrices of small integers, a result to overwrite, and the extents."""
    numbers = np.random.default_rng(seed)
    m, n, k = loop.extents
    most = 1 if loop.half else 2
    a, b = (
        numbers.integers(-most, most + 1, (size,)).astype(DTYPES[each.loaded])
        for each, size in (
            (loop.a, elements_of(loop.a, m, k)),
            (loop.b or loop.a, elements_of(loop.b or loop.a, n, k)),
        )
    )
    width = n if loop.b else loop.tile[2]
    c = np.full((m * width,), 99, np.int32 if loop.stored == "i32" else DTYPES[loop.stored])
    # An empty array has no address.
    a, b = (each if each.size else np.zeros(16, each.dtype) for each in (a, b))
    return [a, b, c, m, n, k, loop.split.limit if loop.split else 0, indices_of(loop, numbers)]


def indices_of(loop: Loop, numbers: np.random.Generator) -> Any:
    """Every tile along K in a random order, or every row of A for each of them.

    The array ends with the last of them, so that to read another one is an error.
    """
    m, _, k = loop.extents
    count = -(-k // loop.tile[2])
    listed = numbers.permutation(count)
    if loop.indices == "rows":
        listed = np.array([numbers.permutation(m) for _ in range(count)]).reshape(-1)
    return listed.astype(np.int32) if count else np.full(1, -1, np.int32)


def outcomes(loop: Loop, seed: int, module: Operation, *, gpu: bool) -> Iterator[list[Any]]:
    """The arguments after each run of the compiled program.

    Of the programs of odd seeds, the launcher encodes tensor maps, of the others the kernel.
    """
    made = tilewright.compile(
        module, loop.arch, emit="ptx", schedule=loop.schedule, tensor_maps=ENCODERS[seed % 2]
    )
    ptx = made.ptx
    if gpu:
        actual = arguments_of(loop, seed)
        threads = re.search(r"\.reqntid (\d+)", ptx)
        assert threads is not None
        cubin = assemble(ptx, ARCHES[loop.arch], map_parameters=made.map_parameters).data
        plan = Plan(
            signature_of(module, "k"),
            loop.arch,
            cubin,
            (int(threads[1]), 1, 1),
            counts_clusters=".blocksareclusters" in ptx,
        )
        start(plan, (1, 1, 1), actual, None, wait=True, write=print)
        yield actual
        return
    for order in ORDERS:
        actual = arguments_of(loop, seed)
        maps = made.map_parameters.get("k", ())
        run_ptx(ptx, module, "k", (1, 1, 1), actual, maps=maps, check=True, seed=order)
        yield actual


def problem(seed: int, *, gpu: bool = False, schedule: str = "", ctas: int = 0) -> str | None:
    """What is wrong with the compiled program of a seed; nothing if all is well."""
    loop = random_loop(seed)
    if schedule:
        loop = loop._replace(schedule=schedule)
    if gpu or ctas:
        loop = loop._replace(arch="sm_90", ctas=ctas or loop.ctas)
    if gpu:
        # An H200 accesses the base of a tensor for a box that is out of bounds: it must be there.
        loop = loop._replace(views=loop.views._replace(rows=0, k=0))
    try:
        module = read_runnable(text_of(loop), f"seed{seed}.mlir")
        expected = arguments_of(loop, seed)
        tilewright.execute(module, "k", (1, 1, 1), expected)
        for order, actual in enumerate(outcomes(loop, seed, module, gpu=gpu)):
            for name, one, other in zip("abc", actual, expected, strict=False):
                differs = (one != other) & ~(np.isnan(one) & np.isnan(other))
                wrong = np.flatnonzero(differs)
                if len(wrong):
                    values = f"{one[wrong[0]]} instead of {other[wrong[0]]}"
                    first = f"{len(wrong)} of {name} wrong, [{wrong[0]}] is {values}"
                    return f"seed {seed}, order {order}: {first}: {loop}"
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
    parser.add_argument("-j", "--jobs", type=int, default=2, help="0: in this process")
    parser.add_argument("--gpu", action="store_true", help="run them on the GPU of this machine")
    parser.add_argument("--ctas", type=int, default=0, help="the hint of all programs for sm_90")
    parser.add_argument("--schedule", default="", help="of all programs; a random one if not given")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.count)
    judge = partial(problem, gpu=given.gpu, schedule=given.schedule, ctas=given.ctas)
    if given.jobs == 0:
        results = list(progress(map(judge, seeds), len(seeds)))
    else:
        with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
            results = list(progress(pool.imap_unordered(judge, seeds), len(seeds)))
    problems = [result for result in results if result is not None]
    print("\n".join(sorted(problems)))
    print(f"{len(seeds)} programs, {len(problems)} failures")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
