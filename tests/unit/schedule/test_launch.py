"""The launch shape of a kernel: warps by its dots and its target."""

from __future__ import annotations

import pytest
from dialect_text import read
from each_case import each_case

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.schedule.launch import choose_launch
from tilewright.support.diagnostics import Sink


def warps_of(m: int, n: int, accumulator: str, arch: str, hints: str = "", dots: int = 1) -> int:
    """The warps of a kernel with dots of f16 that have accumulators of some shape and type."""
    a, b, c = f"tile<{m}x16xf16>", f"tile<16x{n}xf16>", f"tile<{m}x{n}x{accumulator}>"
    body = "".join(
        f"""
          %c{i} = constant <{accumulator}: {i}.0> : {c}
          %d{i} = mmaf %a, %b, %c{i} : {a}, {b}, {c}
          %t{i} = print_tko "%f", %d{i} : {c} -> token"""
        for i in range(dots)
    )
    text = f"""
      cuda_tile.module @m {{
        entry @k(%s: tile<f16>) {hints} {{
          %r = reshape %s : tile<f16> -> tile<1x1xf16>
          %a = broadcast %r : tile<1x1xf16> -> {a}
          %b = broadcast %r : tile<1x1xf16> -> {b}
          {body}
          return
        }}
      }}"""
    root = wrap_in_module(read_runnable(text, "kernel.mlir"))
    parse_pipeline(passes_to("nv_tileaa", arch, 0)).run(root)
    (kernel,) = (op for op in root.walk() if isinstance(op, FuncOp))
    return choose_launch(kernel).warps


@each_case(("shape", "accumulator", "arch", "warps"), [
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
    hints = "optimization_hints=<sm_90 = {num_worker_warps_per_cta = 4}>"
    assert warps_of(128, 128, "f16", "sm_90", hints) == 4


@each_case(("shape", "arch", "dots", "warps"), [
    ((128, 64), "sm_90", 2, 4),  # 128 registers of each thread, as in attention
    ((128, 64), "sm_90", 3, 8),  # 192, as for the gradients of attention
    ((64, 128), "sm_90", 3, 4),  # rows for one warpgroup
    ((128, 64), "sm_80", 3, 4),  # without wgmma
])  # fmt: skip
def test_accumulators_that_are_live_together_decide(
    shape: tuple[int, int], arch: str, dots: int, warps: int
) -> None:
    assert warps_of(*shape, "f32", arch, dots=dots) == warps


def decode(columns: int, rows: int = 16, query: str = "%q") -> FuncOp:
    """A loop over 32 keys of 512 elements, with accumulators of some columns."""
    q, k, v = f"tile<{rows}x512xf16>", "tile<512x32xf16>", f"tile<32x{columns}xf16>"
    p, s, c = (f"tile<{rows}x{each}>" for each in ("32xf16", "32xf32", f"{columns}xf32"))
    text = f"""
      cuda_tile.module @m {{
        entry @k(%s: tile<f16>, %n: tile<i32>) {{
          %r = reshape %s : tile<f16> -> tile<1x1xf16>
          %q = broadcast %r : tile<1x1xf16> -> {q}
          %k = broadcast %r : tile<1x1xf16> -> {k}
          %v = broadcast %r : tile<1x1xf16> -> {v}
          %one = constant <i32: 1> : tile<i32>
          %none = constant <f32: 0.0> : {s}
          %zero = constant <f32: 0.0> : {c}
          %sum = for %i in (%one to %n, step %one) : tile<i32> iter_values(%c = %zero) -> ({c}) {{
            %other = negf %q : {q}
            %d = mmaf {query}, %k, %none : {q}, {k}, {s}
            %p = ftof %d : {s} -> {p}
            %e = mmaf %p, %v, %c : {p}, {v}, {c}
            continue %e : {c}
          }}
          %t = print_tko "%f", %sum : {c} -> token
          return
        }}
      }}"""
    root = wrap_in_module(read_runnable(text, "kernel.mlir"))
    parse_pipeline(passes_to("nv_tileaa", "sm_90", 0)).run(root)
    (kernel,) = (op for op in root.walk() if isinstance(op, FuncOp))
    return kernel


def decode_warps(columns: int, rows: int = 16, query: str = "%q") -> int:
    return choose_launch(decode(columns, rows, query)).warps


def test_fragments_that_every_warp_holds_decide() -> None:
    """Q takes 128 registers of every thread, K 64 of each of 128, and the scores 4."""
    assert decode_warps(256) == 4  # with 32 accumulators 228 of 255
    assert decode_warps(512) == 8  # with 64 they are 260


def test_fragments_that_are_read_in_each_iteration_do_not_decide() -> None:
    assert decode_warps(512, query="%other") == 4


def test_warps_divide_the_rows_of_several_instructions() -> None:
    assert decode_warps(256, rows=32) == 4


@pytest.mark.parametrize(("start", "warps"), [
    ("%zero", 8),  # 192 registers of each thread: two dots, and the tile to which one is added
    ("%acc", 4),  # the dot adds to the tile
])  # fmt: skip
def test_a_tile_that_a_dot_does_not_update_is_live_beside_it(start: str, warps: int) -> None:
    left, right, tile = "tensor<128x64xf16>", "tensor<64x64xf16>", "tensor<128x64xf32>"
    end = "%out" if start == "%acc" else "%added"
    text = f"""
      gpu.module @kernels attributes {{
          nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>}} {{
        nv_tileaa.func @k(%a: {left}, %b: {right}, %zero: {tile}, %n: i32)
            attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
          %sum = scf.for %i = %n to %n step %n iter_args(%acc = %zero) -> ({tile}) : i32 {{
            %s = nv_tileaa.dot %a, %b, %zero {{input_precision = "tf32"}} : {left}, {right}, {tile}
            %p = nv_tileaa.fp_to_fp %s : {tile} to {left}
            %out = nv_tileaa.dot %p, %b, {start} {{input_precision = "tf32"}} : {left}, {right}, {tile}
            %added = nv_tileaa.addf %acc, %out : {tile}
            scf.yield {end} : {tile}
          }}
          nv_tileaa.return
        }}
      }}"""  # noqa: E501
    (kernel,) = (op for op in read(text).walk() if isinstance(op, FuncOp))
    assert choose_launch(kernel).warps == warps


@pytest.mark.parametrize(("columns", "registers"), [(256, None), (512, 260)])
def test_a_remark_names_the_registers(columns: int, registers: int | None) -> None:
    (module,) = [op for op in decode(columns).ancestors() if op.name == "builtin.module"]
    sink = Sink(remarks=True)
    parse_pipeline("plan-kernel").run(module, sink)
    text = f"More than 4 warps: fragments and accumulators would take {registers} registers"
    remarks = [each.message for each in sink.remarks if each.name == "RemarkWarps"]
    assert remarks == ([] if registers is None else [text])
