// Two producer warps hand values to one consumer warp each; producers arrive without waiting.
// RUN @hand_over block=128 arch=base
// ARG x = random:64xi32:1
// ARG out = zeros:64xi32
// EXPECT out = x.reshape(2, 32)[:, ::-1].reshape(64) * 3
gpu.module @kernels {
  gpu.func @hand_over(%x: memref<64xi32, 1>, %out: memref<64xi32, 1>) workgroup(%room: memref<64xi32, 3>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i32 = arith.constant 32 : index
    %i31 = arith.constant 31 : index
    %i64 = arith.constant 64 : index
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    %t = gpu.thread_id x
    %place = arith.remui %t, %i64 : index
    %pair_index = arith.divui %place, %i32 : index
    %pair = arith.index_cast %pair_index : index to i32
    %barrier = arith.addi %pair, %c1 : i32
    %writes = arith.cmpi ult, %t, %i64 : index
    scf.if %writes {
      %v = memref.load %x[%t] : memref<64xi32, 1>
      memref.store %v, %room[%t] : memref<64xi32, 3>
      cute_nvgpu.named_barrier.arrive %barrier, %c64
    } else {
      cute_nvgpu.named_barrier.sync %barrier, %c64
      %mirrored = arith.xori %place, %i31 : index
      %v = memref.load %room[%mirrored] : memref<64xi32, 3>
      %w = arith.muli %v, %c3 : i32
      memref.store %w, %out[%place] : memref<64xi32, 1>
    }
    gpu.return
  }
}
