// One warp, m16n8k16: the smallest-K mma.sync of f16 that covers the tile.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#a = #nv_tileas.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #nv_tileas.layout<[16, 8], register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #nv_tileas.layout<[16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#a2 = #nv_tileas.layout<[16, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b2 = #nv_tileas.layout<[32, 8], register = [[1, 0], [8, 0], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // CHECK-LABEL: @one_instruction
  // CHECK: mma.sync
  // CHECK-SAME: [16, 8, 16]
  // CHECK-NOT: mma.sync
  // CHECK: gpu.return
  nv_tileaa.func @one_instruction(%a: tensor<16x16xf16, #a>, %b: tensor<16x8xf16, #b>, %c: tensor<16x8xf32, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas.atom<mma_sync>, input_precision = "ieee"} : tensor<16x16xf16, #a>, tensor<16x8xf16, #b>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
  // K = 32 is two instructions, the second on the accumulator of the first.
  // CHECK-LABEL: @two_along_k
  // CHECK-COUNT-2: mma.sync
  // CHECK-NOT: mma.sync
  // CHECK: gpu.return
  nv_tileaa.func @two_along_k(%a: tensor<16x32xf16, #a2>, %b: tensor<32x8xf16, #b2>, %c: tensor<16x8xf32, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
    %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas.atom<mma_sync>, input_precision = "ieee"} : tensor<16x32xf16, #a2>, tensor<32x8xf16, #b2>, tensor<16x8xf32, #c>
    nv_tileaa.return
  }
}
