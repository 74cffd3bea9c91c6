// A kernel that asserts that its input is not negative, and computes square roots.
// RUN grid=4
// ARG x : f32 = np.arange(32.0) ** 2
// ARG y = zeros:32xf32
// EXPECT y = np.arange(32)
// RUN grid=4
// ARG x : f32 = np.arange(32.0) - 3
// ARG y = zeros:32xf32
// FAILS assertion at CHECK : negative input
!x = !cuda_tile.tensor_view<32xf32, strides=[1]>
!xv = !cuda_tile.partition_view<tile=(8), tensor_view<32xf32, strides=[1]>>
cuda_tile.module @kernels {
  entry @roots(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %i, %j, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [32], strides = [1] : !x
    %xv = make_partition_view %xt : !xv
    %yt = make_tensor_view %y, shape = [32], strides = [1] : !x
    %yv = make_partition_view %yt : !xv
    %part, %t0 = load_view_tko weak %xv[%i] : !xv, tile<i32> -> tile<8xf32>, token
    %zero = constant <f32: 0.0> : tile<8xf32>
    %fine = cmpf greater_than_or_equal ordered %part, %zero : tile<8xf32> -> tile<8xi1>
    assert %fine, "negative input" : tile<8xi1> // CHECK
    %roots = sqrt %part : tile<8xf32>
    %t1 = store_view_tko weak %roots, %yv[%i] : tile<8xf32>, !xv, tile<i32> -> token
    return
  }
}
