// Pairs of floats to fp8 and back: larger numbers saturate.
// RUN @singles_f8E4M3FN block=32 arch=fp8
// DATA small = random:128xf32:1
// ARG x : f32 = small * np.linspace(1, 448, 128)
// ARG y0 = zeros:128xf8E4M3FN
// ARG y1 = zeros:128xf8E4M3FN
// EXPECT y0 = f8E4M3FN(np.clip(x, -448, 448))
// EXPECT y1 = f8E4M3FN(np.clip(x, 0, 448))
// RUN @halves_f8E4M3FN block=32 arch=fp8
// DATA small = random:128xf16:2
// ARG x : f16 = small * np.linspace(1, 1000, 128)
// ARG y0 = zeros:128xf8E4M3FN
// ARG y1 = zeros:128xf8E4M3FN
// EXPECT y0 = f8E4M3FN(np.clip(x, -448, 448))
// EXPECT y1 = f8E4M3FN(np.clip(x, 0, 448))
// RUN @wide_f8E4M3FN block=32 arch=fp8
// ARG x = random:128xf8E4M3FN:3
// ARG y0 = zeros:128xf16
// EXPECT y0 = wide_f8E4M3FN(x)
// RUN @singles_f8E5M2 block=32 arch=fp8
// DATA small = random:128xf32:1
// ARG x : f32 = small * np.linspace(1, 57344, 128)
// ARG y0 = zeros:128xf8E5M2
// ARG y1 = zeros:128xf8E5M2
// EXPECT y0 = f8E5M2(np.clip(x, -57344, 57344))
// EXPECT y1 = f8E5M2(np.clip(x, 0, 57344))
// RUN @halves_f8E5M2 block=32 arch=fp8
// DATA small = random:128xf16:2
// ARG x : f16 = small * np.linspace(1, 1000, 128)
// ARG y0 = zeros:128xf8E5M2
// ARG y1 = zeros:128xf8E5M2
// EXPECT y0 = f8E5M2(np.clip(x, -57344, 57344))
// EXPECT y1 = f8E5M2(np.clip(x, 0, 57344))
// RUN @wide_f8E5M2 block=32 arch=fp8
// ARG x = random:128xf8E5M2:3
// ARG y0 = zeros:128xf16
// EXPECT y0 = wide_f8E5M2(x)
gpu.module @kernels {
  gpu.func @singles_f8E4M3FN(%x: memref<128xf32, 1>, %y0: memref<128xf8E4M3FN, 1>, %y1: memref<128xf8E4M3FN, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf32, 1>, vector<4xf32>
    %r0 = nvgpu.cvt_fptrunc %v : vector<4xf32> to vector<4xf8E4M3FN>
    %r1 = nvgpu.cvt_fptrunc %v {relu} : vector<4xf32> to vector<4xf8E4M3FN>
    vector.store %r0, %y0[%at] : memref<128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    vector.store %r1, %y1[%at] : memref<128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    gpu.return
  }

  gpu.func @halves_f8E4M3FN(%x: memref<128xf16, 1>, %y0: memref<128xf8E4M3FN, 1>, %y1: memref<128xf8E4M3FN, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf16, 1>, vector<4xf16>
    %r0 = nvgpu.cvt_fptrunc %v : vector<4xf16> to vector<4xf8E4M3FN>
    %r1 = nvgpu.cvt_fptrunc %v {relu} : vector<4xf16> to vector<4xf8E4M3FN>
    vector.store %r0, %y0[%at] : memref<128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    vector.store %r1, %y1[%at] : memref<128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    gpu.return
  }

  gpu.func @wide_f8E4M3FN(%x: memref<128xf8E4M3FN, 1>, %y0: memref<128xf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf8E4M3FN, 1>, vector<4xf8E4M3FN>
    %r0 = nvgpu.cvt_fpext %v : vector<4xf8E4M3FN> to vector<4xf16>
    vector.store %r0, %y0[%at] : memref<128xf16, 1>, vector<4xf16>
    gpu.return
  }

  gpu.func @singles_f8E5M2(%x: memref<128xf32, 1>, %y0: memref<128xf8E5M2, 1>, %y1: memref<128xf8E5M2, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf32, 1>, vector<4xf32>
    %r0 = nvgpu.cvt_fptrunc %v : vector<4xf32> to vector<4xf8E5M2>
    %r1 = nvgpu.cvt_fptrunc %v {relu} : vector<4xf32> to vector<4xf8E5M2>
    vector.store %r0, %y0[%at] : memref<128xf8E5M2, 1>, vector<4xf8E5M2>
    vector.store %r1, %y1[%at] : memref<128xf8E5M2, 1>, vector<4xf8E5M2>
    gpu.return
  }

  gpu.func @halves_f8E5M2(%x: memref<128xf16, 1>, %y0: memref<128xf8E5M2, 1>, %y1: memref<128xf8E5M2, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf16, 1>, vector<4xf16>
    %r0 = nvgpu.cvt_fptrunc %v : vector<4xf16> to vector<4xf8E5M2>
    %r1 = nvgpu.cvt_fptrunc %v {relu} : vector<4xf16> to vector<4xf8E5M2>
    vector.store %r0, %y0[%at] : memref<128xf8E5M2, 1>, vector<4xf8E5M2>
    vector.store %r1, %y1[%at] : memref<128xf8E5M2, 1>, vector<4xf8E5M2>
    gpu.return
  }

  gpu.func @wide_f8E5M2(%x: memref<128xf8E5M2, 1>, %y0: memref<128xf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf8E5M2, 1>, vector<4xf8E5M2>
    %r0 = nvgpu.cvt_fpext %v : vector<4xf8E5M2> to vector<4xf16>
    vector.store %r0, %y0[%at] : memref<128xf16, 1>, vector<4xf16>
    gpu.return
  }
}
