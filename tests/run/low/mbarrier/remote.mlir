// Blocks of a cluster pass values in a ring: each writes to its neighbour's shared memory and arrives at the barrier there.
// RUN @pass grid=4 cluster=4 block=32 arch=cluster
// ARG x = random:4x32xi32:1
// ARG y = zeros:4x32xi32
// EXPECT y = np.roll(x, 1, axis=0)
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @pass(%x: memref<4x32xi32, 1>, %y: memref<4x32xi32, 1>) workgroup(%s: memref<32xi32, 3>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_cluster_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %ticks = arith.constant 10000000 : index
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %false = arith.constant false
    %bars = nvgpu.mbarrier.create -> !bars
    %t = gpu.thread_id x
    %rank = gpu.cluster_block_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %bars[%c0], %c32 : !bars
      cute_nvgpu.fence.mbarrier_init
    }
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait
    %mine = arith.index_castui %rank : index to i32
    %after = arith.addi %mine, %one : i32
    %neighbour = arith.remui %after, %four : i32
    %v = memref.load %x[%rank, %t] : memref<4x32xi32, 1>
    %base = builtin.unrealized_conversion_cast %s : memref<32xi32, 3> to !llvm.ptr<3>
    %number = arith.index_castui %t : index to i64
    %here = llvm.getelementptr %base[%number] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
    %there = nvvm.mapa %here, %neighbour : !llvm.ptr<3> -> !llvm.ptr<7>
    llvm.store %v, %there : i32, !llvm.ptr<7>
    %bar = builtin.unrealized_conversion_cast %bars : !bars to !llvm.ptr<3>
    %bar_there = nvvm.mapa %bar, %neighbour : !llvm.ptr<3> -> !llvm.ptr<7>
    nvvm.mbarrier.arrive.shared.cluster <cluster> %bar_there, %one : !llvm.ptr<7>, i32
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %false, %ticks : !bars
    // The wait orders accesses of this block; the values are written by another one.
    nvvm.fence.sc.cluster
    %w = memref.load %s[%t] : memref<32xi32, 3>
    memref.store %w, %y[%rank, %t] : memref<4x32xi32, 1>
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.wait
    gpu.return
  }
}
