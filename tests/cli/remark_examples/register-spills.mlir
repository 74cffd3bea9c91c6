// OPTIONS: --emit cubin
cuda_tile.module @m {
  // REMARK register-spills: Registers spilled to local memory
  entry @k(%p: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>) optimization_hints=<sm_90 = {occupancy = 2}> {
    %i, %j, %l = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %c4 = constant <i32: 4> : tile<i32>
    %c5 = constant <i32: 5> : tile<i32>
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %n16 = assume div_by<16>, %n : tile<i32>
    %x = make_tensor_view %p16, shape = [%m, %n16], strides = [%n16, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %xv = make_partition_view %x : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>
    %a0, %t0 = load_view_tko weak %xv[%i, %c0] : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<128x128xf32>, token
    %a1, %t1 = load_view_tko weak %xv[%i, %c1] : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<128x128xf32>, token
    %a2, %t2 = load_view_tko weak %xv[%i, %c2] : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<128x128xf32>, token
    %a3, %t3 = load_view_tko weak %xv[%i, %c3] : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<128x128xf32>, token
    %a4, %t4 = load_view_tko weak %xv[%i, %c4] : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<128x128xf32>, token
    %a5, %t5 = load_view_tko weak %xv[%i, %c5] : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<128x128xf32>, token
    %all = join_tokens %t0, %t1, %t2, %t3, %t4, %t5 : token
    %u0 = store_view_tko weak %a0, %xv[%i, %c5] token = %all : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    %u1 = store_view_tko weak %a1, %xv[%i, %c4] token = %all : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    %u2 = store_view_tko weak %a2, %xv[%i, %c3] token = %all : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    %u3 = store_view_tko weak %a3, %xv[%i, %c2] token = %all : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    %u4 = store_view_tko weak %a4, %xv[%i, %c1] token = %all : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    %u5 = store_view_tko weak %a5, %xv[%i, %c0] token = %all : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    return
  }
}
