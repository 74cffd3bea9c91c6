// Element-wise floating-point operations: MLIR's, where they round to nearest; NVVM's, where Tile IR
// asks for another rounding, flushed subnormals, or an approximation.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#line = #nv_tileas.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#spec = #nv_tileaa.kernel_spec<num_warps = 1>
!f = tensor<32xf32, #line>
!i = tensor<32xi32, #line>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @nearest
  // CHECK: arith.addf %arg0, %arg1 : vector<1xf32>
  // CHECK: arith.divf %arg0, %arg1
  // CHECK: math.fma %arg0, %arg1, %arg0
  // CHECK: math.absf
  // CHECK: math.floor
  // CHECK: arith.remf
  // CHECK: arith.cmpf olt
  nv_tileaa.func @nearest(%a: !f, %b: !f) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.addf %a, %b : !f
    %1 = nv_tileaa.divf %a, %b : !f
    %2 = nv_tileaa.fma %a, %b, %a : !f
    %3 = nv_tileaa.absf %a : !f
    %4 = nv_tileaa.floor %a : !f
    %5 = nv_tileaa.remf %a, %b : !f
    %6 = nv_tileaa.cmpf olt, %a, %b : !f
    nv_tileaa.return
  }
  // CHECK-LABEL: @rounding
  // CHECK: nvvm.mulf {{.*}} {rnd = #nvvm.fp_rnd_mode<rz>}
  // CHECK: nvvm.div.approx
  // CHECK: nvvm.sqrtf
  // CHECK: nvvm.addf {{.*}}ftz
  nv_tileaa.func @rounding(%a: !f, %b: !f) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.mulf %a, %b rounding<zero> : !f
    %1 = nv_tileaa.divf %a, %b rounding<approx> : !f
    %2 = nv_tileaa.sqrt %a : !f
    %3 = nv_tileaa.addf %a, %b flush_to_zero : !f
    nv_tileaa.return
  }
  // maximumf propagates NaN, maxnumf returns the other operand.
  // CHECK-LABEL: @extrema
  // CHECK: arith.maximumf
  // CHECK: arith.minnumf
  // CHECK: [[LOW:%[0-9]+]] = arith.maxnumf %arg0, %arg1
  // CHECK: arith.minnumf [[LOW]], %arg1
  nv_tileaa.func @extrema(%a: !f, %b: !f) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.maxf %a, %b propagate_nan : !f
    %1 = nv_tileaa.minf %a, %b : !f
    %2 = nv_tileaa.clampf %a, %b, %b : !f
    nv_tileaa.return
  }
  // CHECK-LABEL: @functions
  // CHECK: nvvm.rsqrt.approx {{.*}} {ftz}
  // CHECK: nvvm.ex2.approx {{.*}} {ftz}
  // CHECK: math.exp2
  // CHECK: math.sin
  // CHECK: math.atan2 %arg0, %arg1
  // CHECK: math.powf %arg0, %arg1
  nv_tileaa.func @functions(%a: !f, %b: !f) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.rsqrt %a flush_to_zero : !f
    %1 = nv_tileaa.exp2 %a flush_to_zero : !f
    %2 = nv_tileaa.exp2 %a : !f
    %3 = nv_tileaa.sin %a : !f
    %4 = nv_tileaa.atan2 %a, %b : !f
    %5 = nv_tileaa.fpowf %a, %b : !f
    nv_tileaa.return
  }
  // f32 has no exact integer power: f64 represents the 32 bits of the exponent.
  // CHECK-LABEL: @integer_power
  // CHECK: arith.sitofp %arg1 : vector<1xi32> to vector<1xf64>
  // CHECK: math.powf {{.*}} : vector<1xf64>
  // CHECK: arith.truncf {{.*}} : vector<1xf64> to vector<1xf32>
  nv_tileaa.func @integer_power(%a: !f, %i: !i) attributes {kernel_spec = #spec} {
    %0 = nv_tileaa.fpowi %a, %i : !f, !i
    nv_tileaa.return
  }
  // arith operations that are already on vectors of one thread's elements only change their types.
  // CHECK-LABEL: @arith
  // CHECK: arith.mulf %arg0, %arg0 : vector<1xf32>
  nv_tileaa.func @arith(%a: !f) attributes {kernel_spec = #spec} {
    %0 = arith.mulf %a, %a : !f
    nv_tileaa.return
  }
}
