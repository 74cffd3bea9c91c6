// Every index and size of threads, blocks and grids, in three dimensions.
// RUN @where grid=2x3x2 block=8x4x2 arch=base
// ARG y = zeros:12x64x14xi32
// LET at = np.mgrid[0:2, 0:3, 0:2, 0:2, 0:4, 0:8].reshape(6, -1)
// LET n = np.arange(768)
// EXPECT y = np.stack([at[5], at[4], at[3], at[2], at[1], at[0], n * 0 + 8, n * 0 + 3, n % 64 % 32, n * 0 + 32, n % 64 // 32, n * 0 + 2, at[2] * 8 + at[5], at[1] * 4 + at[4]], axis=1)
gpu.module @kernels {
  gpu.func @where(%y: memref<12x64x14xi32, 1>) kernel {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %tz = gpu.thread_id z
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %bz = gpu.block_id z
    %nx = gpu.block_dim x
    %ny = gpu.block_dim y
    %gx = gpu.grid_dim x
    %gy = gpu.grid_dim y
    %lane = gpu.lane_id
    %size = gpu.subgroup_size : index
    %warp = gpu.subgroup_id : index
    %warps = gpu.num_subgroups : index
    %ix = gpu.global_id x
    %iy = gpu.global_id y
    %r0 = arith.muli %tz, %ny : index
    %r1 = arith.addi %r0, %ty : index
    %r2 = arith.muli %r1, %nx : index
    %thread = arith.addi %r2, %tx : index
    %s0 = arith.muli %bz, %gy : index
    %s1 = arith.addi %s0, %by : index
    %s2 = arith.muli %s1, %gx : index
    %block = arith.addi %s2, %bx : index
    %0 = vector.from_elements %tx, %ty, %tz, %bx, %by, %bz, %nx, %gy, %lane, %size, %warp, %warps, %ix, %iy : vector<14xindex>
    %1 = arith.index_cast %0 : vector<14xindex> to vector<14xi32>
    %c0 = arith.constant 0 : index
    vector.store %1, %y[%block, %thread, %c0] : memref<12x64x14xi32, 1>, vector<14xi32>
    gpu.return
  }
}
