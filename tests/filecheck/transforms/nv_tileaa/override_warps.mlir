// The number of warps that a forced schedule asks for replaces the hint, and leaves the others.
// RUN: tilewright opt --pass 'override-warps{warps=8}' %s | filecheck %s
// RUN: tilewright opt --pass 'override-warps' %s | filecheck %s --check-prefix=KEPT
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @asked
  // CHECK-SAME: #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 8, occupancy = 3>
  // KEPT-LABEL: @asked
  // KEPT-SAME: #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 4, occupancy = 3>
  nv_tileaa.func @asked() attributes {kernel_spec = #nv_tileaa.kernel_spec<num_ctas = 2, num_warps = 4, occupancy = 3>} {
    nv_tileaa.return
  }
  // CHECK-LABEL: @chosen
  // CHECK-SAME: num_warps = 8
  // KEPT-LABEL: @chosen
  // KEPT-NOT: num_warps
  nv_tileaa.func @chosen() attributes {kernel_spec = #nv_tileaa.kernel_spec<>} {
    nv_tileaa.return
  }
}
