// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z7f16_f32PK6__halfS1_Pf(%arg0: tile<ptr<f16>>, %arg1: tile<ptr<f16>>, %arg2: tile<ptr<f32>>) {
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = make_token : token
  %tview = make_tensor_view %arg2, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf32, strides=[32,1]>
  %pview = make_partition_view %tview : partition_view<tile=(32x32), tensor_view<32x32xf32, strides=[32,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(32x32), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> tile<32x32xf32>, token
  %1 = join_tokens %0, %result_token : token
  %for:5 = for %loopIdx in (%cst_0_i32 to %cst_2_i32, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %tile, %iterArg1 = %1, %iterArg2 = %1, %iterArg3 = %0, %iterArg4 = %0) -> (tile<32x32xf32>, token, token, token, token) {
    %4 = join_tokens %iterArg2, %iterArg1 : token
    %tview_0 = make_tensor_view %arg0, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
    %pview_1 = make_partition_view %tview_0 : partition_view<tile=(32x16), tensor_view<32x32xf16, strides=[32,1]>>
    %tile_2, %result_token_3 = load_view_tko weak %pview_1[%cst_0_i32, %loopIdx] : partition_view<tile=(32x16), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x16xf16>, token
    %5 = join_tokens %4, %result_token_3 : token
    %6 = join_tokens %5, %iterArg1 : token
    %tview_4 = make_tensor_view %arg1, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
    %pview_5 = make_partition_view %tview_4 : partition_view<tile=(16x32), tensor_view<32x32xf16, strides=[32,1]>>
    %tile_6, %result_token_7 = load_view_tko weak %pview_5[%loopIdx, %cst_0_i32] : partition_view<tile=(16x32), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<16x32xf16>, token
    %7 = join_tokens %6, %result_token_7 : token
    %8 = mmaf %tile_2, %tile_6, %iterArg0 : tile<32x16xf16>, tile<16x32xf16>, tile<32x32xf32>
    continue %8, %iterArg1, %7, %result_token_7, %result_token_3 : tile<32x32xf32>, token, token, token, token
  }
  %2 = join_tokens %result_token, %for#3, %for#4 : token
  %3 = store_view_tko weak %for#0, %pview[%cst_0_i32, %cst_0_i32] token = %2 : tile<32x32xf32>, partition_view<tile=(32x32), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> token
  return
}
entry @_Z7f16_f16PK6__halfS1_PS_(%arg0: tile<ptr<f16>>, %arg1: tile<ptr<f16>>, %arg2: tile<ptr<f16>>) {
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = make_token : token
  %tview = make_tensor_view %arg2, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
  %pview = make_partition_view %tview : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
  %1 = join_tokens %0, %result_token : token
  %for:5 = for %loopIdx in (%cst_0_i32 to %cst_2_i32, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %tile, %iterArg1 = %1, %iterArg2 = %1, %iterArg3 = %0, %iterArg4 = %0) -> (tile<32x32xf16>, token, token, token, token) {
    %4 = join_tokens %iterArg2, %iterArg1 : token
    %tview_0 = make_tensor_view %arg0, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
    %pview_1 = make_partition_view %tview_0 : partition_view<tile=(32x16), tensor_view<32x32xf16, strides=[32,1]>>
    %tile_2, %result_token_3 = load_view_tko weak %pview_1[%cst_0_i32, %loopIdx] : partition_view<tile=(32x16), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x16xf16>, token
    %5 = join_tokens %4, %result_token_3 : token
    %6 = join_tokens %5, %iterArg1 : token
    %tview_4 = make_tensor_view %arg1, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
    %pview_5 = make_partition_view %tview_4 : partition_view<tile=(16x32), tensor_view<32x32xf16, strides=[32,1]>>
    %tile_6, %result_token_7 = load_view_tko weak %pview_5[%loopIdx, %cst_0_i32] : partition_view<tile=(16x32), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<16x32xf16>, token
    %7 = join_tokens %6, %result_token_7 : token
    %8 = mmaf %tile_2, %tile_6, %iterArg0 : tile<32x16xf16>, tile<16x32xf16>, tile<32x32xf16>
    continue %8, %iterArg1, %7, %result_token_7, %result_token_3 : tile<32x32xf16>, token, token, token, token
  }
  %2 = join_tokens %result_token, %for#3, %for#4 : token
  %3 = store_view_tko weak %for#0, %pview[%cst_0_i32, %cst_0_i32] token = %2 : tile<32x32xf16>, partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> token
  return
}
entry @_Z8bf16_f32PK13__nv_bfloat16S1_Pf(%arg0: tile<ptr<bf16>>, %arg1: tile<ptr<bf16>>, %arg2: tile<ptr<f32>>) {
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = make_token : token
  %tview = make_tensor_view %arg2, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf32, strides=[32,1]>
  %pview = make_partition_view %tview : partition_view<tile=(32x32), tensor_view<32x32xf32, strides=[32,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(32x32), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> tile<32x32xf32>, token
  %1 = join_tokens %0, %result_token : token
  %for:5 = for %loopIdx in (%cst_0_i32 to %cst_2_i32, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %tile, %iterArg1 = %1, %iterArg2 = %1, %iterArg3 = %0, %iterArg4 = %0) -> (tile<32x32xf32>, token, token, token, token) {
    %4 = join_tokens %iterArg2, %iterArg1 : token
    %tview_0 = make_tensor_view %arg0, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xbf16, strides=[32,1]>
    %pview_1 = make_partition_view %tview_0 : partition_view<tile=(32x16), tensor_view<32x32xbf16, strides=[32,1]>>
    %tile_2, %result_token_3 = load_view_tko weak %pview_1[%cst_0_i32, %loopIdx] : partition_view<tile=(32x16), tensor_view<32x32xbf16, strides=[32,1]>>, tile<i32> -> tile<32x16xbf16>, token
    %5 = join_tokens %4, %result_token_3 : token
    %6 = join_tokens %5, %iterArg1 : token
    %tview_4 = make_tensor_view %arg1, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xbf16, strides=[32,1]>
    %pview_5 = make_partition_view %tview_4 : partition_view<tile=(16x32), tensor_view<32x32xbf16, strides=[32,1]>>
    %tile_6, %result_token_7 = load_view_tko weak %pview_5[%loopIdx, %cst_0_i32] : partition_view<tile=(16x32), tensor_view<32x32xbf16, strides=[32,1]>>, tile<i32> -> tile<16x32xbf16>, token
    %7 = join_tokens %6, %result_token_7 : token
    %8 = mmaf %tile_2, %tile_6, %iterArg0 : tile<32x16xbf16>, tile<16x32xbf16>, tile<32x32xf32>
    continue %8, %iterArg1, %7, %result_token_7, %result_token_3 : tile<32x32xf32>, token, token, token, token
  }
  %2 = join_tokens %result_token, %for#3, %for#4 : token
  %3 = store_view_tko weak %for#0, %pview[%cst_0_i32, %cst_0_i32] token = %2 : tile<32x32xf32>, partition_view<tile=(32x32), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> token
  return
}
