// A sparse matrix times a dense one by a warp: A has two of every four elements. Of four lanes, one or two have metadata;
// the metadata of the others is ignored.
// RUN @deep block=32 arch=base
// ARG a = small:16x16xf16:1
// ARG b = small:8x32xf16:2
// DATA chosen : i8 = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])[(np.arange(16)[:, None] + np.arange(8)) % 6]
// ARG meta : i32 = np.where(np.arange(32) % 4 // 2 == 0, np.tile(((chosen[..., 0] | chosen[..., 1] << 2).astype(np.int64).reshape(2, 8, 2, 4) << np.array([0, 16])[:, None, None, None] << np.arange(0, 16, 4)).sum((0, 3)), (1, 2)).reshape(32), -1).astype(np.uint32).view(np.int32)
// ARG c = zeros:16x8xf32
// EXPECT c = ((np.arange(4) == chosen[..., None]) * wide_f16(a).reshape(16, 8, 2)[..., None]).sum(2).reshape(16, 32) @ wide_f16(b).T
// RUN @others block=32 arch=base
// ARG a = small:16x16xf16:1
// ARG b = small:8x32xf16:2
// DATA chosen : i8 = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])[(np.arange(16)[:, None] + np.arange(8)) % 6]
// ARG meta : i32 = np.where(np.arange(32) % 4 // 2 == 1, np.tile(((chosen[..., 0] | chosen[..., 1] << 2).astype(np.int64).reshape(2, 8, 2, 4) << np.array([0, 16])[:, None, None, None] << np.arange(0, 16, 4)).sum((0, 3)), (1, 2)).reshape(32), -1).astype(np.uint32).view(np.int32)
// ARG c = zeros:16x8xf32
// EXPECT c = ((np.arange(4) == chosen[..., None]) * wide_f16(a).reshape(16, 8, 2)[..., None]).sum(2).reshape(16, 32) @ wide_f16(b).T
// RUN @flat block=32 arch=base
// ARG a = small:16x8xf16:1
// ARG b = small:8x16xf16:2
// DATA chosen : i8 = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])[(np.arange(16)[:, None] + np.arange(4)) % 6]
// ARG meta : i32 = np.where(np.arange(32) % 4 == 2, np.repeat(((chosen[..., 0] | chosen[..., 1] << 2).astype(np.int64).reshape(2, 8, 4) << np.array([0, 16])[:, None, None] << np.arange(0, 16, 4)).sum((0, 2)), 4), -1).astype(np.uint32).view(np.int32)
// ARG c = zeros:16x8xf16
// EXPECT c = ((np.arange(4) == chosen[..., None]) * wide_f16(a).reshape(16, 4, 2)[..., None]).sum(2).reshape(16, 16) @ wide_f16(b).T
// RUN @bf16 block=32 arch=base
// ARG a = small:16x16xbf16:1
// ARG b = small:8x32xbf16:2
// DATA chosen : i8 = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])[(np.arange(16)[:, None] + np.arange(8)) % 6]
// ARG meta : i32 = np.where(np.arange(32) % 4 // 2 == 0, np.tile(((chosen[..., 0] | chosen[..., 1] << 2).astype(np.int64).reshape(2, 8, 2, 4) << np.array([0, 16])[:, None, None, None] << np.arange(0, 16, 4)).sum((0, 3)), (1, 2)).reshape(32), -1).astype(np.uint32).view(np.int32)
// ARG c = zeros:16x8xf32
// EXPECT c = ((np.arange(4) == chosen[..., None]) * wide_bf16(a).reshape(16, 8, 2)[..., None]).sum(2).reshape(16, 32) @ wide_bf16(b).T
gpu.module @kernels {
  gpu.func @deep(%a: memref<16x16xf16, 1>, %b: memref<8x32xf16, 1>, %meta: memref<32xi32, 1>, %c: memref<16x8xf32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %held = arith.constant 2 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %held : index
    %oa0 = arith.constant 0 : index
    %ka0 = arith.addi %column, %oa0 : index
    %a0 = vector.load %a[%top, %ka0] : memref<16x16xf16, 1>, vector<2xf16>
    %oa1 = arith.constant 0 : index
    %ka1 = arith.addi %column, %oa1 : index
    %a1 = vector.load %a[%bottom, %ka1] : memref<16x16xf16, 1>, vector<2xf16>
    %oa2 = arith.constant 8 : index
    %ka2 = arith.addi %column, %oa2 : index
    %a2 = vector.load %a[%top, %ka2] : memref<16x16xf16, 1>, vector<2xf16>
    %oa3 = arith.constant 8 : index
    %ka3 = arith.addi %column, %oa3 : index
    %a3 = vector.load %a[%bottom, %ka3] : memref<16x16xf16, 1>, vector<2xf16>
    %ob0 = arith.constant 0 : index
    %kb0 = arith.addi %column, %ob0 : index
    %b0 = vector.load %b[%top, %kb0] : memref<8x32xf16, 1>, vector<2xf16>
    %ob1 = arith.constant 8 : index
    %kb1 = arith.addi %column, %ob1 : index
    %b1 = vector.load %b[%top, %kb1] : memref<8x32xf16, 1>, vector<2xf16>
    %ob2 = arith.constant 16 : index
    %kb2 = arith.addi %column, %ob2 : index
    %b2 = vector.load %b[%top, %kb2] : memref<8x32xf16, 1>, vector<2xf16>
    %ob3 = arith.constant 24 : index
    %kb3 = arith.addi %column, %ob3 : index
    %b3 = vector.load %b[%top, %kb3] : memref<8x32xf16, 1>, vector<2xf16>
    %none_a = arith.constant dense<0.0> : vector<4x2xf16>
    %with_a0 = vector.insert %a0, %none_a[0] : vector<2xf16> into vector<4x2xf16>
    %with_a1 = vector.insert %a1, %with_a0[1] : vector<2xf16> into vector<4x2xf16>
    %with_a2 = vector.insert %a2, %with_a1[2] : vector<2xf16> into vector<4x2xf16>
    %with_a3 = vector.insert %a3, %with_a2[3] : vector<2xf16> into vector<4x2xf16>
    %none_b = arith.constant dense<0.0> : vector<4x2xf16>
    %with_b0 = vector.insert %b0, %none_b[0] : vector<2xf16> into vector<4x2xf16>
    %with_b1 = vector.insert %b1, %with_b0[1] : vector<2xf16> into vector<4x2xf16>
    %with_b2 = vector.insert %b2, %with_b1[2] : vector<2xf16> into vector<4x2xf16>
    %with_b3 = vector.insert %b3, %with_b2[3] : vector<2xf16> into vector<4x2xf16>
    %word = vector.load %meta[%lane] : memref<32xi32, 1>, vector<1xi32>
    %metadata = vector.bitcast %word : vector<1xi32> to vector<2xi16>
    %none = arith.constant dense<0.0> : vector<2x2xf32>
    %sum = nvgpu.mma.sp.sync(%with_a3, %with_b3, %none) metadata(%metadata)
        {mmaShape = [16, 8, 32]} : (vector<4x2xf16>, vector<4x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %twice = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %upper, %c[%top, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    vector.store %lower, %c[%bottom, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    gpu.return
  }

  gpu.func @others(%a: memref<16x16xf16, 1>, %b: memref<8x32xf16, 1>, %meta: memref<32xi32, 1>, %c: memref<16x8xf32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %held = arith.constant 2 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %held : index
    %oa0 = arith.constant 0 : index
    %ka0 = arith.addi %column, %oa0 : index
    %a0 = vector.load %a[%top, %ka0] : memref<16x16xf16, 1>, vector<2xf16>
    %oa1 = arith.constant 0 : index
    %ka1 = arith.addi %column, %oa1 : index
    %a1 = vector.load %a[%bottom, %ka1] : memref<16x16xf16, 1>, vector<2xf16>
    %oa2 = arith.constant 8 : index
    %ka2 = arith.addi %column, %oa2 : index
    %a2 = vector.load %a[%top, %ka2] : memref<16x16xf16, 1>, vector<2xf16>
    %oa3 = arith.constant 8 : index
    %ka3 = arith.addi %column, %oa3 : index
    %a3 = vector.load %a[%bottom, %ka3] : memref<16x16xf16, 1>, vector<2xf16>
    %ob0 = arith.constant 0 : index
    %kb0 = arith.addi %column, %ob0 : index
    %b0 = vector.load %b[%top, %kb0] : memref<8x32xf16, 1>, vector<2xf16>
    %ob1 = arith.constant 8 : index
    %kb1 = arith.addi %column, %ob1 : index
    %b1 = vector.load %b[%top, %kb1] : memref<8x32xf16, 1>, vector<2xf16>
    %ob2 = arith.constant 16 : index
    %kb2 = arith.addi %column, %ob2 : index
    %b2 = vector.load %b[%top, %kb2] : memref<8x32xf16, 1>, vector<2xf16>
    %ob3 = arith.constant 24 : index
    %kb3 = arith.addi %column, %ob3 : index
    %b3 = vector.load %b[%top, %kb3] : memref<8x32xf16, 1>, vector<2xf16>
    %none_a = arith.constant dense<0.0> : vector<4x2xf16>
    %with_a0 = vector.insert %a0, %none_a[0] : vector<2xf16> into vector<4x2xf16>
    %with_a1 = vector.insert %a1, %with_a0[1] : vector<2xf16> into vector<4x2xf16>
    %with_a2 = vector.insert %a2, %with_a1[2] : vector<2xf16> into vector<4x2xf16>
    %with_a3 = vector.insert %a3, %with_a2[3] : vector<2xf16> into vector<4x2xf16>
    %none_b = arith.constant dense<0.0> : vector<4x2xf16>
    %with_b0 = vector.insert %b0, %none_b[0] : vector<2xf16> into vector<4x2xf16>
    %with_b1 = vector.insert %b1, %with_b0[1] : vector<2xf16> into vector<4x2xf16>
    %with_b2 = vector.insert %b2, %with_b1[2] : vector<2xf16> into vector<4x2xf16>
    %with_b3 = vector.insert %b3, %with_b2[3] : vector<2xf16> into vector<4x2xf16>
    %word = vector.load %meta[%lane] : memref<32xi32, 1>, vector<1xi32>
    %metadata = vector.bitcast %word : vector<1xi32> to vector<2xi16>
    %none = arith.constant dense<0.0> : vector<2x2xf32>
    %sum = nvgpu.mma.sp.sync(%with_a3, %with_b3, %none) metadata(%metadata)
        {mmaShape = [16, 8, 32], sparsitySelector = 1 : i32, orderedMetadata} : (vector<4x2xf16>, vector<4x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %twice = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %upper, %c[%top, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    vector.store %lower, %c[%bottom, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    gpu.return
  }

  gpu.func @flat(%a: memref<16x8xf16, 1>, %b: memref<8x16xf16, 1>, %meta: memref<32xi32, 1>, %c: memref<16x8xf16, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %held = arith.constant 2 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %held : index
    %oa0 = arith.constant 0 : index
    %ka0 = arith.addi %column, %oa0 : index
    %a0 = vector.load %a[%top, %ka0] : memref<16x8xf16, 1>, vector<2xf16>
    %oa1 = arith.constant 0 : index
    %ka1 = arith.addi %column, %oa1 : index
    %a1 = vector.load %a[%bottom, %ka1] : memref<16x8xf16, 1>, vector<2xf16>
    %ob0 = arith.constant 0 : index
    %kb0 = arith.addi %column, %ob0 : index
    %b0 = vector.load %b[%top, %kb0] : memref<8x16xf16, 1>, vector<2xf16>
    %ob1 = arith.constant 8 : index
    %kb1 = arith.addi %column, %ob1 : index
    %b1 = vector.load %b[%top, %kb1] : memref<8x16xf16, 1>, vector<2xf16>
    %none_a = arith.constant dense<0.0> : vector<2x2xf16>
    %with_a0 = vector.insert %a0, %none_a[0] : vector<2xf16> into vector<2x2xf16>
    %with_a1 = vector.insert %a1, %with_a0[1] : vector<2xf16> into vector<2x2xf16>
    %none_b = arith.constant dense<0.0> : vector<2x2xf16>
    %with_b0 = vector.insert %b0, %none_b[0] : vector<2xf16> into vector<2x2xf16>
    %with_b1 = vector.insert %b1, %with_b0[1] : vector<2xf16> into vector<2x2xf16>
    %word = vector.load %meta[%lane] : memref<32xi32, 1>, vector<1xi32>
    %metadata = vector.bitcast %word : vector<1xi32> to vector<2xi16>
    %none = arith.constant dense<0.0> : vector<2x2xf16>
    %sum = nvgpu.mma.sp.sync(%with_a1, %with_b1, %none) metadata(%metadata)
        {mmaShape = [16, 8, 16], sparsitySelector = 2 : i32} : (vector<2x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    %twice = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf16> from vector<2x2xf16>
    %lower = vector.extract %sum[1] : vector<2xf16> from vector<2x2xf16>
    vector.store %upper, %c[%top, %twice] : memref<16x8xf16, 1>, vector<2xf16>
    vector.store %lower, %c[%bottom, %twice] : memref<16x8xf16, 1>, vector<2xf16>
    gpu.return
  }

  gpu.func @bf16(%a: memref<16x16xbf16, 1>, %b: memref<8x32xbf16, 1>, %meta: memref<32xi32, 1>, %c: memref<16x8xf32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %held = arith.constant 2 : index
    %lane = gpu.lane_id
    %top = arith.divui %lane, %c4 : index
    %bottom = arith.addi %top, %c8 : index
    %quarter = arith.remui %lane, %c4 : index
    %column = arith.muli %quarter, %held : index
    %oa0 = arith.constant 0 : index
    %ka0 = arith.addi %column, %oa0 : index
    %a0 = vector.load %a[%top, %ka0] : memref<16x16xbf16, 1>, vector<2xbf16>
    %oa1 = arith.constant 0 : index
    %ka1 = arith.addi %column, %oa1 : index
    %a1 = vector.load %a[%bottom, %ka1] : memref<16x16xbf16, 1>, vector<2xbf16>
    %oa2 = arith.constant 8 : index
    %ka2 = arith.addi %column, %oa2 : index
    %a2 = vector.load %a[%top, %ka2] : memref<16x16xbf16, 1>, vector<2xbf16>
    %oa3 = arith.constant 8 : index
    %ka3 = arith.addi %column, %oa3 : index
    %a3 = vector.load %a[%bottom, %ka3] : memref<16x16xbf16, 1>, vector<2xbf16>
    %ob0 = arith.constant 0 : index
    %kb0 = arith.addi %column, %ob0 : index
    %b0 = vector.load %b[%top, %kb0] : memref<8x32xbf16, 1>, vector<2xbf16>
    %ob1 = arith.constant 8 : index
    %kb1 = arith.addi %column, %ob1 : index
    %b1 = vector.load %b[%top, %kb1] : memref<8x32xbf16, 1>, vector<2xbf16>
    %ob2 = arith.constant 16 : index
    %kb2 = arith.addi %column, %ob2 : index
    %b2 = vector.load %b[%top, %kb2] : memref<8x32xbf16, 1>, vector<2xbf16>
    %ob3 = arith.constant 24 : index
    %kb3 = arith.addi %column, %ob3 : index
    %b3 = vector.load %b[%top, %kb3] : memref<8x32xbf16, 1>, vector<2xbf16>
    %none_a = arith.constant dense<0.0> : vector<4x2xbf16>
    %with_a0 = vector.insert %a0, %none_a[0] : vector<2xbf16> into vector<4x2xbf16>
    %with_a1 = vector.insert %a1, %with_a0[1] : vector<2xbf16> into vector<4x2xbf16>
    %with_a2 = vector.insert %a2, %with_a1[2] : vector<2xbf16> into vector<4x2xbf16>
    %with_a3 = vector.insert %a3, %with_a2[3] : vector<2xbf16> into vector<4x2xbf16>
    %none_b = arith.constant dense<0.0> : vector<4x2xbf16>
    %with_b0 = vector.insert %b0, %none_b[0] : vector<2xbf16> into vector<4x2xbf16>
    %with_b1 = vector.insert %b1, %with_b0[1] : vector<2xbf16> into vector<4x2xbf16>
    %with_b2 = vector.insert %b2, %with_b1[2] : vector<2xbf16> into vector<4x2xbf16>
    %with_b3 = vector.insert %b3, %with_b2[3] : vector<2xbf16> into vector<4x2xbf16>
    %word = vector.load %meta[%lane] : memref<32xi32, 1>, vector<1xi32>
    %metadata = vector.bitcast %word : vector<1xi32> to vector<2xi16>
    %none = arith.constant dense<0.0> : vector<2x2xf32>
    %sum = nvgpu.mma.sp.sync(%with_a3, %with_b3, %none) metadata(%metadata)
        {mmaShape = [16, 8, 32]} : (vector<4x2xbf16>, vector<4x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %twice = arith.muli %quarter, %c2 : index
    %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %upper, %c[%top, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    vector.store %lower, %c[%bottom, %twice] : memref<16x8xf32, 1>, vector<2xf32>
    gpu.return
  }
}
