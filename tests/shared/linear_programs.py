"""Linear attention in chunks: a state that a loop carries, and four dots in an iteration.

Q, K and V are in f16 and O is in f32, each with a leading dimension of one. The state, of `width`
rows, is multiplied by half and added to for each chunk of `rows` tokens:

    o = (q @ k.T) @ v + (q / 2) @ state;    state = state / 2 + k.T @ (v / 2)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

HALF = 0.5


class LinearAttention(NamedTuple):
    """The sizes of a kernel of one block."""

    rows: int = 64
    """Of a chunk."""
    columns: int = 64
    """Of V."""
    width: int = 64
    """Of Q and K."""
    chunks: int = 3

    @property
    def program(self) -> str:
        """The kernel, for a grid of one block."""
        m, n, d, size = self.rows, self.columns, self.width, self.rows * self.chunks
        wide = f"tensor_view<1x{size}x{d}xf16, strides=[{size * d},{d},1]>"
        narrow = f"tensor_view<1x{size}x{n}xf16, strides=[{size * n},{n},1]>"
        out = f"tensor_view<1x{size}x{n}xf32, strides=[{size * n},{n},1]>"
        state = f"tile<{d}x{n}xf32>"
        return f"""
!q = !cuda_tile.partition_view<tile=(1x{m}x{d}), {wide}>
!v = !cuda_tile.partition_view<tile=(1x{m}x{n}), {narrow}>
!o = !cuda_tile.partition_view<tile=(1x{m}x{n}), {out}>
cuda_tile.module @m {{
  entry @k(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f32>>, %n: tile<i32>) {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : tile<{m}x{m}xf32>
    %nothing = constant <f32: 0.0> : tile<{m}x{n}xf32>
    %empty = constant <f32: 0.0> : {state}
    %less = constant <f32: {HALF}> : {state}
    %halfq = constant <f32: {HALF}> : tile<{m}x{d}xf32>
    %halfv = constant <f32: {HALF}> : tile<{m}x{n}xf32>
    %q16 = assume div_by<16>, %q : tile<ptr<f16>>
    %k16 = assume div_by<16>, %k : tile<ptr<f16>>
    %v16 = assume div_by<16>, %v : tile<ptr<f16>>
    %qt = make_tensor_view %q16, shape = [1, {size}, {d}], strides = [{size * d}, {d}, 1] : {wide}
    %kt = make_tensor_view %k16, shape = [1, {size}, {d}], strides = [{size * d}, {d}, 1] : {wide}
    %vt = make_tensor_view %v16, shape = [1, {size}, {n}], strides = [{size * n}, {n}, 1] : {narrow}
    %ot = make_tensor_view %o, shape = [1, {size}, {n}], strides = [{size * n}, {n}, 1] : {out}
    %qv = make_partition_view %qt : !q
    %kv = make_partition_view %kt : !q
    %vv = make_partition_view %vt : !v
    %ov = make_partition_view %ot : !o
    %last = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%s = %empty) -> ({state}) {{
      %q3, %t1 = load_view_tko weak %qv[%zero, %i, %zero] : !q, tile<i32> -> tile<1x{m}x{d}xf16>, token
      %k3, %t2 = load_view_tko weak %kv[%zero, %i, %zero] : !q, tile<i32> -> tile<1x{m}x{d}xf16>, token
      %v3, %t3 = load_view_tko weak %vv[%zero, %i, %zero] : !v, tile<i32> -> tile<1x{m}x{n}xf16>, token
      %query = reshape %q3 : tile<1x{m}x{d}xf16> -> tile<{m}x{d}xf16>
      %key = reshape %k3 : tile<1x{m}x{d}xf16> -> tile<{m}x{d}xf16>
      %value = reshape %v3 : tile<1x{m}x{n}xf16> -> tile<{m}x{n}xf16>
      %keys = permute %key [1, 0] : tile<{m}x{d}xf16> -> tile<{d}x{m}xf16>
      %scores = mmaf %query, %keys, %none : tile<{m}x{d}xf16>, tile<{d}x{m}xf16>, tile<{m}x{m}xf32>
      %p = ftof %scores : tile<{m}x{m}xf32> -> tile<{m}x{m}xf16>
      %long = ftof %query : tile<{m}x{d}xf16> -> tile<{m}x{d}xf32>
      %decayed = mulf %long, %halfq : tile<{m}x{d}xf32>
      %a = ftof %decayed : tile<{m}x{d}xf32> -> tile<{m}x{d}xf16>
      %b = ftof %s : {state} -> tile<{d}x{n}xf16>
      %earlier = mmaf %a, %b, %nothing : tile<{m}x{d}xf16>, tile<{d}x{n}xf16>, tile<{m}x{n}xf32>
      %result = mmaf %p, %value, %earlier : tile<{m}x{m}xf16>, tile<{m}x{n}xf16>, tile<{m}x{n}xf32>
      %r3 = reshape %result : tile<{m}x{n}xf32> -> tile<1x{m}x{n}xf32>
      %t4 = store_view_tko weak %r3, %ov[%zero, %i, %zero] : tile<1x{m}x{n}xf32>, !o, tile<i32> -> token
      %longv = ftof %value : tile<{m}x{n}xf16> -> tile<{m}x{n}xf32>
      %later = mulf %longv, %halfv : tile<{m}x{n}xf32>
      %c = ftof %later : tile<{m}x{n}xf32> -> tile<{m}x{n}xf16>
      %rest = mulf %s, %less : {state}
      %next = mmaf %keys, %c, %rest : tile<{d}x{m}xf16>, tile<{m}x{n}xf16>, {state}
      continue %next : {state}
    }}
    return
  }}
}}"""  # noqa: E501

    def operands(self, seed: int = 0) -> list[np.ndarray]:
        """Q, K and V, whose elements are -1, 0 and 1: all that is computed is exact."""
        random, size = np.random.default_rng(seed), self.rows * self.chunks
        widths = (self.width, self.width, self.columns)
        return [random.integers(-1, 2, (size, each)).astype(np.float16) for each in widths]

    def expected(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """O."""
        state = np.zeros((self.width, self.columns), np.float32)
        results: list[np.ndarray] = []
        parts = (np.split(each.astype(np.float32), self.chunks) for each in (q, k, v))
        for query, key, value in zip(*parts, strict=True):
            results.append(query @ key.T @ value + HALF * query @ state)
            state = HALF * state + key.T @ (HALF * value)
        return np.concatenate(results)
