// A tile of A * B by one warp: f64, which lanes fetch element by element.
// RUN @gemm block=32 arch=base
// ARG a = small:8x16xf64:1
// ARG b = small:16x8xf64:2
// ARG c = zeros:8x8xf64
// EXPECT c = a @ b
// RUN @gemm block=32 arch=base
// ARG a = random:8x16xf64:3
// ARG b = random:16x8xf64:4
// ARG c = zeros:8x8xf64
// EXPECT c ~ 16 * u_f64 * (abs(a) @ abs(b)) : a @ b
gpu.module @kernels {
  gpu.func @gemm(%a: memref<8x16xf64, 1>, %b: memref<16x8xf64, 1>, %c: memref<8x8xf64, 1>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %lane = gpu.lane_id
    %row = arith.divui %lane, %c4 : index
    %quarter = arith.remui %lane, %c4 : index
    %none = arith.constant dense<0.0> : vector<1x2xf64>
    %sum = scf.for %k = %c0 to %c16 step %c4 iter_args(%acc = %none) -> (vector<1x2xf64>) {
      %at = arith.addi %k, %quarter : index
      %x = memref.load %a[%row, %at] : memref<8x16xf64, 1>
      %y = memref.load %b[%at, %row] : memref<16x8xf64, 1>
      %fa = vector.from_elements %x : vector<1x1xf64>
      %fb = vector.from_elements %y : vector<1x1xf64>
      %next = nvgpu.mma.sync(%fa, %fb, %acc) {mmaShape = [8, 8, 4]}
          : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
      scf.yield %next : vector<1x2xf64>
    }
    %column = arith.muli %quarter, %c2 : index
    %pair = vector.extract %sum[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %pair, %c[%row, %column] : memref<8x8xf64, 1>, vector<2xf64>
    gpu.return
  }
}
