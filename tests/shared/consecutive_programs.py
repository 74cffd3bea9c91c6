"""Programs with loops in a row, of which one may go on where the other ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

TENSOR_A: Final = "tensor_view<64x384xf16, strides=[384,1]>"
TENSOR_B: Final = "tensor_view<384x16xf16, strides=[16,1]>"
TENSOR_C: Final = "tensor_view<64x16xf32, strides=[16,1]>"
A_VIEW: Final = f"partition_view<tile=(64x32), padding_value = zero, {TENSOR_A}>"
B_VIEW: Final = f"partition_view<tile=(32x16), padding_value = zero, {TENSOR_B}>"
C_VIEW: Final = f"partition_view<tile=(64x16), {TENSOR_C}>"
A: Final = "tile<64x32xf16>"
B: Final = "tile<32x16xf16>"
C: Final = "tile<64x16xf32>"
LOADS: Final = f"""
  %a, %ta = load_view_tko weak %av[%zero, %i] : {A_VIEW}, tile<i32> -> {A}, token
  %b, %tb = load_view_tko weak %bv[%i, %zero] : {B_VIEW}, tile<i32> -> {B}, token"""
DOT: Final = f"%d = mmaf %a, %b, %acc : {A}, {B}, {C}"
READ: Final = f"%e = mmaf %a, %b, %acc : {A}, {B}, {C} %d = addf %e, %ones : {C}"
"""The accumulator is read in the loop, so no dot is in flight."""
BOUNDS: Final = """
  %up = mini %m, %n signed : tile<i32>
  %low = maxi %m, %zero signed : tile<i32>"""
"""As `loop-split` makes them: the first loop ends at the split point or before, if it ends before
it, and the second begins there or where the first does."""


class Part:
    """One of several loops in a row."""

    def __init__(
        self,
        bounds: str,
        *,
        loads: str = LOADS,
        dot: str = DOT,
        after: str = "",
        kind: str = "",
    ) -> None:
        self.bounds, self.loads, self.dot = bounds, loads, dot
        self.after = after
        """What follows the loop."""
        self.kind = kind

    def text(self, number: int) -> str:
        return f"""
          %s{number + 1} = for {self.kind}%i in ({self.bounds}) : tile<i32>
              iter_values(%acc = %s{number}) -> ({C}) {{
            {self.loads}
            {self.dot}
            continue %d : {C}
          }}
          {self.after}"""


FIRST: Final = Part("%zero to %up, step %one")
SECOND: Final = Part("%low to %n, step %one")


def program(loops: Sequence[Part] = (FIRST, SECOND), before: str = BOUNDS) -> str:
    """Loops over K that accumulate, one after the other; 12 tiles along K exist."""
    body = "".join(loop.text(number) for number, loop in enumerate(loops))
    return f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %r: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %two = constant <i32: 2> : tile<i32>
          %four = constant <i32: 4> : tile<i32>
          %five = constant <i32: 5> : tile<i32>
          %eight = constant <i32: 8> : tile<i32>
          %twelve = constant <i32: 12> : tile<i32>
          %ones = constant <f32: 1.0> : {C}
          %s0 = constant <f32: 0.0> : {C}
          %p16 = assume div_by<16>, %p : tile<ptr<f16>>
          %q16 = assume div_by<16>, %q : tile<ptr<f16>>
          %at = make_tensor_view %p16, shape = [64, 384], strides = [384, 1] : {TENSOR_A}
          %av = make_partition_view %at : {A_VIEW}
          %bt = make_tensor_view %q16, shape = [384, 16], strides = [16, 1] : {TENSOR_B}
          %bv = make_partition_view %bt : {B_VIEW}
          %ct = make_tensor_view %r, shape = [64, 16], strides = [16, 1] : {TENSOR_C}
          %cv = make_partition_view %ct : {C_VIEW}
          {before}
          {body}
          %t = store_view_tko weak %s{len(loops)}, %cv[%zero, %zero] : {C}, {C_VIEW}, tile<i32> -> token
          return
        }}
      }}"""  # noqa: E501
