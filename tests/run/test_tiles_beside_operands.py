"""Scales that are loaded beside the operands of dots: stages take them along, or registers do."""

from __future__ import annotations

import numpy as np
import pytest
from repeats import keep_first
from scheduled_loops import lowered_as_far_as, optimized

import tilewright
from tilewright.dialects.nv_tileas.attributes import CopyEngine
from tilewright.dialects.nv_tileas.memory import TiledLoadOp
from tilewright.dialects.nv_tileas.pipeline import ConsumerReadOp, ProducerCopyOp
from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx

M, N, K, STEPS = 64, 128, 64, 5


def scaled_gemm(scales: str, m: int = M) -> str:
    """C = the sum of A_k B_k, scaled by an element of each `row` or `column` in each iteration."""
    tile = f"{m}x1" if scales == "row" else f"1x{N}"
    at = "[%zero, %i]" if scales == "row" else "[%i, %zero]"
    shapes = {
        "a": (m, K * STEPS, f"{m}x{K}", "f16"),
        "b": (K * STEPS, N, f"{K}x{N}", "f16"),
        "s": (m, STEPS, tile, "f32") if scales == "row" else (STEPS, N, tile, "f32"),
        "c": (m, N, f"{m}x{N}", "f32"),
    }
    views = "".join(
        f"""
    %{name}p = assume div_by<16>, %p{name} : tile<ptr<{element}>>
    %{name}t = make_tensor_view %{name}p, shape = [{rows}, {columns}], strides = [{columns}, 1]
        : tensor_view<{rows}x{columns}x{element}, strides=[{columns},1]>
    %{name}v = make_partition_view %{name}t : {view_of(name, shapes)}"""
        for name, (rows, columns, _, element) in shapes.items()
    )
    c = f"tile<{m}x{N}xf32>"
    return f"""
cuda_tile.module @m {{
  entry @k(%pa: tile<ptr<f16>>, %pb: tile<ptr<f16>>, %ps: tile<ptr<f32>>, %pc: tile<ptr<f32>>,
           %n: tile<i32>) {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : {c}{views}
    %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %none) -> ({c}) {{
      %a, %ta = load_view_tko weak %av[%zero, %i]
          : {view_of("a", shapes)}, tile<i32> -> tile<{m}x{K}xf16>, token
      %b, %tb = load_view_tko weak %bv[%i, %zero]
          : {view_of("b", shapes)}, tile<i32> -> tile<{K}x{N}xf16>, token
      %s, %ts = load_view_tko weak %sv{at}
          : {view_of("s", shapes)}, tile<i32> -> tile<{tile}xf32>, token
      %d = mmaf %a, %b, %none : tile<{m}x{K}xf16>, tile<{K}x{N}xf16>, {c}
      %wide = broadcast %s : tile<{tile}xf32> -> {c}
      %scaled = mulf %d, %wide rounding<nearest_even> : {c}
      %next = addf %acc, %scaled rounding<nearest_even> : {c}
      continue %next : {c}
    }}
    %t = store_view_tko weak %sum, %cv[%zero, %zero]
        : {c}, {view_of("c", shapes)}, tile<i32> -> token
    return
  }}
}}"""


def view_of(name: str, shapes: dict[str, tuple[int, int, str, str]]) -> str:
    """The type of the view of an array."""
    rows, columns, tile, element = shapes[name]
    tensor = f"tensor_view<{rows}x{columns}x{element}, strides=[{columns},1]>"
    return f"partition_view<tile=({tile}), {tensor}>"


@pytest.mark.parametrize("scales", ["row", "column"])
@pytest.mark.parametrize(
    ("arch", "schedule", "m"),
    keep_first(
        [
            ("sm_90", "agents=0", 64),
            ("sm_90", "agents=1", 128),
            ("sm_80", "", 64),
            ("sm_90", "agents=0", 16),
            ("sm_90", "prefetch=0", 64),
            ("sm_90", "prefetch=1", 64),
        ],
        3,
    ),
)
def test_results(scales: str, arch: str, schedule: str, m: int) -> None:
    """The emulator checks for races: a stage is read by other threads than those that copy it."""
    numbers = np.random.default_rng(1)
    a = numbers.integers(-3, 4, (m, K * STEPS)).astype(np.float16)
    b = numbers.integers(-3, 4, (K * STEPS, N)).astype(np.float16)
    shape = (m, STEPS) if scales == "row" else (STEPS, N)
    s = numbers.integers(1, 5, shape).astype(np.float32)
    for steps in (0, 1, 2, STEPS):
        actual = np.full((m, N), 99, np.float32)
        module = read_runnable(scaled_gemm(scales, m), "scaled.mlir")
        made = tilewright.compile(module, arch, emit="ptx", schedule=schedule)
        arguments = [a, b, s, actual, np.int32(steps)]
        run_ptx(made.ptx, module, "k", (1, 1, 1), arguments, check=True, seed=steps)
        expected = np.zeros((m, N))
        for k in range(steps):
            part = slice(k * K, k * K + K)
            scale = s[:, k : k + 1] if scales == "row" else s[k]
            expected += a[:, part].astype(np.float64) @ b[part].astype(np.float64) * scale
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("scales", ["row", "column"])
def test_threads_copy_them_to_the_stages_of_operands(scales: str) -> None:
    module = lowered_as_far_as("materialize-schedule", optimized(scaled_gemm(scales)))
    loaded = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    copies = [op for op in module.walk() if isinstance(op, ProducerCopyOp)]
    reads = [op for op in module.walk() if isinstance(op, ConsumerReadOp)]
    assert not loaded
    assert {op.number for op in copies} == {op.number for op in reads} == {0, 1, 2}


@pytest.mark.parametrize("scales", ["row", "column"])
def test_consumers_load_them_an_iteration_early(scales: str) -> None:
    """TMA cannot copy a tile whose rows are narrower than 16 bytes, or that is read in parts."""
    text = scaled_gemm(scales, 128)
    module = lowered_as_far_as("pipeline-loops", optimized(text), schedule="agents=1")
    loads = [op for op in module.walk() if isinstance(op, TiledLoadOp)]
    copied = [op for op in loads if op.attributes.get("nv_tileas.engine") is CopyEngine.TMA]
    early = [op for op in loads if any(user.is_terminator for user in op.results[0].users)]
    assert (len(copied), len(early), len(loads)) == (2, 1, 4)
