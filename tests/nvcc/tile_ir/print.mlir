// Producer: Cuda compilation tools, release 13.4, V13.4.92, Build cuda_13.4.r13.4/compiler.38855100_0, Build ID: CL-38855100
entry @_Z4showif(%arg0: tile<i32>, %arg1: tile<f32>) {
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %0 = ftof %arg1  : tile<f32> -> tile<f64>
  %1 = print_tko "n = %d, x = %5.2f%%\0A\00", %arg0, %0 : tile<i32>, tile<f64> -> token
  %2 = cmpi greater_than %arg0, %cst_2_i32, signed : tile<i32> -> tile<i1>
  %3 = exti %2 unsigned : tile<i1> -> tile<i32>
  %4 = cmpi not_equal %3, %cst_0_i32, signed : tile<i32> -> tile<i1>
  if %4 {
    %5 = subi %arg0, %cst_2_i32 overflow<no_signed_wrap> : tile<i32>
    %6 = print_tko "%i more\0A\00", %5 token=%1 : tile<i32> -> token
  }
  return
}
