// The sum of a long vector: by thread, then by warp, then over blocks with an atomic add.
// RUN @sum grid=4 block=256 arch=base
// ARG x = small:10000xf32:1
// ARG n = 10000
// ARG r = zeros:1xf32
// EXPECT r = x.sum()
//
// RUN @sum grid=4 block=256
// ARG x = random:10000xf32:1
// ARG n = 10000
// ARG r = zeros:1xf32
// EXPECT r ~ 10000 * u_f32 * abs(x).sum() : wide_f32(x).sum()
gpu.module @kernels {
  gpu.func @sum(%x: memref<?xf32, 1>, %r: memref<1xf32, 1>) workgroup(%parts: memref<8xf32, 3>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %i = gpu.global_id x
    %t = gpu.thread_id x
    %lane = gpu.lane_id
    %warp = gpu.subgroup_id : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %step = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %x, %c0 : memref<?xf32, 1>
    %own = scf.for %k = %i to %n step %step iter_args(%s = %zero) -> (f32) {
      %v = memref.load %x[%k] : memref<?xf32, 1>
      %sum = arith.addf %s, %v : f32
      scf.yield %sum : f32
    }
    %all = gpu.subgroup_reduce add %own : (f32) -> f32
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %all, %parts[%warp] : memref<8xf32, 3>
    }
    gpu.barrier
    %leader = arith.cmpi eq, %t, %c0 : index
    scf.if %leader {
      %block = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (f32) {
        %v = memref.load %parts[%k] : memref<8xf32, 3>
        %sum = arith.addf %s, %v : f32
        scf.yield %sum : f32
      }
      %before = memref.atomic_rmw addf %block, %r[%c0] : (f32, memref<1xf32, 1>) -> f32
    }
    gpu.return
  }
}
