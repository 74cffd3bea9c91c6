// A sparse matrix times a dense one by a warp: f32 that count as tf32, A has one of every two elements.
// RUN @deep block=32 arch=base
// ARG a = small:16x8xf32:1
// ARG b = small:8x16xf32:2
// DATA chosen : i8 = (np.arange(16)[:, None] + np.arange(8)) % 3 % 2
// ARG meta : i32 = np.where(np.arange(32) % 4 // 2 == 0, np.tile((np.where(chosen, 14, 4).astype(np.int64).reshape(2, 8, 2, 4) << np.array([0, 16])[:, None, None, None] << np.arange(0, 16, 4)).sum((0, 3)), (1, 2)).reshape(32), -1).astype(np.uint32).view(np.int32)
// ARG c = zeros:16x8xf32
// EXPECT c = ((np.arange(2) == chosen[..., None]) * wide_f32(a)[..., None]).reshape(16, 16) @ wide_f32(b).T
// RUN @flat block=32 arch=base
// ARG a = small:16x4xf32:1
// ARG b = small:8x8xf32:2
// DATA chosen : i8 = (np.arange(16)[:, None] + np.arange(4)) % 3 % 2
// ARG meta : i32 = np.where(np.arange(32) % 4 == 3, np.repeat((np.where(chosen, 14, 4).astype(np.int64).reshape(2, 8, 4) << np.array([0, 16])[:, None, None] << np.arange(0, 16, 4)).sum((0, 2)), 4), -1).astype(np.uint32).view(np.int32)
// ARG c = zeros:16x8xf32
// EXPECT c = ((np.arange(2) == chosen[..., None]) * wide_f32(a)[..., None]).reshape(16, 8) @ wide_f32(b).T
gpu.module @kernels {
  gpu.func @deep(%a: memref<16x8xf32, 1>, %b: memref<8x16xf32, 1>, %meta: memref<32xi32, 1>, %c: memref<16x8xf32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %held = arith.constant 1 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %held : index
    %oa0 = arith.constant 0 : index
    %ka0 = arith.addi %column, %oa0 : index
    %a0 = vector.load %a[%top, %ka0] : memref<16x8xf32, 1>, vector<1xf32>
    %oa1 = arith.constant 0 : index
    %ka1 = arith.addi %column, %oa1 : index
    %a1 = vector.load %a[%bottom, %ka1] : memref<16x8xf32, 1>, vector<1xf32>
    %oa2 = arith.constant 4 : index
    %ka2 = arith.addi %column, %oa2 : index
    %a2 = vector.load %a[%top, %ka2] : memref<16x8xf32, 1>, vector<1xf32>
    %oa3 = arith.constant 4 : index
    %ka3 = arith.addi %column, %oa3 : index
    %a3 = vector.load %a[%bottom, %ka3] : memref<16x8xf32, 1>, vector<1xf32>
    %ob0 = arith.constant 0 : index
    %kb0 = arith.addi %column, %ob0 : index
    %b0 = vector.load %b[%top, %kb0] : memref<8x16xf32, 1>, vector<1xf32>
    %ob1 = arith.constant 4 : index
    %kb1 = arith.addi %column, %ob1 : index
    %b1 = vector.load %b[%top, %kb1] : memref<8x16xf32, 1>, vector<1xf32>
    %ob2 = arith.constant 8 : index
    %kb2 = arith.addi %column, %ob2 : index
    %b2 = vector.load %b[%top, %kb2] : memref<8x16xf32, 1>, vector<1xf32>
    %ob3 = arith.constant 12 : index
    %kb3 = arith.addi %column, %ob3 : index
    %b3 = vector.load %b[%top, %kb3] : memref<8x16xf32, 1>, vector<1xf32>
    %none_a = arith.constant dense<0.0> : vector<4x1xf32>
    %with_a0 = vector.insert %a0, %none_a[0] : vector<1xf32> into vector<4x1xf32>
    %with_a1 = vector.insert %a1, %with_a0[1] : vector<1xf32> into vector<4x1xf32>
    %with_a2 = vector.insert %a2, %with_a1[2] : vector<1xf32> into vector<4x1xf32>
    %with_a3 = vector.insert %a3, %with_a2[3] : vector<1xf32> into vector<4x1xf32>
    %none_b = arith.constant dense<0.0> : vector<4x1xf32>
    %with_b0 = vector.insert %b0, %none_b[0] : vector<1xf32> into vector<4x1xf32>
    %with_b1 = vector.insert %b1, %with_b0[1] : vector<1xf32> into vector<4x1xf32>
    %with_b2 = vector.insert %b2, %with_b1[2] : vector<1xf32> into vector<4x1xf32>
    %with_b3 = vector.insert %b3, %with_b2[3] : vector<1xf32> into vector<4x1xf32>
    %word = vector.load %meta[%lane] : memref<32xi32, 1>, vector<1xi32>
    %metadata = vector.bitcast %word : vector<1xi32> to vector<2xi16>
    %none = arith.constant dense<0.0> : vector<2x2xf32>
    %sum = nvgpu.mma.sp.sync(%with_a3, %with_b3, %none) metadata(%metadata)
        {mmaShape = [16, 8, 16], tf32Enabled} : (vector<4x1xf32>, vector<4x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    %twice = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %upper, %c[%top, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    vector.store %lower, %c[%bottom, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    gpu.return
  }

  gpu.func @flat(%a: memref<16x4xf32, 1>, %b: memref<8x8xf32, 1>, %meta: memref<32xi32, 1>, %c: memref<16x8xf32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %held = arith.constant 1 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %held : index
    %oa0 = arith.constant 0 : index
    %ka0 = arith.addi %column, %oa0 : index
    %a0 = vector.load %a[%top, %ka0] : memref<16x4xf32, 1>, vector<1xf32>
    %oa1 = arith.constant 0 : index
    %ka1 = arith.addi %column, %oa1 : index
    %a1 = vector.load %a[%bottom, %ka1] : memref<16x4xf32, 1>, vector<1xf32>
    %ob0 = arith.constant 0 : index
    %kb0 = arith.addi %column, %ob0 : index
    %b0 = vector.load %b[%top, %kb0] : memref<8x8xf32, 1>, vector<1xf32>
    %ob1 = arith.constant 4 : index
    %kb1 = arith.addi %column, %ob1 : index
    %b1 = vector.load %b[%top, %kb1] : memref<8x8xf32, 1>, vector<1xf32>
    %none_a = arith.constant dense<0.0> : vector<2x1xf32>
    %with_a0 = vector.insert %a0, %none_a[0] : vector<1xf32> into vector<2x1xf32>
    %with_a1 = vector.insert %a1, %with_a0[1] : vector<1xf32> into vector<2x1xf32>
    %none_b = arith.constant dense<0.0> : vector<2x1xf32>
    %with_b0 = vector.insert %b0, %none_b[0] : vector<1xf32> into vector<2x1xf32>
    %with_b1 = vector.insert %b1, %with_b0[1] : vector<1xf32> into vector<2x1xf32>
    %word = vector.load %meta[%lane] : memref<32xi32, 1>, vector<1xi32>
    %metadata = vector.bitcast %word : vector<1xi32> to vector<2xi16>
    %none = arith.constant dense<0.0> : vector<2x2xf32>
    %sum = nvgpu.mma.sp.sync(%with_a1, %with_b1, %none) metadata(%metadata)
        {mmaShape = [16, 8, 8], sparsitySelector = 3 : i32, tf32Enabled} : (vector<2x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    %twice = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %upper, %c[%top, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    vector.store %lower, %c[%bottom, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    gpu.return
  }
}
