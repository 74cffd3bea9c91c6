// A histogram: counted in shared memory, added up in global memory.
// RUN @histogram grid=4 block=128 arch=base
// ARG x : i32 = np.random.default_rng(1).integers(0, 64, 1024)
// ARG counts = zeros:64xi32
// EXPECT counts = np.bincount(x, minlength=64)
gpu.module @kernels {
  gpu.func @histogram(%x: memref<1024xi32, 1>, %counts: memref<64xi32, 1>)
      workgroup(%own: memref<64xi32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %counts_mine = arith.cmpi ult, %t, %c64 : index
    scf.if %counts_mine {
      memref.store %zero, %own[%t] : memref<64xi32, 3>
    }
    gpu.barrier
    scf.for %k = %i to %c1024 step %c512 {
      %v = memref.load %x[%k] : memref<1024xi32, 1>
      %place = arith.index_cast %v : i32 to index
      %before = memref.atomic_rmw addi %one, %own[%place] : (i32, memref<64xi32, 3>) -> i32
    }
    gpu.barrier
    scf.if %counts_mine {
      %n = memref.load %own[%t] : memref<64xi32, 3>
      %before = memref.atomic_rmw addi %n, %counts[%t] : (i32, memref<64xi32, 1>) -> i32
    }
    gpu.return
  }
}
