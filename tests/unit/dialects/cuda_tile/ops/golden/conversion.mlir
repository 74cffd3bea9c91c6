entry @conversion() {
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16xf32>
  %cst_0_i32 = constant <i32: 0> : tile<16xi32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %0 = bitcast %cst_0_f32 : tile<16xf32> -> tile<16xi32>
  %1 = exti %cst_0_i32 unsigned : tile<16xi32> -> tile<16xi64>
  %2 = exti %cst_0_i32 signed : tile<16xi32> -> tile<16xi64>
  %3 = trunci %cst_0_i32 : tile<16xi32> -> tile<16xi8>
  %4 = trunci %cst_0_i32 overflow<no_signed_wrap> : tile<16xi32> -> tile<16xi8>
  %5 = trunci %cst_0_i32 overflow<no_unsigned_wrap> : tile<16xi32> -> tile<16xi8>
  %6 = trunci %cst_0_i32 overflow<no_wrap> : tile<16xi32> -> tile<16xi8>
  %7 = trunci %cst_0_i32 : tile<16xi32> -> tile<16xi4>
  %8 = exti %7 signed : tile<16xi4> -> tile<16xi16>
  %9 = ftof %cst_0_f32  : tile<16xf32> -> tile<16xf16>
  %10 = ftof %cst_0_f32 rounding<zero> : tile<16xf32> -> tile<16xbf16>
  %11 = ftof %cst_0_f32 rounding<nearest_away> : tile<16xf32> -> tile<16xtf32>
  %12 = ftof %cst_0_f32 rounding<negative_inf> : tile<16xf32> -> tile<16xf64>
  %13 = ftof %cst_0_f32 rounding<positive_inf> : tile<16xf32> -> tile<16xf8E8M0FNU>
  %14 = ftof %cst_0_f32  : tile<16xf32> -> tile<16xf8E4M3FN>
  %15 = ftof %cst_0_f32  : tile<16xf32> -> tile<16xf8E5M2>
  %16 = ftof %cst_0_f32  : tile<16xf32> -> tile<16xf4E2M1FN>
  %17 = ftof %cst_0_f32  : tile<16xf32> -> tile<16xfnv8E5M3FNU>
  %18 = ftoi %cst_0_f32 unsigned  : tile<16xf32> -> tile<16xi8>
  %19 = ftoi %cst_0_f32 unsigned  saturating : tile<16xf32> -> tile<16xi8>
  %20 = itof %cst_0_i32 unsigned  : tile<16xi32> -> tile<16xf16>
  %21 = ftoi %cst_0_f32 signed  : tile<16xf32> -> tile<16xi8>
  %22 = ftoi %cst_0_f32 signed  saturating : tile<16xf32> -> tile<16xi8>
  %23 = itof %cst_0_i32 signed  : tile<16xi32> -> tile<16xf16>
  %24 = int_to_ptr %cst_0_i64 : tile<i64> -> tile<ptr<f32>>
  %25 = ptr_to_int %24 : tile<ptr<f32>> -> tile<i64>
  %26 = ptr_to_ptr %24 : tile<ptr<f32>> -> tile<ptr<i8>>
  return
}
