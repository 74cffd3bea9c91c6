// y = xᵀ with ragged edges: by permuting a tile, and by a view that reads its dimensions in another order.
// RUN @permuted grid=3x2
// ARG x = random:40x24xf16:1
// ARG y = zeros:24x40xf16
// EXPECT y = x.T
// RUN @mapped grid=3x2
// ARG x = random:40x24xf16:1
// ARG y = zeros:24x40xf16
// EXPECT y = x.T
!x = !cuda_tile.tensor_view<40x24xf16, strides=[24,1]>
!xv = !cuda_tile.partition_view<tile=(16x16), tensor_view<40x24xf16, strides=[24,1]>>
!y = !cuda_tile.tensor_view<24x40xf16, strides=[40,1]>
!yv = !cuda_tile.partition_view<tile=(16x16), tensor_view<24x40xf16, strides=[40,1]>>
!xm = !cuda_tile.partition_view<tile=(16x16), tensor_view<40x24xf16, strides=[24,1]>, dim_map=[1, 0]>
cuda_tile.module @kernels {
  entry @permuted(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [40, 24], strides = [24, 1] : !x
    %xv = make_partition_view %xt : !xv
    %yt = make_tensor_view %y, shape = [24, 40], strides = [40, 1] : !y
    %yv = make_partition_view %yt : !yv
    %tile, %t0 = load_view_tko weak %xv[%i, %j] : !xv, tile<i32> -> tile<16x16xf16>, token
    %turned = permute %tile [1, 0] : tile<16x16xf16> -> tile<16x16xf16>
    %t1 = store_view_tko weak %turned, %yv[%j, %i] : tile<16x16xf16>, !yv, tile<i32> -> token
    return
  }
  entry @mapped(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [40, 24], strides = [24, 1] : !x
    %xv = make_partition_view %xt : !xm
    %yt = make_tensor_view %y, shape = [24, 40], strides = [40, 1] : !y
    %yv = make_partition_view %yt : !yv
    %turned, %t0 = load_view_tko weak %xv[%j, %i] : !xm, tile<i32> -> tile<16x16xf16>, token
    %t1 = store_view_tko weak %turned, %yv[%j, %i] : tile<16x16xf16>, !yv, tile<i32> -> token
    return
  }
}
