// A tile of transposed A * transposed B by one warp: ldmatrix.trans transposes 8 by 8 matrices.
// RUN @gemm block=32 arch=base
// ARG a = small:16x16xf16:1
// ARG b = small:16x8xf16:2
// ARG c = ones:16x8xf32
// EXPECT c = 1 + wide_f16(a).T @ wide_f16(b)
gpu.module @kernels {
  gpu.func @gemm(%a: memref<16x16xf16, 1>, %b: memref<16x8xf16, 1>, %c: memref<16x8xf32, 1>)
      workgroup(%sa: memref<16x16xf16, 3> {llvm.align = 16 : i64}, %sb: memref<16x8xf16, 3> {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %lane = gpu.lane_id
    // Half a row of A for each lane, and for half of them a row of B.
    %mine = arith.remui %lane, %c16 : index
    %half = arith.divui %lane, %c16 : index
    %at = arith.muli %half, %c8 : index
    %x = vector.load %a[%mine, %at] {alignment = 16 : i64} : memref<16x16xf16, 1>, vector<8xf16>
    vector.store %x, %sa[%mine, %at] {alignment = 16 : i64} : memref<16x16xf16, 3>, vector<8xf16>
    %first = arith.cmpi ult, %lane, %c16 : index
    scf.if %first {
      %y = vector.load %b[%mine, %c0] {alignment = 16 : i64} : memref<16x8xf16, 1>, vector<8xf16>
      vector.store %y, %sb[%mine, %c0] {alignment = 16 : i64} : memref<16x8xf16, 3>, vector<8xf16>
    }
    gpu.barrier
    // In memory a row runs along M. The order of matrices: above, below, then those to the right,
    // which are the ones 8 further down in memory.
    %in_matrix = arith.remui %lane, %c8 : index
    %number = arith.divui %lane, %c8 : index
    %right = arith.divui %number, %c2 : index
    %below = arith.remui %number, %c2 : index
    %k_start = arith.muli %right, %c8 : index
    %k = arith.addi %k_start, %in_matrix : index
    %m = arith.muli %below, %c8 : index
    %fa = nvgpu.ldmatrix %sa[%k, %m] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, 3> -> vector<4x2xf16>
    %fb = nvgpu.ldmatrix %sb[%mine, %c0] {numTiles = 2 : i32, transpose = true} : memref<16x8xf16, 3> -> vector<2x2xf16>
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %c2 : index
    %before0 = vector.load %c[%top, %column] : memref<16x8xf32, 1>, vector<2xf32>
    %before1 = vector.load %c[%bottom, %column] : memref<16x8xf32, 1>, vector<2xf32>
    %none = arith.constant dense<0.0> : vector<2x2xf32>
    %with0 = vector.insert %before0, %none[0] : vector<2xf32> into vector<2x2xf32>
    %before = vector.insert %before1, %with0[1] : vector<2xf32> into vector<2x2xf32>
    %sum = nvgpu.mma.sync(%fa, %fb, %before) {mmaShape = [16, 8, 16]}
        : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %upper, %c[%top, %column] : memref<16x8xf32, 1>, vector<2xf32>
    vector.store %lower, %c[%bottom, %column] : memref<16x8xf32, 1>, vector<2xf32>
    gpu.return
  }
}
