// OPTIONS: --emit nvvm
cuda_tile.module @m {
  // REMARK warps: 8 warps: fragments and accumulators would take 260 registers of a thread of 4
  entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %a16 = assume div_by<16>, %a : tile<ptr<f16>>
    %b16 = assume div_by<16>, %b : tile<ptr<f16>>
    %c16 = assume div_by<16>, %c : tile<ptr<f16>>
    %n16 = assume div_by<16>, %n : tile<i32>
    %qt = make_tensor_view %a16, shape = [%n16, %n16], strides = [%n16, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %kt = make_tensor_view %b16, shape = [%n16, %n16], strides = [%n16, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %vt = make_tensor_view %c16, shape = [%n16, %n16], strides = [%n16, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %ot = make_tensor_view %out, shape = [16, 512], strides = [512, 1] : tensor_view<16x512xf32, strides=[512,1]>
    %qv = make_partition_view %qt : partition_view<tile=(16x512), tensor_view<?x?xf16, strides=[?,1]>>
    %kv = make_partition_view %kt : partition_view<tile=(512x32), tensor_view<?x?xf16, strides=[?,1]>>
    %vv = make_partition_view %vt : partition_view<tile=(32x512), tensor_view<?x?xf16, strides=[?,1]>>
    %ov = make_partition_view %ot : partition_view<tile=(16x512), tensor_view<16x512xf32, strides=[512,1]>>
    %q, %t0 = load_view_tko weak %qv[%zero, %zero] : partition_view<tile=(16x512), tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<16x512xf16>, token
    %none = constant <f32: 0.0> : tile<16x32xf32>
    %start = constant <f32: 0.0> : tile<16x512xf32>
    %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %start) -> (tile<16x512xf32>) {
      %k, %t1 = load_view_tko weak %kv[%zero, %i] : partition_view<tile=(512x32), tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<512x32xf16>, token
      %d = mmaf %q, %k, %none : tile<16x512xf16>, tile<512x32xf16>, tile<16x32xf32>
      %p = ftof %d : tile<16x32xf32> -> tile<16x32xf16>
      %v, %t2 = load_view_tko weak %vv[%i, %zero] : partition_view<tile=(32x512), tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<32x512xf16>, token
      %e = mmaf %p, %v, %acc : tile<16x32xf16>, tile<32x512xf16>, tile<16x512xf32>
      continue %e : tile<16x512xf32>
    }
    %t = store_view_tko weak %sum, %ov[%zero, %zero] : tile<16x512xf32>, partition_view<tile=(16x512), tensor_view<16x512xf32, strides=[512,1]>>, tile<i32> -> token
    return
  }
}
