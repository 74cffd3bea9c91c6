// Blocks of a cluster read the others' writes after the cluster barrier; a relaxed one does not make them visible.
// RUN @around grid=8 block=32 cluster=4 arch=cluster
// ARG x = random:8x32xi32:1
// ARG y = zeros:8x32xi32
// ARG out = zeros:8x32xi32
// EXPECT y = x + 1
// EXPECT out = (x + 1).reshape(2, 4, 32)[:, [1, 2, 3, 0]].reshape(8, 32)
gpu.module @kernels {
  gpu.func @around(%x: memref<8x32xi32, 1>, %y: memref<8x32xi32, 1>, %out: memref<8x32xi32, 1>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_cluster_size = array<i32: 4, 1, 1>} {
    %i1 = arith.constant 1 : index
    %i4 = arith.constant 4 : index
    %c1 = arith.constant 1 : i32
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %cluster = gpu.cluster_id x
    %rank = gpu.cluster_block_id x
    %v = memref.load %x[%block, %t] : memref<8x32xi32, 1>
    %w = arith.addi %v, %c1 : i32
    memref.store %w, %y[%block, %t] : memref<8x32xi32, 1>
    cute_nvgpu.cluster.arrive aligned
    cute_nvgpu.cluster.wait aligned
    %next = arith.addi %rank, %i1 : index
    %other = arith.remui %next, %i4 : index
    %start = arith.muli %cluster, %i4 : index
    %there = arith.addi %start, %other : index
    %r = memref.load %y[%there, %t] : memref<8x32xi32, 1>
    memref.store %r, %out[%block, %t] : memref<8x32xi32, 1>
    cute_nvgpu.cluster.arrive aligned relaxed
    cute_nvgpu.cluster.wait
    gpu.return
  }
}
