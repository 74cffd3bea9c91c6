// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
global  constant @"$global_1" alignment = 1 <i8: [118, 111, 105, 100, 32, 114, 101, 99, 105, 112, 114, 111, 99, 97, 108, 40, 102, 108, 111, 97, 116, 32, 42, 44, 32, 105, 110, 116, 41, 0, 0, 0]> : tile<32xi8>
entry @_Z10reciprocalPfi(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<f32>
  %false = constant <i1: false> : tile<i1>
  %cst_16_i32 = constant <i32: 16> : tile<i32>
  %cst_0_i8 = constant <i8: 0> : tile<16xi8>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = cmpi greater_than %arg1, %cst_0_i32, signed : tile<i32> -> tile<i1>
  %1 = exti %0 unsigned : tile<i1> -> tile<i32>
  %2 = cmpi not_equal %1, %cst_0_i32, signed : tile<i32> -> tile<i1>
  %3 = if %2 -> (tile<i1>) {
    %14 = cmpi less_than_or_equal %arg1, %cst_16_i32, signed : tile<i32> -> tile<i1>
    %15 = exti %14 unsigned : tile<i1> -> tile<i32>
    %16 = cmpi not_equal %15, %cst_0_i32, signed : tile<i32> -> tile<i1>
    yield %16 : tile<i1>
  } else {
    yield %false : tile<i1>
  }
  %4 = exti %3 unsigned : tile<i1> -> tile<i32>
  %5 = cmpi not_equal %4, %cst_0_i32, signed : tile<i32> -> tile<i1>
  if %5 {
  } else {
    assert %false, "assert.cu:8: n > 0 && n <= 16 failed" : tile<i1>
  }
  %6 = iota : tile<16xi32>
  %reshape = reshape %6 : tile<16xi32> -> tile<16xi32>
  %reshape_0 = reshape %arg1 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape_0 : tile<1xi32> -> tile<16xi32>
  %7 = cmpi less_than %reshape, %bcast, signed : tile<16xi32> -> tile<16xi1>
  %8 = exti %7 unsigned : tile<16xi1> -> tile<16xi8>
  %reshape_1 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_2 = broadcast %reshape_1 : tile<1xptr<f32>> -> tile<16xptr<f32>>
  %9 = exti %reshape signed : tile<16xi32> -> tile<16xi64>
  %10 = offset %bcast_2, %9 : tile<16xptr<f32>>, tile<16xi64> -> tile<16xptr<f32>>
  %reshape_3 = reshape %cst_1_f32 : tile<f32> -> tile<1xf32>
  %bcast_4 = broadcast %reshape_3 : tile<1xf32> -> tile<16xf32>
  %11 = cmpi not_equal %8, %cst_0_i8, signed : tile<16xi8> -> tile<16xi1>
  %result, %result_token = load_ptr_tko weak %10, %11, %bcast_4 : tile<16xptr<f32>>, tile<16xi1>, tile<16xf32> -> tile<16xf32>, token
  %12 = divf %bcast_4, %result  : tile<16xf32>
  %13 = store_ptr_tko weak %10, %12, %11 token=%result_token : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
  return
}
