// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z2s8PKaS0_Pi(%arg0: tile<ptr<i8>>, %arg1: tile<ptr<i8>>, %arg2: tile<ptr<i32>>) {
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = make_token : token
  %tview = make_tensor_view %arg2, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xi32, strides=[32,1]>
  %pview = make_partition_view %tview : partition_view<tile=(32x32), tensor_view<32x32xi32, strides=[32,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(32x32), tensor_view<32x32xi32, strides=[32,1]>>, tile<i32> -> tile<32x32xi32>, token
  %1 = join_tokens %0, %result_token : token
  %for:5 = for %loopIdx in (%cst_0_i32 to %cst_2_i32, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %tile, %iterArg1 = %1, %iterArg2 = %1, %iterArg3 = %0, %iterArg4 = %0) -> (tile<32x32xi32>, token, token, token, token) {
    %4 = join_tokens %iterArg2, %iterArg1 : token
    %tview_0 = make_tensor_view %arg0, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xi8, strides=[32,1]>
    %pview_1 = make_partition_view %tview_0 : partition_view<tile=(32x16), tensor_view<32x32xi8, strides=[32,1]>>
    %tile_2, %result_token_3 = load_view_tko weak %pview_1[%cst_0_i32, %loopIdx] : partition_view<tile=(32x16), tensor_view<32x32xi8, strides=[32,1]>>, tile<i32> -> tile<32x16xi8>, token
    %5 = join_tokens %4, %result_token_3 : token
    %6 = join_tokens %5, %iterArg1 : token
    %tview_4 = make_tensor_view %arg1, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xi8, strides=[32,1]>
    %pview_5 = make_partition_view %tview_4 : partition_view<tile=(16x32), tensor_view<32x32xi8, strides=[32,1]>>
    %tile_6, %result_token_7 = load_view_tko weak %pview_5[%loopIdx, %cst_0_i32] : partition_view<tile=(16x32), tensor_view<32x32xi8, strides=[32,1]>>, tile<i32> -> tile<16x32xi8>, token
    %7 = join_tokens %6, %result_token_7 : token
    %8 = mmai %tile_2, %tile_6, %iterArg0 signed signed : tile<32x16xi8>, tile<16x32xi8>, tile<32x32xi32>
    continue %8, %iterArg1, %7, %result_token_7, %result_token_3 : tile<32x32xi32>, token, token, token, token
  }
  %2 = join_tokens %result_token, %for#3, %for#4 : token
  %3 = store_view_tko weak %for#0, %pview[%cst_0_i32, %cst_0_i32] token = %2 : tile<32x32xi32>, partition_view<tile=(32x32), tensor_view<32x32xi32, strides=[32,1]>>, tile<i32> -> token
  return
}
entry @_Z2u8PKhS0_Pi(%arg0: tile<ptr<i8>>, %arg1: tile<ptr<i8>>, %arg2: tile<ptr<i32>>) {
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = make_token : token
  %tview = make_tensor_view %arg2, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xi32, strides=[32,1]>
  %pview = make_partition_view %tview : partition_view<tile=(32x32), tensor_view<32x32xi32, strides=[32,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(32x32), tensor_view<32x32xi32, strides=[32,1]>>, tile<i32> -> tile<32x32xi32>, token
  %1 = join_tokens %0, %result_token : token
  %for:5 = for %loopIdx in (%cst_0_i32 to %cst_2_i32, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %tile, %iterArg1 = %1, %iterArg2 = %1, %iterArg3 = %0, %iterArg4 = %0) -> (tile<32x32xi32>, token, token, token, token) {
    %4 = join_tokens %iterArg2, %iterArg1 : token
    %tview_0 = make_tensor_view %arg0, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xi8, strides=[32,1]>
    %pview_1 = make_partition_view %tview_0 : partition_view<tile=(32x16), tensor_view<32x32xi8, strides=[32,1]>>
    %tile_2, %result_token_3 = load_view_tko weak %pview_1[%cst_0_i32, %loopIdx] : partition_view<tile=(32x16), tensor_view<32x32xi8, strides=[32,1]>>, tile<i32> -> tile<32x16xi8>, token
    %5 = join_tokens %4, %result_token_3 : token
    %6 = join_tokens %5, %iterArg1 : token
    %tview_4 = make_tensor_view %arg1, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xi8, strides=[32,1]>
    %pview_5 = make_partition_view %tview_4 : partition_view<tile=(16x32), tensor_view<32x32xi8, strides=[32,1]>>
    %tile_6, %result_token_7 = load_view_tko weak %pview_5[%loopIdx, %cst_0_i32] : partition_view<tile=(16x32), tensor_view<32x32xi8, strides=[32,1]>>, tile<i32> -> tile<16x32xi8>, token
    %7 = join_tokens %6, %result_token_7 : token
    %8 = mmai %tile_2, %tile_6, %iterArg0 unsigned unsigned : tile<32x16xi8>, tile<16x32xi8>, tile<32x32xi32>
    continue %8, %iterArg1, %7, %result_token_7, %result_token_3 : tile<32x32xi32>, token, token, token, token
  }
  %2 = join_tokens %result_token, %for#3, %for#4 : token
  %3 = store_view_tko weak %for#0, %pview[%cst_0_i32, %cst_0_i32] token = %2 : tile<32x32xi32>, partition_view<tile=(32x32), tensor_view<32x32xi32, strides=[32,1]>>, tile<i32> -> token
  return
}
entry @_Z7batchesPKaS0_Pi(%arg0: tile<ptr<i8>>, %arg1: tile<ptr<i8>>, %arg2: tile<ptr<i32>>) {
  %cst_0_i32 = constant <i32: 0> : tile<4x16x16xi32>
  %cst_0_i32_0 = constant <i32: 0> : tile<i32>
  %tview = make_tensor_view %arg2, shape = [4, 16, 16], strides = [256, 16, 1] : tensor_view<4x16x16xi32, strides=[256,16,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x16x16), tensor_view<4x16x16xi32, strides=[256,16,1]>>
  %tview_1 = make_tensor_view %arg0, shape = [4, 16, 16], strides = [256, 16, 1] : tensor_view<4x16x16xi8, strides=[256,16,1]>
  %pview_2 = make_partition_view %tview_1 : partition_view<tile=(4x16x16), tensor_view<4x16x16xi8, strides=[256,16,1]>>
  %tile, %result_token = load_view_tko weak %pview_2[%cst_0_i32_0, %cst_0_i32_0, %cst_0_i32_0] : partition_view<tile=(4x16x16), tensor_view<4x16x16xi8, strides=[256,16,1]>>, tile<i32> -> tile<4x16x16xi8>, token
  %tview_3 = make_tensor_view %arg1, shape = [4, 16, 16], strides = [256, 16, 1] : tensor_view<4x16x16xi8, strides=[256,16,1]>
  %pview_4 = make_partition_view %tview_3 : partition_view<tile=(4x16x16), tensor_view<4x16x16xi8, strides=[256,16,1]>>
  %tile_5, %result_token_6 = load_view_tko weak %pview_4[%cst_0_i32_0, %cst_0_i32_0, %cst_0_i32_0] : partition_view<tile=(4x16x16), tensor_view<4x16x16xi8, strides=[256,16,1]>>, tile<i32> -> tile<4x16x16xi8>, token
  %0 = mmai %tile, %tile_5, %cst_0_i32 signed signed : tile<4x16x16xi8>, tile<4x16x16xi8>, tile<4x16x16xi32>
  %1 = join_tokens %result_token_6, %result_token : token
  %2 = store_view_tko weak %0, %pview[%cst_0_i32_0, %cst_0_i32_0, %cst_0_i32_0] token = %1 : tile<4x16x16xi32>, partition_view<tile=(4x16x16), tensor_view<4x16x16xi32, strides=[256,16,1]>>, tile<i32> -> token
  return
}
