// The index of a block in its cluster, and of the cluster in the grid.
// RUN @clusters grid=4x2 block=32 cluster=2x2 arch=cluster
// ARG y = zeros:8x6xi32
// EXPECT y = [[0, 0, 2, 0, 0, 2], [0, 0, 2, 1, 0, 2], [1, 0, 2, 0, 0, 2], [1, 0, 2, 1, 0, 2], [0, 0, 2, 0, 1, 2], [0, 0, 2, 1, 1, 2], [1, 0, 2, 0, 1, 2], [1, 0, 2, 1, 1, 2]]
gpu.module @kernels {
  gpu.func @clusters(%y: memref<8x6xi32, 1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %gx = gpu.grid_dim x
    %c0 = arith.constant 0 : index
    %s0 = arith.muli %by, %gx : index
    %block = arith.addi %s0, %bx : index
    %ix = gpu.cluster_id x
    %iy = gpu.cluster_id y
    %n = gpu.cluster_dim x
    %rx = gpu.cluster_block_id x
    %ry = gpu.cluster_block_id y
    %size = gpu.cluster_dim_blocks y
    %0 = vector.from_elements %ix, %iy, %n, %rx, %ry, %size : vector<6xindex>
    %1 = arith.index_cast %0 : vector<6xindex> to vector<6xi32>
    vector.store %1, %y[%block, %c0] : memref<8x6xi32, 1>, vector<6xi32>
    gpu.return
  }
}
