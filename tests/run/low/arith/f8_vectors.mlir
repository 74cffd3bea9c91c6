// Vectors of fp8, of even and odd length.
// RUN @narrow block=32 arch=fp8
// ARG x = random:32x3xf32:1
// ARG y = zeros:32x3xf8E5M2
// EXPECT y = f8E5M2(wide_f32(x))
//
// RUN @widen block=32 arch=fp8
// ARG x = random:32x4xf8E4M3FN:1
// ARG y = zeros:32x4xf32
// EXPECT y = wide_f8E4M3FN(x)
gpu.module @kernels {
  gpu.func @narrow(%x: memref<32x3xf32, 1>, %y: memref<32x3xf8E5M2, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%i, %c0] : memref<32x3xf32, 1>, vector<3xf32>
    %r = arith.truncf %v : vector<3xf32> to vector<3xf8E5M2>
    vector.store %r, %y[%i, %c0] : memref<32x3xf8E5M2, 1>, vector<3xf8E5M2>
    gpu.return
  }

  gpu.func @widen(%x: memref<32x4xf8E4M3FN, 1>, %y: memref<32x4xf32, 1>) kernel {
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%i, %c0] : memref<32x4xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %r = arith.extf %v : vector<4xf8E4M3FN> to vector<4xf32>
    vector.store %r, %y[%i, %c0] : memref<32x4xf32, 1>, vector<4xf32>
    gpu.return
  }
}
