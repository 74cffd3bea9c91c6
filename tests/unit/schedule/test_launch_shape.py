"""The launch shape of a kernel: warps by its dots and its target."""

from __future__ import annotations

import pytest
from dialect_text import read
from each_case import each_case

from tilewright.dialects.nv_tileaa.structure import FuncOp
from tilewright.driver.api import read_runnable
from tilewright.driver.assembly import wrap_in_module
from tilewright.driver.pipelines import parse_pipeline, passes_to
from tilewright.schedule.launch_shape import choose_launch
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
        nv_tileaa.func @k(%a: {left}, %b: {right}, %s: f32, %n: i32)
            attributes {{kernel_spec = #nv_tileaa.kernel_spec<>}} {{
          %zero = nv_tileaa.splat %s : f32 -> {tile}
          %sum = scf.for %i = %n to %n step %n iter_args(%acc = %zero) -> ({tile}) : i32 {{
            %q = nv_tileaa.dot %a, %b, %zero {{input_precision = "tf32"}} : {left}, {right}, {tile}
            %p = nv_tileaa.fp_to_fp %q : {tile} to {left}
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
    text = f"8 warps: fragments and accumulators would take {registers} registers of a thread of 4"
    remarks = [each.message for each in sink.remarks if each.name == "RemarkWarps"]
    assert remarks == ([] if registers is None else [text])


def chosen_warps(body: str, arguments: str, asked: str = "") -> int:
    """The number of warps of a kernel at nv_tileaa."""
    text = f"""
      gpu.module @kernels attributes {{
          nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>}} {{
        nv_tileaa.func @k({arguments}, %n: i32)
            attributes {{kernel_spec = #nv_tileaa.kernel_spec<>{asked}}} {{
          {body}
          nv_tileaa.return
        }}
      }}"""
    (kernel,) = (op for op in read(text).walk() if isinstance(op, FuncOp))
    return choose_launch(kernel).warps


def live_together(tiles: int, words: int, end: str = "") -> tuple[str, str]:
    """Tiles of f32 that are all added after the last one is computed, in a loop; arguments."""
    tile = f"tensor<{words}xf32>"
    made = "\n".join(f"%m{i} = nv_tileaa.negf %x : {tile}" for i in range(tiles))
    added = "\n".join(
        f"%s{i} = nv_tileaa.addf %{f's{i - 1}' if i else 'x'}, %m{i} : {tile}" for i in range(tiles)
    )
    return f"{made}\n{added}\n{end}", f"%x: {tile}"


@each_case(("tiles", "words", "warps"), [
    (3, 4096, 4),  # with %x 128 registers of a thread of four warps
    (6, 2560, 4),  # 140
    (4, 4096, 8),  # 160
    (9, 4096, 16),  # 160 of eight
    (3, 8192, 8),  # 128 of eight
])  # fmt: skip
def test_tiles_that_are_live_together_decide(tiles: int, words: int, warps: int) -> None:
    loop = "scf.for %j = %n to %n step %n : i32 { scf.yield }"
    assert chosen_warps(*live_together(tiles, words, loop)) == warps


REDUCTION = """
  %r = nv_tileaa.reduce %x {axis = 0 : i32, identities = [0.0 : f32]}
      : tensor<8192xf32> -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = nv_tileaa.addf %a, %b : f32
    nv_tileaa.yield %c : f32
  }"""


def test_a_large_tile_needs_few_warps_where_others_hide_its_latency() -> None:
    """64 registers of a thread of four warps; for two rows, as one row has a rule of its own."""
    body = REDUCTION.replace("8192xf32>", "2x4096xf32>").replace("axis = 0", "axis = 1")
    body = body.replace("tensor<1xf32>", "tensor<2xf32>")
    assert chosen_warps(body, "%x: tensor<2x4096xf32>") == 4


@each_case(("extent", "warps"), [(2048, 4), (8192, 8), (16384, 8)])
def test_tiles_that_are_computed_part_by_part_need_no_more_than_eight(
    extent: int, warps: int
) -> None:
    """However many are live together."""
    assert chosen_warps(*live_together(4, extent)) == warps


@each_case(("more", "warps"), [("", 4), ("%e = aa.store weak %g, %w : {q}, {i}", 8)])
def test_addresses_do_not_decide(more: str, warps: int) -> None:
    """Of 4096 values; their offsets are twice as many words, which count where they are stored."""
    p, q, i = (f"tensor<4096x{each}>" for each in ("!aa.ptr<f32>", "!aa.ptr<i64>", "i64"))
    body = f"""
      %r = aa.make_range : tensor<4096xi32>
      %w = aa.exti %r signed : tensor<4096xi32> to {i}
      %l = aa.splat %limit : i64 -> {i}
      %m = aa.cmpi slt, %w, %l : {i}
      %f0 = aa.splat %f : !aa.ptr<f32> -> {p}
      %a = aa.addptr %f0, %w : {p}, {i}
      %g = aa.splat %i : !aa.ptr<i64> -> {q}
      %x, %t = aa.load weak %a mask = %m : {p} -> tensor<4096xf32>
      {more.format(q=q, i=i)}
      %s = aa.reduce %x {{axis = 0 : i32, identities = [0.0 : f32]}}
          : tensor<4096xf32> -> f32 {{
      ^bb0(%b: f32, %c: f32):
        %d = aa.addf %b, %c : f32
        aa.yield %d : f32
      }}"""
    texts = (body, "%f: !aa.ptr<f32>, %i: !aa.ptr<i64>, %limit: i64")
    assert chosen_warps(*[text.replace("aa.", "nv_tileaa.") for text in texts]) == warps


@each_case(("words", "warps"), [(1024, 4), (2048, 4), (4096, 8)])
def test_threads_divide_what_they_scan(words: int, warps: int) -> None:
    tile = f"tensor<{words}xf32>"
    body = f"""
      %r = nv_tileaa.scan %x {{axis = 0 : i32, identities = [0.0 : f32], inclusive = true}}
          : {tile} -> {tile} {{
      ^bb0(%a: f32, %b: f32):
        %c = nv_tileaa.addf %a, %b : f32
        nv_tileaa.yield %c : f32
      }}"""
    assert chosen_warps(body, f"%x: {tile}") == warps


def dot_beside(tiles: int) -> tuple[str, str]:
    """A dot with an accumulator of 64 registers of a thread of four warps, beside such tiles."""
    a, b, c = "tensor<64x64xf16>", "tensor<64x128xf16>", "tensor<64x128xf32>"
    body, arguments = live_together(tiles, 1)
    body = f"""
      {body.replace("tensor<1xf32>", c)}
      %d = nv_tileaa.dot %a, %b, %s{tiles - 1} {{input_precision = "tf32"}} : {a}, {b}, {c}"""
    return body, f"{arguments.replace('tensor<1xf32>', c)}, %a: {a}, %b: {b}"


@each_case(("columns", "asked", "warps"), [
    (512, "", 8),  # B has 128 registers of a thread of four warps
    (256, "", 4),  # 64
    (512, ", nv_tileaa.asked = #nv_tileaa.asked<occupancy = <2, entry>>", 8),
])  # fmt: skip
def test_a_large_operand_has_more_warps(columns: int, asked: str, warps: int) -> None:
    a, b, c = "16x64xf16", f"64x{columns}xf16", f"16x{columns}xf16"
    body = f"""
      %b = nv_tileaa.addf %x, %x : tensor<{b}>
      %d = nv_tileaa.dot %a, %b, %c {{input_precision = "tf32"}}
          : tensor<{a}>, tensor<{b}>, tensor<{c}>"""
    arguments = f"%a: tensor<{a}>, %x: tensor<{b}>, %c: tensor<{c}>"
    assert chosen_warps(body, arguments, asked) == warps


def test_warps_that_spill_are_not_taken() -> None:
    """A and B, which are no loads, take 48 registers: with two tiles 176 of 231, with four 304."""
    assert chosen_warps(*dot_beside(1)) == 4
    assert chosen_warps(*dot_beside(3)) == 8


def test_what_is_asked_is_chosen() -> None:
    asked = ", nv_tileaa.asked = #nv_tileaa.asked<warps = <4, entry>>"
    assert chosen_warps(*dot_beside(3), asked) == 4
