// Fragments of four small matrices to shared memory: as they are, and transposed.
// RUN @store block=32 arch=stmatrix
// ARG x : i16 = np.arange(256).reshape(32, 4, 2)
// ARG rows = zeros:4x8x8xi16
// ARG columns = zeros:4x8x8xi16
// EXPECT rows = x.reshape(8, 4, 4, 2).transpose(2, 0, 1, 3).reshape(4, 8, 8)
// EXPECT columns = x.reshape(8, 4, 4, 2).transpose(2, 1, 3, 0).reshape(4, 8, 8)
!room = memref<4x8x8xi16, 3>
gpu.module @kernels {
  gpu.func @store(%x: memref<32x8xi16, 1>, %rows: memref<4x8x8xi16, 1>, %columns: memref<4x8x8xi16, 1>)
      workgroup(%plain: !room {llvm.align = 16 : i64}, %turned: !room {llvm.align = 16 : i64})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i8 = arith.constant 8 : index
    %t = gpu.thread_id x
    // Eight lanes have the row addresses of each matrix.
    %matrix = arith.divui %t, %i8 : index
    %row = arith.remui %t, %i8 : index
    %own = vector.load %x[%t, %i0] : memref<32x8xi16, 1>, vector<8xi16>
    %fragments = vector.shape_cast %own : vector<8xi16> to vector<4x2xi16>
    cute_nvgpu.stmatrix %fragments, %plain[%matrix, %row, %i0] : vector<4x2xi16>, !room
    cute_nvgpu.stmatrix %fragments, %turned[%matrix, %row, %i0] transpose : vector<4x2xi16>, !room
    cute_nvgpu.warp_sync
    %a = vector.load %plain[%matrix, %row, %i0] : !room, vector<8xi16>
    vector.store %a, %rows[%matrix, %row, %i0] : memref<4x8x8xi16, 1>, vector<8xi16>
    %b = vector.load %turned[%matrix, %row, %i0] : !room, vector<8xi16>
    vector.store %b, %columns[%matrix, %row, %i0] : memref<4x8x8xi16, 1>, vector<8xi16>
    gpu.return
  }
}
