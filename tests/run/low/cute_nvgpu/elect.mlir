// One elected thread of each warp sleeps and reads its SM id; the grid lets its dependents launch.
// RUN @count grid=2 block=96 arch=cluster
// ARG count = zeros:1xi32
// ARG processors = zeros:2x3xi32
// EXPECT count = np.array([6])
// EXPECT processors = np.ones((2, 3))
gpu.module @kernels {
  gpu.func @count(%count: memref<1xi32, 1>, %processors: memref<2x3xi32, 1>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %i0 = arith.constant 0 : index
    %i32 = arith.constant 32 : index
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c100 = arith.constant 100 : i32
    cute_nvgpu.grid.wait
    cute_nvgpu.grid.launch_dependents
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %warp = arith.divui %t, %i32 : index
    %elected = cute_nvgpu.elect_one
    scf.if %elected {
      cute_nvgpu.nanosleep %c100
      %sm = cute_nvgpu.sm_id
      %known = arith.cmpi sge, %sm, %c0 : i32
      %one = arith.extui %known : i1 to i32
      memref.store %one, %processors[%block, %warp] : memref<2x3xi32, 1>
      %before = memref.atomic_rmw addi %c1, %count[%i0] : (i32, memref<1xi32, 1>) -> i32
    }
    gpu.return
  }
}
