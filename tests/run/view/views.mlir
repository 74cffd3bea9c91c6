// Views: strides and dimension maps, padding, overlapping tiles, rows picked by index.
// RUN @transposed grid=2
// ARG x = iota:8x16xi32
// ARG out = zeros:16x8xi32
// EXPECT out = x.T
// RUN @padded grid=2
// ARG x = iota:5xf32
// ARG out = zeros:8xf32
// EXPECT out = np.array([0, 1, 2, 3, 4, -np.inf, -np.inf, -np.inf])
// RUN @overlapping grid=4
// ARG x = iota:10xi32
// ARG out = zeros:4x4xi32
// EXPECT out = np.array([[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9], [9, 0, 0, 0]])
// RUN @gathered
// ARG x = iota:8x4xi32
// ARG rows : i32 = np.array([6, 0, 9, 3])
// ARG out = zeros:8x4xi32
// EXPECT out = np.array([[24, 25, 26, 27], [0, 1, 2, 3], [-0, 0, 0, 0], [12, 13, 14, 15]] + [[0] * 4] * 4)
cuda_tile.module @kernels {
  entry @transposed(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %xt = make_tensor_view %x, shape = [8, 16], strides = [16, 1] : tensor_view<8x16xi32, strides=[16,1]>
    %ot = make_tensor_view %out, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xi32, strides=[8,1]>
    %xv = make_partition_view %xt : partition_view<tile=(8x8), tensor_view<8x16xi32, strides=[16,1]>, dim_map=[1, 0]>
    %ov = make_partition_view %ot : partition_view<tile=(8x8), tensor_view<16x8xi32, strides=[8,1]>>
    %t, %t0 = load_view_tko weak %xv[%b, %zero] : partition_view<tile=(8x8), tensor_view<8x16xi32, strides=[16,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x8xi32>, token
    %t1 = store_view_tko weak %t, %ov[%b, %zero] : tile<8x8xi32>, partition_view<tile=(8x8), tensor_view<16x8xi32, strides=[8,1]>>, tile<i32> -> token
    return
  }
  entry @padded(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %five = constant <i32: 5> : tile<i32>
    %xt = make_tensor_view %x, shape = [%five], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %ot = make_tensor_view %out, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(4), padding_value = neg_inf, tensor_view<?xf32, strides=[1]>>
    %ov = make_partition_view %ot : partition_view<tile=(4), tensor_view<8xf32, strides=[1]>>
    %t, %t0 = load_view_tko weak %xv[%b] : partition_view<tile=(4), padding_value = neg_inf, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
    %t1 = store_view_tko weak %t, %ov[%b] : tile<4xf32>, partition_view<tile=(4), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token
    return
  }
  entry @overlapping(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [10], strides = [1] : tensor_view<10xi32, strides=[1]>
    %ot = make_tensor_view %out, shape = [16], strides = [1] : tensor_view<16xi32, strides=[1]>
    %xv = make_strided_view %xt : strided_view<tile=(4), traversal_strides=[3], padding_value = zero, tensor_view<10xi32, strides=[1]>>
    %ov = make_partition_view %ot : partition_view<tile=(4), tensor_view<16xi32, strides=[1]>>
    %t, %t0 = load_view_tko weak %xv[%b] : strided_view<tile=(4), traversal_strides=[3], padding_value = zero, tensor_view<10xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %t1 = store_view_tko weak %t, %ov[%b] : tile<4xi32>, partition_view<tile=(4), tensor_view<16xi32, strides=[1]>>, tile<i32> -> token
    return
  }
  // Row 9 does not exist.
  entry @gathered(%x: tile<ptr<i32>>, %rows: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %rt = make_tensor_view %rows, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %rv = make_partition_view %rt : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %which, %t0 = load_view_tko weak %rv[%zero] : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
    %xt = make_tensor_view %x, shape = [8, 4], strides = [4, 1] : tensor_view<8x4xi32, strides=[4,1]>
    %xv = make_gather_scatter_view %xt : gather_scatter_view<tile=(4x4), padding_value = zero, tensor_view<8x4xi32, strides=[4,1]>, sparse_dim=0>
    %t, %t1 = load_view_tko weak %xv[%which, %zero] : gather_scatter_view<tile=(4x4), padding_value = zero, tensor_view<8x4xi32, strides=[4,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x4xi32>, token
    %ot = make_tensor_view %out, shape = [8, 4], strides = [4, 1] : tensor_view<8x4xi32, strides=[4,1]>
    %ov = make_partition_view %ot : partition_view<tile=(4x4), tensor_view<8x4xi32, strides=[4,1]>>
    %t2 = store_view_tko weak %t, %ov[%zero, %zero] : tile<4x4xi32>, partition_view<tile=(4x4), tensor_view<8x4xi32, strides=[4,1]>>, tile<i32> -> token
    return
  }
}
