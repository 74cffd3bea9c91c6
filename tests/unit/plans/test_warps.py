"""The number of warps of a block, by its dots and its target."""

from __future__ import annotations

import pytest

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.plans.warps import choose_warps


def warps_of(m: int, n: int, accumulator: str, arch: str, asked: int | None = None) -> int:
    """The warps of a kernel with a dot of f16 that has an accumulator of some shape and type."""
    a, b, c = f"tile<{m}x16xf16>", f"tile<16x{n}xf16>", f"tile<{m}x{n}x{accumulator}>"
    text = f"""
      cuda_tile.module @m {{
        entry @k(%s: tile<f16>) {{
          %r = reshape %s : tile<f16> -> tile<1x1xf16>
          %a = broadcast %r : tile<1x1xf16> -> {a}
          %b = broadcast %r : tile<1x1xf16> -> {b}
          %c = constant <{accumulator}: 0.0> : {c}
          %d = mmaf %a, %b, %c : {a}, {b}, {c}
          %t = print_tko "%f", %d : {c} -> token
          return
        }}
      }}"""
    root = wrap_in_module(read_runnable(text, "kernel.mlir"))
    parse_pipeline(passes_to("nv_tileaa", arch, 0)).run(root)
    (kernel,) = (op for op in root.walk() if isinstance(op, FuncOp))
    return choose_warps(kernel, asked)


@pytest.mark.parametrize(("shape", "accumulator", "arch", "warps"), [
    ((64, 128), "f32", "sm_90", 4),  # 64 registers of each thread
    ((128, 128), "f32", "sm_90", 8),
    ((256, 256), "f32", "sm_90", 16),
    ((64, 128), "f16", "sm_90", 4),
    ((128, 128), "f16", "sm_90", 8),  # 64 accumulators of each thread, of two warpgroups
    ((256, 256), "f16", "sm_90", 8),  # 128 registers of each thread
    ((128, 128), "f16", "sm_80", 4),  # without wgmma, 64 registers decide
])  # fmt: skip
def test_accumulators_decide(
    shape: tuple[int, int], accumulator: str, arch: str, warps: int
) -> None:
    assert warps_of(*shape, accumulator, arch) == warps


def test_a_number_that_is_asked_for_is_taken() -> None:
    assert warps_of(128, 128, "f16", "sm_90", asked=4) == 4
