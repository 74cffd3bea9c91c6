// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z9histogramPKiPiPfS1_(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<f32>>, %arg3: tile<ptr<i32>>) {
  %cst_4_i32 = constant <i32: 4> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<64xi32>
  %cst_64_i32 = constant <i32: 64> : tile<i32>
  %0 = iota : tile<64xi32>
  %reshape = reshape %0 : tile<64xi32> -> tile<64xi32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = muli %blockId_x, %cst_64_i32 overflow<no_signed_wrap> : tile<i32>
  %reshape_0 = reshape %1 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape_0 : tile<1xi32> -> tile<64xi32>
  %2 = addi %reshape, %bcast overflow<no_signed_wrap> : tile<64xi32>
  %reshape_1 = reshape %arg0 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_2 = broadcast %reshape_1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %3 = exti %2 signed : tile<64xi32> -> tile<64xi64>
  %4 = offset %bcast_2, %3 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %result, %result_token = load_ptr_tko weak %4 : tile<64xptr<i32>> -> tile<64xi32>, token
  %reshape_3 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_4 = broadcast %reshape_3 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %5 = exti %result signed : tile<64xi32> -> tile<64xi64>
  %6 = offset %bcast_4, %5 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %result_5, %result_token_6 = atomic_rmw_tko relaxed sys %6, add, %cst_1_i32 token=%result_token : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
  %reshape_7 = reshape %cst_2_i32 : tile<i32> -> tile<1xi32>
  %bcast_8 = broadcast %reshape_7 : tile<1xi32> -> tile<64xi32>
  %7 = remi %result, %bcast_8 signed : tile<64xi32>
  %reshape_9 = reshape %arg2 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_10 = broadcast %reshape_9 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %8 = exti %7 signed : tile<64xi32> -> tile<64xi64>
  %9 = offset %bcast_10, %8 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
  %10 = itof %result signed  : tile<64xi32> -> tile<64xf32>
  %result_11, %result_token_12 = atomic_rmw_tko relaxed sys %9, addf, %10 token=%result_token_6 : tile<64xptr<f32>>, tile<64xf32> -> tile<64xf32>, token
  %reshape_13 = reshape %cst_4_i32 : tile<i32> -> tile<1xi32>
  %bcast_14 = broadcast %reshape_13 : tile<1xi32> -> tile<64xi32>
  %11 = remi %result, %bcast_14 signed : tile<64xi32>
  %reshape_15 = reshape %arg3 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_16 = broadcast %reshape_15 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %12 = exti %11 signed : tile<64xi32> -> tile<64xi64>
  %13 = offset %bcast_16, %12 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %result_17, %result_token_18 = atomic_rmw_tko relaxed sys %13, max, %result token=%result_token_12 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
  return
}
entry @_Z8exchangePiS_S_(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<i32>>) {
  %cst_7_i32 = constant <i32: 7> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_10_i32 = constant <i32: 10> : tile<i32>
  %cst_0_i8 = constant <i8: 0> : tile<64xi8>
  %0 = iota : tile<64xi32>
  %reshape = reshape %0 : tile<64xi32> -> tile<64xi32>
  %reshape_0 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast = broadcast %reshape_0 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %1 = exti %reshape signed : tile<64xi32> -> tile<64xi64>
  %2 = offset %bcast, %1 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %reshape_1 = reshape %arg0 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_2 = broadcast %reshape_1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %3 = offset %bcast_2, %1 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %reshape_3 = reshape %cst_10_i32 : tile<i32> -> tile<1xi32>
  %bcast_4 = broadcast %reshape_3 : tile<1xi32> -> tile<64xi32>
  %4 = muli %reshape, %bcast_4 overflow<no_signed_wrap> : tile<64xi32>
  %result, %result_token = atomic_rmw_tko acq_rel sys %3, xchg, %4 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
  %5 = store_ptr_tko weak %2, %result token=%result_token : tile<64xptr<i32>>, tile<64xi32> -> token
  %reshape_5 = reshape %cst_2_i32 : tile<i32> -> tile<1xi32>
  %bcast_6 = broadcast %reshape_5 : tile<1xi32> -> tile<64xi32>
  %6 = remi %reshape, %bcast_6 signed : tile<64xi32>
  %reshape_7 = reshape %cst_0_i32 : tile<i32> -> tile<1xi32>
  %bcast_8 = broadcast %reshape_7 : tile<1xi32> -> tile<64xi32>
  %7 = cmpi equal %6, %bcast_8, signed : tile<64xi32> -> tile<64xi1>
  %8 = exti %7 unsigned : tile<64xi1> -> tile<64xi8>
  %9 = muli %reshape, %bcast_8 overflow<no_signed_wrap> : tile<64xi32>
  %reshape_9 = reshape %cst_1_i32 : tile<i32> -> tile<1xi32>
  %bcast_10 = broadcast %reshape_9 : tile<1xi32> -> tile<64xi32>
  %10 = subi %9, %bcast_10 overflow<no_signed_wrap> : tile<64xi32>
  %11 = cmpi not_equal %8, %cst_0_i8, signed : tile<64xi8> -> tile<64xi1>
  %12 = select %11, %4, %10 : tile<64xi1>, tile<64xi32>
  %reshape_11 = reshape %arg2 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_12 = broadcast %reshape_11 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %13 = offset %bcast_12, %1 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
  %reshape_13 = reshape %cst_7_i32 : tile<i32> -> tile<1xi32>
  %bcast_14 = broadcast %reshape_13 : tile<1xi32> -> tile<64xi32>
  %14 = addi %9, %bcast_14 overflow<no_signed_wrap> : tile<64xi32>
  %result_15, %result_token_16 = atomic_cas_tko relaxed sys %3, %12, %14 token=%5 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
  %15 = store_ptr_tko weak %13, %result_15 token=%result_token_16 : tile<64xptr<i32>>, tile<64xi32> -> token
  return
}
