// Out-of-bounds tiles of 4-bit elements.
// RUN @outside grid=3
// ARG x = zeros:4x8xi8
// ARG unused = zeros:4x8xi8
// ONLY checked
// FAILS index at OUTSIDE : expected the tile index of argument 0 along dimension 1 to be at least 0 and below 2, got 2
// RUN @outside grid=2
// ARG x = zeros:4x8xi8
// ARG unused = zeros:4x8xi8
// RUN @promised
// ARG x = zeros:4x8xi8
// ARG n = 14
// ONLY checked
// FAILS assumption at PROMISED : is declared in bounds, but is not in dimension 1
// RUN @promised
// ARG x = zeros:4x8xi8
// ARG n = 16
!whole = !cuda_tile.tensor_view<4x16xf4E2M1FN, strides=[16,1]>
!tiles = !cuda_tile.partition_view<tile=(4x8), tensor_view<4x16xf4E2M1FN, strides=[16,1]>>
!open = !cuda_tile.tensor_view<4x?xf4E2M1FN, strides=[16,1]>
!wide = !cuda_tile.partition_view<tile=(4x16), tensor_view<4x?xf4E2M1FN, strides=[16,1]>>
cuda_tile.module @kernels {
  entry @outside(%x: tile<ptr<f4E2M1FN>>, %unused: tile<ptr<i8>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <f4E2M1FN: 1.0> : tile<4x8xf4E2M1FN>
    %xt = make_tensor_view %x, shape = [4, 16], strides = [16, 1] : !whole
    %xv = make_partition_view %xt : !tiles
    %t = store_view_tko weak %one, %xv[%zero, %b] : tile<4x8xf4E2M1FN>, !tiles, tile<i32> -> token // OUTSIDE
    return
  }
  entry @promised(%x: tile<ptr<f4E2M1FN>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <f4E2M1FN: 1.0> : tile<4x16xf4E2M1FN>
    %size = assume div_by<2>, %n : tile<i32>
    %xt = make_tensor_view %x, shape = [4, %size], strides = [16, 1] : tile<i32> -> !open
    %xv = make_partition_view %xt : !wide
    %t = store_view_tko weak %one, %xv[%zero, %zero] inbounds = [true, true] : tile<4x16xf4E2M1FN>, !wide, tile<i32> -> token // PROMISED
    return
  }
}
