"""`tools/scaled_programs.py` enlarges the tiles of a kernel, and nothing else."""

from __future__ import annotations

from scaled_programs import kernels, scaled, scaled_text, tiles

from tilewright.driver.assembly import parse_module
from tilewright.text.printer import print_op

PROGRAM = """
!rows = !cuda_tile.tensor_view<64x16xf32, strides=[16,1]>
!tiles = !cuda_tile.partition_view<tile=(2x16), tensor_view<64x16xf32, strides=[16,1]>>
cuda_tile.module @kernels {
  entry @rows(%x: tile<ptr<f32>>) optimization_hints=<sm_90 = {occupancy = 2}> {
    %p = assume div_by<16>, %x : tile<ptr<f32>>
    %t = make_tensor_view %p, shape = [64, 16], strides = [16, 1] : !rows
    %v = make_partition_view %t : !tiles
    %zero = constant <i32: 0> : tile<i32>
    %a, %k = load_view_tko weak %v[%zero, %zero]
      : !tiles, tile<i32> -> tile<2x16xf32>, token
    return
  }
  entry @scalar(%x: tile<ptr<f32>>) {
    return
  }
}
"""


def test_kernels_without_tiles_are_left_out() -> None:
    assert [name for name, _ in kernels(parse_module(PROGRAM, "rows"))] == ["rows"]


def test_tiles_grow_to_the_limit() -> None:
    ((_, module),) = kernels(parse_module(PROGRAM, "rows"))
    larger, scale = scaled(module, "rows")
    # 2·8 × 16·8 are 2,048 elements; 2·16 × 16·16 would be 8,192.
    assert scale == 8
    assert {tile.shape for tile in tiles(larger)} == {(16, 128)}


def test_alignments_and_hints_stay() -> None:
    ((_, module),) = kernels(parse_module(PROGRAM, "rows"))
    text = print_op(scaled(module, "rows")[0])
    assert "div_by<16>" in text
    assert "occupancy = 2" in text


def test_only_whole_numbers_among_the_extents_are_scaled() -> None:
    text = "tile<16x3xf16>, %16, i16, 0.16, 16.5, <i32: 16>, @k16, 160"
    assert scaled_text(text, {16}, 4) == (
        "tile<64x3xf16>, %16, i16, 0.16, 16.5, <i32: 64>, @k16, 160"
    )
