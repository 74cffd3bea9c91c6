// Pairs of floats to powers of two, the next below and the next above, and back.
// RUN @from_f32 block=32 arch=narrow_floats
// DATA some = random:128xf32:1
// ARG x : f32 = np.exp2(wide_f32(some) * 20)
// ARG y0 = zeros:128xf8E8M0FNU
// ARG y1 = zeros:128xf8E8M0FNU
// EXPECT y0 = np.exp2(np.floor(np.log2(wide_f32(x))))
// EXPECT y1 = np.exp2(np.ceil(np.log2(wide_f32(x))))
// RUN @from_bf16 block=32 arch=narrow_floats
// DATA some = random:128xbf16:1
// ARG x : bf16 = np.exp2(wide_bf16(some) * 20)
// ARG y0 = zeros:128xf8E8M0FNU
// ARG y1 = zeros:128xf8E8M0FNU
// EXPECT y0 = np.exp2(np.floor(np.log2(wide_bf16(x))))
// EXPECT y1 = np.exp2(np.ceil(np.log2(wide_bf16(x))))
// RUN @to_bf16 block=32 arch=narrow_floats
// DATA some = random:128xf32:2
// ARG x : f8E8M0FNU = np.exp2(np.rint(some * 20))
// ARG y0 = zeros:128xbf16
// EXPECT y0 = wide_f8E8M0FNU(x)
gpu.module @kernels {
  gpu.func @from_f32(%x: memref<128xf32, 1>, %y0: memref<128xf8E8M0FNU, 1>, %y1: memref<128xf8E8M0FNU, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf32, 1>, vector<4xf32>
    %r0 = nvgpu.cvt_fptrunc %v {rounding = #nvgpu.packed_rounding<rz>} : vector<4xf32> to vector<4xf8E8M0FNU>
    %r1 = nvgpu.cvt_fptrunc %v {rounding = #nvgpu.packed_rounding<rp>} : vector<4xf32> to vector<4xf8E8M0FNU>
    vector.store %r0, %y0[%at] : memref<128xf8E8M0FNU, 1>, vector<4xf8E8M0FNU>
    vector.store %r1, %y1[%at] : memref<128xf8E8M0FNU, 1>, vector<4xf8E8M0FNU>
    gpu.return
  }

  gpu.func @from_bf16(%x: memref<128xbf16, 1>, %y0: memref<128xf8E8M0FNU, 1>, %y1: memref<128xf8E8M0FNU, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xbf16, 1>, vector<4xbf16>
    %r0 = nvgpu.cvt_fptrunc %v {rounding = #nvgpu.packed_rounding<rz>} : vector<4xbf16> to vector<4xf8E8M0FNU>
    %r1 = nvgpu.cvt_fptrunc %v {rounding = #nvgpu.packed_rounding<rp>} : vector<4xbf16> to vector<4xf8E8M0FNU>
    vector.store %r0, %y0[%at] : memref<128xf8E8M0FNU, 1>, vector<4xf8E8M0FNU>
    vector.store %r1, %y1[%at] : memref<128xf8E8M0FNU, 1>, vector<4xf8E8M0FNU>
    gpu.return
  }

  gpu.func @to_bf16(%x: memref<128xf8E8M0FNU, 1>, %y0: memref<128xbf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %t, %four : index
    %v = vector.load %x[%at] : memref<128xf8E8M0FNU, 1>, vector<4xf8E8M0FNU>
    %r0 = nvgpu.cvt_fpext %v : vector<4xf8E8M0FNU> to vector<4xbf16>
    vector.store %r0, %y0[%at] : memref<128xbf16, 1>, vector<4xbf16>
    gpu.return
  }
}
