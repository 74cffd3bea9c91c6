// The sums of segments: a scan of flags and values, whose body selects. LLVM 22 ends on such scans of 1024 elements if a part of a column is a shuffle of one element.
// RUN @segments
// ARG starts : i32 = np.random.default_rng(1).integers(0, 9, 1024) // 8
// ARG x = small:1024xi32:2
// ARG out = zeros:1024xi32
// EXPECT out = np.concatenate([np.cumsum(part) for part in np.split(x, np.flatnonzero(starts))])
cuda_tile.module @kernels {
  entry @segments(%starts: tile<ptr<i32>>, %x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %ss = make_tensor_view %starts, shape = [1024], strides = [1] : tensor_view<1024xi32, strides=[1]>
    %xs = make_tensor_view %x, shape = [1024], strides = [1] : tensor_view<1024xi32, strides=[1]>
    %os = make_tensor_view %out, shape = [1024], strides = [1] : tensor_view<1024xi32, strides=[1]>
    %sv = make_partition_view %ss : partition_view<tile=(1024), tensor_view<1024xi32, strides=[1]>>
    %xv = make_partition_view %xs : partition_view<tile=(1024), tensor_view<1024xi32, strides=[1]>>
    %ov = make_partition_view %os : partition_view<tile=(1024), tensor_view<1024xi32, strides=[1]>>
    %s, %k = load_view_tko weak %sv[%zero] : partition_view<tile=(1024), tensor_view<1024xi32, strides=[1]>> -> tile<1024xi32>, token
    %t, %k1 = load_view_tko weak %xv[%zero] : partition_view<tile=(1024), tensor_view<1024xi32, strides=[1]>> -> tile<1024xi32>, token
    %r:2 = scan %s, %t dim=0 reverse=false identities=[0 : i32, 0 : i32] : tile<1024xi32>, tile<1024xi32> -> tile<1024xi32>, tile<1024xi32>
    (%flag: tile<i32>, %later: tile<i32>, %value: tile<i32>, %next: tile<i32>) {
      %none = constant <i32: 0> : tile<i32>
      %either = ori %flag, %later : tile<i32>
      %starts_here = cmpi not_equal %later, %none, signed : tile<i32> -> tile<i1>
      %both = addi %value, %next : tile<i32>
      %sum = select %starts_here, %next, %both : tile<i1>, tile<i32>
      yield %either, %sum : tile<i32>, tile<i32>
    }
    %k2 = store_view_tko weak %r#1, %ov[%zero] : tile<1024xi32>, partition_view<tile=(1024), tensor_view<1024xi32, strides=[1]>> -> token
    return
  }
}
