// A matrix transposed by tiles in shared memory, whose rows are padded by one word against bank conflicts.
// RUN @transpose grid=2x3 block=32x8 arch=base
// ARG x = random:96x64xf32:1
// ARG y = zeros:64x96xf32
// EXPECT y = x.T
gpu.module @kernels {
  gpu.func @transpose(%x: memref<96x64xf32, 1>, %y: memref<64x96xf32, 1>)
      workgroup(%tile: memref<32x33xf32, 3>) kernel
      attributes {known_block_size = array<i32: 32, 8, 1>} {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %row0 = arith.muli %by, %c32 : index
    %column0 = arith.muli %bx, %c32 : index
    %column = arith.addi %column0, %tx : index
    scf.for %k = %ty to %c32 step %c8 {
      %row = arith.addi %row0, %k : index
      %v = memref.load %x[%row, %column] : memref<96x64xf32, 1>
      memref.store %v, %tile[%k, %tx] : memref<32x33xf32, 3>
    }
    gpu.barrier
    %there = arith.addi %row0, %tx : index
    scf.for %k = %ty to %c32 step %c8 {
      %row = arith.addi %column0, %k : index
      %v = memref.load %tile[%tx, %k] : memref<32x33xf32, 3>
      memref.store %v, %y[%row, %there] : memref<64x96xf32, 1>
    }
    gpu.return
  }
}
