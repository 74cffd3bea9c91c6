// What a view knows of its own size: get_tensor_shape, get_index_space_shape; mulhii on the way.
cuda_tile.module @kernels {
  entry @shapes(%base: tile<ptr<f32>>, %rows: tile<i32>, %out: tile<ptr<i64>>) {
    %view = make_tensor_view %base, shape = [%rows, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    %m, %n = get_tensor_shape %view : tensor_view<?x64xf32, strides=[64,1]> -> tile<i64>
    %tiles = make_partition_view %view : partition_view<tile=(8x32), padding_value = zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>
    %i, %j = get_index_space_shape %tiles : partition_view<tile=(8x32), padding_value = zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]> -> tile<i64>
    %high = mulhii %m, %i : tile<i64>
    %low = muli %n, %j overflow<no_unsigned_wrap> : tile<i64>
    %sum = addi %high, %low : tile<i64>
    %t = store_ptr_tko weak %out, %sum : tile<ptr<i64>>, tile<i64> -> token
    return
  }
}
