// A tile of A * B by one warp: bits, 32 in a word, multiplied by `and`.
// RUN @gemm block=32 arch=base
// ARG a = random:16x16xi32:1
// ARG b = random:8x16xi32:2
// ARG c = zeros:16x8xi32
// EXPECT c = np.bitwise_count((a[:, None] & b[None]).view(np.uint32)).sum(-1)
gpu.module @kernels {
  gpu.func @gemm(%a: memref<16x16xi32, 1>, %b: memref<8x16xi32, 1>, %c: memref<16x8xi32, 1>)
      workgroup(%sa: memref<16x16xi32, 3> {llvm.align = 16 : i64}, %sb: memref<8x16xi32, 3> {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %row = arith.constant 16 : index
    %piece = arith.constant 4 : index
    %step = arith.constant 8 : index
    %lane = gpu.lane_id
    // Lanes 0 to 15 bring a row of A each, in pieces of 16 bytes; the other half brings B.
    %mine = arith.remui %lane, %c16 : index
    %brings_a = arith.cmpi ult, %lane, %c16 : index
    %brings_b = arith.cmpi uge, %lane, %c16 : index
    %first_half = arith.cmpi ult, %mine, %c8 : index
    scf.for %at = %c0 to %row step %piece {
      scf.if %brings_a {
        %x = vector.load %a[%mine, %at] {alignment = 16 : i64} : memref<16x16xi32, 1>, vector<4xi32>
        vector.store %x, %sa[%mine, %at] {alignment = 16 : i64} : memref<16x16xi32, 3>, vector<4xi32>
      }
      %has = arith.andi %brings_b, %first_half : i1
      scf.if %has {
        %y = vector.load %b[%mine, %at] {alignment = 16 : i64} : memref<8x16xi32, 1>, vector<4xi32>
        vector.store %y, %sb[%mine, %at] {alignment = 16 : i64} : memref<8x16xi32, 3>, vector<4xi32>
      }
    }
    gpu.barrier
    // Each lane has the address of a row of 16 bytes: of four matrices of A, of two of B.
    %half_a = arith.divui %lane, %c16 : index
    %at_a = arith.muli %half_a, %piece : index
    %row_b = arith.remui %lane, %c8 : index
    %eighth = arith.divui %lane, %c8 : index
    %half_b = arith.remui %eighth, %c2 : index
    %at_b = arith.muli %half_b, %piece : index
    %none = arith.constant dense<0> : vector<2x2xi32>
    %sum = scf.for %k = %c0 to %row step %step iter_args(%acc = %none) -> (vector<2x2xi32>) {
      %ka = arith.addi %k, %at_a : index
      %kb = arith.addi %k, %at_b : index
      %fa = nvgpu.ldmatrix %sa[%mine, %ka] {numTiles = 4 : i32, transpose = false} : memref<16x16xi32, 3> -> vector<4x1xi32>
      %fb = nvgpu.ldmatrix %sb[%row_b, %kb] {numTiles = 2 : i32, transpose = false} : memref<8x16xi32, 3> -> vector<2x1xi32>
      %pa = vector.bitcast %fa : vector<4x1xi32> to vector<4x32xi1>
      %pb = vector.bitcast %fb : vector<2x1xi32> to vector<2x32xi1>
      %next = nvgpu.mma.sync(%pa, %pb, %acc) {mmaShape = [16, 8, 256]} : (vector<4x32xi1>, vector<2x32xi1>, vector<2x2xi32>) -> vector<2x2xi32>
      scf.yield %next : vector<2x2xi32>
    }
    // A lane holds two neighbours in two rows.
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xi32> from vector<2x2xi32>
    %lower = vector.extract %sum[1] : vector<2xi32> from vector<2x2xi32>
    vector.store %upper, %c[%top, %column] : memref<16x8xi32, 1>, vector<2xi32>
    vector.store %lower, %c[%bottom, %column] : memref<16x8xi32, 1>, vector<2xi32>
    gpu.return
  }
}
