// An inclusive scan: within a warp by shuffles, over the block by its warps.
// RUN @scan grid=3 block=256 arch=base
// ARG x = random:3x256xi32:1
// ARG y = zeros:3x256xi32
// EXPECT y = np.cumsum(x, axis=1, dtype=np.int32)
gpu.module @kernels {
  gpu.func @scan(%x: memref<3x256xi32, 1>, %y: memref<3x256xi32, 1>)
      workgroup(%sums: memref<8xi32, 3>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %lane = gpu.lane_id
    %warp = gpu.subgroup_id : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c31 = arith.constant 31 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %v = memref.load %x[%b, %t] : memref<3x256xi32, 1>
    %within:2 = scf.for %k = %c0 to %c5 step %c1 iter_args(%s = %v, %d = %one) -> (i32, i32) {
      %o, %valid = gpu.shuffle up %s, %d, %width : i32
      %part = arith.select %valid, %o, %zero : i32
      %sum = arith.addi %s, %part : i32
      %twice = arith.addi %d, %d : i32
      scf.yield %sum, %twice : i32, i32
    }
    %last = arith.cmpi eq, %lane, %c31 : index
    scf.if %last {
      memref.store %within#0, %sums[%warp] : memref<8xi32, 3>
    }
    gpu.barrier
    %before = scf.for %k = %c0 to %warp step %c1 iter_args(%s = %zero) -> (i32) {
      %w = memref.load %sums[%k] : memref<8xi32, 3>
      %sum = arith.addi %s, %w : i32
      scf.yield %sum : i32
    }
    %r = arith.addi %within#0, %before : i32
    memref.store %r, %y[%b, %t] : memref<3x256xi32, 1>
    gpu.return
  }
}
