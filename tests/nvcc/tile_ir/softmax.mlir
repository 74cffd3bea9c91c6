// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z7softmaxPKfPfii(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>, %arg3: tile<i32>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_0_i8 = constant <i8: 0> : tile<i8>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %cst_-1_i32 = constant <i32: -1> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %0 = make_token : token
  %gridSize_x, %gridSize_y, %gridSize_z = get_num_tile_blocks : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %for:3 = for %loopIdx in (%blockId_x to %arg2, step %gridSize_x) : tile<i32> iter_values(%iterArg0 = %0, %iterArg1 = %0, %iterArg2 = %0) -> (token, token, token) {
    %1 = join_tokens %iterArg1, %iterArg0 : token
    %2 = cmpi equal %cst_1_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %3 = exti %2 unsigned : tile<i1> -> tile<i32>
    %4 = muli %3, %arg3 overflow<no_signed_wrap> : tile<i32>
    %5 = addi %cst_0_i32, %4 overflow<no_signed_wrap> : tile<i32>
    %6 = cmpi equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %7 = exti %6 unsigned : tile<i1> -> tile<i32>
    %8 = muli %7, %arg2 overflow<no_signed_wrap> : tile<i32>
    %9 = addi %5, %8 overflow<no_signed_wrap> : tile<i32>
    %10 = cmpi equal %cst_1_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
    %11 = exti %10 unsigned : tile<i1> -> tile<i32>
    %12 = muli %11, %arg3 overflow<no_signed_wrap> : tile<i32>
    %13 = addi %cst_0_i32, %12 overflow<no_signed_wrap> : tile<i32>
    %14 = cmpi equal %cst_0_i64, %cst_1_i64, unsigned : tile<i64> -> tile<i1>
    %15 = exti %14 unsigned : tile<i1> -> tile<i32>
    %16 = muli %15, %arg2 overflow<no_signed_wrap> : tile<i32>
    %17 = addi %13, %16 overflow<no_signed_wrap> : tile<i32>
    %18 = cmpi less_than_or_equal %cst_0_i64, %cst_0_i64, unsigned : tile<i64> -> tile<i1>
    %19 = exti %18 unsigned : tile<i1> -> tile<i32>
    %20 = trunci %19 : tile<i32> -> tile<i8>
    %21 = exti %20 unsigned : tile<i8> -> tile<i32>
    %22 = muli %21, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
    %23 = muli %22, %17 overflow<no_signed_wrap> : tile<i32>
    %24 = cmpi not_equal %20, %cst_0_i8, signed : tile<i8> -> tile<i1>
    %25 = exti %24 unsigned : tile<i1> -> tile<i32>
    %26 = xori %25, %cst_-1_i32 : tile<i32>
    %27 = andi %26, %cst_1_i32 : tile<i32>
    %28 = muli %27, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
    %29 = addi %23, %28 overflow<no_signed_wrap> : tile<i32>
    %tview = make_tensor_view %arg0, shape = [%9, %17], strides = [%29, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x128), padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%loopIdx, %cst_0_i32] token = %iterArg2 : partition_view<tile=(1x128), padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x128xf32>, token
    %30 = join_tokens %1, %result_token : token
    %reduce = reduce %tile dim=1 identities=[0xFF800000 : f32] : tile<1x128xf32> -> tile<1xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %35 = maxf %reduce_lhs, %reduce_rhs : tile<f32>
      yield %35 : tile<f32>
    }
    %reshape = reshape %reduce : tile<1xf32> -> tile<1x1xf32>
    %bcast = broadcast %reshape : tile<1x1xf32> -> tile<1x128xf32>
    %31 = subf %tile, %bcast  : tile<1x128xf32>
    %32 = exp %31  : tile<1x128xf32>
    %reduce_0 = reduce %32 dim=1 identities=[0.000000e+00 : f32] : tile<1x128xf32> -> tile<1xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %35 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
      yield %35 : tile<f32>
    }
    %reshape_1 = reshape %reduce_0 : tile<1xf32> -> tile<1x1xf32>
    %bcast_2 = broadcast %reshape_1 : tile<1x1xf32> -> tile<1x128xf32>
    %33 = divf %32, %bcast_2  : tile<1x128xf32>
    %tview_3 = make_tensor_view %arg1, shape = [%9, %17], strides = [%29, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_4 = make_partition_view %tview_3 : partition_view<tile=(1x128), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %34 = store_view_tko weak %33, %pview_4[%loopIdx, %cst_0_i32] token = %result_token : tile<1x128xf32>, partition_view<tile=(1x128), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    continue %34, %30, %34 : token, token, token
  }
  return
}
