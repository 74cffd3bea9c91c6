"""Which dots of fp8 add partial accumulators of intervals of K to those in f32."""

from __future__ import annotations

from each_case import each_case
from scheduled_loops import lowered_as_far_as

from tilewright.dialects.nv_tileas.matrix import DotOp
from tilewright.transforms.nv_tileas.warp_specialization import promotes


@each_case(("k", "start", "expected"), [
    (64, 0.0, False),  # all of it is one interval
    (128, 0.0, False),
    (256, 0.0, True),
    (64, 1.0, True),  # the partial accumulators have 14 bits
])  # fmt: skip
def test_promotion(k: int, start: float, expected: bool) -> None:
    a, b, c = f"tile<64x{k}xf8E4M3FN>", f"tile<{k}x64xf8E4M3FN>", "tile<64x64xf32>"
    module = lowered_as_far_as("promote-dots", f"""
      cuda_tile.module @m {{
        entry @k(%s: tile<f8E4M3FN>) {{
          %r = reshape %s : tile<f8E4M3FN> -> tile<1x1xf8E4M3FN>
          %a = broadcast %r : tile<1x1xf8E4M3FN> -> {a}
          %b = broadcast %r : tile<1x1xf8E4M3FN> -> {b}
          %c = constant <f32: {start}> : {c}
          %d = mmaf %a, %b, %c : {a}, {b}, {c}
          %t = print_tko "%f", %d : {c} -> token
          return
        }}
      }}""")  # fmt: skip
    (dot,) = (op for op in module.walk() if isinstance(op, DotOp))
    assert promotes(dot) == expected
