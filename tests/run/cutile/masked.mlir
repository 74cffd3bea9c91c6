// Accesses whose masks are constants. Made by cuTile Python: tests/shared/cutile_programs.py.
// RUN
// ARG x = random:64xf32:1
// ARG x_size = 64
// ARG x_stride = 1
// ARG out = zeros:64xf32
// ARG out_size = 64
// ARG out_stride = 1
// EXPECT out = np.full(64, 5.0)
cuda_tile.module @kernels {
  entry @masked_Kt2_A1f32_1i16t1_p16_A1f32_1i16t1_p16(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<ptr<f32>>, %arg4: tile<i32>, %arg5: tile<i32>) optimization_hints=<default = {}> {
    %0 = make_token : token
    %assume = assume div_by<16>, %arg0 : tile<ptr<f32>>
    %assume_0 = assume div_by<16>, %arg1 : tile<i32>
    %assume_1 = assume div_by<16>, %arg3 : tile<ptr<f32>>
    %assume_2 = assume div_by<16>, %arg4 : tile<i32>
    %cst_1_i64 = constant <i64: 1> : tile<64xi64>
    %cst_1_i64_3 = constant <i64: 1> : tile<64xi64>
    %cst_1_i64_4 = constant <i64: 1> : tile<64xi64>
    %cst_1_i64_5 = constant <i64: 1> : tile<64xi64>
    %assume_assume = assume bounded<0, ?>, %assume_0 : tile<i32>
    %assume_assume_6 = assume bounded<0, ?>, %assume_2 : tile<i32>
    %1 = iota : tile<64xi32>
    %false = constant <i1: false> : tile<64xi1>
    %true = constant <i1: true> : tile<64xi1>
    %2 = exti %1 signed : tile<64xi32> -> tile<64xi64>
    %3 = exti %assume_assume signed : tile<i32> -> tile<i64>
    %reshape = reshape %3 : tile<i64> -> tile<1xi64>
    %bcast = broadcast %reshape : tile<1xi64> -> tile<64xi64>
    %4 = cmpi less_than %2, %bcast, unsigned : tile<64xi64> -> tile<64xi1>
    %5 = muli %2, %cst_1_i64 : tile<64xi64>
    %reshape_7 = reshape %assume : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_8 = broadcast %reshape_7 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %6 = offset %bcast_8, %5 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
    %reshape_9 = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
    %bcast_10 = broadcast %reshape_9 : tile<1xf32> -> tile<64xf32>
    %result, %result_token = load_ptr_tko weak %6, %4, %bcast_10 token=%0 : tile<64xptr<f32>>, tile<64xi1>, tile<64xf32> -> tile<64xf32>, token
    %7 = exti %1 signed : tile<64xi32> -> tile<64xi64>
    %8 = exti %assume_assume_6 signed : tile<i32> -> tile<i64>
    %reshape_11 = reshape %8 : tile<i64> -> tile<1xi64>
    %bcast_12 = broadcast %reshape_11 : tile<1xi64> -> tile<64xi64>
    %9 = cmpi less_than %7, %bcast_12, unsigned : tile<64xi64> -> tile<64xi1>
    %10 = muli %7, %cst_1_i64_3 : tile<64xi64>
    %reshape_13 = reshape %assume_1 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_14 = broadcast %reshape_13 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %11 = offset %bcast_14, %10 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
    %12 = andi %9, %false : tile<64xi1>
    %13 = store_ptr_tko weak %11, %result, %12 token=%0 : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
    %14 = exti %1 signed : tile<64xi32> -> tile<64xi64>
    %15 = exti %assume_assume signed : tile<i32> -> tile<i64>
    %reshape_15 = reshape %15 : tile<i64> -> tile<1xi64>
    %bcast_16 = broadcast %reshape_15 : tile<1xi64> -> tile<64xi64>
    %16 = cmpi less_than %14, %bcast_16, unsigned : tile<64xi64> -> tile<64xi1>
    %17 = muli %14, %cst_1_i64_4 : tile<64xi64>
    %reshape_17 = reshape %assume : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_18 = broadcast %reshape_17 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %18 = offset %bcast_18, %17 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
    %19 = andi %16, %false : tile<64xi1>
    %cst_4_f32 = constant <f32: 4.000000e+00> : tile<f32>
    %reshape_19 = reshape %cst_4_f32 : tile<f32> -> tile<1xf32>
    %bcast_20 = broadcast %reshape_19 : tile<1xf32> -> tile<64xf32>
    %result_21, %result_token_22 = load_ptr_tko weak %18, %19, %bcast_20 token=%0 : tile<64xptr<f32>>, tile<64xi1>, tile<64xf32> -> tile<64xf32>, token
    %cst_1_f32 = constant <f32: 1.000000e+00> : tile<f32>
    %reshape_23 = reshape %cst_1_f32 : tile<f32> -> tile<1xf32>
    %bcast_24 = broadcast %reshape_23 : tile<1xf32> -> tile<64xf32>
    %20 = addf %result_21, %bcast_24  : tile<64xf32>
    %21 = exti %1 signed : tile<64xi32> -> tile<64xi64>
    %22 = exti %assume_assume_6 signed : tile<i32> -> tile<i64>
    %reshape_25 = reshape %22 : tile<i64> -> tile<1xi64>
    %bcast_26 = broadcast %reshape_25 : tile<1xi64> -> tile<64xi64>
    %23 = cmpi less_than %21, %bcast_26, unsigned : tile<64xi64> -> tile<64xi1>
    %24 = muli %21, %cst_1_i64_5 : tile<64xi64>
    %reshape_27 = reshape %assume_1 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_28 = broadcast %reshape_27 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %25 = offset %bcast_28, %24 : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
    %26 = andi %23, %true : tile<64xi1>
    %27 = store_ptr_tko weak %25, %20, %26 token=%13 : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
    return
  }
}
