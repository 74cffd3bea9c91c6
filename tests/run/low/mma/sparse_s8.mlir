// A sparse matrix times a dense one by a warp: int8, A has two of every four; every lane has metadata.
// RUN @gemm block=32 arch=base
// ARG a = random:16x32xi8:1
// ARG b = random:8x64xi8:2
// DATA chosen : i8 = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])[(np.arange(16)[:, None] + np.arange(16)) % 6]
// ARG meta : i32 = ((chosen[..., 0] | chosen[..., 1] << 2).astype(np.int64).reshape(2, 8, 2, 8) << np.arange(0, 32, 4)).sum(3).transpose(1, 2, 0).reshape(32).astype(np.uint32).view(np.int32)
// ARG c = zeros:16x8xi32
// EXPECT c = ((np.arange(4) == chosen[..., None]) * a.astype(np.int64).reshape(16, 16, 2)[..., None]).sum(2).reshape(16, 64) @ b.astype(np.int64).T
// RUN @ordered block=32 arch=base
// ARG a = random:16x32xi8:1
// ARG b = random:8x64xi8:2
// DATA chosen : i8 = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])[(np.arange(16)[:, None] + np.arange(16)) % 6]
// ARG meta : i32 = ((chosen[..., 0] | chosen[..., 1] << 2).astype(np.int64).reshape(2, 8, 2, 8) << np.arange(0, 32, 4)).sum(3).transpose(1, 2, 0).reshape(32).astype(np.uint32).view(np.int32)
// ARG c = zeros:16x8xi32
// EXPECT c = ((np.arange(4) == chosen[..., None]) * a.astype(np.int64).reshape(16, 16, 2)[..., None]).sum(2).reshape(16, 64) @ b.astype(np.int64).T
gpu.module @kernels {
  gpu.func @gemm(%a: memref<16x32xi8, 1>, %b: memref<8x64xi8, 1>, %meta: memref<32xi32, 1>, %c: memref<16x8xi32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %held = arith.constant 4 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %held : index
    %oa0 = arith.constant 0 : index
    %ka0 = arith.addi %column, %oa0 : index
    %a0 = vector.load %a[%top, %ka0] : memref<16x32xi8, 1>, vector<4xi8>
    %oa1 = arith.constant 0 : index
    %ka1 = arith.addi %column, %oa1 : index
    %a1 = vector.load %a[%bottom, %ka1] : memref<16x32xi8, 1>, vector<4xi8>
    %oa2 = arith.constant 16 : index
    %ka2 = arith.addi %column, %oa2 : index
    %a2 = vector.load %a[%top, %ka2] : memref<16x32xi8, 1>, vector<4xi8>
    %oa3 = arith.constant 16 : index
    %ka3 = arith.addi %column, %oa3 : index
    %a3 = vector.load %a[%bottom, %ka3] : memref<16x32xi8, 1>, vector<4xi8>
    %ob0 = arith.constant 0 : index
    %kb0 = arith.addi %column, %ob0 : index
    %b0 = vector.load %b[%top, %kb0] : memref<8x64xi8, 1>, vector<4xi8>
    %ob1 = arith.constant 16 : index
    %kb1 = arith.addi %column, %ob1 : index
    %b1 = vector.load %b[%top, %kb1] : memref<8x64xi8, 1>, vector<4xi8>
    %ob2 = arith.constant 32 : index
    %kb2 = arith.addi %column, %ob2 : index
    %b2 = vector.load %b[%top, %kb2] : memref<8x64xi8, 1>, vector<4xi8>
    %ob3 = arith.constant 48 : index
    %kb3 = arith.addi %column, %ob3 : index
    %b3 = vector.load %b[%top, %kb3] : memref<8x64xi8, 1>, vector<4xi8>
    %none_a = arith.constant dense<0> : vector<4x4xi8>
    %with_a0 = vector.insert %a0, %none_a[0] : vector<4xi8> into vector<4x4xi8>
    %with_a1 = vector.insert %a1, %with_a0[1] : vector<4xi8> into vector<4x4xi8>
    %with_a2 = vector.insert %a2, %with_a1[2] : vector<4xi8> into vector<4x4xi8>
    %with_a3 = vector.insert %a3, %with_a2[3] : vector<4xi8> into vector<4x4xi8>
    %none_b = arith.constant dense<0> : vector<4x4xi8>
    %with_b0 = vector.insert %b0, %none_b[0] : vector<4xi8> into vector<4x4xi8>
    %with_b1 = vector.insert %b1, %with_b0[1] : vector<4xi8> into vector<4x4xi8>
    %with_b2 = vector.insert %b2, %with_b1[2] : vector<4xi8> into vector<4x4xi8>
    %with_b3 = vector.insert %b3, %with_b2[3] : vector<4xi8> into vector<4x4xi8>
    %word = vector.load %meta[%lane] : memref<32xi32, 1>, vector<1xi32>
    %metadata = vector.bitcast %word : vector<1xi32> to vector<2xi16>
    %none = arith.constant dense<0> : vector<2x2xi32>
    %sum = nvgpu.mma.sp.sync(%with_a3, %with_b3, %none) metadata(%metadata)
        {mmaShape = [16, 8, 64]} : (vector<4x4xi8>, vector<4x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
    %twice = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xi32> from vector<2x2xi32>
    %lower = vector.extract %sum[1] : vector<2xi32> from vector<2x2xi32>
    vector.store %upper, %c[%top, %twice] : memref<16x8xi32, 1>, vector<2xi32>
    vector.store %lower, %c[%bottom, %twice] : memref<16x8xi32, 1>, vector<2xi32>
    gpu.return
  }

  gpu.func @ordered(%a: memref<16x32xi8, 1>, %b: memref<8x64xi8, 1>, %meta: memref<32xi32, 1>, %c: memref<16x8xi32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %held = arith.constant 4 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %held : index
    %oa0 = arith.constant 0 : index
    %ka0 = arith.addi %column, %oa0 : index
    %a0 = vector.load %a[%top, %ka0] : memref<16x32xi8, 1>, vector<4xi8>
    %oa1 = arith.constant 0 : index
    %ka1 = arith.addi %column, %oa1 : index
    %a1 = vector.load %a[%bottom, %ka1] : memref<16x32xi8, 1>, vector<4xi8>
    %oa2 = arith.constant 16 : index
    %ka2 = arith.addi %column, %oa2 : index
    %a2 = vector.load %a[%top, %ka2] : memref<16x32xi8, 1>, vector<4xi8>
    %oa3 = arith.constant 16 : index
    %ka3 = arith.addi %column, %oa3 : index
    %a3 = vector.load %a[%bottom, %ka3] : memref<16x32xi8, 1>, vector<4xi8>
    %ob0 = arith.constant 0 : index
    %kb0 = arith.addi %column, %ob0 : index
    %b0 = vector.load %b[%top, %kb0] : memref<8x64xi8, 1>, vector<4xi8>
    %ob1 = arith.constant 16 : index
    %kb1 = arith.addi %column, %ob1 : index
    %b1 = vector.load %b[%top, %kb1] : memref<8x64xi8, 1>, vector<4xi8>
    %ob2 = arith.constant 32 : index
    %kb2 = arith.addi %column, %ob2 : index
    %b2 = vector.load %b[%top, %kb2] : memref<8x64xi8, 1>, vector<4xi8>
    %ob3 = arith.constant 48 : index
    %kb3 = arith.addi %column, %ob3 : index
    %b3 = vector.load %b[%top, %kb3] : memref<8x64xi8, 1>, vector<4xi8>
    %none_a = arith.constant dense<0> : vector<4x4xi8>
    %with_a0 = vector.insert %a0, %none_a[0] : vector<4xi8> into vector<4x4xi8>
    %with_a1 = vector.insert %a1, %with_a0[1] : vector<4xi8> into vector<4x4xi8>
    %with_a2 = vector.insert %a2, %with_a1[2] : vector<4xi8> into vector<4x4xi8>
    %with_a3 = vector.insert %a3, %with_a2[3] : vector<4xi8> into vector<4x4xi8>
    %none_b = arith.constant dense<0> : vector<4x4xi8>
    %with_b0 = vector.insert %b0, %none_b[0] : vector<4xi8> into vector<4x4xi8>
    %with_b1 = vector.insert %b1, %with_b0[1] : vector<4xi8> into vector<4x4xi8>
    %with_b2 = vector.insert %b2, %with_b1[2] : vector<4xi8> into vector<4x4xi8>
    %with_b3 = vector.insert %b3, %with_b2[3] : vector<4xi8> into vector<4x4xi8>
    %word = vector.load %meta[%lane] : memref<32xi32, 1>, vector<1xi32>
    %metadata = vector.bitcast %word : vector<1xi32> to vector<2xi16>
    %none = arith.constant dense<0> : vector<2x2xi32>
    %sum = nvgpu.mma.sp.sync(%with_a3, %with_b3, %none) metadata(%metadata)
        {mmaShape = [16, 8, 64], orderedMetadata} : (vector<4x4xi8>, vector<4x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
    %twice = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xi32> from vector<2x2xi32>
    %lower = vector.extract %sum[1] : vector<2xi32> from vector<2x2xi32>
    vector.store %upper, %c[%top, %twice] : memref<16x8xi32, 1>, vector<2xi32>
    vector.store %lower, %c[%bottom, %twice] : memref<16x8xi32, 1>, vector<2xi32>
    gpu.return
  }
}
