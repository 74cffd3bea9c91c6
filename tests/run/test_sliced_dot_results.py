"""Dots that start at zero and are scaled into accumulators, slice by slice where registers lack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gemm_text import KLoop, Names, kernel, zeros
from matrix_programs import View
from repeats import keep_first
from scheduled_loops import lowered_as_far_as

import tilewright
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

Array = np.ndarray[Any, Any]
Tile = tuple[int, int, int]


def program(
    tile: Tile, iterations: int, warps: int, *, b_k_major: bool = True, update: str = ""
) -> str:
    """`c += (a @ b) * scale`, with a scale for each row and iteration; or another `update`."""
    m, n, k = tile
    a = View("a", (m, k * iterations), (k * iterations, 1), (m, k), "f16")
    b_strides = (1, k * iterations) if b_k_major else (n, 1)
    b = View("b", (k * iterations, n), b_strides, (k, n), "f16")
    s = View("s", (m, iterations), (iterations, 1), (m, 1), "f32")
    c = View("c", (m, n), (n, 1), (m, n), "f32")
    ct, st = c.tile_type, s.tile_type
    update = update or f"%next = fma %d, %wide, %sum : {ct}"
    scaled = f"%wide = broadcast %f : {st} -> {ct}\n{update}\ncontinue %next : {ct}"
    names = Names(accumulator="%sum", iteration="%r")
    scales = s.load("%zero, %r", "%f", "%t2")
    loop = KLoop(a, b, ct, names, into="%none", inside=scales, after=scaled)
    return kernel(
        [a, b, s, c],
        f"{zeros(ct)}\n{loop.text('%all')}\n{c.store('%all')}",
        arguments="%n: tile<i32>",
        hints=f"optimization_hints=<sm_90 = {{num_worker_warps_per_cta = {warps}}}>",
    )


def dots_of(text: str) -> list[DotOp]:
    """The dots after the pass."""
    module = lowered_as_far_as("slice-dots", text)
    return [op for op in module.walk() if isinstance(op, DotOp)]


def read_of(value: Any) -> ConsumerReadOp:
    """The read of an operand in a stage, through changes of its shape."""
    op = value.defining_op()
    while not isinstance(op, ConsumerReadOp):
        op = op.operands[0].defining_op()
    return op


@pytest.mark.parametrize(("tile", "warps", "b_k_major"), keep_first([
    ((256, 128, 32), 8, False),
    ((64, 256, 64), 4, True),
    ((256, 128, 64), 8, True),
    ((64, 256, 64), 4, False),
    ], 2))  # fmt: skip
def test_slices_have_the_result_of_the_whole(tile: Tile, warps: int, b_k_major: bool) -> None:
    (m, n, k), iterations = tile, 3
    random = np.random.default_rng(1)
    # Integers, and powers of two for scales: every sum is exact.
    a = random.integers(-4, 5, (m, k * iterations)).astype(np.float16)
    b = random.integers(-4, 5, (k * iterations, n)).astype(np.float16)
    scale = np.exp2(random.integers(-3, 4, (m, iterations))).astype(np.float32)
    text = program(tile, iterations, warps, b_k_major=b_k_major)
    c = np.zeros((m, n), np.float32)
    given = np.ascontiguousarray(b.T) if b_k_major else b
    ptx = tilewright.compile(text, arch="sm_90", emit="ptx").ptx
    module = read_runnable(text, "kernel.mlir")
    run_ptx(ptx, module, "k", 1, [a, given, scale, c, iterations], check=True)
    wide = np.repeat(scale, k, axis=1) * a.astype(np.float32)
    assert np.array_equal(c, wide @ b.astype(np.float32))


def test_rows_are_sliced_if_a_warpgroup_has_several_instructions_of_them() -> None:
    dots = dots_of(program((256, 128, 64), 3, 8))
    assert [shape(dot.result.type) for dot in dots] == [(128, 128), (128, 128)]
    assert [read_of(dot.a).at for dot in dots] == [(0, 0), (128, 0)]
    assert all(dot.overwrites for dot in dots)
    # Registers of the first slice are those of the second.
    assert dots[1].c is dots[0].result


def test_columns_are_sliced_if_a_warpgroup_has_one_instruction_of_rows() -> None:
    dots = dots_of(program((64, 256, 64), 3, 4))
    assert [shape(dot.result.type) for dot in dots] == [(64, 128), (64, 128)]
    assert [sorted(read_of(dot.b).at or ()) for dot in dots] == [[0, 0], [0, 128]]


def test_a_dot_for_which_registers_suffice_is_whole() -> None:
    (dot,) = dots_of(program((128, 64, 64), 3, 8))
    assert not dot.overwrites


def test_ptxas_would_merge_what_slices_are_computed_to_without_an_accumulator() -> None:
    tile = "tile<256x128xf32>"
    update = f"%e = mulf %d, %wide : {tile}\n%next = addf %e, %sum rounding<zero> : {tile}"
    (dot,) = dots_of(program((256, 128, 64), 3, 8, update=update))
    assert not dot.overwrites
