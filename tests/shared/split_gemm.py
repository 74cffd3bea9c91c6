"""A GEMM of nv_tileaa whose tiles can be split in every form, and its result."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
from integrity import check_integrity

import tilewright
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.parser import parse_text

K: Final = 64
"""Of a tile."""
TRIPS: Final = 2
SPLIT: Final = "{nv_tileaa.split = #nv_tileaa.split<[%s]>}"


def split_gemm(
    m: int = 64,
    n: int = 128,
    stored: int | None = None,
    *,
    asked: str = "",
    dot: str = "",
    store: str = "",
    capability: int = 90,
) -> str:
    """One tile of m by n, of which the view that is stored to has some rows.

    `asked` has requests, `dot` and `store` the splits that the two operations seed.
    """
    hints = f", nv_tileaa.asked = #nv_tileaa.asked<{asked}>" if asked else ""
    return f"""
!a = !nv_tileaa.memref<{m}x{K * TRIPS}xf16, strides = [{K * TRIPS}, 1]>
!b = !nv_tileaa.memref<{K * TRIPS}x{n}xf16, strides = [{n}, 1]>
!c = !nv_tileaa.memref<{stored or m}x{n}xf32, strides = [{n}, 1]>
!av = !nv_tileaa.tiled_view<tile = [{m}, {K}], source = !a>
!bv = !nv_tileaa.tiled_view<tile = [{K}, {n}], source = !b>
!cv = !nv_tileaa.tiled_view<tile = [{m}, {n}], source = !c>
!acc = tensor<{m}x{n}xf32>
gpu.module @m attributes {{nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = {capability}>}} {{
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f16>, %r: !nv_tileaa.ptr<f32>, %n: i32)
      attributes {{kernel_spec = #nv_tileaa.kernel_spec<>{hints}}} {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : !acc
    %am = nv_tileaa.make_memref %p : !nv_tileaa.ptr<f16> -> !a
    %bm = nv_tileaa.make_memref %q : !nv_tileaa.ptr<f16> -> !b
    %cm = nv_tileaa.make_memref %r : !nv_tileaa.ptr<f32> -> !c
    %av = nv_tileaa.block_tile %am : !av
    %bv = nv_tileaa.block_tile %bm : !bv
    %cv = nv_tileaa.block_tile %cm : !cv
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (!acc) : i32 {{
      %x, %t0 = nv_tileaa.tiled_load weak %av[%c0, %i] : i32, i32 of !av -> tensor<{m}x{K}xf16>
      %y, %t1 = nv_tileaa.tiled_load weak %bv[%i, %c0] : i32, i32 of !bv -> tensor<{K}x{n}xf16>
      %d = nv_tileaa.dot %x, %y, %acc {SPLIT % dot if dot else ""} : tensor<{m}x{K}xf16>, tensor<{K}x{n}xf16>, !acc
      scf.yield %d : !acc
    }}
    %t = nv_tileaa.tiled_store weak %sum, %cv[%c0, %c0] {SPLIT % store if store else ""} : !acc, i32, i32 of !cv
    nv_tileaa.return
  }}
}}"""  # noqa: E501


def passed(text: str, passes: str) -> Operation:
    """A program after some passes."""
    root = parse_text(text, context(), "kernel.mlir")
    verify(root)
    parse_pipeline(passes).run(root)
    verify(root)
    check_integrity(root)
    return root


def splits_in(text: str) -> list[str]:
    """The splits of a program, in order."""
    lists = re.findall(r"#nv_tileaa.split<\[(.*?)\]>", text)
    return [split for each in lists for split in re.findall("<.*?>", each)]


def operands_of(root: Operation) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of A and B of the only dot."""
    (dot,) = (op for op in root.walk() if isinstance(op, DotOp))
    return tuple(shape(dot.a.type)), tuple(shape(dot.b.type))


def check_result(root: Operation, m: int, n: int, stored: int | None = None) -> None:
    """Run the program on the reference executor, and compare with NumPy."""
    random = np.random.default_rng(m + n)
    a = random.integers(-2, 3, (m, K * TRIPS)).astype(np.float16)
    b = random.integers(-2, 3, (K * TRIPS, n)).astype(np.float16)
    c = np.full((stored or m, n), 7, np.float32)
    arguments: list[Any] = [a, b, c, TRIPS]
    tilewright.execute(root, "k", 1, arguments, check=True)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(c, expected[: stored or m])
