"""Dots whose tiles are larger than what is stored: computed in part, with the same results."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_once import compile_anew, lowered_to
from repeats import keep_first

from tilewright.driver.api import read_runnable
from tilewright.driver.emulate import run_ptx
from tilewright.schedule import resources

KEYS, HEAD, TILE = 160, 32, 64


def attention(rows: int) -> str:
    """Softmax of queries times keys, times values; keys come in tiles, queries all in one."""
    q = f"tensor_view<{rows}x{HEAD}xf16, strides=[{HEAD},1]>"
    qv = f"partition_view<tile=({TILE}x{HEAD}), {q}>"
    k = f"tensor_view<{KEYS}x{HEAD}xf16, strides=[{HEAD},1]>"
    kv = f"partition_view<tile=(32x{HEAD}), {k}>"
    queries, keys = f"tile<{TILE}x{HEAD}xf16>", f"tile<32x{HEAD}xf16>"
    pointer = "tile<ptr<f16>>"
    row, scores, result = f"tile<{TILE}x1xf32>", f"tile<{TILE}x32xf32>", f"tile<{TILE}x{HEAD}xf32>"
    return f"""cuda_tile.module @kernels {{
      entry @f(%qp: {pointer}, %kp: {pointer}, %vp: {pointer}, %op: {pointer}) {{
        %zero = constant <i32: 0> : tile<i32>
        %one = constant <i32: 1> : tile<i32>
        %count = constant <i32: {KEYS // 32}> : tile<i32>
        %none = constant <f32: 0.0> : {scores}
        %init = constant <f32: 0.0> : {result}
        %l0 = constant <f32: 0.0> : {row}
        %least = constant <f32: 0xFF800000> : {row}
        %q16 = assume div_by<16>, %qp : tile<ptr<f16>>
        %k16 = assume div_by<16>, %kp : tile<ptr<f16>>
        %v16 = assume div_by<16>, %vp : tile<ptr<f16>>
        %o16 = assume div_by<16>, %op : tile<ptr<f16>>
        %qt = make_tensor_view %q16, shape = [{rows}, {HEAD}], strides = [{HEAD}, 1] : {q}
        %qv = make_partition_view %qt : {qv}
        %kt = make_tensor_view %k16, shape = [{KEYS}, {HEAD}], strides = [{HEAD}, 1] : {k}
        %kv = make_partition_view %kt : {kv}
        %vt = make_tensor_view %v16, shape = [{KEYS}, {HEAD}], strides = [{HEAD}, 1] : {k}
        %vv = make_partition_view %vt : {kv}
        %ot = make_tensor_view %o16, shape = [{rows}, {HEAD}], strides = [{HEAD}, 1] : {q}
        %ov = make_partition_view %ot : {qv}
        %x, %t0 = load_view_tko weak %qv[%zero, %zero] : {qv}, tile<i32> -> {queries}, token
        %acc, %sum, %most = for %i in (%zero to %count, step %one) : tile<i32>
            iter_values(%a = %init, %l = %l0, %m = %least) -> ({result}, {row}, {row}) {{
          %y, %t1 = load_view_tko weak %kv[%i, %zero] : {kv}, tile<i32> -> {keys}, token
          %z, %t2 = load_view_tko weak %vv[%i, %zero] : {kv}, tile<i32> -> {keys}, token
          %yt = permute %y [1, 0] : {keys} -> tile<{HEAD}x32xf16>
          %s = mmaf %x, %yt, %none : {queries}, tile<{HEAD}x32xf16>, {scores}
          %top = reduce %s dim=1 identities=[0xFF800000 : f32] : {scores} -> tile<{TILE}xf32>
          (%u: tile<f32>, %w: tile<f32>) {{
            %g = maxf %u, %w : tile<f32>
            yield %g : tile<f32>
          }}
          %column = reshape %top : tile<{TILE}xf32> -> {row}
          %larger = maxf %m, %column : {row}
          %ms = broadcast %larger : {row} -> {scores}
          %d = subf %s, %ms : {scores}
          %p = exp %d : {scores}
          %part = reduce %p dim=1 identities=[0.0 : f32] : {scores} -> tile<{TILE}xf32>
          (%u: tile<f32>, %w: tile<f32>) {{
            %g = addf %u, %w : tile<f32>
            yield %g : tile<f32>
          }}
          %added = reshape %part : tile<{TILE}xf32> -> {row}
          %shift = subf %m, %larger : {row}
          %scale = exp %shift : {row}
          %ls = mulf %l, %scale : {row}
          %next_sum = addf %ls, %added : {row}
          %scales = broadcast %scale : {row} -> {result}
          %scaled = mulf %a, %scales : {result}
          %ph = ftof %p : {scores} -> tile<{TILE}x32xf16>
          %next = mmaf %ph, %z, %scaled : tile<{TILE}x32xf16>, {keys}, {result}
          continue %next, %next_sum, %larger : {result}, {row}, {row}
        }}
        %all = broadcast %sum : {row} -> {result}
        %o = divf %acc, %all : {result}
        %h = ftof %o : {result} -> {queries}
        %t = store_view_tko weak %h, %ov[%zero, %zero] : {queries}, {qv}, tile<i32> -> token
        return
      }}
    }}"""


@pytest.mark.parametrize(
    ("rows", "computed"), keep_first([(3, 16), (20, 32), (40, 64), (1, 16)], 3)
)
def test_attention_of_few_rows(rows: int, computed: int) -> None:
    random = np.random.default_rng(rows)
    q = random.standard_normal((rows, HEAD)).astype(np.float16)
    k, v = (random.standard_normal((KEYS, HEAD)).astype(np.float16) for _ in range(2))
    out = np.zeros_like(q)
    program = read_runnable(attention(rows), "attention.mlir")
    made = compile_anew(attention(rows))
    run_ptx(made.ptx, program, "f", 1, [q, k, v, out], check=True)
    scores = q.astype(np.float64) @ k.T.astype(np.float64)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(out, expected, atol=2e-3)
    assert f"tensor<{computed}x32xf32" in made.nv_tileas
    assert (computed == TILE) == ("wgmma" in made.ptx)


def copies_start_first() -> bool:
    """Whether the first copies come before the conversion of the queries, which are loaded."""
    lines = lowered_to("nv_tileas", attention(1)).splitlines()
    loop = next(n for n, line in enumerate(lines) if "scf.for" in line)
    first = next(n for n, line in enumerate(lines) if "producer_commit" in line)
    load = next(n for n, line in enumerate(lines) if "tiled_load" in line)
    converted = [n for n, line in enumerate(lines[:loop]) if "convert_layout" in line]
    assert converted
    assert load < first
    return first < min(converted)


def test_copies_start_before_queries_are_converted() -> None:
    assert copies_start_first()


def test_conversions_stay_without_memory_beside_the_pipelines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resources.SharedMemory, "beside_moved", lambda *_: 1 << 20)
    assert not copies_start_first()
