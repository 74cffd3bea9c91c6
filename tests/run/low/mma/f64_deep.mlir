// A tile of A * B by one warp in one instruction: f64 with K = 16, which Hopper has.
// RUN @gemm block=32 arch=f64_mma
// ARG a = small:16x16xf64:1
// ARG b = small:16x8xf64:2
// ARG c = zeros:16x8xf64
// EXPECT c = a @ b
gpu.module @kernels {
  gpu.func @gemm(%a: memref<16x16xf64, 1>, %b: memref<16x8xf64, 1>, %c: memref<16x8xf64, 1>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %k0 = arith.remui %lane, %c4 : index
    %k1 = arith.addi %k0, %c4 : index
    %k2 = arith.addi %k0, %c8 : index
    %k3 = arith.addi %k0, %c12 : index
    // Registers of A go down first, then to the right.
    %a0 = memref.load %a[%top, %k0] : memref<16x16xf64, 1>
    %a1 = memref.load %a[%bottom, %k0] : memref<16x16xf64, 1>
    %a2 = memref.load %a[%top, %k1] : memref<16x16xf64, 1>
    %a3 = memref.load %a[%bottom, %k1] : memref<16x16xf64, 1>
    %a4 = memref.load %a[%top, %k2] : memref<16x16xf64, 1>
    %a5 = memref.load %a[%bottom, %k2] : memref<16x16xf64, 1>
    %a6 = memref.load %a[%top, %k3] : memref<16x16xf64, 1>
    %a7 = memref.load %a[%bottom, %k3] : memref<16x16xf64, 1>
    %b0 = memref.load %b[%k0, %top] : memref<16x8xf64, 1>
    %b1 = memref.load %b[%k1, %top] : memref<16x8xf64, 1>
    %b2 = memref.load %b[%k2, %top] : memref<16x8xf64, 1>
    %b3 = memref.load %b[%k3, %top] : memref<16x8xf64, 1>
    %fa = vector.from_elements %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : vector<8x1xf64>
    %fb = vector.from_elements %b0, %b1, %b2, %b3 : vector<4x1xf64>
    %none = arith.constant dense<0.0> : vector<2x2xf64>
    %sum = nvgpu.mma.sync(%fa, %fb, %none) {mmaShape = [16, 8, 16]}
        : (vector<8x1xf64>, vector<4x1xf64>, vector<2x2xf64>) -> vector<2x2xf64>
    %column = arith.muli %k0, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf64> from vector<2x2xf64>
    %lower = vector.extract %sum[1] : vector<2xf64> from vector<2x2xf64>
    vector.store %upper, %c[%top, %column] : memref<16x8xf64, 1>, vector<2xf64>
    vector.store %lower, %c[%bottom, %column] : memref<16x8xf64, 1>, vector<2xf64>
    gpu.return
  }
}
