// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z9rearrangePKiPiS1_S1_S1_(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<i32>>, %arg3: tile<ptr<i32>>, %arg4: tile<ptr<i32>>) {
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_1000_i32 = constant <i32: 1000> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tview = make_tensor_view %arg0, shape = [8, 16], strides = [16, 1] : tensor_view<8x16xi32, strides=[16,1]>
  %pview = make_partition_view %tview : partition_view<tile=(8x16), tensor_view<8x16xi32, strides=[16,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(8x16), tensor_view<8x16xi32, strides=[16,1]>>, tile<i32> -> tile<8x16xi32>, token
  %tview_0 = make_tensor_view %arg1, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xi32, strides=[8,1]>
  %pview_1 = make_partition_view %tview_0 : partition_view<tile=(16x8), tensor_view<16x8xi32, strides=[8,1]>>
  %0 = permute %tile [1, 0] : tile<8x16xi32> -> tile<16x8xi32>
  %1 = store_view_tko weak %0, %pview_1[%cst_0_i32, %cst_0_i32] token = %result_token : tile<16x8xi32>, partition_view<tile=(16x8), tensor_view<16x8xi32, strides=[8,1]>>, tile<i32> -> token
  %tview_2 = make_tensor_view %arg2, shape = [8, 32], strides = [32, 1] : tensor_view<8x32xi32, strides=[32,1]>
  %pview_3 = make_partition_view %tview_2 : partition_view<tile=(8x32), tensor_view<8x32xi32, strides=[32,1]>>
  %reshape = reshape %cst_1000_i32 : tile<i32> -> tile<1x1xi32>
  %bcast = broadcast %reshape : tile<1x1xi32> -> tile<8x16xi32>
  %2 = addi %tile, %bcast overflow<no_signed_wrap> : tile<8x16xi32>
  %3 = cat %tile, %2 dim = 1 : tile<8x16xi32>, tile<8x16xi32> -> tile<8x32xi32>
  %4 = store_view_tko weak %3, %pview_3[%cst_0_i32, %cst_0_i32] token = %1 : tile<8x32xi32>, partition_view<tile=(8x32), tensor_view<8x32xi32, strides=[32,1]>>, tile<i32> -> token
  %tview_4 = make_tensor_view %arg3, shape = [4, 4], strides = [4, 1] : tensor_view<4x4xi32, strides=[4,1]>
  %pview_5 = make_partition_view %tview_4 : partition_view<tile=(4x4), tensor_view<4x4xi32, strides=[4,1]>>
  %5 = exti %cst_1_i32 signed : tile<i32> -> tile<i64>
  %6 = exti %cst_2_i32 signed : tile<i32> -> tile<i64>
  %7 = trunci %5 : tile<i64> -> tile<i32>
  %8 = trunci %6 : tile<i64> -> tile<i32>
  %9 = extract %tile[%7, %8] : tile<8x16xi32> -> tile<4x4xi32>
  %10 = store_view_tko weak %9, %pview_5[%cst_0_i32, %cst_0_i32] token = %4 : tile<4x4xi32>, partition_view<tile=(4x4), tensor_view<4x4xi32, strides=[4,1]>>, tile<i32> -> token
  %11 = iota : tile<16xi32>
  %reshape_6 = reshape %11 : tile<16xi32> -> tile<16xi32>
  %reshape_7 = reshape %reshape_6 : tile<16xi32> -> tile<1x16xi32>
  %tview_8 = make_tensor_view %arg4, shape = [8, 16], strides = [16, 1] : tensor_view<8x16xi32, strides=[16,1]>
  %pview_9 = make_partition_view %tview_8 : partition_view<tile=(8x16), tensor_view<8x16xi32, strides=[16,1]>>
  %bcast_10 = broadcast %reshape_7 : tile<1x16xi32> -> tile<8x16xi32>
  %12 = store_view_tko weak %bcast_10, %pview_9[%cst_0_i32, %cst_0_i32] token = %10 : tile<8x16xi32>, partition_view<tile=(8x16), tensor_view<8x16xi32, strides=[16,1]>>, tile<i32> -> token
  return
}
entry @_Z4cubePKfPf(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tview = make_tensor_view %arg0, shape = [4, 8, 16], strides = [128, 16, 1] : tensor_view<4x8x16xf32, strides=[128,16,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x8x16), tensor_view<4x8x16xf32, strides=[128,16,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32, %cst_0_i32] : partition_view<tile=(4x8x16), tensor_view<4x8x16xf32, strides=[128,16,1]>>, tile<i32> -> tile<4x8x16xf32>, token
  %0 = permute %tile [2, 0, 1] : tile<4x8x16xf32> -> tile<16x4x8xf32>
  %tview_0 = make_tensor_view %arg1, shape = [16, 4, 8], strides = [32, 8, 1] : tensor_view<16x4x8xf32, strides=[32,8,1]>
  %pview_1 = make_partition_view %tview_0 : partition_view<tile=(16x4x8), tensor_view<16x4x8xf32, strides=[32,8,1]>>
  %1 = store_view_tko weak %0, %pview_1[%cst_0_i32, %cst_0_i32, %cst_0_i32] token = %result_token : tile<16x4x8xf32>, partition_view<tile=(16x4x8), tensor_view<16x4x8xf32, strides=[32,8,1]>>, tile<i32> -> token
  return
}
