// The hint occupancy: lowered until accumulators, and 32 other registers, fit into those of a thread.
// RUN: tilewright opt --pass plan-kernel %s | filecheck %s
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // 128 accumulators of a thread: two blocks of 256 threads have 128 registers a thread.
  // CHECK-LABEL: @large
  // CHECK-SAME: num_warps = 8, occupancy = 1
  nv_tileaa.func @large(%a: tensor<128x64xf16>, %b: tensor<64x256xf16>, %c: tensor<128x256xf32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>, nv_tileaa.asked = #nv_tileaa.asked<occupancy = <2, entry>>} {
    %d = nv_tileaa.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    nv_tileaa.return
  }
  // 64 accumulators: two blocks fit, four do not.
  // CHECK-LABEL: @square
  // CHECK-SAME: num_warps = 8, occupancy = 2
  nv_tileaa.func @square(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %c: tensor<128x128xf32>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>, nv_tileaa.asked = #nv_tileaa.asked<occupancy = <4, entry>>} {
    %d = nv_tileaa.dot %a, %b, %c : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    nv_tileaa.return
  }
  // Without dots the hint stays.
  // CHECK-LABEL: @copy
  // CHECK-SAME: num_warps = 8, occupancy = 8
  nv_tileaa.func @copy(%p: tensor<128x!nv_tileaa.ptr<f32>>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>, nv_tileaa.asked = #nv_tileaa.asked<occupancy = <8, entry>>} {
    nv_tileaa.return
  }
}
