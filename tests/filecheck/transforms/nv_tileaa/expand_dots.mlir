// fp8 tensor cores exist since sm_89: below, A and B become f16, which represents every fp8 value.
// RUN: tilewright opt --pass expand-dots %s | filecheck %s
!e4m3a = tensor<16x32xf8E4M3FN>
!e4m3b = tensor<32x16xf8E4M3FN>
!acc = tensor<16x16xf32>
module {
  gpu.module @sm80 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
    // CHECK-LABEL: @fp8_without_tensor_cores
    // CHECK-DAG: [[A:%[0-9]+]] = nv_tileaa.fp_to_fp %arg0 : tensor<16x32xf8E4M3FN> to tensor<16x32xf16>
    // CHECK-DAG: [[B:%[0-9]+]] = nv_tileaa.fp_to_fp %arg1 : tensor<32x16xf8E4M3FN> to tensor<32x16xf16>
    // CHECK: nv_tileaa.dot [[A]], [[B]], %arg2 {{.*}}: tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>
    nv_tileaa.func @fp8_without_tensor_cores(%a: !e4m3a, %b: !e4m3b, %c: !acc) -> !acc {
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : !e4m3a, !e4m3b, !acc
      nv_tileaa.return %d : !acc
    }
    // CHECK-LABEL: @f16_has_tensor_cores
    // CHECK-NOT: fp_to_fp
    // CHECK: nv_tileaa.dot %arg0, %arg1, %arg2
    nv_tileaa.func @f16_has_tensor_cores(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: !acc) -> !acc {
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : tensor<16x32xf16>, tensor<32x16xf16>, !acc
      nv_tileaa.return %d : !acc
    }
  }
  gpu.module @sm89 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 89>} {
    // CHECK-LABEL: @fp8_with_tensor_cores
    // CHECK-NOT: fp_to_fp
    // CHECK: nv_tileaa.dot %arg0, %arg1, %arg2
    nv_tileaa.func @fp8_with_tensor_cores(%a: !e4m3a, %b: !e4m3b, %c: !acc) -> !acc {
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : !e4m3a, !e4m3b, !acc
      nv_tileaa.return %d : !acc
    }
    // One scale for each 32 elements along K: it is broadcast along K, and multiplied in f32; bf16
    // represents the product exactly, since a scale is a power of two.
    // CHECK-LABEL: @block_scaled
    // CHECK-DAG: nv_tileaa.fp_to_fp %arg3 : tensor<16x2xf8E8M0FNU> to tensor<16x2xf32>
    // CHECK-DAG: nv_tileaa.view {{.*}} : tensor<16x2xf32> -> tensor<16x2x1xf32>
    // CHECK-DAG: nv_tileaa.broadcast {{.*}} : tensor<16x2x1xf32> -> tensor<16x2x32xf32>
    // CHECK-DAG: nv_tileaa.view {{.*}} : tensor<16x2x32xf32> -> tensor<16x64xf32>
    // CHECK-DAG: nv_tileaa.broadcast {{.*}} : tensor<2x1x16xf32> -> tensor<2x32x16xf32>
    // CHECK-DAG: nv_tileaa.mulf {{.*}} : tensor<16x64xf32>
    // CHECK-DAG: nv_tileaa.mulf {{.*}} : tensor<64x16xf32>
    // CHECK: nv_tileaa.dot {{.*}} : tensor<16x64xbf16>, tensor<64x16xbf16>, tensor<16x16xf32>
    // CHECK-NOT: f8E8M0FNU
    nv_tileaa.func @block_scaled(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x16xf8E4M3FN>, %c: !acc,
        %as: tensor<16x2xf8E8M0FNU>, %bs: tensor<2x16xf8E8M0FNU>) -> !acc {
      %d = nv_tileaa.dot %a, %b, %c scaled by %as, %bs : tensor<16x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>, !acc by tensor<16x2xf8E8M0FNU>, tensor<2x16xf8E8M0FNU>
      nv_tileaa.return %d : !acc
    }
  }
}
