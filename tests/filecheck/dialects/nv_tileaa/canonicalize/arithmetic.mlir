// RUN: tilewright opt --pass canonicalize %s | filecheck %s
gpu.module @kernels {
  // CHECK-LABEL: @bitcasts
  // CHECK: [[B:%[0-9]+]] = nv_tileaa.bitcast %arg0 : f16 to i16
  // CHECK-NEXT: nv_tileaa.return [[B]]
  nv_tileaa.func @bitcasts(%x: f16) -> i16 {
    %a = nv_tileaa.bitcast %x : f16 to bf16
    %b = nv_tileaa.bitcast %a : bf16 to i16
    nv_tileaa.return %b : i16
  }
  // CHECK-LABEL: @extensions
  // CHECK: [[E:%[0-9]+]] = nv_tileaa.exti %arg0 signed : i8 to i64
  // CHECK-NEXT: nv_tileaa.return [[E]]
  nv_tileaa.func @extensions(%x: i8) -> i64 {
    %a = nv_tileaa.exti %x signed : i8 to i32
    %b = nv_tileaa.exti %a signed : i32 to i64
    nv_tileaa.return %b : i64
  }
  // x^2 is x * x: both round the same real number once.
  // CHECK-LABEL: @squares
  // CHECK-NOT: fpow
  // CHECK-COUNT-2: nv_tileaa.mulf
  nv_tileaa.func @squares(%x: f32, %y: f32) -> (f32, f32) {
    %two = arith.constant 2 : i32
    %two_f = arith.constant 2.0 : f32
    %a = nv_tileaa.fpowi %x, %two : f32, i32
    %b = nv_tileaa.fpowf %y, %two_f : f32
    nv_tileaa.return %a, %b : f32, f32
  }
  // 0 * B + C is C, where B is finite: constants are.
  // CHECK-LABEL: @zero_dot
  // CHECK-NOT: nv_tileaa.dot
  // CHECK: nv_tileaa.return %arg0
  nv_tileaa.func @zero_dot(%c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %a = arith.constant dense<0.0> : tensor<16x16xf16>
    %b = arith.constant dense<1.0> : tensor<16x16xf16>
    %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    nv_tileaa.return %d : tensor<16x16xf32>
  }
}
