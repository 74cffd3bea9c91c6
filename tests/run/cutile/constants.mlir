// Dots of constant tiles. Made by cuTile Python: tests/shared/cutile_programs.py.
// RUN
// ARG x = small:16x16xf32:1
// ARG x_rows = 16
// ARG x_columns = 16
// ARG x_stride = 16
// ARG x_step = 1
// ARG out = zeros:16x16xf32
// ARG out_rows = 16
// ARG out_columns = 16
// ARG out_stride = 16
// ARG out_step = 1
// EXPECT out = x + 1 + (1 + 16 * 0.5 * 3)
cuda_tile.module @kernels {
  entry @constants_Kt2_A2f32_1v4l0_2t1_3i16_p16_A2f32_1v4l0_2t1_3i16_p16(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<ptr<f32>>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>) optimization_hints=<default = {}> {
    %0 = make_token : token
    %assume = assume div_by<16>, %arg0 : tile<ptr<f32>>
    %assume_0 = assume div_by<16>, %arg1 : tile<i32>
    %assume_1 = assume div_by<16>, %arg2 : tile<i32>
    %assume_2 = assume div_by<4>, %arg3 : tile<i32>
    %assume_3 = assume div_by<16>, %arg5 : tile<ptr<f32>>
    %assume_4 = assume div_by<16>, %arg6 : tile<i32>
    %assume_5 = assume div_by<16>, %arg7 : tile<i32>
    %assume_6 = assume div_by<4>, %arg8 : tile<i32>
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    %cst_1_i32_7 = constant <i32: 1> : tile<i32>
    %assume_assume = assume bounded<0, ?>, %assume_0 : tile<i32>
    %assume_assume_assume = assume div_by<16>, %assume_assume : tile<i32>
    %assume_assume_8 = assume bounded<0, ?>, %assume_1 : tile<i32>
    %assume_assume_assume_9 = assume div_by<16>, %assume_assume_8 : tile<i32>
    %assume_assume_10 = assume bounded<0, ?>, %assume_2 : tile<i32>
    %assume_assume_assume_11 = assume div_by<4>, %assume_assume_10 : tile<i32>
    %tview = make_tensor_view %assume, shape = [%assume_assume_assume, %assume_assume_assume_9], strides = [%assume_assume_assume_11, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %assume_assume_12 = assume bounded<0, ?>, %assume_4 : tile<i32>
    %assume_assume_assume_13 = assume div_by<16>, %assume_assume_12 : tile<i32>
    %assume_assume_14 = assume bounded<0, ?>, %assume_5 : tile<i32>
    %assume_assume_assume_15 = assume div_by<16>, %assume_assume_14 : tile<i32>
    %assume_assume_16 = assume bounded<0, ?>, %assume_6 : tile<i32>
    %assume_assume_assume_17 = assume div_by<4>, %assume_assume_16 : tile<i32>
    %tview_18 = make_tensor_view %assume_3, shape = [%assume_assume_assume_13, %assume_assume_assume_15], strides = [%assume_assume_assume_17, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %cst_0_f16 = constant <f16: 0.000000e+00> : tile<16x16xf16>
    %cst_f16 = constant <f16: 5.000000e-01> : tile<16x16xf16>
    %cst_3_f16 = constant <f16: 3.000000e+00> : tile<16x16xf16>
    %cst_1_f32 = constant <f32: 1.000000e+00> : tile<16x16xf32>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %cst_0_i32_19 = constant <i32: 0> : tile<i32>
    %pview = make_partition_view %tview : partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32_19] token = %0 : partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x16xf32>, token
    %1 = mmaf %cst_0_f16, %cst_3_f16, %cst_1_f32 : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
    %2 = addf %tile, %1  : tile<16x16xf32>
    %cst_0_i32_20 = constant <i32: 0> : tile<i32>
    %cst_0_i32_21 = constant <i32: 0> : tile<i32>
    %3 = mmaf %cst_f16, %cst_3_f16, %cst_1_f32 : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
    %4 = addf %2, %3  : tile<16x16xf32>
    %pview_22 = make_partition_view %tview_18 : partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[?,1]>>
    %5 = store_view_tko weak %4, %pview_22[%cst_0_i32_20, %cst_0_i32_21] token = %0 : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    return
  }
}
