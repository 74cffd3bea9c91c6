// A tile of A * B by one warp: f16, accumulators in f32 and in f16.
// RUN @to_f32 block=32 arch=base
// ARG a = small:16x64xf16:1
// ARG b = small:8x64xf16:2
// ARG c = zeros:16x8xf32
// EXPECT c = wide_f16(a) @ wide_f16(b).T
// RUN @to_f32 block=32 arch=base
// ARG a = random:16x64xf16:1
// ARG b = random:8x64xf16:2
// ARG c = zeros:16x8xf32
// EXPECT c ~ 64 * u_f32 * (abs(wide_f16(a)) @ abs(wide_f16(b)).T) : wide_f16(a) @ wide_f16(b).T
// RUN @to_f16 block=32 arch=base
// ARG a = small:16x16xf16:1
// ARG b = small:8x16xf16:2
// ARG c = zeros:16x8xf16
// EXPECT c = wide_f16(a) @ wide_f16(b).T
gpu.module @kernels {
  gpu.func @to_f32(%a: memref<16x64xf16, 1>, %b: memref<8x64xf16, 1>, %c: memref<16x8xf32, 1>)
      workgroup(%sa: memref<16x64xf16, 3> {llvm.align = 16 : i64}, %sb: memref<8x64xf16, 3> {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %row = arith.constant 64 : index
    %piece = arith.constant 8 : index
    %step = arith.constant 16 : index
    %lane = gpu.lane_id
    // Lanes 0 to 15 bring a row of A each, in pieces of 16 bytes; the other half brings B.
    %mine = arith.remui %lane, %c16 : index
    %brings_a = arith.cmpi ult, %lane, %c16 : index
    %brings_b = arith.cmpi uge, %lane, %c16 : index
    %first_half = arith.cmpi ult, %mine, %c8 : index
    scf.for %at = %c0 to %row step %piece {
      scf.if %brings_a {
        %x = vector.load %a[%mine, %at] {alignment = 16 : i64} : memref<16x64xf16, 1>, vector<8xf16>
        vector.store %x, %sa[%mine, %at] {alignment = 16 : i64} : memref<16x64xf16, 3>, vector<8xf16>
      }
      %has = arith.andi %brings_b, %first_half : i1
      scf.if %has {
        %y = vector.load %b[%mine, %at] {alignment = 16 : i64} : memref<8x64xf16, 1>, vector<8xf16>
        vector.store %y, %sb[%mine, %at] {alignment = 16 : i64} : memref<8x64xf16, 3>, vector<8xf16>
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
    %none = arith.constant dense<0.0> : vector<2x2xf32>
    %sum = scf.for %k = %c0 to %row step %step iter_args(%acc = %none) -> (vector<2x2xf32>) {
      %ka = arith.addi %k, %at_a : index
      %kb = arith.addi %k, %at_b : index
      %fa = nvgpu.ldmatrix %sa[%mine, %ka] {numTiles = 4 : i32, transpose = false} : memref<16x64xf16, 3> -> vector<4x2xf16>
      %fb = nvgpu.ldmatrix %sb[%row_b, %kb] {numTiles = 2 : i32, transpose = false} : memref<8x64xf16, 3> -> vector<2x2xf16>
      %next = nvgpu.mma.sync(%fa, %fb, %acc) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %next : vector<2x2xf32>
    }
    // A lane holds two neighbours in two rows.
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %upper, %c[%top, %column] : memref<16x8xf32, 1>, vector<2xf32>
    vector.store %lower, %c[%bottom, %column] : memref<16x8xf32, 1>, vector<2xf32>
    gpu.return
  }

  gpu.func @to_f16(%a: memref<16x16xf16, 1>, %b: memref<8x16xf16, 1>, %c: memref<16x8xf16, 1>)
      workgroup(%sa: memref<16x16xf16, 3> {llvm.align = 16 : i64}, %sb: memref<8x16xf16, 3> {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %row = arith.constant 16 : index
    %piece = arith.constant 8 : index
    %step = arith.constant 16 : index
    %lane = gpu.lane_id
    // Lanes 0 to 15 bring a row of A each, in pieces of 16 bytes; the other half brings B.
    %mine = arith.remui %lane, %c16 : index
    %brings_a = arith.cmpi ult, %lane, %c16 : index
    %brings_b = arith.cmpi uge, %lane, %c16 : index
    %first_half = arith.cmpi ult, %mine, %c8 : index
    scf.for %at = %c0 to %row step %piece {
      scf.if %brings_a {
        %x = vector.load %a[%mine, %at] {alignment = 16 : i64} : memref<16x16xf16, 1>, vector<8xf16>
        vector.store %x, %sa[%mine, %at] {alignment = 16 : i64} : memref<16x16xf16, 3>, vector<8xf16>
      }
      %has = arith.andi %brings_b, %first_half : i1
      scf.if %has {
        %y = vector.load %b[%mine, %at] {alignment = 16 : i64} : memref<8x16xf16, 1>, vector<8xf16>
        vector.store %y, %sb[%mine, %at] {alignment = 16 : i64} : memref<8x16xf16, 3>, vector<8xf16>
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
    %none = arith.constant dense<0.0> : vector<2x2xf16>
    %sum = scf.for %k = %c0 to %row step %step iter_args(%acc = %none) -> (vector<2x2xf16>) {
      %ka = arith.addi %k, %at_a : index
      %kb = arith.addi %k, %at_b : index
      %fa = nvgpu.ldmatrix %sa[%mine, %ka] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
      %fb = nvgpu.ldmatrix %sb[%row_b, %kb] {numTiles = 2 : i32, transpose = false} : memref<8x16xf16, 3> -> vector<2x2xf16>
      %next = nvgpu.mma.sync(%fa, %fb, %acc) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
      scf.yield %next : vector<2x2xf16>
    }
    // A lane holds two neighbours in two rows.
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf16> from vector<2x2xf16>
    %lower = vector.extract %sum[1] : vector<2xf16> from vector<2x2xf16>
    vector.store %upper, %c[%top, %column] : memref<16x8xf16, 1>, vector<2xf16>
    vector.store %lower, %c[%bottom, %column] : memref<16x8xf16, 1>, vector<2xf16>
    gpu.return
  }
}
