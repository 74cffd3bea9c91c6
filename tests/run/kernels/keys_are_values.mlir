// Two dots by mma.sync that take one tile in different ways: transposed, and as it is.
// RUN @keys_are_values
// ARG q = small:16x16xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:16x16xf32
// ARG n = 5
// EXPECT c = np.float64(q) @ np.float64(b).T @ np.float64(b)
// RUN @keys_are_values
// ARG q = small:16x16xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:16x16xf32
// ARG n = 1
// EXPECT c = np.float64(q) @ np.float64(b)[:64].T @ np.float64(b)[:64]
// RUN @keys_are_values
// ARG q = small:16x16xf16:1
// ARG b = small:272x16xf16:2
// ARG c = ones:16x16xf32
// ARG n = 0
// EXPECT c = np.zeros((16, 16))
!q = !cuda_tile.tensor_view<16x16xf16, strides=[16,1]>
!qv = !cuda_tile.partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>
!b = !cuda_tile.tensor_view<272x16xf16, strides=[16,1]>
!bv = !cuda_tile.partition_view<tile=(64x16), padding_value = zero, tensor_view<272x16xf16, strides=[16,1]>>
!c = !cuda_tile.tensor_view<16x16xf32, strides=[16,1]>
!cv = !cuda_tile.partition_view<tile=(16x16), tensor_view<16x16xf32, strides=[16,1]>>
cuda_tile.module @kernels {
  entry @keys_are_values(%qp: tile<ptr<f16>>, %bp: tile<ptr<f16>>, %cp: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %init = constant <f32: 0.0> : tile<16x16xf32>
    %none = constant <f32: 0.0> : tile<16x64xf32>
    %q16 = assume div_by<16>, %qp : tile<ptr<f16>>
    %b16 = assume div_by<16>, %bp : tile<ptr<f16>>
    %qt = make_tensor_view %q16, shape = [16, 16], strides = [16, 1] : !q
    %qs = make_partition_view %qt : !qv
    %bt = make_tensor_view %b16, shape = [272, 16], strides = [16, 1] : !b
    %bs = make_partition_view %bt : !bv
    %ct = make_tensor_view %cp, shape = [16, 16], strides = [16, 1] : !c
    %cs = make_partition_view %ct : !cv
    %query, %t0 = load_view_tko weak %qs[%zero, %zero] : !qv, tile<i32> -> tile<16x16xf16>, token
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %init) -> (tile<16x16xf32>) {
      %value, %t1 = load_view_tko weak %bs[%k, %zero] : !bv, tile<i32> -> tile<64x16xf16>, token
      %key = permute %value [1, 0] : tile<64x16xf16> -> tile<16x64xf16>
      %scores = mmaf %query, %key, %none : tile<16x16xf16>, tile<16x64xf16>, tile<16x64xf32>
      %p = ftof %scores rounding<nearest_even> : tile<16x64xf32> -> tile<16x64xf16>
      %next = mmaf %p, %value, %acc : tile<16x64xf16>, tile<64x16xf16>, tile<16x16xf32>
      continue %next : tile<16x16xf32>
    }
    %t = store_view_tko weak %sum, %cs[%zero, %zero] : tile<16x16xf32>, !cv, tile<i32> -> token
    return
  }
}
