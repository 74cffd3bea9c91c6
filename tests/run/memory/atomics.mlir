// Atomics of many elements on few addresses: a histogram, and the old values of a counter.
// RUN @histogram grid=8
// ARG x : i32 = np.random.default_rng(1).integers(0, 10, 512)
// ARG bins = zeros:10xi32
// EXPECT bins = np.bincount(x, minlength=10)
// RUN @tickets grid=4
// ARG counter = zeros:1xi32
// ARG taken = zeros:256xi32
// EXPECT counter = 256
// EXPECT taken = 1
// RUN @largest grid=4
// ARG x = random:256xi64:3
// ARG out : i64 = np.array([np.iinfo(np.int64).min, 0])
// EXPECT out = np.array([x.max(), x.view(np.uint64).max().astype(np.int64)])
cuda_tile.module @kernels {
  entry @histogram(%x: tile<ptr<i32>>, %bins: tile<ptr<i32>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [512], strides = [1] : tensor_view<512xi32, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(64), tensor_view<512xi32, strides=[1]>>
    %which, %t0 = load_view_tko weak %xv[%b] : partition_view<tile=(64), tensor_view<512xi32, strides=[1]>>, tile<i32> -> tile<64xi32>, token
    %row = reshape %bins : tile<ptr<i32>> -> tile<1xptr<i32>>
    %all = broadcast %row : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %p = offset %all, %which : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %one = constant <i32: 1> : tile<64xi32>
    %old, %t1 = atomic_rmw_tko relaxed device %p, add, %one : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
    return
  }
  // Every element of every block takes the next ticket, and marks it.
  entry @tickets(%counter: tile<ptr<i32>>, %taken: tile<ptr<i32>>) {
    %row = reshape %counter : tile<ptr<i32>> -> tile<1xptr<i32>>
    %all = broadcast %row : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %one = constant <i32: 1> : tile<64xi32>
    %ticket, %t0 = atomic_rmw_tko relaxed device %all, add, %one : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
    %trow = reshape %taken : tile<ptr<i32>> -> tile<1xptr<i32>>
    %tall = broadcast %trow : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %p = offset %tall, %ticket : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %old, %t1 = atomic_rmw_tko relaxed device %p, add, %one : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
    return
  }
  entry @largest(%x: tile<ptr<i64>>, %out: tile<ptr<i64>>) {
    %b, %y, %z = get_tile_block_id : tile<i32>
    %xt = make_tensor_view %x, shape = [256], strides = [1] : tensor_view<256xi64, strides=[1]>
    %xv = make_partition_view %xt : partition_view<tile=(64), tensor_view<256xi64, strides=[1]>>
    %value, %t0 = load_view_tko weak %xv[%b] : partition_view<tile=(64), tensor_view<256xi64, strides=[1]>>, tile<i32> -> tile<64xi64>, token
    %one = constant <i32: 1> : tile<i32>
    %next = offset %out, %one : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
    %r0 = reshape %out : tile<ptr<i64>> -> tile<1xptr<i64>>
    %p0 = broadcast %r0 : tile<1xptr<i64>> -> tile<64xptr<i64>>
    %r1 = reshape %next : tile<ptr<i64>> -> tile<1xptr<i64>>
    %p1 = broadcast %r1 : tile<1xptr<i64>> -> tile<64xptr<i64>>
    %o0, %t1 = atomic_rmw_tko relaxed device %p0, max, %value : tile<64xptr<i64>>, tile<64xi64> -> tile<64xi64>, token
    %o1, %t2 = atomic_rmw_tko relaxed device %p1, umax, %value : tile<64xptr<i64>>, tile<64xi64> -> tile<64xi64>, token
    return
  }
}
