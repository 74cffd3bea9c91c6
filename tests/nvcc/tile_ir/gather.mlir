// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z7permutePKfPKiPfS3_(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<f32>>, %arg3: tile<ptr<f32>>) {
  %0 = iota : tile<128xi32>
  %reshape = reshape %0 : tile<128xi32> -> tile<128xi32>
  %reshape_0 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast = broadcast %reshape_0 : tile<1xptr<i32>> -> tile<128xptr<i32>>
  %1 = exti %reshape signed : tile<128xi32> -> tile<128xi64>
  %2 = offset %bcast, %1 : tile<128xptr<i32>>, tile<128xi64> -> tile<128xptr<i32>>
  %result, %result_token = load_ptr_tko weak %2 : tile<128xptr<i32>> -> tile<128xi32>, token
  %reshape_1 = reshape %arg2 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_2 = broadcast %reshape_1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %3 = offset %bcast_2, %1 : tile<128xptr<f32>>, tile<128xi64> -> tile<128xptr<f32>>
  %reshape_3 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_4 = broadcast %reshape_3 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %4 = exti %result signed : tile<128xi32> -> tile<128xi64>
  %5 = offset %bcast_4, %4 : tile<128xptr<f32>>, tile<128xi64> -> tile<128xptr<f32>>
  %result_5, %result_token_6 = load_ptr_tko weak %5 : tile<128xptr<f32>> -> tile<128xf32>, token
  %6 = join_tokens %result_token_6, %result_token : token
  %7 = store_ptr_tko weak %3, %result_5 token=%6 : tile<128xptr<f32>>, tile<128xf32> -> token
  %reshape_7 = reshape %arg3 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_8 = broadcast %reshape_7 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %8 = offset %bcast_8, %4 : tile<128xptr<f32>>, tile<128xi64> -> tile<128xptr<f32>>
  %9 = offset %bcast_4, %1 : tile<128xptr<f32>>, tile<128xi64> -> tile<128xptr<f32>>
  %result_9, %result_token_10 = load_ptr_tko weak %9 token=%7 : tile<128xptr<f32>> -> tile<128xf32>, token
  %10 = store_ptr_tko weak %8, %result_9 token=%result_token_10 : tile<128xptr<f32>>, tile<128xf32> -> token
  return
}
entry @_Z4rowsPKfPKiPfi(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>) {
  %cst_0_i8 = constant <i8: 0> : tile<8xi8>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = iota : tile<8xi32>
  %reshape = reshape %0 : tile<8xi32> -> tile<8xi32>
  %reshape_0 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast = broadcast %reshape_0 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %1 = exti %reshape signed : tile<8xi32> -> tile<8xi64>
  %2 = offset %bcast, %1 : tile<8xptr<i32>>, tile<8xi64> -> tile<8xptr<i32>>
  %reshape_1 = reshape %arg3 : tile<i32> -> tile<1xi32>
  %bcast_2 = broadcast %reshape_1 : tile<1xi32> -> tile<8xi32>
  %3 = cmpi less_than %reshape, %bcast_2, signed : tile<8xi32> -> tile<8xi1>
  %4 = exti %3 unsigned : tile<8xi1> -> tile<8xi8>
  %5 = cmpi not_equal %4, %cst_0_i8, signed : tile<8xi8> -> tile<8xi1>
  %reshape_3 = reshape %cst_0_i32 : tile<i32> -> tile<1xi32>
  %bcast_4 = broadcast %reshape_3 : tile<1xi32> -> tile<8xi32>
  %result, %result_token = load_ptr_tko weak %2, %5, %bcast_4 : tile<8xptr<i32>>, tile<8xi1>, tile<8xi32> -> tile<8xi32>, token
  %tview = make_tensor_view %arg2, shape = [8, 16], strides = [16, 1] : tensor_view<8x16xf32, strides=[16,1]>
  %pview = make_partition_view %tview : partition_view<tile=(8x16), tensor_view<8x16xf32, strides=[16,1]>>
  %tview_5 = make_tensor_view %arg0, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
  %gsview = make_gather_scatter_view %tview_5 : gather_scatter_view<tile=(8x16), tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0>
  %tile, %result_token_6 = load_view_tko weak %gsview[%result, %cst_0_i32] : gather_scatter_view<tile=(8x16), tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0>, tile<8xi32>, tile<i32> -> tile<8x16xf32>, token
  %6 = join_tokens %result_token_6, %result_token : token
  %7 = store_view_tko weak %tile, %pview[%cst_0_i32, %cst_0_i32] token = %6 : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<8x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
