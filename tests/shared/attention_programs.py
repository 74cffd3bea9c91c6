"""Attention kernels: tiles of queries, and loops over tiles of keys and values.

The kernel has Q, K and V in f16 and O in f32 in memory, of which each row belongs to a query or a
key. Queries see the keys up to their own: tiles of keys before those of a block's queries are in a
first loop, the others, which are masked, in a second one. `rotated` loops start with the first dot
of an iteration, then execute the second dot of the iteration before.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import numpy as np

SCALE: Final = 0.125
MINUS_INFINITY: Final = "0xFF800000"
NAMES: Final = (
    *("key", "tk", "scores", "value", "tv", "next", "scaled", "start", "start1", "start2"),
    *("numbers", "past", "seen", "here", "x", "y0", "r", "larger", "larger1", "larger2", "below"),
    *(
        "bias",
        "tb",
        "plain",
        "weights",
        "drop",
        "shrink",
        "weight",
        "sofar",
        "p",
        "shrink1",
        "shrink2",
        "small",
    ),
)
"""Values of an iteration, whose names are others in a loop beside it."""


class Attention(NamedTuple):
    """The sizes of a kernel."""

    rows: int = 64
    """Of a tile of queries."""
    keys: int = 64
    """Of a tile of keys."""
    dim: int = 64
    length: int = 256
    k_major: bool = True
    """Whether K is contiguous along the dimension, as Q and V are; else along the keys."""
    rotated: bool = False
    persistent: bool = False
    """Whether a block computes the tiles of all queries, one after the other."""
    biased: bool = False
    """Whether a bias of each query and key, in f32, is added to the scaled scores."""
    hints: str = ""

    @property
    def blocks(self) -> int:
        """The blocks of the grid."""
        return 1 if self.persistent else self.length // self.rows

    @property
    def program(self) -> str:
        """The kernel, for a grid of `blocks`."""
        m, n, d, size = self.rows, self.keys, self.dim, self.length
        memory = f"tensor_view<{size}x{d}xf16, strides=[{d},1]>"
        out = f"tensor_view<{size}x{d}xf32, strides=[{d},1]>"
        across = f"tensor_view<{d}x{size}xf16, strides=[{size},1]>"
        keys = f"{memory}, dim_map=[1, 0]" if self.k_major else across
        carried = "%top0, %norm0, %acc0"
        bias = "%w: tile<ptr<f32>>, " if self.biased else ""
        return f"""
!q = !cuda_tile.partition_view<tile=({m}x{d}), {memory}>
!kt = !cuda_tile.partition_view<tile=({d}x{n}), {keys}>
!v = !cuda_tile.partition_view<tile=({n}x{d}), {memory}>
!o = !cuda_tile.partition_view<tile=({m}x{d}), {out}>
!w = !cuda_tile.partition_view<tile=({m}x{n}), {self._biases}>
cuda_tile.module @m {{
  entry @k(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, {bias}%o: tile<ptr<f32>>) {self.hints} {{
    {"" if self.persistent else "%i, %y, %z = get_tile_block_id : tile<i32>"}
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %rows = constant <i32: {m}> : tile<i32>
    %tiles = constant <i32: {size // m}> : tile<i32>
    %width = constant <i32: {n}> : tile<i32>
    %scale = constant <f32: {SCALE}> : tile<{m}x{n}xf32>
    %none = constant <f32: 0.0> : tile<{m}x{n}xf32>
    %never = constant <f32: {MINUS_INFINITY}> : tile<{m}x{n}xf32>
    %top0 = constant <f32: {MINUS_INFINITY}> : tile<{m}xf32>
    %norm0 = constant <f32: 0.0> : tile<{m}xf32>
    %acc0 = constant <f32: 0.0> : tile<{m}x{d}xf32>
    %q16 = assume div_by<16>, %q : tile<ptr<f16>>
    %k16 = assume div_by<16>, %k : tile<ptr<f16>>
    %v16 = assume div_by<16>, %v : tile<ptr<f16>>
    %qt = make_tensor_view %q16, shape = [{size}, {d}], strides = [{d}, 1] : {memory}
    {self._keys(memory, across)}
    %vt = make_tensor_view %v16, shape = [{size}, {d}], strides = [{d}, 1] : {memory}
    %ot = make_tensor_view %o, shape = [{size}, {d}], strides = [{d}, 1] : {out}
    %qv = make_partition_view %qt : !q
    %kv = make_partition_view %kt : !kt
    %vv = make_partition_view %vt : !v
    %ov = make_partition_view %ot : !o
    {self._bias_view if self.biased else ""}
    {"for %i in (%zero to %tiles, step %one) : tile<i32> {" if self.persistent else ""}
    %first_row = muli %i, %rows : tile<i32>
    %middle = divi %first_row, %width signed : tile<i32>
    %last_row = addi %first_row, %rows : tile<i32>
    %end = divi %last_row, %width signed rounding<positive_inf> : tile<i32>
    %down = iota : tile<{m}xi32>
    %down1 = reshape %down : tile<{m}xi32> -> tile<{m}x1xi32>
    %down2 = broadcast %down1 : tile<{m}x1xi32> -> tile<{m}x{n}xi32>
    %from = reshape %first_row : tile<i32> -> tile<1x1xi32>
    %from2 = broadcast %from : tile<1x1xi32> -> tile<{m}x{n}xi32>
    %queries = addi %from2, %down2 : tile<{m}x{n}xi32>
    %along = iota : tile<{n}xi32>
    %along1 = reshape %along : tile<{n}xi32> -> tile<1x{n}xi32>
    %columns = broadcast %along1 : tile<1x{n}xi32> -> tile<{m}x{n}xi32>
    %query, %tq = load_view_tko weak %qv[%i, %zero] : !q, tile<i32> -> tile<{m}x{d}xf16>, token
    {self._loop("a", carried, "%zero", "%middle", masked=False)}
    {self._loop("b", "%atop, %anorm, %aacc", "%middle", "%end", masked=True)}
    %norm1 = reshape %bnorm : tile<{m}xf32> -> tile<{m}x1xf32>
    %norm2 = broadcast %norm1 : tile<{m}x1xf32> -> tile<{m}x{d}xf32>
    %mean = divf %bacc, %norm2 : tile<{m}x{d}xf32>
    %stored = store_view_tko weak %mean, %ov[%i, %zero] : tile<{m}x{d}xf32>, !o, tile<i32> -> token
    {"continue }" if self.persistent else ""}
    return
  }}
}}"""  # noqa: E501

    @property
    def _biases(self) -> str:
        """The tensor of the bias."""
        return f"tensor_view<{self.length}x{self.length}xf32, strides=[{self.length},1]>"

    @property
    def _bias_view(self) -> str:
        size = self.length
        return f"""
    %w16 = assume div_by<16>, %w : tile<ptr<f32>>
    %wt = make_tensor_view %w16, shape = [{size}, {size}], strides = [{size}, 1] : {self._biases}
    %wv = make_partition_view %wt : !w"""

    def _keys(self, memory: str, across: str) -> str:
        """The tensor of K."""
        d, size = self.dim, self.length
        if self.k_major:
            return (
                f"%kt = make_tensor_view %k16, shape = [{size}, {d}], strides = [{d}, 1] : {memory}"
            )
        return (
            f"%kt = make_tensor_view %k16, shape = [{d}, {size}], strides = [{size}, 1] : {across}"
        )

    @property
    def _types(self) -> str:
        return f"tile<{self.rows}xf32>, tile<{self.rows}xf32>, tile<{self.rows}x{self.dim}xf32>"

    def _loop(self, name: str, init: str, lower: str, upper: str, *, masked: bool) -> str:
        """A loop over tiles of keys, whose results begin with a name."""
        results = f"%{name}top, %{name}norm, %{name}acc"
        bounds = f"{lower} to {upper}, step %one"
        if not self.rotated:
            top, norm, acc = init.split(", ")
            return f"""
    {results} = for %j in ({bounds}) : tile<i32>
        iter_values(%top = {top}, %norm = {norm}, %acc = {acc}) -> ({self._types}) {{
      {self._scores("%j")}
      {self._softmax("%j", "%top", "%norm", masked=masked)}
      {self._scaled("%acc")}
      {self._output("%j", "%p", "%small")}
      continue %larger, %sofar, %next : {self._types}
    }}"""
        top, norm, acc = init.split(", ")
        p = f"tile<{self.rows}x{self.keys}xf16>"
        inside = f"""
        {self._scores("%j")}
        %before = subi %j, %one : tile<i32>
        {self._output("%before", "%cp", "%cacc")}
        {self._softmax("%j", "%ctop", "%cnorm", masked=masked)}
        {self._scaled("%next")}
        continue %larger, %sofar, %small, %p : {self._types}, {p}"""
        inside = re.sub(rf"%({'|'.join(NAMES)})\b", r"%in_\1", inside)
        return f"""
    %{name}any = cmpi less_than {lower}, {upper}, signed : tile<i32> -> tile<i1>
    {results} = if %{name}any -> ({self._types}) {{
      {self._scores(lower)}
      {self._softmax(lower, top, norm, masked=masked)}
      {self._scaled(acc)}
      %second = addi {lower}, %one : tile<i32>
      %ltop, %lnorm, %lacc, %lp = for %j in (%second to {upper}, step %one) : tile<i32>
          iter_values(%ctop = %larger, %cnorm = %sofar, %cacc = %small, %cp = %p)
          -> ({self._types}, {p}) {{
        {inside}
      }}
      %last = subi {upper}, %one : tile<i32>
      {self._output("%last", "%lp", "%lacc")}
      yield %ltop, %lnorm, %next : {self._types}
    }} else {{
      yield {init} : {self._types}
    }}"""

    def _scores(self, j: str) -> str:
        m, n, d = self.rows, self.keys, self.dim
        key = f"tile<{d}x{n}xf16>"
        return f"""
      %key, %tk = load_view_tko weak %kv[%zero, {j}] : !kt, tile<i32> -> {key}, token
      %scores = mmaf %query, %key, %none : tile<{m}x{d}xf16>, {key}, tile<{m}x{n}xf32>"""

    def _output(self, j: str, p: str, acc: str) -> str:
        m, n, d = self.rows, self.keys, self.dim
        return f"""
      %value, %tv = load_view_tko weak %vv[{j}, %zero] : !v, tile<i32> -> tile<{n}x{d}xf16>, token
      %next = mmaf {p}, %value, {acc} : tile<{m}x{n}xf16>, tile<{n}x{d}xf16>, tile<{m}x{d}xf32>"""

    def _softmax(self, j: str, top: str, norm: str, *, masked: bool) -> str:
        """The next maximum `%larger` and denominator `%sofar`, the weights `%p`, and `%shrink`."""
        m, n = self.rows, self.keys
        row, tile = f"tile<{m}xf32>", f"tile<{m}x{n}xf32>"
        mask = f"""
      %start = muli {j}, %width : tile<i32>
      %start1 = reshape %start : tile<i32> -> tile<1x1xi32>
      %start2 = broadcast %start1 : tile<1x1xi32> -> tile<{m}x{n}xi32>
      %numbers = addi %start2, %columns : tile<{m}x{n}xi32>
      %past = cmpi greater_than_or_equal %queries, %numbers, signed
          : tile<{m}x{n}xi32> -> tile<{m}x{n}xi1>
      %seen = select %past, %scaled, %never : tile<{m}x{n}xi1>, {tile}"""
        seen = "%seen" if masked else "%scaled"
        scaled = f"%scaled = mulf %scores, %scale : {tile}"
        if self.biased:
            scaled = f"""
      %plain = mulf %scores, %scale : {tile}
      %bias, %tb = load_view_tko weak %wv[%i, {j}] : !w, tile<i32> -> {tile}, token
      %scaled = addf %plain, %bias : {tile}"""
        return f"""
      {scaled}
      {mask if masked else ""}
      %here = reduce {seen} dim=1 identities=[{MINUS_INFINITY} : f32] : {tile} -> {row}
      (%x: tile<f32>, %y0: tile<f32>) {{
        %r = maxf %x, %y0 : tile<f32>
        yield %r : tile<f32>
      }}
      %larger = maxf {top}, %here : {row}
      %larger1 = reshape %larger : {row} -> tile<{m}x1xf32>
      %larger2 = broadcast %larger1 : tile<{m}x1xf32> -> {tile}
      %below = subf {seen}, %larger2 : {tile}
      %weights = exp2 %below flush_to_zero : {tile}
      %drop = subf {top}, %larger : {row}
      %shrink = exp2 %drop flush_to_zero : {row}
      %weight = reduce %weights dim=1 identities=[0.0 : f32] : {tile} -> {row}
      (%x: tile<f32>, %y0: tile<f32>) {{
        %r = addf %x, %y0 : tile<f32>
        yield %r : tile<f32>
      }}
      %sofar = fma {norm}, %shrink, %weight : {row}
      %p = ftof %weights : {tile} -> tile<{m}x{n}xf16>"""

    def _scaled(self, acc: str) -> str:
        m, d = self.rows, self.dim
        return f"""
      %shrink1 = reshape %shrink : tile<{m}xf32> -> tile<{m}x1xf32>
      %shrink2 = broadcast %shrink1 : tile<{m}x1xf32> -> tile<{m}x{d}xf32>
      %small = mulf {acc}, %shrink2 : tile<{m}x{d}xf32>"""

    def operands(self, seed: int = 1) -> list[np.ndarray]:
        """Q, K, V, maybe a bias, and O with numbers that the kernel overwrites."""
        numbers = np.random.default_rng(seed)
        shape = (self.length, self.dim)
        q, k, v = [numbers.standard_normal(shape).astype(np.float16) for _ in range(3)]
        keys = k if self.k_major else np.ascontiguousarray(k.T)
        square = (self.length, self.length)
        bias = [numbers.standard_normal(square).astype(np.float32)] if self.biased else []
        return [q, keys, v, *bias, np.full(shape, 99, np.float32)]

    def expected(
        self, q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray | float = 0
    ) -> np.ndarray:
        """O in f64, with weights that are not rounded."""
        across = k.T if self.k_major else k
        scores = q.astype(np.float64) @ across.astype(np.float64) * SCALE + bias
        scores = np.where(np.tri(self.length, dtype=bool), scores, -np.inf)
        weights = np.exp2(scores - scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float64)
