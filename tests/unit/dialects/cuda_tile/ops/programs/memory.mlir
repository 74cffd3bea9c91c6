entry @pointers(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  %reshape = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast = broadcast %reshape : tile<1xptr<f32>> -> tile<16xptr<f32>>
  %0 = iota : tile<16xi32>
  %1 = offset %bcast, %0 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
  %true = constant <i1: true> : tile<16xi1>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16xf32>
  %cst_2_f32 = constant <f32: 2.000000e+00> : tile<f32>
  %2 = make_token : token
  %result, %result_token = load_ptr_tko weak %1 : tile<16xptr<f32>> -> tile<16xf32>, token
  %result_0, %result_token_1 = load_ptr_tko relaxed device %1, %true, %cst_0_f32 token=%2 optimization_hints = <sm_90 = {latency = 2}> : tile<16xptr<f32>>, tile<16xi1>, tile<16xf32> -> tile<16xf32>, token
  %result_2, %result_token_3 = load_ptr_tko acquire sys %1, %true token=%2 : tile<16xptr<f32>>, tile<16xi1> -> tile<16xf32>, token
  %result_4, %result_token_5 = load_ptr_tko weak %1, %cst_0_f32 token=%2 : tile<16xptr<f32>>, tile<16xf32> -> tile<16xf32>, token
  %3 = join_tokens %result_token, %result_token_1, %result_token_3, %result_token_5 : token
  %4 = store_ptr_tko weak %1, %result, %true token=%3 : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
  %5 = store_ptr_tko release tl_blk %1, %result_0 : tile<16xptr<f32>>, tile<16xf32> -> token
  %6 = store_ptr_tko relaxed device %arg0, %cst_2_f32 token=%5 optimization_hints = <default = {latency = 5}> : tile<ptr<f32>>, tile<f32> -> token
  %7 = alloca num_elem = 32, alignment = 16 : tile<ptr<f16>>
  %8 = alloca num_elem = 0, alignment = 8 global : tile<ptr<f64>>
  %9 = memory_fence_alias_tko %6
  %10 = gdc_wait_tko -> token
  %11 = gdc_wait_tko token = %9 -> token
  %12 = gdc_launch_dependents_tko token = %10 -> token
  %13 = gdc_launch_dependents_tko -> token
  return
}
