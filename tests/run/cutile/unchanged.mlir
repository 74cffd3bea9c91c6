// Atomics that leave memory as it is are loads. Made by cuTile Python: tests/shared/cutile_programs.py.
// RUN grid=2
// ARG x = random:128xi32:1
// ARG x_size = 128
// ARG x_stride = 1
// ARG out = zeros:128xi32
// ARG out_size = 128
// ARG out_stride = 1
// EXPECT out = x * 5
// EXPECT x = x
cuda_tile.module @kernels {
  entry @unchanged_Kt2_A1i32_1i16t1_p16_A1i32_1i16t1_p16(%arg0: tile<ptr<i32>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<ptr<i32>>, %arg4: tile<i32>, %arg5: tile<i32>) optimization_hints=<default = {}> {
    %0 = make_token : token
    %assume = assume div_by<16>, %arg0 : tile<ptr<i32>>
    %assume_0 = assume div_by<16>, %arg1 : tile<i32>
    %assume_1 = assume div_by<16>, %arg3 : tile<ptr<i32>>
    %assume_2 = assume div_by<16>, %arg4 : tile<i32>
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    %cst_1_i64 = constant <i64: 1> : tile<64xi64>
    %cst_0_i32 = constant <i32: 0> : tile<64xi32>
    %cst_1_i64_3 = constant <i64: 1> : tile<64xi64>
    %cst_0_i32_4 = constant <i32: 0> : tile<64xi32>
    %cst_1_i64_5 = constant <i64: 1> : tile<64xi64>
    %cst_0_i32_6 = constant <i32: 0> : tile<64xi32>
    %cst_1_i64_7 = constant <i64: 1> : tile<64xi64>
    %cst_-1_i32 = constant <i32: -1> : tile<64xi32>
    %cst_1_i64_8 = constant <i64: 1> : tile<64xi64>
    %cst_3_i32 = constant <i32: 3> : tile<64xi32>
    %cst_3_i32_9 = constant <i32: 3> : tile<64xi32>
    %assume_assume = assume bounded<0, ?>, %assume_0 : tile<i32>
    %assume_assume_10 = assume bounded<0, ?>, %assume_2 : tile<i32>
    %assume_assume_assume = assume div_by<16>, %assume_assume_10 : tile<i32>
    %tview = make_tensor_view %assume_1, shape = [%assume_assume_assume], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %cst_64_i32 = constant <i32: 64> : tile<i32>
    %1 = muli %blockId_x, %cst_64_i32 : tile<i32>
    %2 = iota : tile<64xi32>
    %reshape = reshape %1 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape : tile<1xi32> -> tile<64xi32>
    %3 = addi %bcast, %2 : tile<64xi32>
    %4 = exti %3 signed : tile<64xi32> -> tile<64xi64>
    %5 = exti %assume_assume signed : tile<i32> -> tile<i64>
    %reshape_11 = reshape %5 : tile<i64> -> tile<1xi64>
    %bcast_12 = broadcast %reshape_11 : tile<1xi64> -> tile<64xi64>
    %6 = cmpi less_than %4, %bcast_12, unsigned : tile<64xi64> -> tile<64xi1>
    %7 = muli %4, %cst_1_i64 : tile<64xi64>
    %reshape_13 = reshape %assume : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_14 = broadcast %reshape_13 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %8 = offset %bcast_14, %7 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
    %result, %result_token = atomic_rmw_tko acquire device %8, add, %cst_0_i32, %6 token=%0 : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    %9 = exti %3 signed : tile<64xi32> -> tile<64xi64>
    %10 = exti %assume_assume signed : tile<i32> -> tile<i64>
    %reshape_15 = reshape %10 : tile<i64> -> tile<1xi64>
    %bcast_16 = broadcast %reshape_15 : tile<1xi64> -> tile<64xi64>
    %11 = cmpi less_than %9, %bcast_16, unsigned : tile<64xi64> -> tile<64xi1>
    %12 = muli %9, %cst_1_i64_3 : tile<64xi64>
    %reshape_17 = reshape %assume : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_18 = broadcast %reshape_17 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %13 = offset %bcast_18, %12 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
    %result_19, %result_token_20 = atomic_rmw_tko acquire device %13, or, %cst_0_i32_4, %11 token=%result_token : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    %14 = addi %result, %result_19 : tile<64xi32>
    %15 = exti %3 signed : tile<64xi32> -> tile<64xi64>
    %16 = exti %assume_assume signed : tile<i32> -> tile<i64>
    %reshape_21 = reshape %16 : tile<i64> -> tile<1xi64>
    %bcast_22 = broadcast %reshape_21 : tile<1xi64> -> tile<64xi64>
    %17 = cmpi less_than %15, %bcast_22, unsigned : tile<64xi64> -> tile<64xi1>
    %18 = muli %15, %cst_1_i64_5 : tile<64xi64>
    %reshape_23 = reshape %assume : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_24 = broadcast %reshape_23 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %19 = offset %bcast_24, %18 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
    %result_25, %result_token_26 = atomic_rmw_tko acquire device %19, xor, %cst_0_i32_6, %17 token=%result_token_20 : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    %20 = addi %14, %result_25 : tile<64xi32>
    %21 = exti %3 signed : tile<64xi32> -> tile<64xi64>
    %22 = exti %assume_assume signed : tile<i32> -> tile<i64>
    %reshape_27 = reshape %22 : tile<i64> -> tile<1xi64>
    %bcast_28 = broadcast %reshape_27 : tile<1xi64> -> tile<64xi64>
    %23 = cmpi less_than %21, %bcast_28, unsigned : tile<64xi64> -> tile<64xi1>
    %24 = muli %21, %cst_1_i64_7 : tile<64xi64>
    %reshape_29 = reshape %assume : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_30 = broadcast %reshape_29 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %25 = offset %bcast_30, %24 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
    %result_31, %result_token_32 = atomic_rmw_tko acquire device %25, and, %cst_-1_i32, %23 token=%result_token_26 : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    %26 = addi %20, %result_31 : tile<64xi32>
    %27 = exti %3 signed : tile<64xi32> -> tile<64xi64>
    %28 = exti %assume_assume signed : tile<i32> -> tile<i64>
    %reshape_33 = reshape %28 : tile<i64> -> tile<1xi64>
    %bcast_34 = broadcast %reshape_33 : tile<1xi64> -> tile<64xi64>
    %29 = cmpi less_than %27, %bcast_34, unsigned : tile<64xi64> -> tile<64xi1>
    %30 = muli %27, %cst_1_i64_8 : tile<64xi64>
    %reshape_35 = reshape %assume : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_36 = broadcast %reshape_35 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %31 = offset %bcast_36, %30 : tile<64xptr<i32>>, tile<64xi64> -> tile<64xptr<i32>>
    %result_37, %result_token_38 = atomic_cas_tko acquire device %31, %cst_3_i32, %cst_3_i32_9, %29 token=%result_token_32 : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    %32 = addi %26, %result_37 : tile<64xi32>
    %blockId_x_39, %blockId_y_40, %blockId_z_41 = get_tile_block_id : tile<i32>
    %pview = make_partition_view %tview : partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>
    %33 = join_tokens %0, %result_token_38 : token
    %34 = store_view_tko weak %32, %pview[%blockId_x_39] token = %33 : tile<64xi32>, partition_view<tile=(64), tensor_view<?xi32, strides=[1]>>, tile<i32> -> token
    return
  }
}
