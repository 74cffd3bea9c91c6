// Pairs of f32 to floats of 6 and 4 bits, which memory holds without gaps, and these to f16.
// RUN @to_f6E2M3FN block=32 arch=narrow_floats
// DATA small = random:128xf32:1
// ARG x : f32 = small * 7.5
// ARG y = zeros:96xi8
// ARG z = zeros:128xf16
// EXPECT y = (np.clip(x, -7.5, 7.5).astype(ml_dtypes.float6_e2m3fn).view(np.uint8).astype(np.uint32).reshape(-1, 4) << np.arange(0, 24, 6)).sum(1).astype(np.uint32).view(np.int8).reshape(-1, 4)[:, :3].reshape(-1)
// EXPECT z = np.clip(x, -7.5, 7.5).astype(ml_dtypes.float6_e2m3fn).astype(np.float32)
// RUN @to_f6E3M2FN block=32 arch=narrow_floats
// DATA small = random:128xf32:1
// ARG x : f32 = small * 28
// ARG y = zeros:96xi8
// ARG z = zeros:128xf16
// EXPECT y = (np.clip(x, -28, 28).astype(ml_dtypes.float6_e3m2fn).view(np.uint8).astype(np.uint32).reshape(-1, 4) << np.arange(0, 24, 6)).sum(1).astype(np.uint32).view(np.int8).reshape(-1, 4)[:, :3].reshape(-1)
// EXPECT z = np.clip(x, -28, 28).astype(ml_dtypes.float6_e3m2fn).astype(np.float32)
// RUN @to_f4E2M1FN block=32 arch=narrow_floats
// DATA small = random:128xf32:1
// ARG x : f32 = small * 6
// ARG y = zeros:64xi8
// ARG z = zeros:128xf16
// EXPECT y = (np.clip(x, 0, 6).astype(ml_dtypes.float4_e2m1fn).view(np.uint8).reshape(-1, 2) << np.array([0, 4])).sum(1).astype(np.uint8).view(np.int8)
// EXPECT z = np.clip(x, 0, 6).astype(ml_dtypes.float4_e2m1fn).astype(np.float32)
gpu.module @kernels {
  gpu.func @to_f6E2M3FN(%x: memref<128xf32, 1>, %y: memref<96xi8, 1>, %z: memref<128xf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %bytes = arith.constant 3 : index
    %to = arith.muli %t, %bytes : index
    %v = vector.load %x[%at] : memref<128xf32, 1>, vector<4xf32>
    %r = nvgpu.cvt_fptrunc %v : vector<4xf32> to vector<4xf6E2M3FN>
    %packed = vector.bitcast %r : vector<4xf6E2M3FN> to vector<3xi8>
    vector.store %packed, %y[%to] : memref<96xi8, 1>, vector<3xi8>
    %wide = nvgpu.cvt_fpext %r : vector<4xf6E2M3FN> to vector<4xf16>
    vector.store %wide, %z[%at] : memref<128xf16, 1>, vector<4xf16>
    gpu.return
  }

  gpu.func @to_f6E3M2FN(%x: memref<128xf32, 1>, %y: memref<96xi8, 1>, %z: memref<128xf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %bytes = arith.constant 3 : index
    %to = arith.muli %t, %bytes : index
    %v = vector.load %x[%at] : memref<128xf32, 1>, vector<4xf32>
    %r = nvgpu.cvt_fptrunc %v : vector<4xf32> to vector<4xf6E3M2FN>
    %packed = vector.bitcast %r : vector<4xf6E3M2FN> to vector<3xi8>
    vector.store %packed, %y[%to] : memref<96xi8, 1>, vector<3xi8>
    %wide = nvgpu.cvt_fpext %r : vector<4xf6E3M2FN> to vector<4xf16>
    vector.store %wide, %z[%at] : memref<128xf16, 1>, vector<4xf16>
    gpu.return
  }

  gpu.func @to_f4E2M1FN(%x: memref<128xf32, 1>, %y: memref<64xi8, 1>, %z: memref<128xf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %bytes = arith.constant 2 : index
    %to = arith.muli %t, %bytes : index
    %v = vector.load %x[%at] : memref<128xf32, 1>, vector<4xf32>
    %r = nvgpu.cvt_fptrunc %v {relu} : vector<4xf32> to vector<4xf4E2M1FN>
    %packed = vector.bitcast %r : vector<4xf4E2M1FN> to vector<2xi8>
    vector.store %packed, %y[%to] : memref<64xi8, 1>, vector<2xi8>
    %wide = nvgpu.cvt_fpext %r : vector<4xf4E2M1FN> to vector<4xf16>
    vector.store %wide, %z[%at] : memref<128xf16, 1>, vector<4xf16>
    gpu.return
  }
}
