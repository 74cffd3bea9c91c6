// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z4axpyPKfPffi(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<f32>, %arg3: tile<i32>) {
  %cst_64_i32 = constant <i32: 64> : tile<i32>
  %cst_0_i8 = constant <i8: 0> : tile<64xi8>
  %0 = iota : tile<64xi32>
  %reshape = reshape %0 : tile<64xi32> -> tile<64xi32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = muli %blockId_x, %cst_64_i32 overflow<no_signed_wrap> : tile<i32>
  %reshape_0 = reshape %1 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape_0 : tile<1xi32> -> tile<64xi32>
  %2 = addi %reshape, %bcast overflow<no_signed_wrap> : tile<64xi32>
  %reshape_1 = reshape %arg3 : tile<i32> -> tile<1xi32>
  %bcast_2 = broadcast %reshape_1 : tile<1xi32> -> tile<64xi32>
  %3 = cmpi less_than %2, %bcast_2, signed : tile<64xi32> -> tile<64xi1>
  %4 = exti %3 unsigned : tile<64xi1> -> tile<64xi8>
  %reshape_3 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_4 = broadcast %reshape_3 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %5 = exti %2 signed : tile<64xi32> -> tile<64xi64>
  %6 = offset %bcast_4, %5 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
  %7 = cmpi not_equal %4, %cst_0_i8, signed : tile<64xi8> -> tile<64xi1>
  %result, %result_token = load_ptr_tko weak %6, %7 : tile<64xptr<f32>>, tile<64xi1> -> tile<64xf32>, token
  %reshape_5 = reshape %arg2 : tile<f32> -> tile<1xf32>
  %bcast_6 = broadcast %reshape_5 : tile<1xf32> -> tile<64xf32>
  %reshape_7 = reshape %arg1 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_8 = broadcast %reshape_7 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %8 = offset %bcast_8, %5 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
  %result_9, %result_token_10 = load_ptr_tko weak %8, %7 : tile<64xptr<f32>>, tile<64xi1> -> tile<64xf32>, token
  %9 = fma %bcast_6, %result, %result_9  : tile<64xf32>
  %10 = join_tokens %result_token_10, %result_token : token
  %11 = store_ptr_tko weak %8, %9, %7 token=%10 : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
  return
}
entry @_Z9functionsPKfPfi(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>) {
  %cst_64_i32 = constant <i32: 64> : tile<i32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<f32>
  %cst_0_i8 = constant <i8: 0> : tile<64xi8>
  %0 = iota : tile<64xi32>
  %reshape = reshape %0 : tile<64xi32> -> tile<64xi32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = muli %blockId_x, %cst_64_i32 overflow<no_signed_wrap> : tile<i32>
  %reshape_0 = reshape %1 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape_0 : tile<1xi32> -> tile<64xi32>
  %2 = addi %reshape, %bcast overflow<no_signed_wrap> : tile<64xi32>
  %reshape_1 = reshape %arg2 : tile<i32> -> tile<1xi32>
  %bcast_2 = broadcast %reshape_1 : tile<1xi32> -> tile<64xi32>
  %3 = cmpi less_than %2, %bcast_2, signed : tile<64xi32> -> tile<64xi1>
  %4 = exti %3 unsigned : tile<64xi1> -> tile<64xi8>
  %reshape_3 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_4 = broadcast %reshape_3 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %5 = exti %2 signed : tile<64xi32> -> tile<64xi64>
  %6 = offset %bcast_4, %5 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
  %7 = cmpi not_equal %4, %cst_0_i8, signed : tile<64xi8> -> tile<64xi1>
  %reshape_5 = reshape %cst_1_f32 : tile<f32> -> tile<1xf32>
  %bcast_6 = broadcast %reshape_5 : tile<1xf32> -> tile<64xf32>
  %result, %result_token = load_ptr_tko weak %6, %7, %bcast_6 : tile<64xptr<f32>>, tile<64xi1>, tile<64xf32> -> tile<64xf32>, token
  %8 = absf %result : tile<64xf32>
  %9 = sqrt %8  : tile<64xf32>
  %10 = negf %result : tile<64xf32>
  %11 = exp %10  : tile<64xf32>
  %12 = addf %9, %11  : tile<64xf32>
  %reshape_7 = reshape %arg1 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_8 = broadcast %reshape_7 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %13 = offset %bcast_8, %5 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
  %reshape_9 = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
  %bcast_10 = broadcast %reshape_9 : tile<1xf32> -> tile<64xf32>
  %14 = cmpf greater_than ordered %result, %bcast_10 : tile<64xf32> -> tile<64xi1>
  %15 = exti %14 unsigned : tile<64xi1> -> tile<64xi8>
  %16 = floor %result : tile<64xf32>
  %17 = cmpi not_equal %15, %cst_0_i8, signed : tile<64xi8> -> tile<64xi1>
  %18 = select %17, %12, %16 : tile<64xi1>, tile<64xf32>
  %19 = store_ptr_tko weak %13, %18, %7 token=%result_token : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
  return
}
entry @_Z8integersPKiS0_PiPji(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<i32>>, %arg3: tile<ptr<i32>>, %arg4: tile<i32>) {
  %cst_64_i32 = constant <i32: 64> : tile<i32>
  %cst_5_i32 = constant <i32: 5> : tile<i32>
  %cst_3_i32 = constant <i32: 3> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_0_i8 = constant <i8: 0> : tile<64xi8>
  %0 = iota : tile<64xi32>
  %reshape = reshape %0 : tile<64xi32> -> tile<64xi32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = muli %blockId_x, %cst_64_i32 overflow<no_signed_wrap> : tile<i32>
  %reshape_0 = reshape %1 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape_0 : tile<1xi32> -> tile<64xi32>
  %2 = addi %reshape, %bcast overflow<no_signed_wrap> : tile<64xi32>
  %reshape_1 = reshape %arg4 : tile<i32> -> tile<1xi32>
  %bcast_2 = broadcast %reshape_1 : tile<1xi32> -> tile<64xi32>
  %3 = cmpi less_than %2, %bcast_2, signed : tile<64xi32> -> tile<64xi1>
  %4 = exti %3 unsigned : tile<64xi1> -> tile<64xi8>
  %reshape_3 = reshape %arg0 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_4 = broadcast %reshape_3 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %5 = exti %2 signed : tile<64xi32> -> tile<64xi64>
  %6 = offset %bcast_4, %5 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %7 = cmpi not_equal %4, %cst_0_i8, signed : tile<64xi8> -> tile<64xi1>
  %result, %result_token = load_ptr_tko weak %6, %7 : tile<64xptr<i32>>, tile<64xi1> -> tile<64xi32>, token
  %reshape_5 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_6 = broadcast %reshape_5 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %8 = offset %bcast_6, %5 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %reshape_7 = reshape %cst_1_i32 : tile<i32> -> tile<1xi32>
  %bcast_8 = broadcast %reshape_7 : tile<1xi32> -> tile<64xi32>
  %result_9, %result_token_10 = load_ptr_tko weak %8, %7, %bcast_8 : tile<64xptr<i32>>, tile<64xi1>, tile<64xi32> -> tile<64xi32>, token
  %reshape_11 = reshape %arg2 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_12 = broadcast %reshape_11 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %9 = offset %bcast_12, %5 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %10 = divi %result, %result_9 signed : tile<64xi32>
  %11 = remi %result, %result_9 signed : tile<64xi32>
  %12 = addi %10, %11 overflow<no_signed_wrap> : tile<64xi32>
  %13 = join_tokens %result_token_10, %result_token : token
  %14 = store_ptr_tko weak %9, %12, %7 token=%13 : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> token
  %reshape_13 = reshape %arg3 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_14 = broadcast %reshape_13 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %15 = offset %bcast_14, %5 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %reshape_15 = reshape %cst_3_i32 : tile<i32> -> tile<1xi32>
  %bcast_16 = broadcast %reshape_15 : tile<1xi32> -> tile<64xi32>
  %16 = shli %result, %bcast_16 : tile<64xi32>
  %reshape_17 = reshape %cst_5_i32 : tile<i32> -> tile<1xi32>
  %bcast_18 = broadcast %reshape_17 : tile<1xi32> -> tile<64xi32>
  %17 = shri %result, %bcast_18 unsigned : tile<64xi32>
  %18 = xori %16, %17 : tile<64xi32>
  %19 = ori %18, %bcast_8 : tile<64xi32>
  %20 = store_ptr_tko weak %15, %19, %7 token=%14 : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> token
  return
}
