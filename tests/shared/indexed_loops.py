"""Loops over tiles whose indices they load, as of block-sparse matrices and of paged caches."""

from __future__ import annotations

from typing import Final

LIST_VIEW: Final = "partition_view<tile=(1), tensor_view<?xi32, strides=[1]>>"
POINTER: Final = """%lp = offset %list, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
            %k, %t0 = load_ptr_tko weak %lp : tile<ptr<i32>> -> tile<i32>, token"""
"""The index `%k` through a pointer."""
VIEW: Final = f"""%l, %t0 = load_view_tko weak %lv[%i]
                : {LIST_VIEW}, tile<i32> -> tile<1xi32>, token
            %k = reshape %l : tile<1xi32> -> tile<i32>"""
"""The index through a view."""
NESTED: Final = """%lp = offset %list, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
            %k0, %t0 = load_ptr_tko weak %lp : tile<ptr<i32>> -> tile<i32>, token
            %lq = offset %list, %k0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
            %k, %t3 = load_ptr_tko weak %lq : tile<ptr<i32>> -> tile<i32>, token"""
"""The index whose index is in the list."""
DIVIDED: Final = "%k = divi %i, %divisor signed : tile<i32>"
"""Several iterations with the same index."""
MATRIX: Final = "tensor_view<?x?xf16, strides=[?,1]>"
A_VIEW: Final = f"partition_view<tile=(64x32), padding_value = zero, {MATRIX}>"
B_VIEW: Final = f"partition_view<tile=(32x64), padding_value = zero, {MATRIX}>"
C_TENSOR: Final = "tensor_view<64x64xf32, strides=[64,1]>"
C_VIEW: Final = f"partition_view<tile=(64x64), {C_TENSOR}>"
SUM: Final = "tile<64x64xf32>"


def indexed_matmul(index: str = POINTER, after: str = "") -> str:
    """`c = a[:, k] @ b[k]` over tiles of 32 along K, each with the index `%k` of an iteration.

    A has 64 rows, B 64 columns. `after` is a part of the loop after the dot.
    """
    return f"""
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %r: tile<ptr<f32>>, %list: tile<ptr<i32>>,
                 %extent0: tile<i32>, %n: tile<i32>, %divisor: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %none = constant <f32: 0.0> : {SUM}
          %p16 = assume div_by<16>, %p : tile<ptr<f16>>
          %q16 = assume div_by<16>, %q : tile<ptr<f16>>
          %extent1 = assume bounded<0, ?>, %extent0 : tile<i32>
          %extent = assume div_by<16>, %extent1 : tile<i32>
          %size = constant <i32: 64> : tile<i32>
          %pt = make_tensor_view %p16, shape = [%size, %extent], strides = [%extent, 1]
              : tile<i32> -> {MATRIX}
          %qt = make_tensor_view %q16, shape = [%extent, %size], strides = [%size, 1]
              : tile<i32> -> {MATRIX}
          %lt = make_tensor_view %list, shape = [%n], strides = [1]
              : tile<i32> -> tensor_view<?xi32, strides=[1]>
          %rt = make_tensor_view %r, shape = [64, 64], strides = [64, 1] : {C_TENSOR}
          %pv = make_partition_view %pt : {A_VIEW}
          %qv = make_partition_view %qt : {B_VIEW}
          %lv = make_partition_view %lt : {LIST_VIEW}
          %rv = make_partition_view %rt : {C_VIEW}
          %sum = for %i in (%zero to %n, step %one) : tile<i32>
              iter_values(%c = %none) -> ({SUM}) {{
            {index}
            %a, %t1 = load_view_tko weak %pv[%zero, %k]
                : {A_VIEW}, tile<i32> -> tile<64x32xf16>, token
            %b, %t2 = load_view_tko weak %qv[%k, %zero]
                : {B_VIEW}, tile<i32> -> tile<32x64xf16>, token
            %d = mmaf %a, %b, %c : tile<64x32xf16>, tile<32x64xf16>, {SUM}
            {after}
            continue %d : {SUM}
          }}
          %t = store_view_tko weak %sum, %rv[%zero, %zero] : {SUM}, {C_VIEW}, tile<i32> -> token
          return
        }}
      }}"""


PAGE: Final = "partition_view<tile=(64x16), tensor_view<?x16xf16, strides=[16,1]>>"
PAGE_TENSOR: Final = "tensor_view<?x16xf16, strides=[16,1]>"


def paged_attention() -> str:
    """`o = sum((q @ k[page].T) @ v[page])` over the pages of a table, without a softmax.

    Q, K and V have rows of 16 elements, pages 64 rows.
    """
    tile, square = "tile<64x16xf16>", "tile<64x64xf16>"
    views = "\n".join(
        f"""%{name}16 = assume div_by<16>, %{name} : tile<ptr<f16>>
          %{name}t = make_tensor_view %{name}16, shape = [%rows, 16], strides = [16, 1]
              : tile<i32> -> {PAGE_TENSOR}
          %{name}v = make_partition_view %{name}t : {PAGE}"""
        for name in "xyz"
    )
    return f"""
      cuda_tile.module @m {{
        entry @k(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %z: tile<ptr<f16>>, %o: tile<ptr<f32>>,
                 %table: tile<ptr<i32>>, %rows0: tile<i32>, %n: tile<i32>) {{
          %zero = constant <i32: 0> : tile<i32>
          %one = constant <i32: 1> : tile<i32>
          %none = constant <f32: 0.0> : tile<64x64xf32>
          %init = constant <f32: 0.0> : tile<64x16xf32>
          %rows = assume bounded<0, ?>, %rows0 : tile<i32>
          {views}
          %ot = make_tensor_view %o, shape = [64, 16], strides = [16, 1]
              : tensor_view<64x16xf32, strides=[16,1]>
          %ov = make_partition_view %ot
              : partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>
          %q, %t0 = load_view_tko weak %xv[%zero, %zero] : {PAGE}, tile<i32> -> {tile}, token
          %sum = for %i in (%zero to %n, step %one) : tile<i32>
              iter_values(%acc = %init) -> (tile<64x16xf32>) {{
            %lp = offset %table, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
            %page, %t4 = load_ptr_tko weak %lp : tile<ptr<i32>> -> tile<i32>, token
            %k, %t1 = load_view_tko weak %yv[%page, %zero] : {PAGE}, tile<i32> -> {tile}, token
            %v, %t2 = load_view_tko weak %zv[%page, %zero] : {PAGE}, tile<i32> -> {tile}, token
            %kt = permute %k [1, 0] : {tile} -> tile<16x64xf16>
            %s = mmaf %q, %kt, %none : {tile}, tile<16x64xf16>, tile<64x64xf32>
            %p = ftof %s : tile<64x64xf32> -> {square}
            %next = mmaf %p, %v, %acc : {square}, {tile}, tile<64x16xf32>
            continue %next : tile<64x16xf32>
          }}
          %t = store_view_tko weak %sum, %ov[%zero, %zero]
              : tile<64x16xf32>, partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>,
                tile<i32> -> token
          return
        }}
      }}"""  # noqa: E501
