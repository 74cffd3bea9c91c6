// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z3addPKiPiS1_(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<i32>>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tview = make_tensor_view %arg0, shape = [4, 64], strides = [64, 1] : tensor_view<4x64xi32, strides=[64,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x64), tensor_view<4x64xi32, strides=[64,1]>>
  %tile, %result_token = load_view_tko weak %pview[%cst_0_i32, %cst_0_i32] : partition_view<tile=(4x64), tensor_view<4x64xi32, strides=[64,1]>>, tile<i32> -> tile<4x64xi32>, token
  %tview_0 = make_tensor_view %arg1, shape = [4, 64], strides = [64, 1] : tensor_view<4x64xi32, strides=[64,1]>
  %pview_1 = make_partition_view %tview_0 : partition_view<tile=(4x64), tensor_view<4x64xi32, strides=[64,1]>>
  %0 = scan %tile dim=1 reverse=false identities=[0 : i32] : tile<4x64xi32> -> tile<4x64xi32> 
  (%arg3: tile<i32>, %arg4: tile<i32>) {
    %4 = addi %arg3, %arg4 overflow<no_signed_wrap> : tile<i32>
    yield %4 : tile<i32>
  }
  %reshape = reshape %0 : tile<4x64xi32> -> tile<4x64xi32>
  %1 = store_view_tko weak %reshape, %pview_1[%cst_0_i32, %cst_0_i32] token = %result_token : tile<4x64xi32>, partition_view<tile=(4x64), tensor_view<4x64xi32, strides=[64,1]>>, tile<i32> -> token
  %tview_2 = make_tensor_view %arg2, shape = [4, 64], strides = [64, 1] : tensor_view<4x64xi32, strides=[64,1]>
  %pview_3 = make_partition_view %tview_2 : partition_view<tile=(4x64), tensor_view<4x64xi32, strides=[64,1]>>
  %2 = scan %tile dim=0 reverse=true identities=[0 : i32] : tile<4x64xi32> -> tile<4x64xi32> 
  (%arg3: tile<i32>, %arg4: tile<i32>) {
    %4 = addi %arg3, %arg4 overflow<no_signed_wrap> : tile<i32>
    yield %4 : tile<i32>
  }
  %reshape_4 = reshape %2 : tile<4x64xi32> -> tile<4x64xi32>
  %3 = store_view_tko weak %reshape_4, %pview_3[%cst_0_i32, %cst_0_i32] token = %1 : tile<4x64xi32>, partition_view<tile=(4x64), tensor_view<4x64xi32, strides=[64,1]>>, tile<i32> -> token
  return
}
entry @_Z4prodPKdPd(%arg0: tile<ptr<f64>>, %arg1: tile<ptr<f64>>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tview = make_tensor_view %arg1, shape = [4, 64], strides = [64, 1] : tensor_view<4x64xf64, strides=[64,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x64), tensor_view<4x64xf64, strides=[64,1]>>
  %tview_0 = make_tensor_view %arg0, shape = [4, 64], strides = [64, 1] : tensor_view<4x64xf64, strides=[64,1]>
  %pview_1 = make_partition_view %tview_0 : partition_view<tile=(4x64), tensor_view<4x64xf64, strides=[64,1]>>
  %tile, %result_token = load_view_tko weak %pview_1[%cst_0_i32, %cst_0_i32] : partition_view<tile=(4x64), tensor_view<4x64xf64, strides=[64,1]>>, tile<i32> -> tile<4x64xf64>, token
  %0 = scan %tile dim=1 reverse=false identities=[1.000000e+00] : tile<4x64xf64> -> tile<4x64xf64> 
  (%arg2: tile<f64>, %arg3: tile<f64>) {
    %2 = mulf %arg2, %arg3  : tile<f64>
    yield %2 : tile<f64>
  }
  %reshape = reshape %0 : tile<4x64xf64> -> tile<4x64xf64>
  %1 = store_view_tko weak %reshape, %pview[%cst_0_i32, %cst_0_i32] token = %result_token : tile<4x64xf64>, partition_view<tile=(4x64), tensor_view<4x64xf64, strides=[64,1]>>, tile<i32> -> token
  return
}
