"""Columns in a loop: which loops run once for each part of the columns, and what they compute."""

from __future__ import annotations

import numpy as np
import pytest
from gemm_loops import gemm
from matrix_programs import View
from scheduled_loops import lowered_as_far_as

import tilewright
from tilewright.dialects.nv_tileaa.constraints import shape
from tilewright.dialects.nv_tileaa.matrix import DotOp
from tilewright.dialects.nv_tileaa.view import TiledStoreOp
from tilewright.dialects.scf import ForOp
from tilewright.driver.pipelines import parse_pipeline
from tilewright.driver.registry import context
from tilewright.ir.operation import Operation
from tilewright.ir.verifier import verify
from tilewright.text.parser import parse_text

ACCUMULATOR = "tile<256x256xf32>"
REDUCE = f"""
  %r = reduce %sum dim=1 identities=[0.0 : f32] : {ACCUMULATOR} -> tile<256xf32> (%p: tile<f32>, %q: tile<f32>) {{
    %s = addf %p, %q : tile<f32>
    yield %s : tile<f32>
  }}
  print_tko "%f", %r : tile<256xf32> -> token"""  # noqa: E501


def after_pass(text: str) -> Operation:
    return lowered_as_far_as("tile", text)


def dot_shape(text: str) -> tuple[int, ...]:
    """The shape of the accumulators of the only dot."""
    (dot,) = (op for op in after_pass(text).walk() if isinstance(op, DotOp))
    return tuple(shape(dot.c.type))


@pytest.mark.parametrize(
    ("tile", "expected"),
    [
        ((256, 256, 64), (256, 128)),
        ((128, 512, 32), (128, 256)),
        ((512, 256, 32), (512, 64)),
        ((128, 256, 64), (128, 256)),
        ((256, 128, 64), (256, 128)),
    ],
)
def test_parts_fit_into_registers(tile: tuple[int, int, int], expected: tuple[int, int]) -> None:
    assert dot_shape(gemm(tile, "f16")) == expected


def test_loop_and_store_run_for_each_part() -> None:
    module = after_pass(gemm((256, 256, 64), "f16"))
    outer, inner = sorted(
        (op for op in module.walk() if isinstance(op, ForOp)), key=lambda op: len(list(op.walk())),
        reverse=True,
    )  # fmt: skip
    assert inner.parent_op is outer
    (store,) = (op for op in module.walk() if isinstance(op, TiledStoreOp))
    assert store.parent_op is outer
    assert shape(store.tile.type) == (256, 128)
    assert store.sliced


def test_element_wise_operations_follow() -> None:
    epilogue = f"""%two = constant <f32: 2.0> : {ACCUMULATOR}
      %scaled = mulf %sum, %two : {ACCUMULATOR}"""
    text = gemm((256, 256, 64), "f16", epilogue=epilogue, result="%scaled")
    assert dot_shape(text) == (256, 128)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"after": f"%e = addf %d, %acc : {ACCUMULATOR}\ncontinue %e : {ACCUMULATOR}"},
         "the loop reads the accumulator"),
        ({"epilogue": f"print_tko \"%f\", %sum : {ACCUMULATOR} -> token"}, "the result is printed"),
        ({"epilogue": REDUCE}, "rows are reduced"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_other_loops_stay(changes: dict[str, str], why: str) -> None:
    assert dot_shape(gemm((256, 256, 64), "f16", **changes)) == (256, 256)


@pytest.mark.usefixtures("ptxas")
def test_nothing_spills() -> None:
    for tile in ((256, 256, 64), (256, 256, 32)):
        made = tilewright.compile(gemm(tile, "f16"), arch="sm_90").entries["k"]
        assert made.resources.spill_stores == 0


@pytest.mark.parametrize("trips", [0, 3])
def test_the_emulator_agrees_with_numpy(trips: int) -> None:
    random = np.random.default_rng(trips)
    a, b = (random.integers(-2, 3, (1024, 1024)).astype(np.float16) for _ in range(2))
    c = np.full((1024, 1024), 7, np.float32)
    text = gemm((256, 256, 32), "f16")
    tilewright.execute(text, "k", 1, [a, b, c, trips], "emulator", check=True, arch="sm_90")
    k = 32 * trips
    expected = a[:256, :k].astype(np.float32) @ b[:k, :256].astype(np.float32)
    np.testing.assert_array_equal(c[:256, :256], expected)
    assert (c[256:] == 7).all()
    assert (c[:, 256:] == 7).all()


GRAM = (
    """
gpu.module @m attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<f16>, %q: !nv_tileaa.ptr<f32>, %n: i32)
      attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<256x256xf32>
    %pm = nv_tileaa.make_memref %p : !nv_tileaa.ptr<f16> -> !rows
    %qm = nv_tileaa.make_memref %q : !nv_tileaa.ptr<f32> -> !square
    %pv = nv_tileaa.block_tile %pm : !b
    %qv = nv_tileaa.block_tile %qm : !c
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x256xf32>) : i32 {
      %b, %t = nv_tileaa.tiled_load weak %pv[%k, %c0] : i32, i32 of !b -> tensor<64x256xf16>
      %a = nv_tileaa.permute %b [1, 0] : tensor<64x256xf16> -> tensor<256x64xf16>
      %d = nv_tileaa.dot %a, %b, %acc
        : tensor<256x64xf16>, tensor<64x256xf16>, tensor<256x256xf32>
      scf.yield %d : tensor<256x256xf32>
    }
    %s = nv_tileaa.tiled_store weak %sum, %qv[%c0, %c0] : tensor<256x256xf32>, i32, i32 of !c
    nv_tileaa.return
  }
}
""".replace("!b", "!nv_tileaa.tiled_view<tile = [64, 256], source = !rows>")
    .replace("!c", "!nv_tileaa.tiled_view<tile = [256, 256], source = !square>")
    .replace("!rows", "!nv_tileaa.memref<512x256xf16, strides = [256, 1]>")
    .replace("!square", "!nv_tileaa.memref<256x256xf32, strides = [256, 1]>")
)
"""A dot of a tile with itself, transposed."""


def test_a_tile_that_is_both_operands_stays_whole() -> None:
    """Its columns are the rows of A, too."""
    root = parse_text(GRAM, context())
    parse_pipeline("plan-splits{forms=loop},tile").run(root)
    verify(root)
    (dot,) = (op for op in root.walk() if isinstance(op, DotOp))
    assert shape(dot.c.type) == (256, 256)


def test_what_is_loaded_after_the_loop_is_cut_with_it() -> None:
    """The tile of C is added to the result, and replaced by it."""
    old = View("c", (1024, 1024), (1024, 1), (256, 256), "f32", "zero")
    epilogue = f"""{old.load("%zero, %zero", "%old", "%loaded")}
      %more = addf %sum, %old : {ACCUMULATOR}"""
    root = after_pass(gemm((256, 256, 64), "f16", epilogue=epilogue, result="%more"))
    verify(root)
    (dot,) = (op for op in root.walk() if isinstance(op, DotOp))
    assert shape(dot.c.type) == (256, 128)
    random = np.random.default_rng(2)
    a, b = (random.integers(-2, 3, (1024, 1024)).astype(np.float16) for _ in range(2))
    c = np.full((1024, 1024), 7, np.float32)
    tilewright.execute(root, "k", 1, [a, b, c, 2])
    expected = 7 + a[:256, :128].astype(np.float32) @ b[:128, :256].astype(np.float32)
    np.testing.assert_array_equal(c[:256, :256], expected)
