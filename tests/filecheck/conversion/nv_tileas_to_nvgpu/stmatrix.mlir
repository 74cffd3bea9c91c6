// Accumulators of 16 bits are written to shared memory by stmatrix, four 8x8 matrices at once, and
// read 16 bytes at a time. No element leaves its warp, so the lanes of a warp alone wait for each other.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#c = #nv_tileas.layout<[32, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#rows = #nv_tileas.layout<[32, 64], register = [[0, 1], [0, 2], [0, 4], [4, 0], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[16, 0]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @store
  // CHECK-NOT: gpu.barrier
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-COUNT-4: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<row>
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-COUNT-4: llvm.load
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @store(%x: tensor<32x64xf16, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>, nv_tileas.scratch_bytes = 4096 : i64} {
    %b = nv_tileas.convert_layout %x {scratch = 0 : i64} : tensor<32x64xf16, #c> -> tensor<32x64xf16, #rows>
    nv_tileaa.return
  }
}
