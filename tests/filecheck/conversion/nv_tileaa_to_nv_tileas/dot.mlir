// The instruction of a dot, by element types, target and warps.
// RUN: tilewright opt --pass convert-tileaa-to-tileas %s | filecheck %s
!a = tensor<64x32xf16>
!b = tensor<32x64xf16>
!c = tensor<64x64xf32>
module {
  gpu.module @sm80 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
    // CHECK-LABEL: @f16_on_sm80
    // CHECK: nv_tileas.dot {{.*}}atom = #nv_tileas.atom<mma_sync>
    nv_tileaa.func @f16_on_sm80(%f16_value: f16, %f32_value: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
      %a = nv_tileaa.splat %f16_value : f16 -> !a
      %b = nv_tileaa.splat %f16_value : f16 -> !b
      %c = nv_tileaa.splat %f32_value : f32 -> !c
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : !a, !b, !c
      nv_tileaa.return
    }
    // f32 with full precision has no tensor core instruction; tf32 rounds its operands.
    // CHECK-LABEL: @f32_on_sm80
    // CHECK: nv_tileas.dot {{.*}}atom = #nv_tileas.atom<fma>{{.*}}"ieee"
    // CHECK: nv_tileas.dot {{.*}}atom = #nv_tileas.atom<mma_sync>{{.*}}"tf32"
    nv_tileaa.func @f32_on_sm80(%f32_value: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
      %a = nv_tileaa.splat %f32_value : f32 -> tensor<64x32xf32>
      %b = nv_tileaa.splat %f32_value : f32 -> tensor<32x64xf32>
      %c = nv_tileaa.splat %f32_value : f32 -> !c
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : tensor<64x32xf32>, tensor<32x64xf32>, !c
      %e = nv_tileaa.dot %a, %b, %c {input_precision = "tf32"} : tensor<64x32xf32>, tensor<32x64xf32>, !c
      nv_tileaa.return
    }
  }
  gpu.module @sm90 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
    // CHECK-LABEL: @f16_on_sm90
    // CHECK: nv_tileas.dot {{.*}}atom = #nv_tileas.atom<wgmma>
    nv_tileaa.func @f16_on_sm90(%f16_value: f16, %f32_value: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
      %a = nv_tileaa.splat %f16_value : f16 -> !a
      %b = nv_tileaa.splat %f16_value : f16 -> !b
      %c = nv_tileaa.splat %f32_value : f32 -> !c
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : !a, !b, !c
      nv_tileaa.return
    }
    // CHECK-LABEL: @f16_accumulators_on_sm90
    // CHECK: nv_tileas.dot {{.*}}atom = #nv_tileas.atom<wgmma>
    nv_tileaa.func @f16_accumulators_on_sm90(%f16_value: f16) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
      %a = nv_tileaa.splat %f16_value : f16 -> !a
      %b = nv_tileaa.splat %f16_value : f16 -> !b
      %c = nv_tileaa.splat %f16_value : f16 -> tensor<64x64xf16>
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : !a, !b, tensor<64x64xf16>
      nv_tileaa.return
    }
    // A warpgroup is four warps: two cannot issue wgmma.
    // CHECK-LABEL: @two_warps_on_sm90
    // CHECK: nv_tileas.dot {{.*}}atom = #nv_tileas.atom<mma_sync>
    nv_tileaa.func @two_warps_on_sm90(%f16_value: f16, %f32_value: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
      %a = nv_tileaa.splat %f16_value : f16 -> !a
      %b = nv_tileaa.splat %f16_value : f16 -> !b
      %c = nv_tileaa.splat %f32_value : f32 -> !c
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : !a, !b, !c
      nv_tileaa.return
    }
  }
  // wgmma is an instruction of sm_90a alone.
  gpu.module @sm100 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 100>} {
    // CHECK-LABEL: @f16_on_sm100
    // CHECK: nv_tileas.dot {{.*}}atom = #nv_tileas.atom<mma_sync>
    nv_tileaa.func @f16_on_sm100(%f16_value: f16, %f32_value: f32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
      %a = nv_tileaa.splat %f16_value : f16 -> !a
      %b = nv_tileaa.splat %f16_value : f16 -> !b
      %c = nv_tileaa.splat %f32_value : f32 -> !c
      %d = nv_tileaa.dot %a, %b, %c {input_precision = "ieee"} : !a, !b, !c
      nv_tileaa.return
    }
  }
}
// -----
// The accumulator of a loop stays in the layout of the instruction: no conversion in the loop.
// CHECK-LABEL: @accumulator_in_loop
// CHECK: scf.for
// CHECK-NOT: convert_layout
// CHECK: nv_tileas.dot
// CHECK-NOT: convert_layout
// CHECK: scf.yield
!a = tensor<64x32xf16>
!b = tensor<32x64xf16>
!c = tensor<64x64xf32>
gpu.module @sm90 attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  nv_tileaa.func @accumulator_in_loop(%f16_value: f16, %f32_value: f32, %n: i32) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %a = nv_tileaa.splat %f16_value : f16 -> !a
    %b = nv_tileaa.splat %f16_value : f16 -> !b
    %c = nv_tileaa.splat %f32_value : f32 -> !c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (!c) : i32 {
      %d = nv_tileaa.dot %a, %b, %acc {input_precision = "ieee"} : !a, !b, !c
      scf.yield %d : !c
    }
    nv_tileaa.return
  }
}
