"""Tests of barriers for tokens: accesses of several threads that may overlap or cannot."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_once import lowered_to

import tilewright

VIEW = "partition_view<tile=(64), tensor_view<256xf32, strides=[1]>>"

IN_PLACE = f"""cuda_tile.module @kernels {{
  entry @twice(%x: tile<ptr<f32>>) {{
    %v = make_tensor_view %x, shape = [256], strides = [1] : tensor_view<256xf32, strides=[1]>
    %p = make_partition_view %v : {VIEW}
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %start = make_token : token
    %end = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%t = %start) -> (token) {{
      %a, %t0 = load_view_tko weak %p[%i] token = %t : {VIEW}, tile<i32> -> tile<64xf32>, token
      %b = addf %a, %a : tile<64xf32>
      %t1 = store_view_tko weak %b, %p[%i] token = %t0 : tile<64xf32>, {VIEW}, tile<i32> -> token
      continue %t1 : token
    }}
    return
  }}
}}
"""

SLIDING = """cuda_tile.module @kernels {
  entry @slide(%x: tile<ptr<i32>>) {
    %r = iota : tile<128xi32>
    %a = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %b = broadcast %a : tile<1xptr<i32>> -> tile<128xptr<i32>>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %ones = constant <i32: 1> : tile<128xi32>
    %start = make_token : token
    %end = for %i in (%zero to %eight, step %one) : tile<i32> iter_values(%t = %start) -> (token) {
      %i1 = reshape %i : tile<i32> -> tile<1xi32>
      %is = broadcast %i1 : tile<1xi32> -> tile<128xi32>
      %at = addi %r, %is : tile<128xi32>
      %p = offset %b, %at : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
      %v, %t0 = load_ptr_tko weak %p token = %t : tile<128xptr<i32>> -> tile<128xi32>, token
      %w = addi %v, %ones : tile<128xi32>
      %t1 = store_ptr_tko weak %p, %w token = %t0 : tile<128xptr<i32>>, tile<128xi32> -> token
      continue %t1 : token
    }
    return
  }
}
"""


def barriers(text: str) -> int:
    return lowered_to("nv_tileas", text).count("nv_tileas.barrier")


def test_threads_that_keep_to_their_elements_do_not_wait() -> None:
    """Adjacent tiles: each thread loads elements that it stored itself, in any iteration."""
    wide = IN_PLACE.replace("64", "128").replace("256", "512")
    assert barriers(wide) == 0


def test_copies_of_an_element_wait_for_the_one_that_writes_it() -> None:
    """A tile of 64 on 128 threads: half of them load elements that the other half stores."""
    assert barriers(IN_PLACE) > 0


def test_the_same_values_are_other_addresses_in_the_next_iteration() -> None:
    assert barriers(SLIDING) > 0


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_windows_that_overlap_between_iterations(arch: str) -> None:
    array = np.zeros(136, np.int32)
    tilewright.execute(SLIDING, "slide", 1, [array], on="emulator", check=True, arch=arch)
    expected = np.zeros(136, np.int32)
    for start in range(8):
        expected[start : start + 128] += 1
    assert np.array_equal(array, expected)
