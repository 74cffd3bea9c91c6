// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z7reversePKiPii(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<i32>) {
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1000_i32 = constant <i32: 1000> : tile<i32>
  %cst_-1000_i32 = constant <i32: -1000> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %0 = make_token : token
  %1 = alloca num_elem = 32, alignment = 4 : tile<ptr<i8>>
  %2:8 = loop iter_values(%arg3 = %cst_0_i32, %arg4 = %0, %arg5 = %0, %arg6 = %cst_1_i32, %arg7 = %cst_1000_i32, %arg8 = %cst_-1000_i32, %arg9 = %0, %arg10 = %0) : tile<i32>, token, token, tile<i32>, tile<i32>, tile<i32>, token, token -> tile<i32>, token, token, tile<i32>, tile<i32>, tile<i32>, token, token {
    %10 = cmpi not_equal %arg6, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %11 = if %10 -> (tile<i32>) {
      yield %arg3 : tile<i32>
    } else {
      %16 = addi %arg3, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
      yield %16 : tile<i32>
    }
    %12 = cmpi less_than %11, %arg2, signed : tile<i32> -> tile<i1>
    %13 = exti %12 unsigned : tile<i1> -> tile<i32>
    %14 = cmpi not_equal %13, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %15:2 = if %14 -> (token, token) {
      %16 = offset %arg0, %11 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %result, %result_token = load_ptr_tko weak %16 : tile<ptr<i32>> -> tile<i32>, token
      %17 = join_tokens %arg5, %result_token : token
      %18 = exti %11 signed : tile<i32> -> tile<i64>
      %19 = muli %18, %cst_4_i64 : tile<i64>
      %20 = offset %1, %19 : tile<ptr<i8>>, tile<i64> -> tile<ptr<i8>>
      %21 = ptr_to_ptr %20 : tile<ptr<i8>> -> tile<ptr<i32>>
      %22 = store_ptr_tko weak %21, %result : tile<ptr<i32>>, tile<i32> -> token
      %result_0, %result_token_1 = load_ptr_tko weak %21 token=%22 : tile<ptr<i32>> -> tile<i32>, token
      %23 = join_tokens %17, %result_token_1 : token
      %24 = join_tokens %23, %22 : token
      %25 = cmpi less_than %result_0, %arg7, signed : tile<i32> -> tile<i1>
      %26 = exti %25 unsigned : tile<i1> -> tile<i32>
      %27 = cmpi not_equal %26, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %28:2 = if %27 -> (token, tile<i32>) {
        yield %24, %result_0 : token, tile<i32>
      } else {
        yield %22, %arg7 : token, tile<i32>
      }
      %29 = join_tokens %24, %28#0 : token
      %30 = cmpi greater_than %result_0, %arg8, signed : tile<i32> -> tile<i1>
      %31 = exti %30 unsigned : tile<i1> -> tile<i32>
      %32 = cmpi not_equal %31, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %33:2 = if %32 -> (token, tile<i32>) {
        yield %29, %result_0 : token, tile<i32>
      } else {
        yield %28#0, %arg8 : token, tile<i32>
      }
      continue %11, %33#0, %29, %cst_0_i32, %28#1, %33#1, %result_token, %22 : tile<i32>, token, token, tile<i32>, tile<i32>, tile<i32>, token, token
    } else {
      yield %arg10, %arg9 : token, token
    }
    break %11, %arg4, %arg5, %cst_0_i32, %arg7, %arg8, %15#1, %15#0 : tile<i32>, token, token, tile<i32>, tile<i32>, tile<i32>, token, token
  }
  %3:5 = loop iter_values(%arg3 = %cst_0_i32, %arg4 = %2#1, %arg5 = %2#2, %arg6 = %cst_1_i32, %arg7 = %0) : tile<i32>, token, token, tile<i32>, token -> tile<i32>, token, token, tile<i32>, token {
    %10 = cmpi not_equal %arg6, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %11 = if %10 -> (tile<i32>) {
      yield %arg3 : tile<i32>
    } else {
      %16 = addi %arg3, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
      yield %16 : tile<i32>
    }
    %12 = cmpi less_than %11, %arg2, signed : tile<i32> -> tile<i1>
    %13 = exti %12 unsigned : tile<i1> -> tile<i32>
    %14 = cmpi not_equal %13, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %15 = if %14 -> (token) {
      %16 = offset %arg1, %11 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %17 = subi %arg2, %cst_1_i32 overflow<no_signed_wrap> : tile<i32>
      %18 = subi %17, %11 overflow<no_signed_wrap> : tile<i32>
      %19 = exti %18 signed : tile<i32> -> tile<i64>
      %20 = muli %19, %cst_4_i64 : tile<i64>
      %21 = offset %1, %20 : tile<ptr<i8>>, tile<i64> -> tile<ptr<i8>>
      %22 = ptr_to_ptr %21 : tile<ptr<i8>> -> tile<ptr<i32>>
      %result, %result_token = load_ptr_tko weak %22 token=%2#7 : tile<ptr<i32>> -> tile<i32>, token
      %23 = join_tokens %arg5, %result_token : token
      %24 = store_ptr_tko weak %16, %result token=%2#6 : tile<ptr<i32>>, tile<i32> -> token
      continue %11, %24, %23, %cst_0_i32, %24 : tile<i32>, token, token, tile<i32>, token
    } else {
      yield %arg7 : token
    }
    break %11, %arg4, %arg5, %cst_0_i32, %15 : tile<i32>, token, token, tile<i32>, token
  }
  %4 = offset %arg1, %arg2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %5 = join_tokens %2#6, %3#4 : token
  %6 = store_ptr_tko weak %4, %2#4 token=%5 : tile<ptr<i32>>, tile<i32> -> token
  %7 = offset %4, %cst_1_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %8 = join_tokens %2#6, %3#4, %6 : token
  %9 = store_ptr_tko weak %7, %2#5 token=%8 : tile<ptr<i32>>, tile<i32> -> token
  return
}
