// Accumulators of 16 bits are written to shared memory by stmatrix, four 8x8 matrices at once, and
// read 16 bytes at a time. No element leaves its warp, so the lanes of a warp alone wait for each other.
// RUN: tilewright opt --pass convert-tileas-to-nvgpu %s | filecheck %s
#c = #nv_tileas.layout<[32, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#rows = #nv_tileas.layout<[32, 64], register = [[0, 1], [0, 2], [0, 4], [4, 0], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[16, 0]]>
#operand = #nv_tileas.layout<[32, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0]]>
#columns = #nv_tileas.layout<[32, 64], offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]]>
#by_columns = #nv_tileas.layout<[16, 128], register = [[0, 1], [8, 0], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [0, 16]]>
#left = #nv_tileas.layout<[16, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]>
gpu.module @kernels attributes {nv_tileaa.target_spec = #nv_tileaa.target_spec<compute_capability = 90>} {
  // CHECK-LABEL: @store
  // CHECK-NOT: gpu.barrier
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-COUNT-4: cute_nvgpu.stmatrix %{{[0-9]+}}, %{{[0-9]+}}[%{{[^ ]+}}] : vector<4x2xi16>
  // CHECK: cute_nvgpu.warp_sync
  // CHECK-COUNT-4: llvm.load
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  nv_tileaa.func @store(%x: tensor<32x64xf16, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>, nv_tileas.scratch_bytes = 4096 : i64} {
    %b = nv_tileas.convert_layout %x {scratch = 0 : i64} : tensor<32x64xf16, #c> -> tensor<32x64xf16, #rows>
    nv_tileaa.return
  }
  // The same where a dot reads them, in the placement of its operand.
  // CHECK-LABEL: @operand
  // CHECK-COUNT-4: cute_nvgpu.stmatrix %{{[0-9]+}}, %{{[0-9]+}}[%{{[^ ]+}}] : vector<4x2xi16>
  // CHECK-NOT: llvm.store
  // CHECK: gpu.return
  nv_tileaa.func @operand(%x: tensor<32x64xf16, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>, nv_tileas.scratch_bytes = 4096 : i64} {
    %b = nv_tileas.convert_layout %x {scratch = 0 : i64} : tensor<32x64xf16, #c> -> tensor<32x64xf16, #operand>
    nv_tileaa.return
  }

  // Not where columns are contiguous.
  // CHECK-LABEL: @columns
  // CHECK-NOT: cute_nvgpu.stmatrix
  // CHECK-COUNT-32: llvm.store
  // CHECK: gpu.return
  nv_tileaa.func @columns(%x: tensor<32x64xf16, #c>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>, nv_tileas.scratch_bytes = 4096 : i64} {
    %b = nv_tileas.convert_layout %x {scratch = 0 : i64} : tensor<32x64xf16, #c> -> tensor<32x64xf16, #columns>
    nv_tileaa.return
  }

  // Warps with columns of their own exchange them as A of the next dot: four lanes have a row on
  // both sides, so that ldmatrix reads what stmatrix has written.
  // CHECK-LABEL: @exchange
  // CHECK-COUNT-2: cute_nvgpu.stmatrix %{{[0-9]+}}, %{{[0-9]+}}[%{{[^ ]+}}] : vector<4x2xi16>
  // CHECK: gpu.barrier
  // CHECK-COUNT-8: nvgpu.ldmatrix {{.*}}transpose = false
  // CHECK-NOT: llvm.load
  // CHECK: gpu.return
  nv_tileaa.func @exchange(%x: tensor<16x128xf16, #by_columns>) attributes {kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileas.scratch_bytes = 4096 : i64} {
    %b = nv_tileas.convert_layout %x {scratch = 0 : i64} : tensor<16x128xf16, #by_columns> -> tensor<16x128xf16, #left>
    nv_tileaa.return
  }
}
