// Products the corpus has once or never: mmai with mixed signs, block-scaled products.
cuda_tile.module @kernels {
  entry @integer(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %va = make_tensor_view %a, shape = [16, 32], strides = [32, 1] : tensor_view<16x32xi8, strides=[32,1]>
    %vb = make_tensor_view %b, shape = [32, 16], strides = [16, 1] : tensor_view<32x16xi8, strides=[16,1]>
    %vc = make_tensor_view %c, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xi32, strides=[16,1]>
    %pa = make_partition_view %va : partition_view<tile=(16x32), tensor_view<16x32xi8, strides=[32,1]>>
    %pb = make_partition_view %vb : partition_view<tile=(32x16), tensor_view<32x16xi8, strides=[16,1]>>
    %pc = make_partition_view %vc : partition_view<tile=(16x16), tensor_view<16x16xi32, strides=[16,1]>>
    %x, %t0 = load_view_tko weak %pa[%zero, %zero] : partition_view<tile=(16x32), tensor_view<16x32xi8, strides=[32,1]>>, tile<i32> -> tile<16x32xi8>, token
    %y, %t1 = load_view_tko weak %pb[%zero, %zero] : partition_view<tile=(32x16), tensor_view<32x16xi8, strides=[16,1]>>, tile<i32> -> tile<32x16xi8>, token
    %init = constant <i32: 0> : tile<16x16xi32>
    %p = mmai %x, %y, %init signed unsigned : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
    %q = mmai %x, %y, %p unsigned signed : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
    %t2 = store_view_tko weak %q, %pc[%zero, %zero] : tile<16x16xi32>, partition_view<tile=(16x16), tensor_view<16x16xi32, strides=[16,1]>>, tile<i32> -> token
    return
  }
  entry @scaled(%out: tile<ptr<f32>>) {
    %a = constant <f8E5M2: 1.500000e+00> : tile<32x64xf8E5M2>
    %b = constant <f8E5M2: 2.500000e-01> : tile<64x32xf8E5M2>
    %c = constant <f32: 0.000000e+00> : tile<32x32xf32>
    %sa = constant <f8E8M0FNU: 2.000000e+00> : tile<32x2xf8E8M0FNU>
    %sb = constant <f8E8M0FNU: 5.000000e-01> : tile<2x32xf8E8M0FNU>
    %d = mmaf_scaled %a, %b, %c, %sa, %sb : tile<32x64xf8E5M2>, tile<64x32xf8E5M2>, tile<32x32xf32>, tile<32x2xf8E8M0FNU>, tile<2x32xf8E8M0FNU>
    %e = constant <f4E2M1FN: 6.000000e+00> : tile<32x64xf4E2M1FN>
    %f = constant <f4E2M1FN: -5.000000e-01> : tile<64x32xf4E2M1FN>
    %se = constant <f8E4M3FN: 1.000000e+00> : tile<32x4xf8E4M3FN>
    %sf = constant <f8E4M3FN: 1.000000e+00> : tile<4x32xf8E4M3FN>
    %g = mmaf_scaled %e, %f, %d, %se, %sf : tile<32x64xf4E2M1FN>, tile<64x32xf4E2M1FN>, tile<32x32xf32>, tile<32x4xf8E4M3FN>, tile<4x32xf8E4M3FN>
    return
  }
}
