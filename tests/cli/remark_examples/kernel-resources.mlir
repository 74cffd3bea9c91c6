// OPTIONS: --emit cubin
cuda_tile.module @m {
  // REMARK kernel-resources: Kernel of
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %stride: tile<i32>) {
    %i, %j, %l = get_tile_block_id : tile<i32>
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %q16 = assume div_by<16>, %q : tile<ptr<f32>>
    %s = assume div_by<16>, %stride : tile<i32>
    %c = assume div_by<16>, %n : tile<i32>
    %x = make_tensor_view %p16, shape = [%m, %c], strides = [%s, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %xv = make_partition_view %x : partition_view<tile=(64x64), tensor_view<?x?xf32, strides=[?,1]>>
    %y = make_tensor_view %q16, shape = [%m, %c], strides = [%s, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %yv = make_partition_view %y : partition_view<tile=(64x64), tensor_view<?x?xf32, strides=[?,1]>>
    %a, %t = load_view_tko weak %xv[%i, %j] : partition_view<tile=(64x64), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<64x64xf32>, token
    %u = store_view_tko weak %a, %yv[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    return
  }
}
