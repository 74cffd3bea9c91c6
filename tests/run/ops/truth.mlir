// Floats as i1: whether they are other than zero, NaN included, for every size of float.
// RUN @truth
// ARG x : f32 = np.array([0, -0.0, 0.25, -0.25, 1, 3, np.nan, np.inf] * 8)
// ARG h : f16 = np.array([0, -0.0, 2.0**-24, -0.5, 1, 2, np.nan, np.inf] * 8)
// ARG f32_truth = zeros:64xi1
// ARG f16_truth = zeros:64xi1
// ARG f16_clipped = zeros:64xi1
// EXPECT f32_truth = np.array([0, 0, 1, 1, 1, 1, 1, 1] * 8).astype(bool)
// EXPECT f16_truth = np.array([0, 0, 1, 1, 1, 1, 1, 1] * 8).astype(bool)
// EXPECT f16_clipped = np.array([0, 0, 0, 0, 1, 1, 0, 1] * 8).astype(bool)
!f32_64 = !cuda_tile.tensor_view<64xf32, strides=[1]>
!f32_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
!f16_64 = !cuda_tile.tensor_view<64xf16, strides=[1]>
!f16_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xf16, strides=[1]>>
!i1_64 = !cuda_tile.tensor_view<64xi1, strides=[1]>
!i1_64_tile = !cuda_tile.partition_view<tile=(64), tensor_view<64xi1, strides=[1]>>
cuda_tile.module @kernels {
  entry @truth(%x_ptr: tile<ptr<f32>>, %h_ptr: tile<ptr<f16>>, %f32_truth_ptr: tile<ptr<i1>>, %f16_truth_ptr: tile<ptr<i1>>, %f16_clipped_ptr: tile<ptr<i1>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x_tensor = make_tensor_view %x_ptr, shape = [64], strides = [1] : !f32_64
    %x_view = make_partition_view %x_tensor : !f32_64_tile
    %x, %x_read = load_view_tko weak %x_view[%zero] : !f32_64_tile, tile<i32> -> tile<64xf32>, token
    %h_tensor = make_tensor_view %h_ptr, shape = [64], strides = [1] : !f16_64
    %h_view = make_partition_view %h_tensor : !f16_64_tile
    %h, %h_read = load_view_tko weak %h_view[%zero] : !f16_64_tile, tile<i32> -> tile<64xf16>, token
    %f32_truth = ftoi %x unsigned : tile<64xf32> -> tile<64xi1>
    %f16_truth = ftoi %h signed : tile<64xf16> -> tile<64xi1>
    %f16_clipped = ftoi %h unsigned saturating : tile<64xf16> -> tile<64xi1>
    %f32_truth_tensor = make_tensor_view %f32_truth_ptr, shape = [64], strides = [1] : !i1_64
    %f32_truth_view = make_partition_view %f32_truth_tensor : !i1_64_tile
    %f32_truth_written = store_view_tko weak %f32_truth, %f32_truth_view[%zero] : tile<64xi1>, !i1_64_tile, tile<i32> -> token
    %f16_truth_tensor = make_tensor_view %f16_truth_ptr, shape = [64], strides = [1] : !i1_64
    %f16_truth_view = make_partition_view %f16_truth_tensor : !i1_64_tile
    %f16_truth_written = store_view_tko weak %f16_truth, %f16_truth_view[%zero] : tile<64xi1>, !i1_64_tile, tile<i32> -> token
    %f16_clipped_tensor = make_tensor_view %f16_clipped_ptr, shape = [64], strides = [1] : !i1_64
    %f16_clipped_view = make_partition_view %f16_clipped_tensor : !i1_64_tile
    %f16_clipped_written = store_view_tko weak %f16_clipped, %f16_clipped_view[%zero] : tile<64xi1>, !i1_64_tile, tile<i32> -> token
    return
  }
}
