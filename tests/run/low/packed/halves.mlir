// Pairs of f32 to f16 and bf16, to nearest and to zero, negative ones to zero; and back.
// RUN @to_f16 block=32 arch=base
// ARG x = random:128xf32:1
// ARG y0 = zeros:128xf16
// ARG y1 = zeros:128xf16
// ARG y2 = zeros:128xf16
// EXPECT y0 = f16(x)
// EXPECT y1 = np.where(abs(wide_f16(f16(x))) > abs(x), np.nextafter(f16(x), f16(0)), f16(x))
// EXPECT y2 = f16(np.maximum(x, 0))
// RUN @to_bf16 block=32 arch=base
// ARG x = random:128xf32:2
// ARG y0 = zeros:128xbf16
// ARG y1 = zeros:128xbf16
// ARG y2 = zeros:128xbf16
// EXPECT y0 = bf16(x)
// EXPECT y1 = (x.view(np.uint32) & 0xffff0000).view(np.float32)
// EXPECT y2 = bf16(np.maximum(x, 0))
// RUN @from_f16 block=32 arch=base
// ARG x = random:128xf16:3
// ARG y0 = zeros:128xf32
// EXPECT y0 = x
// RUN @from_bf16 block=32 arch=base
// ARG x = random:128xbf16:4
// ARG y0 = zeros:128xf32
// EXPECT y0 = wide_bf16(x)
gpu.module @kernels {
  gpu.func @to_f16(%x: memref<128xf32, 1>, %y0: memref<128xf16, 1>, %y1: memref<128xf16, 1>, %y2: memref<128xf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf32, 1>, vector<4xf32>
    %r0 = nvgpu.cvt_fptrunc %v : vector<4xf32> to vector<4xf16>
    %r1 = nvgpu.cvt_fptrunc %v {rounding = #nvgpu.packed_rounding<rz>} : vector<4xf32> to vector<4xf16>
    %r2 = nvgpu.cvt_fptrunc %v {relu} : vector<4xf32> to vector<4xf16>
    vector.store %r0, %y0[%at] : memref<128xf16, 1>, vector<4xf16>
    vector.store %r1, %y1[%at] : memref<128xf16, 1>, vector<4xf16>
    vector.store %r2, %y2[%at] : memref<128xf16, 1>, vector<4xf16>
    gpu.return
  }

  gpu.func @to_bf16(%x: memref<128xf32, 1>, %y0: memref<128xbf16, 1>, %y1: memref<128xbf16, 1>, %y2: memref<128xbf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf32, 1>, vector<4xf32>
    %r0 = nvgpu.cvt_fptrunc %v : vector<4xf32> to vector<4xbf16>
    %r1 = nvgpu.cvt_fptrunc %v {rounding = #nvgpu.packed_rounding<rz>} : vector<4xf32> to vector<4xbf16>
    %r2 = nvgpu.cvt_fptrunc %v {relu} : vector<4xf32> to vector<4xbf16>
    vector.store %r0, %y0[%at] : memref<128xbf16, 1>, vector<4xbf16>
    vector.store %r1, %y1[%at] : memref<128xbf16, 1>, vector<4xbf16>
    vector.store %r2, %y2[%at] : memref<128xbf16, 1>, vector<4xbf16>
    gpu.return
  }

  gpu.func @from_f16(%x: memref<128xf16, 1>, %y0: memref<128xf32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf16, 1>, vector<4xf16>
    %r0 = nvgpu.cvt_fpext %v : vector<4xf16> to vector<4xf32>
    vector.store %r0, %y0[%at] : memref<128xf32, 1>, vector<4xf32>
    gpu.return
  }

  gpu.func @from_bf16(%x: memref<128xbf16, 1>, %y0: memref<128xf32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xbf16, 1>, vector<4xbf16>
    %r0 = nvgpu.cvt_fpext %v : vector<4xbf16> to vector<4xf32>
    vector.store %r0, %y0[%at] : memref<128xf32, 1>, vector<4xf32>
    gpu.return
  }
}
