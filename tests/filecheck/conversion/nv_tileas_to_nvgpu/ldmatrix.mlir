// The A operand of mma.sync comes out of shared memory by ldmatrix: four 8x8 matrices of 16-bit
// elements at once; that of a transposed operand by ldmatrix.trans.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#rows = #nv_tileas.layout<[16, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
#cols = #nv_tileas.layout<[16, 16], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = []>
#a = #nv_tileas.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 80>} {
  // CHECK-LABEL: @operand
  // CHECK: cute_nvgpu.warp_sync
  // CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = false} : memref<8xi16, 3> -> vector<4x2xi16>
  // CHECK-NOT: llvm.load
  // CHECK: gpu.return
  nv_tileaa.func @operand(%x: tensor<16x16xf16, #rows>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>, nv_tileas.scratch_bytes = 512 : i64} {
    %b = nv_tileas.convert_layout %x {scratch = 0 : i64} : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #a>
    nv_tileaa.return
  }
  // CHECK-LABEL: @transposed_operand
  // CHECK: cute_nvgpu.warp_sync
  // CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = true} : memref<8xi16, 3> -> vector<4x2xi16>
  // CHECK-NOT: llvm.load
  // CHECK: gpu.return
  nv_tileaa.func @transposed_operand(%x: tensor<16x16xf16, #cols>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>, nv_tileas.scratch_bytes = 512 : i64} {
    %b = nv_tileas.convert_layout %x {scratch = 0 : i64} : tensor<16x16xf16, #cols> -> tensor<16x16xf16, #a>
    nv_tileaa.return
  }
}
