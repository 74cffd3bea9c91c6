"""Attention of the few queries of a decode step, whose blocks read keys and values once.

Q and O have extents `batches, heads, rows, dim`, K and V `batches, heads / group, keys, dim`, in
f16. The grid has tiles of queries along x, of which only the first is in bounds, and the heads of
all batches along y.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

MINUS_INFINITY: Final = "0xFF800000"


class Decode(NamedTuple):
    """The sizes of a kernel."""

    rows: int = 1
    heads: int = 2
    group: int = 1
    """Heads of Q that share one of K and V."""
    keys: int = 96
    dim: int = 32
    tile: tuple[int, int] = (16, 32)
    """Queries and keys of a tile."""
    floor: bool = True
    """Whether the remainder is that of a division that rounds down, as in Python."""

    @property
    def grid(self) -> tuple[int, int, int]:
        """The blocks of one batch."""
        return (1, self.heads, 1)

    @property
    def program(self) -> str:
        """The kernel."""
        m, n = self.tile
        d, rows = self.dim, self.rows
        kv_heads = self.heads // self.group
        q, k = self._tensor(self.heads, rows), self._tensor(kv_heads, self.keys)
        row, scores, result = f"tile<{m}x1xf32>", f"tile<{m}x{n}xf32>", f"tile<{m}x{d}xf32>"
        return f"""
!q = !cuda_tile.partition_view<tile=(1x1x{m}x{d}), {q}>
!kt = !cuda_tile.partition_view<tile=(1x1x{d}x{n}), {k}, dim_map=[0, 1, 3, 2]>
!v = !cuda_tile.partition_view<tile=(1x1x{n}x{d}), {k}>
cuda_tile.module @m {{
  entry @k(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f16>>, %b0: tile<i32>) {{
    %x, %y, %z = get_tile_block_id : tile<i32>
    %b = assume bounded<0, ?>, %b0 : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %heads = constant <i32: {self.heads}> : tile<i32>
    %group = constant <i32: {self.group}> : tile<i32>
    %tiles = constant <i32: {self.keys // n}> : tile<i32>
    %none = constant <f32: 0.0> : {scores}
    %acc0 = constant <f32: 0.0> : {result}
    %norm0 = constant <f32: 0.0> : {row}
    %top0 = constant <f32: {MINUS_INFINITY}> : {row}
    %batch = divi %y, %heads signed rounding<negative_inf> : tile<i32>
    {self._head}
    %kv_head = divi %head, %group signed rounding<negative_inf> : tile<i32>
    %q16 = assume div_by<16>, %q : tile<ptr<f16>>
    %k16 = assume div_by<16>, %k : tile<ptr<f16>>
    %v16 = assume div_by<16>, %v : tile<ptr<f16>>
    %qt = make_tensor_view %q16, {self._extents(self.heads, rows)} : tile<i32> -> {q}
    %kt = make_tensor_view %k16, {self._extents(kv_heads, self.keys)} : tile<i32> -> {k}
    %vt = make_tensor_view %v16, {self._extents(kv_heads, self.keys)} : tile<i32> -> {k}
    %ot = make_tensor_view %o, {self._extents(self.heads, rows)} : tile<i32> -> {q}
    %qv = make_partition_view %qt : !q
    %kv = make_partition_view %kt : !kt
    %vv = make_partition_view %vt : !v
    %ov = make_partition_view %ot : !q
    %query4, %tq = load_view_tko weak %qv[%batch, %head, %x, %zero] : !q, tile<i32> -> tile<1x1x{m}x{d}xf16>, token
    %query = reshape %query4 : tile<1x1x{m}x{d}xf16> -> tile<{m}x{d}xf16>
    %acc, %norm, %top = for %j in (%zero to %tiles, step %one) : tile<i32>
        iter_values(%a = %acc0, %l = %norm0, %t = %top0) -> ({result}, {row}, {row}) {{
      %key4, %tk = load_view_tko weak %kv[%batch, %kv_head, %zero, %j] : !kt, tile<i32> -> tile<1x1x{d}x{n}xf16>, token
      %key = reshape %key4 : tile<1x1x{d}x{n}xf16> -> tile<{d}x{n}xf16>
      %s = mmaf %query, %key, %none : tile<{m}x{d}xf16>, tile<{d}x{n}xf16>, {scores}
      %here = reduce %s dim=1 identities=[{MINUS_INFINITY} : f32] : {scores} -> tile<{m}xf32>
      (%u: tile<f32>, %w: tile<f32>) {{
        %r = maxf %u, %w : tile<f32>
        yield %r : tile<f32>
      }}
      %here1 = reshape %here : tile<{m}xf32> -> {row}
      %larger = maxf %t, %here1 : {row}
      %larger2 = broadcast %larger : {row} -> {scores}
      %below = subf %s, %larger2 : {scores}
      %weights = exp %below : {scores}
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : {scores} -> tile<{m}xf32>
      (%u: tile<f32>, %w: tile<f32>) {{
        %r = addf %u, %w : tile<f32>
        yield %r : tile<f32>
      }}
      %weight1 = reshape %weight : tile<{m}xf32> -> {row}
      %drop = subf %t, %larger : {row}
      %shrink = exp %drop : {row}
      %sofar = fma %l, %shrink, %weight1 : {row}
      %shrink2 = broadcast %shrink : {row} -> {result}
      %scaled = mulf %a, %shrink2 : {result}
      %value4, %tv = load_view_tko weak %vv[%batch, %kv_head, %j, %zero] : !v, tile<i32> -> tile<1x1x{n}x{d}xf16>, token
      %value = reshape %value4 : tile<1x1x{n}x{d}xf16> -> tile<{n}x{d}xf16>
      %p = ftof %weights : {scores} -> tile<{m}x{n}xf16>
      %next = mmaf %p, %value, %scaled : tile<{m}x{n}xf16>, tile<{n}x{d}xf16>, {result}
      continue %next, %sofar, %larger : {result}, {row}, {row}
    }}
    %norm2 = broadcast %norm : {row} -> {result}
    %mean = divf %acc, %norm2 : {result}
    %mean16 = ftof %mean : {result} -> tile<{m}x{d}xf16>
    %mean4 = reshape %mean16 : tile<{m}x{d}xf16> -> tile<1x1x{m}x{d}xf16>
    %stored = store_view_tko weak %mean4, %ov[%batch, %head, %x, %zero] : tile<1x1x{m}x{d}xf16>, !q, tile<i32> -> token
    return
  }}
}}"""  # noqa: E501

    @property
    def _head(self) -> str:
        """The head of a block: `%y % heads`, as Python or as C defines it."""
        if not self.floor:
            return "%head = remi %y, %heads signed : tile<i32>"
        return """
    %rest = remi %y, %heads signed : tile<i32>
    %is_negative = cmpi less_than %rest, %zero, signed : tile<i32> -> tile<i1>
    %rest2 = addi %rest, %heads : tile<i32>
    %head = select %is_negative, %rest2, %rest : tile<i1>, tile<i32>"""

    def _strides(self, heads: int, rows: int) -> list[int]:
        return [heads * rows * self.dim, rows * self.dim, self.dim, 1]

    def _tensor(self, heads: int, rows: int) -> str:
        strides = ",".join(map(str, self._strides(heads, rows)))
        return f"tensor_view<?x{heads}x{rows}x{self.dim}xf16, strides=[{strides}]>"

    def _extents(self, heads: int, rows: int) -> str:
        strides = self._strides(heads, rows)
        return f"shape = [%b, {heads}, {rows}, {self.dim}], strides = {strides}"

    def arguments(self, seed: int = 0) -> list[np.ndarray]:
        """Random Q, K and V, and an O of zeros, of one batch."""
        random = np.random.default_rng(seed)
        kv_heads = self.heads // self.group
        q = random.standard_normal((1, self.heads, self.rows, self.dim)).astype(np.float16)
        k, v = random.standard_normal((2, 1, kv_heads, self.keys, self.dim)).astype(np.float16)
        return [q, k, v, np.zeros_like(q)]

    def expected(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        """O, computed in f64."""
        k, v = (np.repeat(each.astype(np.float64), self.group, axis=1) for each in (k, v))
        scores = q.astype(np.float64) @ k.swapaxes(2, 3)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ v
