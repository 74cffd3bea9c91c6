"""Vectors of which only the first elements are in bounds: extents that nothing is known about.

Rows start at multiples of 16 bytes, but may end anywhere; what follows in memory is NaN.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from compiled_once import compiled
from gemm_text import KLoop, extent, kernel, zeros
from matrix_programs import View
from repeats import keep, keep_first

import tilewright
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

Array = np.ndarray[Any, Any]
STRIDE = 88
"""Elements of a row in memory."""
UNTOUCHED = 77


A, B, C = (
    View("a", ("%m", "%k"), (STRIDE, 1), (64, 32), "f16", "zero"),
    View("b", ("%k", "%n"), (STRIDE, 1), (32, 64), "f16", "zero"),
    View("c", ("%m", "%n"), (STRIDE, 1), (64, 64), "f16"),
)
"""The matrices, of m x k, k x n and m x n elements."""


def program(body: str) -> str:
    """A kernel with the matrices."""
    return kernel(
        [A, B, C],
        body,
        arguments="%m0: tile<i32>, %n0: tile<i32>, %k0: tile<i32>, %steps: tile<i32>",
        before="\n".join(
            [
                "%row, %column, %z = get_tile_block_id : tile<i32>",
                *(extent(name, f"{name}0", 1) for name in "mnk"),
            ]
        ),
    )


SUM = "tile<64x64xf32>"
LOOP = KLoop(A, B, SUM, row="%row", column="%column", bounds="%zero to %steps, step %one")
GEMM = program(f"""
    {zeros(SUM)}
    {LOOP.text()}
    %d = ftof %sum : {SUM} -> {C.tile_type}
    {C.store("%d", "%row, %column")}""")


def matrices(m: int, n: int, k: int) -> tuple[Array, Array, Array]:
    """A, B and C: small integers within the extents, NaN in the rest of each row of A and B."""
    numbers = np.random.default_rng(m * n * k)
    a, b = (np.full((rows, STRIDE), np.nan, np.float16) for rows in (m, k))
    a[:, :k] = numbers.integers(-3, 4, (m, k))
    b[:, :n] = numbers.integers(-3, 4, (k, n))
    return a, b, np.full((m, STRIDE), UNTOUCHED, np.float16)


EXTENTS = [(70, 65, 33), (64, 71, 63), (5, 3, 1), (128, 80, 72), (65, 79, 81)]


@pytest.mark.parametrize(
    ("arch", "schedule"),
    keep(
        product(("sm_80", "sm_90"), ("", "agents=1", "stages=1", "agents=0")),
        (("sm_80", ""), ("sm_90", ""), ("sm_90", "agents=1")).__contains__,
    ),
)
@pytest.mark.parametrize(("m", "n", "k"), keep_first(EXTENTS, 2))
@pytest.mark.sampled(3)
def test_gemms(m: int, n: int, k: int, arch: str, schedule: str) -> None:
    a, b, c = matrices(m, n, k)
    module = read_runnable(GEMM, "kernel.mlir")
    made = compiled(GEMM, arch, schedule)
    arguments = [a, b, c, m, n, k, -(-k // 32)]
    run_ptx(made.ptx, module, "k", (-(-m // 64), -(-n // 64), 1), arguments, check=True)
    expected = a[:, :k].astype(np.float32) @ b[:, :n].astype(np.float32)
    assert (c[:, :n] == expected).all()
    assert (c[:, n:] == UNTOUCHED).all()


def test_copies_of_16_bytes_fill_the_stages() -> None:
    made = tilewright.compile(GEMM, "sm_90", emit="ptx", schedule="agents=0")
    copies = re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^]]*\], \[[^]]*\], (\d+)", made.ptx)
    assert copies
    assert set(copies) == {"16"}
    assert not re.search(r"ld\.global\S*\.[bu]16", made.ptx)


def test_tma_needs_no_extents() -> None:
    made = tilewright.compile(GEMM, "sm_90", emit="ptx", schedule="agents=1")
    assert "cp.async.bulk.tensor.2d" in made.ptx


NARROW = C._replace(name="narrow", tile=(64, 32))
COPY = program(f"""
    {A.load("%row, %column", "%p", "%tp")}
    %q = addf %p, %p : {A.tile_type}
    %narrowv = make_partition_view %ct : {NARROW.type}
    {NARROW.store("%q", "%row, %column")}""")


@pytest.mark.parametrize("columns", keep_first([1, 7, 8, 31, 40, 63, 64, 65, 80], 5))
def test_loads_and_stores(columns: int) -> None:
    a, b, c = matrices(70, columns, columns)
    module = read_runnable(COPY, "kernel.mlir")
    made = compiled(COPY)
    assert re.search(r"ld\.global\S*\.v\d", made.ptx)
    assert re.search(r"st\.global\S*\.v\d", made.ptx)
    run_ptx(made.ptx, module, "k", (2, 3, 1), [a, b, c, 70, columns, columns, 1], check=True)
    assert (c[:, :columns] == 2 * a[:, :columns]).all()
    assert (c[:, columns:] == UNTOUCHED).all()
