// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z7collatzPKiPi(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>) {
  %cst_100_i32 = constant <i32: 100> : tile<i32>
  %cst_3_i32 = constant <i32: 3> : tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = make_token : token
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = offset %arg0, %blockId_x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %result, %result_token = load_ptr_tko weak %1 : tile<ptr<i32>> -> tile<i32>, token
  %2 = join_tokens %0, %result_token : token
  %3:5 = loop iter_values(%arg2 = %result, %arg3 = %cst_0_i32, %arg4 = %0, %arg5 = %2, %arg6 = %cst_1_i32) : tile<i32>, tile<i32>, token, token, tile<i32> -> tile<i32>, tile<i32>, token, token, tile<i32> {
    %6 = cmpi not_equal %arg2, %cst_1_i32, signed : tile<i32> -> tile<i1>
    %7 = exti %6 unsigned : tile<i1> -> tile<i32>
    %8 = cmpi not_equal %7, %cst_0_i32, signed : tile<i32> -> tile<i1>
    if %8 {
      %9 = remi %arg2, %cst_2_i32 signed : tile<i32>
      %10 = cmpi equal %9, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %11 = exti %10 unsigned : tile<i1> -> tile<i32>
      %12 = cmpi not_equal %11, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %13 = if %12 -> (tile<i32>) {
        %19 = divi %arg2, %cst_2_i32 signed : tile<i32>
        yield %19 : tile<i32>
      } else {
        %19 = muli %cst_3_i32, %arg2 overflow<no_signed_wrap> : tile<i32>
        %20 = addi %19, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
        yield %20 : tile<i32>
      }
      %14 = addi %arg3, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
      %15 = cmpi equal %14, %cst_100_i32, signed : tile<i32> -> tile<i1>
      %16 = exti %15 unsigned : tile<i1> -> tile<i32>
      %17 = cmpi not_equal %16, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %18:2 = if %17 -> (token, token) {
        break %13, %14, %arg4, %arg5, %cst_0_i32 : tile<i32>, tile<i32>, token, token, tile<i32>
      } else {
        yield %arg4, %arg5 : token, token
      }
      continue %13, %14, %18#0, %18#1, %cst_0_i32 : tile<i32>, tile<i32>, token, token, tile<i32>
    }
    break %arg2, %arg3, %arg4, %arg5, %cst_0_i32 : tile<i32>, tile<i32>, token, token, tile<i32>
  }
  %4 = offset %arg1, %blockId_x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %5 = store_ptr_tko weak %4, %3#1 token=%result_token : tile<ptr<i32>>, tile<i32> -> token
  return
}
entry @_Z12first_blocksPfi(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  %cst_100_f32 = constant <f32: 1.000000e+02> : tile<f32>
  %cst_2_f32 = constant <f32: 2.000000e+00> : tile<f32>
  %true = constant <i1: true> : tile<i1>
  %false = constant <i1: false> : tile<i1>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_16_i32 = constant <i32: 16> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = make_token : token
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = cmpi greater_than_or_equal %blockId_x, %arg1, signed : tile<i32> -> tile<i1>
  %2 = exti %1 unsigned : tile<i1> -> tile<i32>
  %3 = cmpi not_equal %2, %cst_0_i32, signed : tile<i32> -> tile<i1>
  %4:2 = if %3 -> (token, token) {
    return
  } else {
    yield %0, %0 : token, token
  }
  %5 = iota : tile<16xi32>
  %reshape = reshape %5 : tile<16xi32> -> tile<16xi32>
  %6 = muli %blockId_x, %cst_16_i32 overflow<no_signed_wrap> : tile<i32>
  %reshape_0 = reshape %6 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape_0 : tile<1xi32> -> tile<16xi32>
  %7 = addi %reshape, %bcast overflow<no_signed_wrap> : tile<16xi32>
  %reshape_1 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_2 = broadcast %reshape_1 : tile<1xptr<f32>> -> tile<16xptr<f32>>
  %8 = exti %7 signed : tile<16xi32> -> tile<16xi64>
  %9 = offset %bcast_2, %8 : tile<16xptr<f32>>, tile<16xi64> -> tile<16xptr<f32>>
  %result, %result_token = load_ptr_tko weak %9 : tile<16xptr<f32>> -> tile<16xf32>, token
  %10 = join_tokens %4#1, %result_token : token
  %11 = join_tokens %10, %4#0 : token
  %for:3 = for %loopIdx in (%cst_0_i32 to %blockId_x, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %result, %iterArg1 = %11, %iterArg2 = %11) -> (tile<16xf32>, token, token) {
    %19 = cmpi equal %loopIdx, %cst_2_i32, signed : tile<i32> -> tile<i1>
    %20 = exti %19 unsigned : tile<i1> -> tile<i32>
    %21 = cmpi not_equal %20, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %22:2 = if %21 -> (token, token) {
      continue %iterArg0, %iterArg1, %iterArg2 : tile<16xf32>, token, token
    } else {
      yield %iterArg1, %iterArg2 : token, token
    }
    %23 = addi %loopIdx, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
    %24 = itof %23 signed  : tile<i32> -> tile<f32>
    %reshape_3 = reshape %24 : tile<f32> -> tile<1xf32>
    %bcast_4 = broadcast %reshape_3 : tile<1xf32> -> tile<16xf32>
    %25 = addf %iterArg0, %bcast_4  : tile<16xf32>
    continue %25, %22#0, %22#1 : tile<16xf32>, token, token
  }
  %12 = cmpi equal %blockId_x, %cst_0_i32, signed : tile<i32> -> tile<i1>
  %13 = ori %false, %12 : tile<i1>
  %14 = cmpi equal %blockId_x, %cst_1_i32, signed : tile<i32> -> tile<i1>
  %15 = ori %13, %14 : tile<i1>
  %16 = xori %15, %true : tile<i1>
  %17:5 = loop iter_values(%arg2 = %for#0, %arg3 = %for#1, %arg4 = %for#2, %arg5 = %cst_0_i32, %arg6 = %false) : tile<16xf32>, token, token, tile<i32>, tile<i1> -> tile<16xf32>, token, token, tile<i32>, tile<i1> {
    %19 = join_tokens %arg4, %arg3 : token
    %20 = ori %arg6, %12 : tile<i1>
    %21:4 = if %20 -> (tile<16xf32>, token, token, tile<i32>) {
      %28 = negf %arg2 : tile<16xf32>
      break %28, %arg3, %19, %cst_0_i32, %arg6 : tile<16xf32>, token, token, tile<i32>, tile<i1>
    } else {
      yield %arg2, %arg3, %arg4, %arg5 : tile<16xf32>, token, token, tile<i32>
    }
    %22 = join_tokens %21#2, %21#1 : token
    %23 = ori %arg6, %14 : tile<i1>
    %24:5 = if %23 -> (tile<16xf32>, token, token, tile<i32>, tile<i1>) {
      %reshape_3 = reshape %cst_2_f32 : tile<f32> -> tile<1xf32>
      %bcast_4 = broadcast %reshape_3 : tile<1xf32> -> tile<16xf32>
      %28 = mulf %21#0, %bcast_4  : tile<16xf32>
      yield %28, %22, %22, %cst_0_i32, %true : tile<16xf32>, token, token, tile<i32>, tile<i1>
    } else {
      yield %21#0, %21#1, %21#2, %21#3, %arg6 : tile<16xf32>, token, token, tile<i32>, tile<i1>
    }
    %25 = join_tokens %24#2, %24#1 : token
    %26 = ori %24#4, %16 : tile<i1>
    %27:5 = if %26 -> (tile<16xf32>, token, token, tile<i32>, tile<i1>) {
      %reshape_3 = reshape %cst_100_f32 : tile<f32> -> tile<1xf32>
      %bcast_4 = broadcast %reshape_3 : tile<1xf32> -> tile<16xf32>
      %28 = addf %24#0, %bcast_4  : tile<16xf32>
      yield %28, %25, %25, %cst_0_i32, %true : tile<16xf32>, token, token, tile<i32>, tile<i1>
    } else {
      yield %24#0, %24#1, %24#2, %24#3, %24#4 : tile<16xf32>, token, token, tile<i32>, tile<i1>
    }
    break %27#0, %27#1, %27#2, %27#3, %27#4 : tile<16xf32>, token, token, tile<i32>, tile<i1>
  }
  %18 = store_ptr_tko weak %9, %17#0 token=%result_token : tile<16xptr<f32>>, tile<16xf32> -> token
  return
}
