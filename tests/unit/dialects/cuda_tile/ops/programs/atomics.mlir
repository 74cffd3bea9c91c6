entry @atomics(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<i64>>, %arg2: tile<i32>, %arg3: tile<i64>, %arg4: tile<f32>, %arg5: tile<i1>) {
  %0 = make_token : token
  %result, %result_token = atomic_cas_tko acq_rel sys %arg0, %arg4, %arg4, %arg5 token=%0 : tile<ptr<f32>>, tile<f32>, tile<i1> -> tile<f32>, token
  %result_0, %result_token_1 = atomic_cas_tko relaxed tl_blk %arg1, %arg3, %arg3 : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
  %result_2, %result_token_3 = atomic_rmw_tko relaxed device %arg0, addf, %arg4 token=%0 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  %result_4, %result_token_5 = atomic_rmw_tko acquire device %arg1, umax, %arg3, %arg5 token=%result_token_1 : tile<ptr<i64>>, tile<i64>, tile<i1> -> tile<i64>, token
  %result_6, %result_token_7 = atomic_rmw_tko release sys %arg1, and, %arg3 : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
  %result_8, %result_token_9 = atomic_rmw_tko relaxed device %arg1, or, %arg3 : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
  %result_10, %result_token_11 = atomic_rmw_tko relaxed device %arg1, xor, %arg3 : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
  %result_12, %result_token_13 = atomic_rmw_tko relaxed device %arg1, add, %arg3 : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
  %result_14, %result_token_15 = atomic_rmw_tko relaxed device %arg1, max, %arg3 : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
  %result_16, %result_token_17 = atomic_rmw_tko relaxed device %arg1, min, %arg3 : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
  %result_18, %result_token_19 = atomic_rmw_tko relaxed device %arg1, umin, %arg3 : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
  %result_20, %result_token_21 = atomic_rmw_tko relaxed device %arg0, xchg, %arg4 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  %tview = make_tensor_view %arg0, shape = [%arg2, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
  %pview = make_partition_view %tview : partition_view<tile=(8x64), tensor_view<?x64xf32, strides=[64,1]>>
  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<8x64xf32>
  %1 = atomic_red_view_tko relaxed device %pview[%arg2, %arg2], addf, %cst_1_f32 token = %0 : tile<8x64xf32>, partition_view<tile=(8x64), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> token
  %sview = make_strided_view %tview : strided_view<tile=(8x64), traversal_strides=[4,64], tensor_view<?x64xf32, strides=[64,1]>>
  %2 = atomic_red_view_tko relaxed tl_blk %sview[%arg2, %arg3], addf, %cst_1_f32 : tile<8x64xf32>, strided_view<tile=(8x64), traversal_strides=[4,64], tensor_view<?x64xf32, strides=[64,1]>>, tile<i32>, tile<i64> -> token
  return
}
