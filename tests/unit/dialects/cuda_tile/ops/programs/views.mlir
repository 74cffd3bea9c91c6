entry @views(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32, <none>>>, %arg2: tile<i32>, %arg3: tile<i64>) {
  %tview = make_tensor_view %arg0, shape = [], strides = [] : tensor_view<f32>
  %tview_0 = make_tensor_view %arg0, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %tview_1 = make_tensor_view %arg0, shape = [%arg2, 64], strides = [%arg2, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %tview_2 = make_tensor_view %arg0, shape = [4], strides = [%arg3] : tile<i64> -> tensor_view<4xf32, strides=[?]>
  %tview_3 = make_tensor_view %arg1, shape = [4], strides = [1] : tile<ptr<f32, <none>>> -> tensor_view<4xf32, strides=[1], #cuda_tile.ptr_attr<none>>
  %tview_4 = make_tensor_view %arg1, shape = [%arg3], strides = [1] : tile<ptr<f32, <none>>>, tile<i64> -> tensor_view<?xf32, strides=[1], #cuda_tile.ptr_attr<none>>
  %0:2 = get_tensor_shape %tview_1 : tensor_view<?x64xf32, strides=[?,1]> -> tile<i64>
  %1 = get_tensor_shape %tview_2 : tensor_view<4xf32, strides=[?]> -> tile<i32>
  %pview = make_partition_view %tview_1 : partition_view<tile=(8x64), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>
  %sview = make_strided_view %tview_1 : strided_view<tile=(8x64), traversal_strides=[5,64], tensor_view<?x64xf32, strides=[?,1]>>
  %gsview = make_gather_scatter_view %tview_1 : gather_scatter_view<tile=(8x64), padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
  %2:2 = get_index_space_shape %pview : partition_view<tile=(8x64), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]> -> tile<i32>
  %3 = make_token : token
  %tile, %result_token = load_view_tko weak %pview[%arg2, %arg2] : partition_view<tile=(8x64), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x64xf32>, token
  %tile_5, %result_token_6 = load_view_tko acquire device %sview[%arg3, %arg3] token = %3 optimization_hints = <default = {allow_tma = false}> inbounds = [true, false] : strided_view<tile=(8x64), traversal_strides=[5,64], tensor_view<?x64xf32, strides=[?,1]>>, tile<i64> -> tile<8x64xf32>, token
  %4 = iota : tile<8xi32>
  %tile_7, %result_token_8 = load_view_tko relaxed sys %gsview[%4, %arg2] token = %3 : gather_scatter_view<tile=(8x64), padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<8xi32>, tile<i32> -> tile<8x64xf32>, token
  %5 = store_view_tko weak %tile, %pview[%arg2, %arg2] : tile<8x64xf32>, partition_view<tile=(8x64), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> token
  %6 = store_view_tko release tl_blk %tile_5, %sview[%arg2, %arg2] token = %5 optimization_hints = <sm_90 = {allow_tma = true, latency = 3}> inbounds = [true, true] : tile<8x64xf32>, strided_view<tile=(8x64), traversal_strides=[5,64], tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
  %7 = store_view_tko relaxed device %tile_7, %gsview[%4, %arg3] : tile<8x64xf32>, gather_scatter_view<tile=(8x64), padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<8xi32>, tile<i64> -> token
  return
}
