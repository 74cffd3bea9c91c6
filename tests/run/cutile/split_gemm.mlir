// A persistent GEMM that adds the dots of parts of K to C, by TMA. Made by cuTile Python: tests/shared/cutile_programs.py.
// RUN grid=2
// ARG a = small:128x256xf16:1
// ARG a_rows = 128
// ARG a_columns = 256
// ARG a_stride = 256
// ARG a_step = 1
// ARG b = small:256x256xf16:2
// ARG b_rows = 256
// ARG b_columns = 256
// ARG b_stride = 256
// ARG b_step = 1
// ARG c = small:128x256xf32:3
// ARG c_rows = 128
// ARG c_columns = 256
// ARG c_stride = 256
// ARG c_step = 1
// EXPECT c = c + a.astype(np.float32) @ b.astype(np.float32)
cuda_tile.module @kernels {
  entry @split_gemm_Kt2_A2f16_1v8l0_2t1_3i16_p16_A2f16_1v8l0_2t1_3i16_p16_A2f32_1v4l0_2t1_3i16_p16_I128_I256_I64_I2(%arg0: tile<ptr<f16>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<ptr<f16>>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<ptr<f32>>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<i32>, %arg14: tile<i32>) optimization_hints=<default = {}> {
    %0 = make_token : token
    %assume = assume div_by<16>, %arg0 : tile<ptr<f16>>
    %assume_0 = assume div_by<16>, %arg1 : tile<i32>
    %assume_1 = assume div_by<16>, %arg2 : tile<i32>
    %assume_2 = assume div_by<8>, %arg3 : tile<i32>
    %assume_3 = assume div_by<16>, %arg5 : tile<ptr<f16>>
    %assume_4 = assume div_by<16>, %arg6 : tile<i32>
    %assume_5 = assume div_by<16>, %arg7 : tile<i32>
    %assume_6 = assume div_by<8>, %arg8 : tile<i32>
    %assume_7 = assume div_by<16>, %arg10 : tile<ptr<f32>>
    %assume_8 = assume div_by<16>, %arg11 : tile<i32>
    %assume_9 = assume div_by<16>, %arg12 : tile<i32>
    %assume_10 = assume div_by<4>, %arg13 : tile<i32>
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    %cst_1_i32_11 = constant <i32: 1> : tile<i32>
    %cst_1_i32_12 = constant <i32: 1> : tile<i32>
    %assume_assume = assume bounded<0, ?>, %assume_0 : tile<i32>
    %assume_assume_assume = assume div_by<16>, %assume_assume : tile<i32>
    %assume_assume_13 = assume bounded<0, ?>, %assume_1 : tile<i32>
    %assume_assume_assume_14 = assume div_by<16>, %assume_assume_13 : tile<i32>
    %assume_assume_15 = assume bounded<0, ?>, %assume_2 : tile<i32>
    %assume_assume_assume_16 = assume div_by<8>, %assume_assume_15 : tile<i32>
    %tview = make_tensor_view %assume, shape = [%assume_assume_assume, %assume_assume_assume_14], strides = [%assume_assume_assume_16, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %assume_assume_17 = assume bounded<0, ?>, %assume_4 : tile<i32>
    %assume_assume_assume_18 = assume div_by<16>, %assume_assume_17 : tile<i32>
    %assume_assume_19 = assume bounded<0, ?>, %assume_5 : tile<i32>
    %assume_assume_assume_20 = assume div_by<16>, %assume_assume_19 : tile<i32>
    %assume_assume_21 = assume bounded<0, ?>, %assume_6 : tile<i32>
    %assume_assume_assume_22 = assume div_by<8>, %assume_assume_21 : tile<i32>
    %tview_23 = make_tensor_view %assume_3, shape = [%assume_assume_assume_18, %assume_assume_assume_20], strides = [%assume_assume_assume_22, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %assume_assume_24 = assume bounded<0, ?>, %assume_8 : tile<i32>
    %assume_assume_assume_25 = assume div_by<16>, %assume_assume_24 : tile<i32>
    %assume_assume_26 = assume bounded<0, ?>, %assume_9 : tile<i32>
    %assume_assume_assume_27 = assume div_by<16>, %assume_assume_26 : tile<i32>
    %assume_assume_28 = assume bounded<0, ?>, %assume_10 : tile<i32>
    %assume_assume_assume_29 = assume div_by<4>, %assume_assume_28 : tile<i32>
    %tview_30 = make_tensor_view %assume_7, shape = [%assume_assume_assume_25, %assume_assume_assume_27], strides = [%assume_assume_assume_29, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %cst_2_i32 = constant <i32: 2> : tile<i32>
    %pview = make_partition_view %tview_30 : partition_view<tile=(128x256), tensor_view<?x?xf32, strides=[?,1]>>
    %1:2 = get_index_space_shape %pview : partition_view<tile=(128x256), tensor_view<?x?xf32, strides=[?,1]>> -> tile<i32>
    %pview_31 = make_partition_view %tview : partition_view<tile=(128x64), tensor_view<?x?xf16, strides=[?,1]>>
    %2:2 = get_index_space_shape %pview_31 : partition_view<tile=(128x64), tensor_view<?x?xf16, strides=[?,1]>> -> tile<i32>
    %3 = divi %2#1, %cst_2_i32 signed rounding<negative_inf> : tile<i32>
    %pview_32 = make_partition_view %tview_30 : partition_view<tile=(128x256), tensor_view<?x?xf32, strides=[?,1]>>
    %4:2 = get_index_space_shape %pview_32 : partition_view<tile=(128x256), tensor_view<?x?xf32, strides=[?,1]>> -> tile<i32>
    %5 = muli %4#0, %1#1 : tile<i32>
    %6 = muli %5, %3 : tile<i32>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %gridSize_x, %gridSize_y, %gridSize_z = get_num_tile_blocks : tile<i32>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %7 = cmpi less_than %1#1, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %cst_0_i32_33 = constant <i32: 0> : tile<i32>
    %8 = cmpi less_than %3, %cst_0_i32_33, signed : tile<i32> -> tile<i1>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<128x256xf32>
    %cst_1_i32_34 = constant <i32: 1> : tile<i32>
    %pview_35 = make_partition_view %tview : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %pview_36 = make_partition_view %tview_23 : partition_view<tile=(64x256), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %pview_37 = make_partition_view %tview_30 : partition_view<tile=(128x256), tensor_view<?x?xf32, strides=[?,1]>>
    %for = for %loopIdx in (%blockId_x to %6, step %gridSize_x) : tile<i32> iter_values(%iterArg0 = %0) -> (token) {
      %9 = divi %loopIdx, %3 signed rounding<negative_inf> : tile<i32>
      %10 = divi %9, %1#1 signed rounding<negative_inf> : tile<i32>
      %11 = divi %loopIdx, %3 signed rounding<negative_inf> : tile<i32>
      %12 = remi %11, %1#1 signed : tile<i32>
      %13 = cmpi less_than %12, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %14 = xori %13, %7 : tile<i1>
      %15 = cmpi not_equal %12, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %16 = andi %14, %15 : tile<i1>
      %17 = addi %12, %1#1 : tile<i32>
      %18 = select %16, %17, %12 : tile<i1>, tile<i32>
      %19 = remi %loopIdx, %3 signed : tile<i32>
      %20 = cmpi less_than %19, %cst_0_i32_33, signed : tile<i32> -> tile<i1>
      %21 = xori %20, %8 : tile<i1>
      %22 = cmpi not_equal %19, %cst_0_i32_33, signed : tile<i32> -> tile<i1>
      %23 = andi %21, %22 : tile<i1>
      %24 = addi %19, %3 : tile<i32>
      %25 = select %23, %24, %19 : tile<i1>, tile<i32>
      %26 = muli %25, %cst_2_i32 : tile<i32>
      %27 = muli %25, %cst_2_i32 : tile<i32>
      %28 = addi %27, %cst_2_i32 : tile<i32>
      %for_38 = for %loopIdx_39 in (%26 to %28, step %cst_1_i32_34) : tile<i32> iter_values(%iterArg0_40 = %cst_0_f32) -> (tile<128x256xf32>) {
        %tile, %result_token = load_view_tko weak %pview_35[%10, %loopIdx_39] token = %0 : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x64xf16>, token
        %tile_41, %result_token_42 = load_view_tko weak %pview_36[%loopIdx_39, %18] token = %0 : partition_view<tile=(64x256), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<64x256xf16>, token
        %30 = mmaf %tile, %tile_41, %iterArg0_40 : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
        continue %30 : tile<128x256xf32>
      }
      %29 = atomic_red_view_tko relaxed device %pview_37[%10, %18], addf, %for_38 token = %iterArg0 : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
      continue %29 : token
    }
    return
  }
}
