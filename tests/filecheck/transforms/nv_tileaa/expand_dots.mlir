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
    // One scale for each 32 elements along K. Powers of two may be beyond the exponents of bf16: each
    // block of K is a dot of f16, and its result is multiplied by both scales in f32, split in two.
    // CHECK-LABEL: @block_scaled
    // CHECK: [[A:%[0-9]+]] = nv_tileaa.extract_slice %arg0[{{.*}}] : tensor<16x64xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
    // CHECK: [[B:%[0-9]+]] = nv_tileaa.extract_slice %arg1[{{.*}}] : tensor<64x16xf8E4M3FN> -> tensor<32x16xf8E4M3FN>
    // CHECK-DAG: [[A16:%[0-9]+]] = nv_tileaa.fp_to_fp [[A]]
    // CHECK-DAG: [[B16:%[0-9]+]] = nv_tileaa.fp_to_fp [[B]]
    // CHECK: [[PART:%[0-9]+]] = nv_tileaa.dot [[A16]], [[B16]], {{.*}} : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>
    // CHECK: nv_tileaa.extract_slice %arg3[{{.*}}] : tensor<16x2xf8E8M0FNU> -> tensor<16x1xf8E8M0FNU>
    // CHECK: nv_tileaa.clampf {{.*}} propagate_nan : tensor<16x1xf32>
    // CHECK: nv_tileaa.clampf {{.*}} propagate_nan : tensor<1x16xf32>
    // CHECK: [[FIRST:%[0-9]+]] = nv_tileaa.mulf {{.*}} : tensor<16x16xf32>
    // CHECK: [[SECOND:%[0-9]+]] = nv_tileaa.mulf {{.*}} : tensor<16x16xf32>
    // CHECK: [[SCALED:%[0-9]+]] = nv_tileaa.mulf [[PART]], [[FIRST]]
    // CHECK: [[SUM:%[0-9]+]] = nv_tileaa.fma [[SCALED]], [[SECOND]], %arg2
    // CHECK: nv_tileaa.dot {{.*}} : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>
    // CHECK: nv_tileaa.fma {{.*}}, [[SUM]] : tensor<16x16xf32>
    nv_tileaa.func @block_scaled(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x16xf8E4M3FN>, %c: !acc,
        %as: tensor<16x2xf8E8M0FNU>, %bs: tensor<2x16xf8E8M0FNU>) -> !acc {
      %d = nv_tileaa.dot %a, %b, %c scaled by %as, %bs : tensor<16x64xf8E4M3FN>, tensor<64x16xf8E4M3FN>, !acc by tensor<16x2xf8E8M0FNU>, tensor<2x16xf8E8M0FNU>
      nv_tileaa.return %d : !acc
    }
    // Other scales have few exponents: they are broadcast along K, and bf16 represents the scaled
    // elements exactly.
    // CHECK-LABEL: @scaled_by_fp8
    // CHECK-DAG: nv_tileaa.fp_to_fp %arg3 : tensor<16x2xf8E4M3FN> to tensor<16x2xf32>
    // CHECK-DAG: nv_tileaa.view {{.*}} : tensor<16x2xf32> -> tensor<16x2x1xf32>
    // CHECK-DAG: nv_tileaa.broadcast {{.*}} : tensor<16x2x1xf32> -> tensor<16x2x16xf32>
    // CHECK-DAG: nv_tileaa.view {{.*}} : tensor<16x2x16xf32> -> tensor<16x32xf32>
    // CHECK-DAG: nv_tileaa.broadcast {{.*}} : tensor<2x1x16xf32> -> tensor<2x16x16xf32>
    // CHECK-DAG: nv_tileaa.mulf {{.*}} : tensor<16x32xf32>
    // CHECK-DAG: nv_tileaa.mulf {{.*}} : tensor<32x16xf32>
    // CHECK: nv_tileaa.dot {{.*}} : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    nv_tileaa.func @scaled_by_fp8(%a: tensor<16x32xf4E2M1FN>, %b: tensor<32x16xf4E2M1FN>, %c: !acc,
        %as: tensor<16x2xf8E4M3FN>, %bs: tensor<2x16xf8E4M3FN>) -> !acc {
      %d = nv_tileaa.dot %a, %b, %c scaled by %as, %bs : tensor<16x32xf4E2M1FN>, tensor<32x16xf4E2M1FN>, !acc by tensor<16x2xf8E4M3FN>, tensor<2x16xf8E4M3FN>
      nv_tileaa.return %d : !acc
    }
  }
}
