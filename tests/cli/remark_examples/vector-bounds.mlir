// OPTIONS: --emit nvvm
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %stride: tile<i32>) {
    %i, %j, %l = get_tile_block_id : tile<i32>
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %q16 = assume div_by<16>, %q : tile<ptr<f32>>
    %s16 = assume div_by<16>, %stride : tile<i32>
    %x = make_tensor_view %p16, shape = [%m, %n], strides = [%s16, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %xv = make_strided_view %x : strided_view<tile=(16x256), traversal_strides=[16,96], tensor_view<?x?xf32, strides=[?,1]>>
    %y = make_tensor_view %q16, shape = [%m, %n], strides = [%s16, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %yv = make_partition_view %y : partition_view<tile=(16x256), tensor_view<?x?xf32, strides=[?,1]>>
    // REMARK vector-bounds: Load of 4 bytes at a time instead of 16: the extent of dimension 1 is not known to be a multiple of 4
    %a, %t = load_view_tko weak %xv[%i, %j] : strided_view<tile=(16x256), traversal_strides=[16,96], tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x256xf32>, token
    %u = store_view_tko weak %a, %yv[%i, %j] : tile<16x256xf32>, partition_view<tile=(16x256), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    return
  }
}
