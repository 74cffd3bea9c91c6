"""Three kernels to tune, as Tile IR text: a GEMM, attention, and RMS norm."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

GEMM = Path(__file__).parents[1] / "examples" / "gemm.mlir"


class Case(NamedTuple):
    """A kernel with its arguments."""

    name: str
    text: str
    grid: tuple[int, ...]
    values: list[Any]


def normal(seed: int, *shape: int) -> Any:
    """Standard normal f16."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32).astype(np.float16)


def gemm(size: int) -> Case:
    """C = A · B in f16 with f32 accumulators, in tiles of 128 × 128 × 64."""
    blocks = -(-size // 128)
    values = [normal(1, size, size), normal(2, size, size), np.zeros((size, size), np.float32)]
    return Case(f"gemm {size}", GEMM.read_text(), (blocks, blocks), [*values, size, size, size])


def attention(heads: int, length: int, head: int = 128) -> Case:
    """Flash attention without a mask, 128 queries and 64 keys at a time."""
    shape, strides = f"{heads}x{length}x{head}", f"[{length * head},{head},1]"
    view = f"!cuda_tile.tensor_view<{shape}xf16, strides={strides}>"
    inner = view.removeprefix("!cuda_tile.")
    made = ", ".join(map(str, (heads, length, head)))
    steps = f"[{length * head}, {head}, 1]"
    names = "qkvo"
    views = "\n".join(
        f"    %{n}a = assume div_by<16>, %{n} : tile<ptr<f16>>\n"
        f"    %{n}t = make_tensor_view %{n}a, shape = [{made}], strides = {steps} : !t\n"
        f"    %{n}v = make_partition_view %{n}t : {'!qv' if n in 'qo' else '!kv'}"
        for n in names
    )
    parameters = ", ".join(f"%{n}: tile<ptr<f16>>" for n in names)
    text = f"""\
!t = {view}
!qv = !cuda_tile.partition_view<tile=(1x128x{head}), {inner}>
!kv = !cuda_tile.partition_view<tile=(1x64x{head}), {inner}>
cuda_tile.module @kernels {{
  entry @attention({parameters}) {{
    %m, %h, %unused = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %count = constant <i32: {length // 64}> : tile<i32>
{views}
    %q3, %t0 = load_view_tko weak %qv[%h, %m, %zero]
        : !qv, tile<i32> -> tile<1x128x{head}xf16>, token
    %queries = reshape %q3 : tile<1x128x{head}xf16> -> tile<128x{head}xf16>
    %scale = constant <f32: {1.4426950408889634 / head**0.5:.8f}> : tile<128x64xf32>
    %none = constant <f32: 0.0> : tile<128x64xf32>
    %empty = constant <f32: 0.0> : tile<128x{head}xf32>
    %nothing = constant <f32: 0.0> : tile<128xf32>
    %lowest = constant <f32: 0xFF800000> : tile<128xf32>
    %top, %norm, %sum = for %i in (%zero to %count, step %one) : tile<i32>
        iter_values(%high = %lowest, %weight = %nothing, %acc = %empty)
            -> (tile<128xf32>, tile<128xf32>, tile<128x{head}xf32>) {{
      %k3, %t1 = load_view_tko weak %kv[%h, %i, %zero]
          : !kv, tile<i32> -> tile<1x64x{head}xf16>, token
      %keys = reshape %k3 : tile<1x64x{head}xf16> -> tile<64x{head}xf16>
      %turned = permute %keys [1, 0] : tile<64x{head}xf16> -> tile<{head}x64xf16>
      %raw = mmaf %queries, %turned, %none
          : tile<128x{head}xf16>, tile<{head}x64xf16>, tile<128x64xf32>
      %scores = mulf %raw, %scale : tile<128x64xf32>
      %here = reduce %scores dim=1 identities=[0xFF800000 : f32]
          : tile<128x64xf32> -> tile<128xf32> (%a: tile<f32>, %b: tile<f32>) {{
        %r = maxf %a, %b : tile<f32>
        yield %r : tile<f32>
      }}
      %higher = maxf %high, %here : tile<128xf32>
      %h1 = reshape %higher : tile<128xf32> -> tile<128x1xf32>
      %h2 = broadcast %h1 : tile<128x1xf32> -> tile<128x64xf32>
      %shifted = subf %scores, %h2 : tile<128x64xf32>
      %p = exp2 %shifted : tile<128x64xf32>
      %fall = subf %high, %higher : tile<128xf32>
      %decay = exp2 %fall : tile<128xf32>
      %row = reduce %p dim=1 identities=[0.0 : f32]
          : tile<128x64xf32> -> tile<128xf32> (%a: tile<f32>, %b: tile<f32>) {{
        %r = addf %a, %b : tile<f32>
        yield %r : tile<f32>
      }}
      %next = fma %weight, %decay, %row : tile<128xf32>
      %f1 = reshape %decay : tile<128xf32> -> tile<128x1xf32>
      %f2 = broadcast %f1 : tile<128x1xf32> -> tile<128x{head}xf32>
      %kept = mulf %acc, %f2 : tile<128x{head}xf32>
      %v3, %t2 = load_view_tko weak %vv[%h, %i, %zero]
          : !kv, tile<i32> -> tile<1x64x{head}xf16>, token
      %values = reshape %v3 : tile<1x64x{head}xf16> -> tile<64x{head}xf16>
      %weights = ftof %p : tile<128x64xf32> -> tile<128x64xf16>
      %more = mmaf %weights, %values, %kept
          : tile<128x64xf16>, tile<64x{head}xf16>, tile<128x{head}xf32>
      continue %higher, %next, %more : tile<128xf32>, tile<128xf32>, tile<128x{head}xf32>
    }}
    %n1 = reshape %norm : tile<128xf32> -> tile<128x1xf32>
    %n2 = broadcast %n1 : tile<128x1xf32> -> tile<128x{head}xf32>
    %result = divf %sum, %n2 : tile<128x{head}xf32>
    %half = ftof %result : tile<128x{head}xf32> -> tile<128x{head}xf16>
    %o3 = reshape %half : tile<128x{head}xf16> -> tile<1x128x{head}xf16>
    %t3 = store_view_tko weak %o3, %ov[%h, %m, %zero]
        : tile<1x128x{head}xf16>, !qv, tile<i32> -> token
    return
  }}
}}
"""
    values = [normal(seed, heads, length, head) for seed in (1, 2, 3)]
    output = np.zeros((heads, length, head), np.float16)
    return Case(f"attention {shape}", text, (length // 128, heads), [*values, output])


def rms_norm(rows: int, columns: int, tile: int = 1024) -> Case:
    """Rows of f16, read twice in tiles."""
    x = f"tensor_view<{rows}x{columns}xf16, strides=[{columns},1]>"
    w = f"tensor_view<{columns}xf16, strides=[1]>"
    wide, half = f"tile<1x{tile}xf32>", f"tile<1x{tile}xf16>"
    text = f"""\
!x = !cuda_tile.{x}
!xv = !cuda_tile.partition_view<tile=(1x{tile}), padding_value = zero, {x}>
!w = !cuda_tile.{w}
!wv = !cuda_tile.partition_view<tile=({tile}), padding_value = zero, {w}>
cuda_tile.module @kernels {{
  entry @rms_norm(%x: tile<ptr<f16>>, %w: tile<ptr<f16>>, %y: tile<ptr<f16>>) {{
    %row, %j, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %tiles = constant <i32: {-(-columns // tile)}> : tile<i32>
    %xt = make_tensor_view %x, shape = [{rows}, {columns}], strides = [{columns}, 1] : !x
    %xv = make_partition_view %xt : !xv
    %wt = make_tensor_view %w, shape = [{columns}], strides = [1] : !w
    %wv = make_partition_view %wt : !wv
    %yt = make_tensor_view %y, shape = [{rows}, {columns}], strides = [{columns}, 1] : !x
    %yv = make_partition_view %yt : !xv
    %none = constant <f32: 0.0> : {wide}
    %squares = for %k in (%zero to %tiles, step %one) : tile<i32>
        iter_values(%acc = %none) -> ({wide}) {{
      %h, %t0 = load_view_tko weak %xv[%row, %k] : !xv, tile<i32> -> {half}, token
      %part = ftof %h : {half} -> {wide}
      %next = fma %part, %part, %acc : {wide}
      continue %next : {wide}
    }}
    %all = reduce %squares dim=1 identities=[0.0 : f32]
        : {wide} -> tile<1xf32> (%u: tile<f32>, %v: tile<f32>) {{
      %r = addf %u, %v : tile<f32>
      yield %r : tile<f32>
    }}
    %count = constant <f32: {columns}.0> : tile<1xf32>
    %eps = constant <f32: 1.0e-5> : tile<1xf32>
    %mean = divf %all, %count : tile<1xf32>
    %safe = addf %mean, %eps : tile<1xf32>
    %inverse = rsqrt %safe : tile<1xf32>
    %r1 = reshape %inverse : tile<1xf32> -> tile<1x1xf32>
    %inverses = broadcast %r1 : tile<1x1xf32> -> {wide}
    for %k in (%zero to %tiles, step %one) : tile<i32> {{
      %h, %t0 = load_view_tko weak %xv[%row, %k] : !xv, tile<i32> -> {half}, token
      %weight, %t1 = load_view_tko weak %wv[%k] : !wv, tile<i32> -> tile<{tile}xf16>, token
      %part = ftof %h : {half} -> {wide}
      %wf = ftof %weight : tile<{tile}xf16> -> tile<{tile}xf32>
      %weights = reshape %wf : tile<{tile}xf32> -> {wide}
      %normal = mulf %part, %inverses : {wide}
      %scaled = mulf %normal, %weights : {wide}
      %out = ftof %scaled : {wide} -> {half}
      %t2 = store_view_tko weak %out, %yv[%row, %k] : {half}, !xv, tile<i32> -> token
      continue
    }}
    return
  }}
}}
"""
    values = [normal(1, rows, columns), normal(2, columns), np.zeros((rows, columns), np.float16)]
    return Case(f"RMS norm {rows}x{columns}", text, (rows,), values)


def cases(meter: str) -> list[Case]:
    """The kernels, in sizes for a GPU or for the emulator."""
    if meter == "gpu":
        return [gemm(4096), attention(32, 4096), rms_norm(16384, 4096)]
    return [gemm(128), attention(1, 128), rms_norm(4, 2048)]
